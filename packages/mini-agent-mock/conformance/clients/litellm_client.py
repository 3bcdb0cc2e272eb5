"""LiteLLM's Anthropic provider: tools in the OpenAI form, streamed."""

import json
import os
import sys
from importlib.metadata import version

import litellm

MODEL, QUESTION = sys.argv[1:3]
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}
messages = [{"role": "user", "content": QUESTION}]
while True:
    chunks = litellm.completion(
        model=f"anthropic/{MODEL}",
        api_base=os.environ["ANTHROPIC_BASE_URL"],
        messages=messages,
        tools=[TOOL],
        max_tokens=500,
        stream=True,
    )
    reply = litellm.stream_chunk_builder(list(chunks), messages=messages).choices[0].message
    if not reply.tool_calls:
        break
    messages.append(reply.model_dump(exclude_none=True))
    for call in reply.tool_calls:
        city = json.loads(call.function.arguments)["city"]
        messages.append(
            {"role": "tool", "tool_call_id": call.id, "content": f"18 degrees in {city}"}
        )
print(json.dumps({"version": version("litellm"), "texts": [reply.content]}))
