import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent_mock.cache_assertions import assert_cache_hit_rate
from mini_agent_mock.rule_docs.case import assistant, body, call, result, system, text, tool, user
from mini_agent_mock.tokens import CacheAccounting, count_input, count_output, count_text

LONG = "x" * 8_000
MARK: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}
HOUR: dict[str, Any] = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


class Clock:
    def __init__(self) -> None:
        self.time = 1_000.0

    def now(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(clock: Clock) -> CacheAccounting:
    return CacheAccounting(clock)


def parts(usage: dict[str, Any]) -> tuple[int, int, int]:
    """Neither, written, read."""
    return (
        usage["input_tokens"],
        usage["cache_creation_input_tokens"],
        usage["cache_read_input_tokens"],
    )


def test_four_bytes_make_a_token() -> None:
    assert [count_text(t) for t in ("", "a", "abcd", "abcde", "ünï", "\ud800")] == [
        0,
        1,
        1,
        2,
        2,
        1,
    ]


def test_each_kind_of_block_has_its_price() -> None:
    pdf = {"type": "base64", "data": "x" * 9_000}
    prices: list[tuple[Any, int]] = [
        (text("abcd"), 1),
        ({"type": "thinking", "thinking": "abcdefgh", "signature": "not counted"}, 2),
        ({"type": "image", "source": {"type": "base64", "data": "x" * 9_000}}, 1_568),
        ({"type": "document", "source": pdf}, 136),
        ({"type": "document", "source": {"type": "text", "data": "x" * 400}}, 114),
        ({"type": "tool_result", "tool_use_id": "not counted", "content": "abcd"}, 13),
        ({"type": "tool_result", "content": [text("abcd"), text("abcd")]}, 14),
        ({"type": "tool_use", "id": "not counted", "name": "read", "input": {"a": 1}}, 15),
    ]
    for block, price in prices:
        assert count_output([block]) == price, block
    assert count_input(body(user(text("abcd")))) == 1 + 4
    assert count_input(body(user("a"), tools=[{"name": "b"}, {"name": "c"}])) == 290 + 30 + 5


def test_more_content_never_costs_less() -> None:
    small = body(user("a"))
    image = {"type": "image", "source": {"type": "url", "url": "u"}}
    pdf = {"type": "document", "source": {"type": "base64", "data": "x" * 9_000}}
    for bigger in (
        body(user("a" * 100)),
        body(user("a"), system="be kind"),
        body(user("a"), tools=[tool()]),
        body(user(text("a"), image)),
        body(user(text("a"), pdf)),
        body(user("a"), assistant(call()), user(result())),
        body(user("a"), assistant({"type": "thinking", "thinking": "hm"})),
        body(user("a"), assistant({"type": "server_tool_use", "id": "1"})),
        body(user("a"), user({"type": "tool_result", "content": [text("abc")]})),
        body(user("a"), user({"type": "tool_result"})),
    ):
        assert count_input(bigger) > count_input(small)


def test_a_reply_costs_at_least_one_token() -> None:
    assert count_output([]) == 1
    assert count_output([text("abcde"), call()]) > 2


@given(st.dictionaries(st.sampled_from(["tools", "system", "messages"]), st.lists(
    st.text(max_size=3) | st.integers() | st.dictionaries(st.just("content"), st.text(max_size=4)),
    max_size=3)))  # fmt: skip
def test_any_odd_body_is_counted(odd: dict[str, Any]) -> None:
    assert count_input(odd) >= 0
    odd["cache_control"] = {"type": "ephemeral"}
    assert sum(parts(CacheAccounting(Clock()).account(odd))) == count_input(odd)


def test_without_marks_nothing_is_cached(cache: CacheAccounting) -> None:
    request = body(user(LONG))

    first, second = cache.account(request), cache.account(request)

    assert parts(first) == parts(second) == (count_input(request), 0, 0)


def test_a_marked_prefix_is_written_once_and_read_after(cache: CacheAccounting) -> None:
    request = body(user("q"), system=[text(LONG, **MARK)])

    first, second = cache.account(request), cache.account(request)

    fresh = count_input(body(user("q")))
    assert parts(first) == (fresh, 2_000, 0)
    assert parts(second) == (fresh, 0, 2_000)
    assert first["cache_creation"] == {
        "ephemeral_5m_input_tokens": 2_000,
        "ephemeral_1h_input_tokens": 0,
    }


def test_one_changed_byte_in_the_prefix_yields_zero_reads(cache: CacheAccounting) -> None:
    cache.account(body(user("q"), system=[text(LONG, **MARK)]))

    for changed in (
        body(user("q"), system=[text(LONG[:-1] + "y", **MARK)]),
        body(user("q"), system=[text(LONG, **MARK)], tools=[tool()]),
        body(user("q"), system=[text(LONG, **MARK)], model="claude-sonnet-5-5"),
    ):
        assert cache.account(changed)["cache_read_input_tokens"] == 0


def test_a_growing_conversation_reads_all_it_sent_before(cache: CacheAccounting) -> None:
    messages = [user(LONG)]
    previous = 0
    for _ in range(5):
        usage = cache.account(body(*messages, **MARK))
        assert usage["cache_read_input_tokens"] == previous
        assert usage["input_tokens"] == 0
        previous = sum(parts(usage))
        messages += [assistant("hm " * 50), user("more")]


def test_moving_the_mark_does_not_count_as_a_change(cache: CacheAccounting) -> None:
    cache.account(body(user(text(LONG, **MARK))))

    usage = cache.account(body(user(text(LONG)), assistant("a"), user(text("b", **MARK))))

    assert usage["cache_read_input_tokens"] == 2_004


def test_text_and_a_text_block_are_the_same_prefix(cache: CacheAccounting) -> None:
    cache.account(body(user("q"), system=[text(LONG, **MARK)]))

    usage = cache.account(body(user(text("q", **MARK)), system=LONG))

    assert usage["cache_read_input_tokens"] == 2_000


def test_a_lookup_reaches_back_twenty_blocks_and_no_further(cache: CacheAccounting) -> None:
    start = [text(LONG, **MARK)]
    cache.account(body(user(*start)))

    near = body(user(text(LONG), *[text("a")] * 19, text("b", **MARK)))
    far = body(user(text(LONG), *[text("a")] * 20, text("b", **MARK)))

    assert cache.account(far)["cache_read_input_tokens"] == 0
    assert cache.account(near)["cache_read_input_tokens"] == 2_004


def test_a_prefix_below_the_models_minimum_is_not_cached(cache: CacheAccounting) -> None:
    short = body(
        user(
            "x" * 2_000,
        ),
        **MARK,
    )

    assert parts(cache.account(short))[1] == 0
    enough = body(user("x" * 2_040), **MARK)
    assert parts(cache.account(enough))[1] == 514


def test_an_entry_lives_five_minutes_from_its_last_use(
    cache: CacheAccounting, clock: Clock
) -> None:
    request = body(user(LONG), **MARK)
    cache.account(request)

    clock.time += 299
    assert cache.account(request)["cache_read_input_tokens"] > 0
    clock.time += 299
    assert cache.account(request)["cache_read_input_tokens"] > 0
    clock.time += 300
    assert cache.account(request)["cache_read_input_tokens"] == 0


def test_the_hour_and_the_five_minutes_are_kept_apart(cache: CacheAccounting, clock: Clock) -> None:
    request = body(user(text(LONG, **MARK)), system=[text(LONG, **HOUR)])

    first = cache.account(request)
    assert first["cache_creation"] == {
        "ephemeral_5m_input_tokens": 2_004,
        "ephemeral_1h_input_tokens": 2_000,
    }
    clock.time += 600
    later = cache.account(request)
    assert later["cache_read_input_tokens"] == 2_000
    assert later["cache_creation"]["ephemeral_5m_input_tokens"] == 2_004


def test_marks_on_tools_and_in_results_are_breakpoints(cache: CacheAccounting) -> None:
    tools = [tool(description=LONG, **MARK)]
    cache.account(body(user("a"), tools=tools))
    assert cache.account(body(user("b"), tools=tools))["cache_read_input_tokens"] > 2_000

    answer = {**result(), "content": [text(LONG), text("x", **MARK)]}
    request = body(user("c"), assistant(call()), user(answer))
    cache.account(request)
    assert cache.account(request)["cache_read_input_tokens"] > 2_000


def test_a_changed_choice_of_tool_spares_what_comes_before_the_messages(
    cache: CacheAccounting,
) -> None:
    fields = {"system": [text(LONG, **MARK)], "tools": [tool()]}
    cache.account(body(user(text(LONG, **MARK)), **fields))

    usage = cache.account(body(user(text(LONG, **MARK)), **fields, tool_choice={"type": "none"}))

    assert 2_000 < usage["cache_read_input_tokens"] < 2_400


def test_the_memory_of_the_cache_is_bounded(clock: Clock) -> None:
    cache = CacheAccounting(clock, max_entries=3)
    requests = [body(user(LONG + str(number)), **MARK) for number in range(4)]
    for request in requests:
        cache.account(request)

    for kept in requests[1:]:
        assert cache.account(kept)["cache_read_input_tokens"] > 0
    assert cache.account(requests[0])["cache_read_input_tokens"] == 0


def test_a_role_is_part_of_the_prefix(cache: CacheAccounting) -> None:
    cache.account(body(user("a"), user(text(LONG, **MARK))))

    usage = cache.account(body(user("a"), system(text(LONG, **MARK))))

    assert usage["cache_read_input_tokens"] == 0


def usage(fresh: int, written: int, read: int) -> dict[str, int]:
    return {
        "input_tokens": fresh,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
    }


def test_the_hit_rate_is_judged_from_the_second_request_on() -> None:
    run = [usage(10, 90, 0), usage(10, 0, 90)]

    assert_cache_hit_rate(run, 0.9)
    with pytest.raises(AssertionError, match="cache hit rate 45% is below 90%"):
        assert_cache_hit_rate(run, 0.9, skip=0)


def test_a_poor_hit_rate_is_explained_request_by_request() -> None:
    with pytest.raises(AssertionError) as failed:
        assert_cache_hit_rate([usage(1, 2, 3), usage(4, 5, 6)], 0.5)

    assert "request 2: 6 read, 5 written, 4 neither" in str(failed.value)


def test_the_rate_is_found_in_messages_records_objects_and_files(tmp_path: Path) -> None:
    good = usage(0, 0, 10)
    log = tmp_path / "log.jsonl"
    records = [
        {"record": "request", "n": 1},
        {"record": "reply", "n": 1, "message": {"usage": good}},
        {"record": "reply", "n": 2, "message": {"usage": good}},
    ]
    log.write_text("".join(json.dumps(record) + "\n" for record in records) + "\n")

    assert_cache_hit_rate(log, 1.0)
    assert_cache_hit_rate(str(log), 1.0)
    assert_cache_hit_rate([{"usage": good}] * 2, 1.0)
    assert_cache_hit_rate([SimpleNamespace(usage=SimpleNamespace(**good))] * 2, 1.0)
    assert_cache_hit_rate([SimpleNamespace(answer={"usage": good})] * 2, 1.0)


def test_counting_tokens_is_no_request_to_judge() -> None:
    with pytest.raises(ValueError, match="0 with usage"):
        assert_cache_hit_rate([SimpleNamespace(answer={"input_tokens": 5})], 0.0, skip=0)


def test_the_requests_of_a_run_can_be_judged() -> None:
    from mini_agent_mock import Engine, Scenario
    from mini_agent_mock.http import HttpRequest

    engine = Engine(Scenario.parse([{"text": "a", "repeat": "always"}]))
    headers = {"x-api-key": "k", "anthropic-version": "2026-10-21"}
    for path in ("/v1/messages", "/v1/messages", "/v1/messages/count_tokens"):
        asked = body(user(LONG), **MARK, max_tokens=None if "count" in path else 5)
        asking = HttpRequest("POST", path, "", headers, json.dumps(asked).encode())
        response = engine.handle(asking)
        if response.observer is not None:
            response.observer.ended("complete")

    assert_cache_hit_rate(engine.requests, 1.0)
    with pytest.raises(AssertionError, match="request 1: 0 read"):
        assert_cache_hit_rate(engine.requests, 0.6, skip=0)


def test_no_request_to_judge_is_an_error_not_a_pass() -> None:
    with pytest.raises(ValueError, match="no request to judge"):
        assert_cache_hit_rate([usage(0, 0, 1), object()], 0.0)


def test_an_empty_prompt_has_no_hits() -> None:
    with pytest.raises(AssertionError):
        assert_cache_hit_rate([usage(0, 0, 0)], 0.1, skip=0)
