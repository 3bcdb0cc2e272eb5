"""pydantic-ai's Anthropic model: a tool of the agent, streamed."""

import asyncio
import json
import sys
from collections.abc import AsyncIterable
from importlib.metadata import version
from typing import Any

from pydantic_ai import Agent

MODEL, QUESTION = sys.argv[1:3]
agent = Agent(f"anthropic:{MODEL}")


@agent.tool_plain
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"18 degrees in {city}"


async def listen(_context: Any, events: AsyncIterable[Any]) -> None:
    """Being listened to is what makes the agent stream."""
    async for _ in events:
        pass


async def ask() -> str:
    return (await agent.run(QUESTION, event_stream_handler=listen)).output


print(json.dumps({"version": version("pydantic-ai-slim"), "texts": [asyncio.run(ask())]}))
