"""The matchers that `expect` is made of: each compares one value with what was observed.

A matcher returns complaints, none if it holds. It looks at what the agent *did*: requests,
results sent back, files, output, exit codes; never at what the script made the model say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from mini_agent_steps.proof.observation import (
    Observation,
    SeenRequest,
    blocks_of,
    calls_of,
    message_lines,
    results_of,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Requests: TypeAlias = "Sequence[SeenRequest]"
Complaints: TypeAlias = "list[str]"


@dataclass(frozen=True, slots=True)
class Matcher:
    """How a value of `expect` must look (``shape``), and the check itself."""

    shape: str
    fits: Callable[[Any], bool]
    check: Callable[[Any, Any], Complaints]


def _is_text_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_number_list(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, (int, float)) and not isinstance(item, bool) for item in value
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_calls(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, str) or (isinstance(item, dict) and item.keys() == {"name", "input"})
        for item in value
    )


def _is_results(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, str) or (isinstance(item, dict) and item.keys() == {"content", "is_error"})
        for item in value
    )


def _is_messages(value: object) -> bool:
    return isinstance(value, dict) and all(
        re.fullmatch("-?[1-9][0-9]{0,8}", key) and _is_text_list(lines)
        for key, lines in value.items()
    )


def _is_file_map(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(item, str)
        or (
            isinstance(item, dict)
            and item.keys() == {"contains"}
            and _is_text_list(item["contains"])
        )
        for item in value.values()
    )


def _differs(what: str, expected: object, seen: object) -> Complaints:
    """Compare; where two lists or maps differ, say which items do and not all of them."""
    if expected == seen:
        return []
    if isinstance(expected, list) and isinstance(seen, list) and len(expected) == len(seen):
        pairs = enumerate(zip(expected, seen, strict=True), 1)
        return [f"{what}, number {number}: {_expected(a, b)}" for number, (a, b) in pairs if a != b]
    return [f"{what}: {_expected(expected, seen)}"]


def _expected(expected: object, seen: object) -> str:
    return f"expected {short(expected)}, seen {short(seen)}"


def short(value: object, most: int = 400) -> str:
    """Write a value out, its middle left out if it is long."""
    text = repr(value)
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} […] {text[-half:]}"


def _tool_calls(expected: list[Any], requests: Requests) -> Complaints:
    seen = calls_of(requests)
    shown = [
        call.name if isinstance(want, str) else {"name": call.name, "input": call.input}
        for want, call in zip(expected, seen, strict=False)
    ]
    shown += [call.name for call in seen[len(expected) :]]
    return _differs("tool calls", expected, shown)


def _tool_results(expected: list[Any], requests: Requests) -> Complaints:
    wanted = [
        item if isinstance(item, dict) else {"content": item, "is_error": False}
        for item in expected
    ]
    seen = [
        {"content": result.content, "is_error": result.is_error} for result in results_of(requests)
    ]
    return _differs("tool results", wanted, seen)


def _in_results(expected: list[str], requests: Requests) -> Complaints:
    results = [result.content for result in results_of(requests)]
    return [
        f"no tool result contains {text!r}; they are {short(results)}"
        for text in expected
        if not any(text in result for result in results)
    ]


def _not_in_results(expected: list[str], requests: Requests) -> Complaints:
    return [
        f"a tool result contains {text!r}: {short(result.content)}"
        for text in expected
        for result in results_of(requests)
        if text in result.content
    ]


def _in_system(expected: list[str], requests: Requests) -> Complaints:
    return [
        f"the system prompt of request {number} lacks {text!r}: {short(request.system)}"
        for text in expected
        for number, request in enumerate(requests, 1)
        if text not in request.system
    ] or _some(requests)


def _not_in_system(expected: list[str], requests: Requests) -> Complaints:
    return [
        f"the system prompt of request {number} contains {text!r}"
        for text in expected
        for number, request in enumerate(requests, 1)
        if text in request.system
    ] or _some(requests)


def _some(requests: Requests) -> Complaints:
    return [] if requests else ["there was no request at all"]


def _tools(expected: list[str], requests: Requests) -> Complaints:
    complaints = []
    for number, request in enumerate(requests, 1):
        seen = [str(tool.get("name")) for tool in request.tools]
        complaints += _differs(f"tools of request {number}", expected, seen)
    return complaints or _some(requests)


def _tool_schemas(expected: Mapping[str, Any], requests: Requests) -> Complaints:
    complaints = []
    for number, request in enumerate(requests, 1):
        schemas = {tool.get("name"): tool.get("input_schema") for tool in request.tools}
        for name, schema in expected.items():
            what = f"schema of {name} in request {number}"
            complaints += _differs(what, schema, schemas.get(name))
    return complaints or _some(requests)


def _request_count(expected: int, requests: Requests) -> Complaints:
    return _differs("number of requests", expected, len(requests))


def _message_counts(expected: list[int], requests: Requests) -> Complaints:
    return _differs("messages per request", expected, [len(item.messages) for item in requests])


def _messages(expected: Mapping[str, list[str]], requests: Requests) -> Complaints:
    complaints = []
    for key, lines in expected.items():
        number = int(key)
        if abs(number) > len(requests):
            complaints.append(f"there is no request {key}; there were {len(requests)}")
            continue
        request = requests[number - 1 if number > 0 else number]
        seen = message_lines(request.messages)
        complaints += _differs(f"messages of request {key}", lines, seen)
    return complaints


def _in_user(expected: list[str], requests: Requests) -> Complaints:
    texts = [
        text_of([block for block in blocks_of(message.get("content")) if "text" in block])
        for request in requests
        for message in request.messages
        if message.get("role") == "user"
    ]
    return [
        f"no user message contains {wanted!r}; they are {short(texts)}"
        for wanted in expected
        if not any(wanted in text for text in texts)
    ]


def _request_fields(expected: Mapping[str, Any], requests: Requests) -> Complaints:
    complaints = []
    for number, request in enumerate(requests, 1):
        for name, value in expected.items():
            seen = request.body.get(name)
            complaints += _differs(f"`{name}` of request {number}", value, seen)
    return complaints or _some(requests)


def _final_stop_reason(expected: str, requests: Requests) -> Complaints:
    if not requests:
        return _some(requests)
    return _differs("final stop reason", expected, requests[-1].stop_reason)


TEXTS = "a list of strings"

TRACK_MATCHERS: Mapping[str, Matcher] = {
    "toolCalls": Matcher("a list of names or {name, input}", _is_calls, _tool_calls),
    "toolResults": Matcher("a list of texts or {content, is_error}", _is_results, _tool_results),
    "toolResultsContain": Matcher(TEXTS, _is_text_list, _in_results),
    "toolResultsExclude": Matcher(TEXTS, _is_text_list, _not_in_results),
    "systemContains": Matcher(TEXTS, _is_text_list, _in_system),
    "systemExcludes": Matcher(TEXTS, _is_text_list, _not_in_system),
    "tools": Matcher(TEXTS, _is_text_list, _tools),
    "toolSchemas": Matcher("an object", lambda value: isinstance(value, dict), _tool_schemas),
    "requests": Matcher("a whole number", _is_count, _request_count),
    "messageCounts": Matcher("a list of whole numbers", _is_number_list, _message_counts),
    "messages": Matcher("request number → list of strings", _is_messages, _messages),
    "userContains": Matcher(TEXTS, _is_text_list, _in_user),
    "requestFields": Matcher("an object", lambda value: isinstance(value, dict), _request_fields),
    "finalStopReason": Matcher(
        "a string", lambda value: isinstance(value, str), _final_stop_reason
    ),
}


def _files(expected: Mapping[str, Any], seen: Mapping[str, str], where: str) -> Complaints:
    complaints = []
    for path, want in expected.items():
        text = seen.get(path)
        if text is None:
            complaints.append(f"no file {path} in the {where}; there are {sorted(seen)}")
        elif isinstance(want, str):
            complaints += _differs(f"{path} in the {where}", want, text)
        else:
            complaints += [
                f"{path} in the {where} lacks {piece!r}: {short(text)}"
                for piece in want["contains"]
                if piece not in text
            ]
    return complaints


def _absent(expected: list[str], seen: Mapping[str, str], where: str) -> Complaints:
    return [
        f"{path} in the {where} should not be there"
        for path in expected
        if any(name == path or name.startswith(path.rstrip("/") + "/") for name in seen)
    ]


def _contains(expected: Iterable[str], text: str, where: str) -> Complaints:
    return [f"{where} lacks {piece!r}: {short(text)}" for piece in expected if piece not in text]


def _excludes(expected: Iterable[str], text: str, where: str) -> Complaints:
    return [f"{where} contains {piece!r}: {short(text)}" for piece in expected if piece in text]


def _reply_printed(expected: bool, seen: Observation) -> Complaints:
    """The script's last text is put in place of ``True`` before the check."""
    return _contains([str(expected)], seen.stdout, "stdout")


def _chunks(expected: Mapping[str, int], seen: Observation) -> Complaints:
    """A reply's text came in several writes, the first before the reply had ended."""
    best = 0
    for request in seen.requests:
        if request.finished_at is None or not request.body.get("stream"):
            continue
        before = [
            item
            for item in seen.screen
            if item.stream == "out" and item.text.strip() and item.at < request.finished_at
        ]
        best = max(best, len(before))
    wanted = expected["atLeast"]
    if best >= wanted:
        return []
    return [f"output while a reply streamed: expected {wanted} writes before its end, seen {best}"]


WORLD_MATCHERS: Mapping[str, Matcher] = {
    "files": Matcher(
        "path → text or {contains}",
        _is_file_map,
        lambda want, o: _files(want, o.files, "workspace"),
    ),
    "filesAbsent": Matcher(
        TEXTS, _is_text_list, lambda want, o: _absent(want, o.files, "workspace")
    ),
    "homeFiles": Matcher(
        "path → text or {contains}",
        _is_file_map,
        lambda want, o: _files(want, o.home_files, "home"),
    ),
    "homeFilesAbsent": Matcher(
        TEXTS, _is_text_list, lambda want, o: _absent(want, o.home_files, "home")
    ),
    "stdout": Matcher(
        "a string",
        lambda value: isinstance(value, str),
        lambda want, o: _differs("stdout", want, o.stdout),
    ),
    "stdoutContains": Matcher(
        TEXTS, _is_text_list, lambda want, o: _contains(want, o.stdout, "stdout")
    ),
    "stdoutExcludes": Matcher(
        TEXTS, _is_text_list, lambda want, o: _excludes(want, o.stdout, "stdout")
    ),
    "stderrContains": Matcher(
        TEXTS, _is_text_list, lambda want, o: _contains(want, o.stderr, "stderr")
    ),
    "stderrExcludes": Matcher(
        TEXTS, _is_text_list, lambda want, o: _excludes(want, o.stderr, "stderr")
    ),
    "replyPrinted": Matcher("true", lambda value: value is True, _reply_printed),
    "exitCodes": Matcher(
        "a list of whole numbers",
        _is_number_list,
        lambda want, o: _differs("exit codes", want, list(o.exit_codes)),
    ),
    "sleeps": Matcher(
        "a list of seconds",
        _is_number_list,
        lambda want, o: _differs("sleeps", want, list(o.sleeps)),
    ),
    "chunks": Matcher(
        '{"atLeast": n}',
        lambda value: isinstance(value, dict) and value.keys() == {"atLeast"},
        _chunks,
    ),
    "mcpMethods": Matcher(
        TEXTS, _is_text_list, lambda want, o: _differs("MCP methods", want, list(o.mcp_methods))
    ),
}
