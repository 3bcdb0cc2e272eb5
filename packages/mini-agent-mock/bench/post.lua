wrk.method="POST"
wrk.body='{"model":"claude-haiku-4-5","max_tokens":10,"messages":[{"role":"user","content":"hello there, mock server!"}]}'
wrk.headers["content-type"]="application/json"
wrk.headers["x-api-key"]="k"
wrk.headers["anthropic-version"]="2023-06-01"
