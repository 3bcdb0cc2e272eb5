"""LangChain's chat model for Anthropic: bound tools, streamed."""

import json
import sys
from importlib.metadata import version

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool

MODEL, QUESTION = sys.argv[1:3]


@tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"18 degrees in {city}"


model = ChatAnthropic(model=MODEL, max_tokens=500, max_retries=0).bind_tools([get_weather])
messages = [HumanMessage(QUESTION)]
while True:
    reply = None
    for chunk in model.stream(messages):
        reply = chunk if reply is None else reply + chunk
    if not reply.tool_calls:
        break
    messages.append(reply)
    messages += [
        ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"])
        for call in reply.tool_calls
    ]
content = reply.content
text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
print(json.dumps({"version": version("langchain-anthropic"), "texts": [text]}))
