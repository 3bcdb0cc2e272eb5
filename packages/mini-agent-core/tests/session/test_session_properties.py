"""Whatever stands in a session file, loading gives a whole history or says which line is wrong."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mini_agent_core import (
    AssistantMessage,
    Message,
    OpaqueBlock,
    Session,
    SessionCorrupt,
    SummaryMessage,
    TextBlock,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
    load_session,
)
from mini_agent_core.json_text import MAX_DEPTH, dump_line
from mini_agent_core.messages_json import to_json

# Two halves of a pair that meet are one character in JSON; everything else survives.
TEXT = st.text(st.characters(codec=None, exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["\ud800", "\u2028", "\x00", "\r\n", ""]
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
COUNTS = st.integers(0, 2**60)
USAGE = st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS)
OPAQUE = st.builds(OpaqueBlock, st.dictionaries(TEXT, JSON, max_size=3))


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    history: list[Message] = []
    for number in range(draw(st.integers(0, 4))):
        history.append(UserMessage(draw(TEXT), tuple(draw(st.lists(TEXT, max_size=2)))))
        inputs = draw(st.lists(st.dictionaries(TEXT, JSON, max_size=2), max_size=2))
        calls = [ToolCall(f"{number}-{n}", draw(TEXT), i) for n, i in enumerate(inputs)]
        blocks: list[Any] = [
            *draw(st.lists(st.builds(TextBlock, TEXT) | OPAQUE, max_size=2)),
            *calls,
        ]
        reason = "tool_use" if calls else draw(st.sampled_from(["end_turn", "refusal"]))
        history.append(AssistantMessage(tuple(blocks), reason, draw(USAGE), draw(TEXT)))  # type: ignore[arg-type]  # drawn from the known ones
        history += [ToolMessage(c.id, ToolResult(draw(TEXT), draw(st.booleans()))) for c in calls]
        if draw(st.booleans()):
            history.append(SummaryMessage(draw(TEXT), len(history), draw(USAGE)))
    return history


def load(data: bytes) -> list[Message]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session"
        path.write_bytes(data)
        return load_session(path)


@given(histories())
def test_any_history_comes_back_as_it_was(history: list[Message]) -> None:
    assert load(b"".join(dump_line(to_json(message)) for message in history)) == history


@given(histories(), st.data())
@settings(max_examples=200)
def test_a_damaged_file_is_refused_with_its_line_or_gives_a_history_in_order(
    history: list[Message], data: st.DataObject
) -> None:
    whole = bytearray(b"".join(dump_line(to_json(message)) for message in history))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(whole)))
        match data.draw(st.sampled_from(["cut", "insert", "change"])):
            case "cut":
                del whole[at : at + data.draw(st.integers(1, 40))]
            case "insert":
                whole[at:at] = data.draw(st.binary(min_size=1, max_size=4))
            case _:
                whole[at : at + 1] = data.draw(st.binary(min_size=1, max_size=1))
    lines = whole.count(b"\n")
    try:
        reached = len(load(bytes(whole)))
    except SessionCorrupt as corrupt:
        reached = corrupt.line
    assert 0 <= reached <= lines


WRONG: list[Any] = [
    UserMessage(None),  # type: ignore[arg-type]  # the mistake on trial
    UserMessage("x", (1,)),  # type: ignore[arg-type]  # the mistake on trial
    AssistantMessage((TextBlock(7),)),  # type: ignore[arg-type]  # the mistake on trial
    AssistantMessage((ToolCall("a", None, {}),), "tool_use"),  # type: ignore[arg-type]  # the mistake on trial
    AssistantMessage((), "novel"),  # type: ignore[arg-type]  # the mistake on trial
    AssistantMessage((), usage=Usage(-1)),
    AssistantMessage((OpaqueBlock(json.loads("[" * 200 + "]" * 200)),)),
    SummaryMessage("x", True),
    SummaryMessage("x", -1),
]


@pytest.mark.anyio
@pytest.mark.parametrize("wrong", WRONG, ids=range(len(WRONG)))
async def test_what_could_not_be_loaded_again_is_not_written(tmp_path: Path, wrong: Any) -> None:
    path = tmp_path / "session"
    with Session.open(path) as session:
        await session.append(UserMessage("before"))
        with pytest.raises(ValueError, match=r"must|deeply"):
            await session.append(wrong)
        await session.append(UserMessage("after"))
    assert load_session(path) == [UserMessage("before"), UserMessage("after")]


@pytest.mark.anyio
async def test_input_nested_as_deeply_as_the_wire_takes_it_is_kept(tmp_path: Path) -> None:
    nested = json.loads('{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH)
    reply = AssistantMessage((ToolCall("a", "t", nested),), "tool_use")
    with Session.open(tmp_path / "session") as session:
        await session.append(reply)
    assert load_session(tmp_path / "session") == [reply]


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_with_their_line_or_set_aside(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session"
        path.write_bytes(data)
        try:
            session = Session.open(path)
        except SessionCorrupt as corrupt:
            line = corrupt.line
        else:
            line = 0
            session.close()
            assert path.read_bytes() == b""
        assert 0 <= line <= data.count(b"\n")
        assert (line == 0) == (b"\n" not in data)
