"""Drive one scenario with one program, and print what its turns cost.

    python contestants.py NAME BASE_URL TURNS

Run in a process of its own, by the interpreter that has the program installed. The scenario
answers every request with one tool call; each contestant stops after TURNS replies. What is
measured begins after a short run that imports, connects and warms up. ``canned`` for BASE_URL
answers inside the process, without a socket or a server: for runs so long that what a server
does with their requests would take minutes.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MODEL = "claude-opus-5-5"
KEY = "sk-bench"
SYSTEM = "You are a careful assistant."
RESULT = "one line of a file\n" * 20
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
}
WARM_UP_TURNS = 3


def sdk_options(url: str) -> dict[str, Any]:
    """Return where the SDK is to find the service."""
    if url != "canned":
        return {"base_url": url}
    import httpx2

    number = 0

    def answer(_: httpx2.Request) -> httpx2.Response:
        nonlocal number
        number += 1
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, content=canned_reply(number))

    http_client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    return {"base_url": "http://canned.invalid", "http_client": http_client}


def canned_reply(number: int) -> bytes:
    """Return the stream of a reply that calls the tool."""
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "read_file", "input": {}}
    piece = {"type": "input_json_delta", "partial_json": '{"path": "src/main.py"}'}
    usage = {"input_tokens": 9, "output_tokens": 9}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": call},
        {"type": "content_block_delta", "index": 0, "delta": piece},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": usage},
        {"type": "message_stop"},
    ]
    lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return "".join(lines).encode()


def by_hand(url: str) -> Callable[[int], None]:
    """The SDK's own stream, a dict for the reply, and a list for the history: the yardstick."""
    import anthropic

    loop = asyncio.new_event_loop()
    client = anthropic.AsyncAnthropic(api_key=KEY, max_retries=0, **sdk_options(url))
    tool: Any = {"name": "read_file", "description": "reads", "input_schema": SCHEMA}

    async def reply_to(messages: list[Any]) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = []
        pieces: list[str] = []
        stream = await client.messages.create(
            model=MODEL,
            max_tokens=32_000,
            system=[{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}],
            tools=[tool],
            thinking={"type": "adaptive", "display": "summarized"},
            messages=messages,
            stream=True,
        )
        async for event in stream:
            if event.type == "content_block_start":
                blocks.append(event.content_block.to_dict())
                pieces.clear()
            elif event.type == "content_block_delta":
                if event.delta.type == "text_delta":
                    blocks[-1]["text"] += event.delta.text
                elif event.delta.type == "input_json_delta":
                    pieces.append(event.delta.partial_json)
            elif event.type == "content_block_stop" and blocks[-1]["type"] == "tool_use":
                blocks[-1]["input"] = json.loads("".join(pieces) or "{}")
        return blocks

    async def run(turns: int) -> None:
        messages: list[Any] = [{"role": "user", "content": "go"}]
        for _ in range(turns):
            blocks = await reply_to(messages)
            messages.append({"role": "assistant", "content": blocks})
            results = [
                {"type": "tool_result", "tool_use_id": block["id"], "content": RESULT}
                for block in blocks
                if block["type"] == "tool_use"
            ]
            messages.append({"role": "user", "content": results})

    return lambda turns: loop.run_until_complete(run(turns))


def ours(url: str) -> Callable[[int], None]:
    """mini-agent-core: the whole loop, without a session."""
    from mini_agent_core import AnthropicClient, run_agent
    from mini_agent_core.testing import RecordingTool

    loop = asyncio.new_event_loop()
    client = AnthropicClient(model=MODEL, api_key=KEY, max_retries=0, **sdk_options(url))
    tool = RecordingTool("read_file", RESULT, input_schema=SCHEMA, rounds=0)

    def run(turns: int) -> None:
        result = loop.run_until_complete(
            run_agent("go", client=client, system=SYSTEM, tools=[tool], max_turns=turns)
        )
        assert result.turns == turns

    return run


def pydantic_ai(url: str) -> Callable[[int], None]:
    """pydantic-ai with its Anthropic model, streaming, stopped by its request limit."""
    from anthropic import AsyncAnthropic

    ai = import_module("pydantic_ai")
    models = import_module("pydantic_ai.models.anthropic")
    providers = import_module("pydantic_ai.providers.anthropic")
    loop = asyncio.new_event_loop()
    sdk = AsyncAnthropic(api_key=KEY, base_url=url, max_retries=0)
    provider = providers.AnthropicProvider(anthropic_client=sdk)
    model = models.AnthropicModel(MODEL, provider=provider)
    agent = ai.Agent(model, system_prompt=SYSTEM, model_settings={"max_tokens": 32_000})

    def read_file(path: str) -> str:  # noqa: ARG001  # the tool's face
        """Read."""
        return RESULT

    agent.tool_plain(read_file)

    async def run(turns: int) -> None:
        try:
            limits = ai.UsageLimits(request_limit=turns)
            async with agent.iter("go", usage_limits=limits) as steps:
                async for node in steps:
                    if ai.Agent.is_model_request_node(node):
                        async with node.stream(steps.ctx) as events:
                            async for _ in events:
                                pass
        except ai.exceptions.UsageLimitExceeded:
            pass

    return lambda turns: loop.run_until_complete(run(turns))


def mini_swe_agent(url: str) -> Callable[[int], None]:
    """mini-swe-agent over litellm (not streaming), its environment answering without a shell."""
    os.environ.update(MSWEA_SILENT_STARTUP="1", MSWEA_COST_TRACKING="ignore_errors")
    agents = import_module("minisweagent.agents.default")
    models = import_module("minisweagent.models.litellm_model")

    class Environment:
        config = None

        def execute(self, action: Any, cwd: str = "") -> dict[str, Any]:  # noqa: ARG002  # its face
            return {"output": RESULT, "returncode": 0, "exception_info": ""}

        def get_template_vars(self, **_: Any) -> dict[str, Any]:
            return {}

        def serialize(self) -> dict[str, Any]:
            return {}

    model = models.LitellmModel(
        model_name=f"anthropic/{MODEL}",
        cost_tracking="ignore_errors",
        model_kwargs={"api_base": url, "api_key": KEY, "max_tokens": 32_000},
    )

    def run(turns: int) -> None:
        agent = agents.DefaultAgent(
            model,
            Environment(),
            system_template=SYSTEM,
            instance_template="go",
            step_limit=turns,
            cost_limit=0,
        )
        agent.run()
        assert agent.n_calls == turns, agent.messages[-1]

    return run


CONTESTANTS = {
    "by-hand": by_hand,
    "ours": ours,
    "pydantic-ai": pydantic_ai,
    "mini-swe-agent": mini_swe_agent,
}


def main(name: str, url: str, turns: int) -> None:
    """Measure one contestant and print its figures as JSON."""
    run = CONTESTANTS[name](url)
    run(WARM_UP_TURNS)
    cpu, wall = time.process_time(), time.perf_counter()
    run(turns)
    figures = {
        "cpu": (time.process_time() - cpu) / turns,
        "wall": (time.perf_counter() - wall) / turns,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
