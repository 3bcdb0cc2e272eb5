"""What the mock costs inside a test: calls through the SDK, a run set up and down, an import."""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

import anthropic
import httpx2
from load import ASK

from mini_agent_mock import Engine, MockHost, Scenario
from mini_agent_mock.edges.fixture import HostedScript
from mini_agent_mock.edges.runs import Run
from mini_agent_mock.edges.transport import AsyncMockTransport

ALWAYS = [{"text": "hi", "repeat": "always"}]


@dataclass(frozen=True)
class Calls:
    """Calls through the SDK: how many a second, and the user CPU in µs of each."""

    per_second: float
    user_cpu: float


def _user_cpu() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def _fixed() -> httpx2.AsyncBaseTransport:
    """The SDK's own limit: a transport that looks at nothing."""
    message: dict[str, Any] = {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": ASK["model"],
        "content": [{"type": "text", "text": "hi"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    body = json.dumps(message).encode()
    head = {"content-type": "application/json"}
    return httpx2.MockTransport(lambda _request: httpx2.Response(200, headers=head, content=body))


def calls(url: str, transport: httpx2.AsyncBaseTransport | None, seconds: float) -> Calls:
    """`create` calls one after the other, by the official async SDK, for so long."""

    async def main() -> Calls:
        http = httpx2.AsyncClient(transport=transport)
        client = anthropic.AsyncAnthropic(api_key="k", base_url=url, http_client=http)
        async with client as sdk:
            await sdk.messages.create(**ASK)
            count, elapsed = 0, 0.0
            began, cpu = time.perf_counter(), _user_cpu()
            while elapsed < seconds or not count:
                await sdk.messages.create(**ASK)
                count += 1
                elapsed = time.perf_counter() - began
            spent = _user_cpu() - cpu
        return Calls(count / elapsed, spent / count * 1e6)

    return asyncio.run(main())


def calls_in_process(seconds: float) -> Calls:
    """Calls that the mock answers without a socket."""
    run = Run(Engine(Scenario.parse(ALWAYS)))
    return calls("http://mock.invalid", AsyncMockTransport(run), seconds)


def calls_to_nothing(seconds: float) -> Calls:
    """Calls that a transport answers with fixed bytes."""
    return calls("http://mock.invalid", _fixed(), seconds)


def fixture_milliseconds(seconds: float) -> float:
    """Milliseconds to set a scripted run up and down on the process's server."""
    with MockHost() as host:
        taken: list[float] = []
        end = time.perf_counter() + seconds
        while (began := time.perf_counter()) < end or not taken:
            run = HostedScript(host)
            run.script(ALWAYS)
            run.close()
            taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


def import_milliseconds() -> float:
    """CPU milliseconds that importing the plugin adds to an interpreter that has pytest."""
    code = (
        "import pytest, time; t = time.process_time(); import mini_agent_mock.pytest_plugin;"
        " print((time.process_time() - t) * 1000)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)
