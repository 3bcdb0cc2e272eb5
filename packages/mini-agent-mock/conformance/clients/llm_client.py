"""Simon Willison's `llm` with its Anthropic plugin: a chain of streamed replies with a tool."""

import json
import os
import sys
from importlib.metadata import version

import llm

MODEL, QUESTION = sys.argv[1:3]


def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"18 degrees in {city}"


model = llm.get_model(MODEL)
chain = model.chain(QUESTION, tools=[get_weather], key=os.environ["ANTHROPIC_API_KEY"], stream=True)
replies = [reply.text() for reply in chain.responses()]
print(json.dumps({"version": version("llm-anthropic"), "texts": [replies[-1]]}))
