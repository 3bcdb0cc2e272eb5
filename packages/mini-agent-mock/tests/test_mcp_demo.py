import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mini_agent_mock.mcp_demo import McpDemo, serve


def call(method: str, number: int = 1, **parameters: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}


def ready() -> McpDemo:
    demo = McpDemo()
    demo.answer(call("initialize", protocolVersion="2025-06-18"))
    return demo


def result(reply: dict[str, Any] | None) -> Any:
    assert reply is not None
    return reply["result"]


def test_the_client_s_version_is_taken_if_it_is_known_and_the_newest_offered_else() -> None:
    assert (
        result(McpDemo().answer(call("initialize", protocolVersion="2025-06-18")))[
            "protocolVersion"
        ]
        == "2025-06-18"
    )
    assert (
        result(McpDemo().answer(call("initialize", protocolVersion="1999")))["protocolVersion"]
        == "2025-11-25"
    )
    assert result(McpDemo(["1999"]).answer(call("initialize")))["protocolVersion"] == "1999"


def test_nothing_but_ping_works_before_initialize() -> None:
    demo = McpDemo()
    assert result(demo.answer(call("ping"))) == {}
    reply = demo.answer(call("tools/list"))
    assert reply is not None
    assert reply["error"]["message"] == "Server not initialized"


def test_tools_are_listed_and_called() -> None:
    demo = ready()
    assert [tool["name"] for tool in result(demo.answer(call("tools/list")))["tools"]] == [
        "echo",
        "add",
        "fail",
    ]
    echo = result(demo.answer(call("tools/call", name="echo", arguments={"text": "hi"})))
    assert echo == {"content": [{"type": "text", "text": "hi"}], "isError": False}
    add = result(demo.answer(call("tools/call", name="add", arguments={"a": 1, "b": 2.5})))
    assert add["content"][0]["text"] == "3.5"
    assert result(demo.answer(call("tools/call", name="fail")))["isError"] is True


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (call("tools/call", name="no"), "Unknown tool: no"),
        (call("tools/call", name="add", arguments={"a": 1}), "Invalid arguments for add"),
        (call("tools/call", name="echo", arguments=[]), "Invalid arguments for echo"),
        (call("resources/list"), "Method not found: resources/list"),
        (call("tools/call", name=["no"]), "Unknown tool: ['no']"),
        (call("tools/call", name="add", arguments={"a": True, "b": 1}),
         "Invalid arguments for add"),
        (call("tools/call", name="add", arguments={"a": 10**400, "b": 0.5}),
         "Invalid arguments for add"),
        (call("tools/call", name="add", arguments={"a": 1e308, "b": 1e308}),
         "Invalid arguments for add"),
        ({"id": 1}, "Invalid Request"),
        ({"id": {"a": 1}, "method": "ping"}, "Invalid Request"),
        ([], "Invalid Request"),
    ],
    ids=["tool", "argument", "shape", "method", "tool name", "truth", "too large", "no sum",
         "no method", "id", "list"],
)  # fmt: skip
def test_what_cannot_be_done_is_an_error_of_the_protocol(message: Any, text: str) -> None:
    reply = ready().answer(message)
    assert reply is not None
    assert reply["error"]["message"] == text


@pytest.mark.parametrize(
    ("a", "b", "total"), [(1_234_567_890, 1, "1234567891"), (0.5, 1.5, "2"), (0.1, 0.25, "0.35")]
)
def test_sums_are_exact(a: float, b: float, total: str) -> None:
    added = result(ready().answer(call("tools/call", name="add", arguments={"a": a, "b": b})))
    assert added["content"][0]["text"] == total


@pytest.mark.parametrize(
    "message", [{"method": "notifications/initialized"}, {"id": 1, "result": {}}]
)
def test_what_asks_for_nothing_gets_no_reply(message: Any) -> None:
    assert McpDemo().answer({"jsonrpc": "2.0", **message}) is None


def test_lines_in_lines_out_and_a_log_of_what_came(tmp_path: Path) -> None:
    log, writer = tmp_path / "log.jsonl", io.StringIO()
    lines = [
        json.dumps(call("initialize")),
        "",
        "not json",
        "[" * 100_000,
        json.dumps({"method": "notifications/initialized"}),
    ]
    with log.open("w") as kept:
        serve(io.StringIO("\n".join(lines)), writer, McpDemo(), kept)
    replies = [json.loads(line) for line in writer.getvalue().splitlines()]
    assert [reply.get("error", {}).get("code") for reply in replies] == [None, -32700, -32700]
    assert [json.loads(line)["method"] for line in log.read_text().splitlines()] == [
        "initialize", "notifications/initialized",
    ]  # fmt: skip


def test_it_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mini_agent_mock.mcp_demo", "--versions", "2024-11-05"],
        input=json.dumps(call("initialize")) + "\n",
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert json.loads(done.stdout)["result"]["protocolVersion"] == "2024-11-05"


@pytest.mark.parametrize("log", ["no/such/folder", "/dev/full"])
def test_a_log_that_cannot_be_written_is_one_line(tmp_path: Path, log: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mini_agent_mock.mcp_demo", "--log", log],
        input=json.dumps(call("ping")) + "\n",
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 1
    assert "cannot write" in done.stderr
    assert done.stderr.count("\n") == 1
