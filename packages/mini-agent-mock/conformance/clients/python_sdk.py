"""The official Python SDK: create and stream, sync and async, and its tool runner."""

import asyncio
import json
import sys
from typing import Any

import anthropic

MODEL, QUESTION = sys.argv[1:3]
TOOL: Any = {
    "name": "get_weather",
    "description": "The weather in a city.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}


def weather(city: str) -> str:
    return f"18 degrees in {city}"


def answers(message: Any) -> list[Any]:
    return [
        {"type": "tool_result", "tool_use_id": block.id, "content": weather(block.input["city"])}
        for block in message.content
        if block.type == "tool_use"
    ]


def request(messages: list[Any]) -> dict[str, Any]:
    return {"model": MODEL, "max_tokens": 500, "tools": [TOOL], "messages": messages}


def text_of(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def sync_loop(stream: bool) -> str:
    with anthropic.Anthropic(max_retries=0) as client:
        messages: list[Any] = [{"role": "user", "content": QUESTION}]
        while True:
            if stream:
                with client.messages.stream(**request(messages)) as events:
                    deltas = "".join(events.text_stream)
                    message = events.get_final_message()
                assert deltas == text_of(message)
            else:
                message = client.messages.create(**request(messages))
            results = answers(message)
            if not results:
                return text_of(message)
            said = [block.model_dump(exclude_none=True) for block in message.content]
            messages += [
                {"role": "assistant", "content": said},
                {"role": "user", "content": results},
            ]


async def async_loop(stream: bool) -> str:
    async with anthropic.AsyncAnthropic(max_retries=0) as client:
        messages: list[Any] = [{"role": "user", "content": QUESTION}]
        while True:
            if stream:
                async with client.messages.stream(**request(messages)) as events:
                    message = await events.get_final_message()
            else:
                message = await client.messages.create(**request(messages))
            results = answers(message)
            if not results:
                return text_of(message)
            said = [block.model_dump(exclude_none=True) for block in message.content]
            messages += [
                {"role": "assistant", "content": said},
                {"role": "user", "content": results},
            ]


def tool_runner() -> str:
    @anthropic.beta_tool
    def get_weather(city: str) -> str:
        """The weather in a city.

        Args:
            city: The city.
        """
        return weather(city)

    with anthropic.Anthropic(max_retries=0) as client:
        options: Any = {
            "model": MODEL,
            "max_tokens": 500,
            "tools": [get_weather],
            "messages": [{"role": "user", "content": QUESTION}],
        }
        return text_of(client.beta.messages.tool_runner(**options).until_done())


texts = [
    sync_loop(stream=False),
    sync_loop(stream=True),
    asyncio.run(async_loop(stream=False)),
    asyncio.run(async_loop(stream=True)),
    tool_runner(),
]
print(json.dumps({"version": anthropic.__version__, "texts": texts}))
