"""What the terminal and the page say about a request and its reply, in one place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mini_agent_mock.show.log import count

if TYPE_CHECKING:
    from mini_agent_mock.show.log import Exchange, Json, ShownRun

SHORT = 72


def shortened(text: str, limit: int = SHORT) -> str:
    """One line of at most `limit` characters; what is cut off is marked by an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def compact(value: Any) -> str:
    """A JSON value in one line."""
    return json.dumps(value, ensure_ascii=False)


def blocks_of(message: Json) -> list[Json]:
    """The content of a message as blocks, also if it is one text."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict)]


def block_text(block: Json) -> tuple[str, str]:
    """A block as a label and its text."""
    kind = str(block.get("type"))
    if kind == "text":
        return "text", str(block.get("text"))
    if kind == "thinking":
        return "thinking", str(block.get("thinking") or "(omitted)")
    if kind == "tool_use":
        return f"call {block.get('name')}", compact(block.get("input"))
    if kind == "tool_result":
        label = "error result" if block.get("is_error") else "result"
        inner = [block_text(part)[1] for part in blocks_of(block)]
        return label, "\n".join(inner)
    rest = {name: value for name, value in block.items() if name != "type"}
    return kind, compact(rest)


def last_message(exchange: Exchange) -> Json:
    """The newest message of a request; empty if it has none."""
    messages = exchange.body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else {}
    return last if isinstance(last, dict) else {}


def place(exchange: Exchange) -> str:
    """The lane and, if a turn was played, which: `main turns[2]`."""
    turn = str(exchange.request.get("turn") or "")
    return f"{exchange.lane} {turn.removeprefix(f'tracks.{exchange.lane}.')}".strip()


def request_facts(exchange: Exchange) -> list[str]:
    """What characterises a request, most telling first."""
    body = exchange.body
    facts = [str(body["model"])] if "model" in body else []
    messages = body.get("messages")
    if isinstance(messages, list):
        facts.append(counted(len(messages), "message"))
    if isinstance(body.get("tools"), list):
        facts.append(counted(len(body["tools"]), "tool"))
    if body.get("stream"):
        facts.append("stream")
    retry = exchange.request.get("retry")
    if retry:
        facts.append(f"retry {retry}")
    if exchange.request.get("replayed"):
        facts.append("replayed")
    return facts


def outcome(exchange: Exchange) -> str:
    """How the reply went, in a few words."""
    error = exchange.error
    if error:
        said = f"{error.get('type')}: {error.get('message')}"
    else:
        said = str(exchange.message.get("stop_reason") or "")
    parts = [str(exchange.status or "no reply"), said]
    if exchange.reply.get("fault"):
        parts.append(f"fault {exchange.reply['fault']}")
    ending = exchange.sent.get("outcome")
    if ending not in (None, "complete"):
        parts.append(str(ending))
    return " · ".join(part for part in parts if part)


def went_well(exchange: Exchange) -> bool:
    """Whether the client got a whole, successful reply."""
    return 200 <= exchange.status < 400 and exchange.sent.get("outcome") in (None, "complete")


def tokens(exchange: Exchange) -> dict[str, int]:
    """The usage as four numbers: read, written, fresh (input that met no cache), output."""
    usage = exchange.usage
    return {
        name: count(usage.get(key))
        for name, key in (
            ("read", "cache_read_input_tokens"),
            ("written", "cache_creation_input_tokens"),
            ("fresh", "input_tokens"),
            ("output", "output_tokens"),
        )
    }


def duration(seconds: float) -> str:
    """Seconds for people: `12 ms`, `1.20 s`."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def counted(number: int, noun: str) -> str:
    """`1 tool`, `2,000 tools`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def summary(run: ShownRun) -> str:
    """The run in one line."""
    name = run.head.get("scenario") or "a run"
    parts = [str(name), counted(len(run.exchanges), "request"), duration(run.duration)]
    if run.failures:
        parts.append(counted(len(run.failures), "failure"))
    if run.torn:
        parts.append("the last line is unfinished")
    return " · ".join(parts)
