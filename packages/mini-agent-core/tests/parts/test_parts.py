"""The small parts: waiting, the token, the ledger, JSON text, results, the package's face."""

from __future__ import annotations

import ast
import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mini_agent_core
from mini_agent_core import (
    CancelToken,
    MiniAgentError,
    ModelConnectionError,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from mini_agent_core.history import Ledger, OutOfOrder
from mini_agent_core.json_text import (
    MAX_DEPTH,
    dump_line,
    parse_json,
    valid_unicode,
    without_lone_surrogates,
)
from mini_agent_core.messages_json import from_json, to_json
from mini_agent_core.results import bounded
from mini_agent_core.testing import TrippingToken, call_reply
from mini_agent_core.waiting import interruptible, uninterrupted


def test_a_token_runs_each_callback_once_and_late_ones_at_once() -> None:
    token, called = CancelToken(), []
    token.on_cancel(lambda: called.append("first"))
    forget = token.on_cancel(lambda: called.append("forgotten"))
    forget()
    forget()
    assert token.is_set is False
    token.set()
    token.set()
    assert bool(token.is_set)
    assert called == ["first"]
    token.on_cancel(lambda: called.append("late"))()
    assert called == ["first", "late"]


@pytest.mark.anyio
async def test_waiting_for_a_token_ends_when_it_is_set_and_leaves_nothing_behind() -> None:
    token = CancelToken()
    waiting = asyncio.ensure_future(token.wait())
    await asyncio.sleep(0)
    assert not waiting.done()
    token.set()
    await asyncio.wait_for(waiting, 10)
    await asyncio.wait_for(token.wait(), 10)
    assert not token._callbacks


@pytest.mark.anyio
async def test_a_wait_that_is_given_up_takes_its_callback_back() -> None:
    token = CancelToken()
    waiting = asyncio.ensure_future(token.wait())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert not token._callbacks


def test_a_token_trips_at_its_hand_back_and_looking_is_one() -> None:
    token = TrippingToken(at=3)
    token.hand_back()
    looks = [token.is_set, token.is_set]
    assert looks == [False, True]
    assert token.hand_backs == 3
    assert not TrippingToken().is_set


@pytest.mark.anyio
async def test_an_interruptible_wait_is_broken_off_by_the_token_and_by_nothing_else() -> None:
    token = CancelToken()
    asyncio.get_running_loop().call_soon(token.set)
    with interruptible(token):
        await asyncio.Event().wait()
    assert token.is_set
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    await asyncio.sleep(0)  # nothing of the interruption is left over


@pytest.mark.anyio
async def test_an_interruptible_block_that_ends_in_time_is_left_as_it_is() -> None:
    token = CancelToken()
    with interruptible(token):
        token.set()
    await asyncio.sleep(0)
    assert not token._callbacks
    with pytest.raises(ZeroDivisionError), interruptible(token):
        raise ZeroDivisionError


@pytest.mark.anyio
async def test_a_block_that_answers_the_interruption_with_an_error_of_its_own_raises_it() -> None:
    token = CancelToken()
    asyncio.get_running_loop().call_soon(token.set)

    async def bad_loser() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), interruptible(token):
        await bad_loser()
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


@pytest.mark.anyio
async def test_a_model_error_passes_unless_the_token_is_set() -> None:
    token = CancelToken()
    with pytest.raises(ModelConnectionError), interruptible(token):
        raise ModelConnectionError("gone")
    token.set()
    with interruptible(token):
        raise ModelConnectionError("closed")


@pytest.mark.anyio
async def test_a_cancellation_from_elsewhere_passes_even_when_the_token_is_set_with_it() -> None:
    token = CancelToken()

    async def wait() -> None:
        with interruptible(token):
            await asyncio.Event().wait()

    task = asyncio.ensure_future(wait())
    await asyncio.sleep(0)
    token.set()
    await asyncio.sleep(0)  # the interruption is on its way
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.anyio
async def test_doing_is_waited_for_however_often_the_waiting_task_is_cancelled() -> None:
    done = asyncio.Event()
    cancelled: list[BaseException] = []

    async def work() -> str:
        await done.wait()
        return "done"

    task = asyncio.ensure_future(uninterrupted(work(), cancelled.append))
    for _ in range(3):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    done.set()
    assert await task == "done"
    assert len(cancelled) == 3


def test_a_ledger_knows_the_open_calls_and_stays_as_it_was_when_it_refuses() -> None:
    ledger = Ledger([UserMessage("x"), call_reply(ToolCall("a", "t", {}), ToolCall("b", "t", {}))])
    ledger.add(ToolMessage("b", ToolResult("")))
    for wrong in (ToolMessage("b", ToolResult("")), UserMessage("x")):
        with pytest.raises(OutOfOrder) as refused:
            ledger.add(wrong)
        assert refused.value.index == 3
    assert [call.id for call in ledger.open_calls] == ["a"]
    ledger.add(ToolMessage("a", ToolResult("")))
    assert ledger.open_calls == ()
    assert ledger.used_ids == {"a", "b"}


TEXT = st.text(st.characters(codec=None, exclude_categories=[]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(JSON)
def test_json_goes_through_a_line_and_comes_back(value: object) -> None:
    line = dump_line(value)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert parse_json(line) == value


@given(TEXT)
def test_any_text_survives_a_line_but_for_halves_that_meet(text: str) -> None:
    back = parse_json(dump_line(text))
    assert back.encode("utf-16", "surrogatepass") == text.encode("utf-16", "surrogatepass")


@given(TEXT)
def test_text_made_valid_is_valid_and_valid_text_is_left_alone(text: str) -> None:
    mended = without_lone_surrogates(text)
    mended.encode()
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert mended == text


def test_every_string_of_a_value_is_made_valid_keys_included() -> None:
    assert valid_unicode({"\ud800": ["\udc00", {"a": "\ud83d\ude00"}], "n": 1, "x": None}) == {
        "\ufffd": ["\ufffd", {"a": "😀"}],
        "n": 1,
        "x": None,
    }


def test_nesting_is_taken_up_to_its_bound_and_no_further() -> None:
    assert parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    for depth in (MAX_DEPTH + 1, 5000, 1_000_000):
        with pytest.raises(ValueError, match="nested too deeply"):
            parse_json("[" * depth + "]" * depth)
    wide = "[" + ",".join(["[]"] * 1000) + "]"
    assert len(parse_json(wide)) == 1000
    deep_object = '{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1)
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_json(deep_object)


@pytest.mark.parametrize(
    "text", ["", "NaN", "-Infinity", "{", "{}{}", b"\xff", "1" * 5000, "1e999"]
)
def test_what_is_not_json_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}])
def test_what_cannot_be_json_is_a_value_error(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        dump_line(value)


def test_nesting_without_end_is_a_value_error() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(ValueError, match=r"."):
        dump_line(endless)


@given(st.dictionaries(st.sampled_from(["role", "text", "blocks", "covers", "usage"]), JSON | TEXT))
def test_rubbish_is_a_message_or_a_value_error(value: dict[str, object]) -> None:
    try:
        message = from_json(value)
    except ValueError:
        return
    assert to_json(message) == value


@pytest.mark.parametrize(
    ("limit", "shown"),
    [
        (10, "0123456789"),
        (9, "01234\n[... 1 characters left out ...]\n6789"),
        (4, "01\n[... 6 characters left out ...]\n89"),
        (1, "0\n[... 9 characters left out ...]\n"),
    ],
)
def test_a_bounded_text_keeps_head_and_tail_and_says_how_much_is_missing(
    limit: int, shown: str
) -> None:
    assert bounded("0123456789", limit) == shown


def test_every_error_of_ours_descends_from_one_and_stands_in_the_tree_at_the_top() -> None:
    from mini_agent_core import errors

    ours = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)]
    assert all(issubclass(error, MiniAgentError) for error in ours)
    assert errors.__doc__ is not None
    assert all(error.__name__ in errors.__doc__ for error in ours)


def test_the_public_names_are_a_decision_that_the_module_keeps() -> None:
    source = Path(mini_agent_core.__file__).read_text()
    imported = {
        alias.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mini_agent_core.")
        for alias in node.names
    }
    assert imported == set(mini_agent_core.__all__) == set(dir(mini_agent_core))
    for name in mini_agent_core.__all__:
        assert getattr(mini_agent_core, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'novel'"):
        _ = mini_agent_core.novel


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


def test_importing_the_package_loads_neither_its_modules_nor_asyncio() -> None:
    loaded = loaded_by("import mini_agent_core")
    assert "asyncio" not in loaded
    assert {name for name in loaded if name.startswith("mini_agent_core.")} == set()


LOAD_AHEAD = """
import gc, sys
from mini_agent_core.anthropic_client import preload
full_collections = lambda: gc.get_stats()[2]["collections"]
before = full_collections()
preload()
print("anthropic" in sys.modules, full_collections() - before, gc.isenabled())
gc.disable()
preload()
print(gc.isenabled())
"""


def test_the_sdk_can_be_loaded_ahead_while_the_collector_rests() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOAD_AHEAD], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines() == ["True 0 True", "False"]


def test_no_public_name_loads_the_sdk_or_a_tool_that_was_not_asked_for() -> None:
    loaded = loaded_by("import mini_agent_core as m; [getattr(m, n) for n in m.__all__]")
    assert not {"anthropic", "httpx2", "pydantic", "rich"} & loaded
    assert "mini_agent_core.tools" not in loaded
