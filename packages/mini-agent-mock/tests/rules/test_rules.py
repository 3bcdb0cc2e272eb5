import json
from pathlib import Path

import pytest

from mini_agent_mock.rule_docs import CASES, UNKNOWN, Case
from mini_agent_mock.rule_docs.case import assistant, body, call, old, req, result, text, tool, user
from mini_agent_mock.rule_docs.table import rules_markdown
from mini_agent_mock.validation import RULES, RequestContext, validate

PAGE = Path(__file__).parents[2] / "docs" / "validation-rules.md"


BY_NAME = [
    pytest.param(case, id=f"{case.rule}-{number}") for number, case in enumerate(CASES, start=1)
]
ON_BODIES = [
    pytest.param(case, id=f"{case.rule}-{number}")
    for number, case in enumerate(CASES, start=1)
    if RULES[case.rule].check is not None
]


@pytest.mark.parametrize("case", BY_NAME)
def test_a_rule_refuses_its_request_in_the_words_of_the_service(case: Case) -> None:
    error = case.refused.answer()

    assert error is not None
    assert 400 <= error.status < 500
    if case.service != UNKNOWN:
        assert error.message == case.service


@pytest.mark.parametrize("case", BY_NAME)
def test_a_rule_accepts_the_nearest_neighbour_of_what_it_refuses(case: Case) -> None:
    assert case.accepted.answer() is None


@pytest.mark.parametrize("case", ON_BODIES)
def test_a_refusal_comes_from_the_rule_that_it_is_listed_under(case: Case) -> None:
    attempt = case.refused

    without = validate(
        attempt.body,
        RequestContext(
            attempt.version,
            endpoint=attempt.endpoint,
            enabled=attempt.enabled,
            disabled=frozenset({case.rule}),
        ),
    )

    assert without is None or without.message != (case.refused.answer() or without).message


def test_every_rule_has_a_case_a_source_and_a_sentence() -> None:
    assert {case.rule for case in CASES} == set(RULES)
    for rule in RULES.values():
        assert rule.source, rule.name
        assert rule.doc.endswith("."), rule.name


def test_the_page_of_rules_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == rules_markdown(), "run: mini-agent-mock rules"


def test_statuses_other_than_400_are_those_of_the_service() -> None:
    answers = {case.rule: case.refused.answer() for case in CASES}

    kinds = {name: (e.status, e.type) for name, e in answers.items() if e and e.status != 400}
    assert kinds == {
        "api_key": (401, "authentication_error"),
        "body_size": (413, "request_too_large"),
        "known_model": (404, "not_found_error"),
    }


def test_switching_all_rules_off_accepts_anything_of_any_shape() -> None:
    context = RequestContext(disabled=frozenset(RULES))

    assert validate([1, 2], context) is None
    assert validate(body(user(result()), max_tokens=10**9), context) is None


def test_a_conversation_of_one_role_is_merged_as_the_service_merges_it() -> None:
    attempt = req(
        user("a"),
        user("b"),
        assistant(call()),
        assistant(call("toolu_b")),
        user(result("toolu_b")),
        user(result(), text("c")),
    )

    assert attempt.answer() is None


def test_an_assistant_may_speak_first_and_zero_tokens_are_legal() -> None:
    assert req(assistant("Hello"), user("Hi"), max_tokens=0).answer() is None


def test_models_of_the_scenario_are_known_and_bound_by_their_own_limits() -> None:
    from mini_agent_mock.models import Model

    own = Model("house-1", "House 1", "house", "2026-01-01", max_output=10)
    context = RequestContext(models={"house-1": own})

    assert validate(body(model="house-1", max_tokens=10), context) is None
    refused = validate(body(model="house-1", max_tokens=11), context)
    assert refused is not None
    assert refused.message.endswith("output tokens for house-1")


def test_a_tool_list_that_was_found_good_is_refused_once_it_is_changed() -> None:
    good = [tool(input_schema={"type": "object", "properties": {"a": {"type": "string"}}})]
    assert req(tools=good).answer() is None
    assert req(tools=json.loads(json.dumps(good))).answer() is None

    good[0]["input_schema"]["properties"]["a"]["type"] = "strnig"

    assert req(tools=good).answer() is not None


def test_the_memory_of_good_tool_lists_is_bounded() -> None:
    from mini_agent_mock.validation import tools

    for number in range(2 * tools.MAX_REMEMBERED):
        assert req(tools=[tool(f"read{number}")]).answer() is None

    assert len(tools._GOOD) <= tools.MAX_REMEMBERED


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({}, ".type: Field required"),
        ({"type": "array"}, ".type: Input should be 'object'"),
        ({"type": "object", "properties": {"a b": {}}}, ".properties: Property keys should match"),
        ({"type": "object", "properties": []}, ": JSON schema is invalid."),
        ({"type": "object", "required": "a"}, ": JSON schema is invalid."),
        ({"type": "object", "required": [1]}, ": JSON schema is invalid."),
        ({"type": "object", "properties": {"a": {"items": [{}]}}}, ": JSON schema is invalid."),
        ({"type": "object", "properties": {"a": {"enum": "x"}}}, ": JSON schema is invalid."),
        ({"type": "object", "properties": {"a": {"anyOf": {}}}}, ": JSON schema is invalid."),
        ({"type": "object", "properties": {"a": {"type": ["string", 1]}}}, ": JSON schema is"),
        ({"type": "object", "$defs": {"a": 1}}, ": JSON schema is invalid."),
    ],
)
def test_a_bad_input_schema_is_refused_with_its_path(
    schema: dict[str, object], problem: str
) -> None:
    error = req(tools=[tool(), tool("write", input_schema=schema)]).answer()

    assert error is not None
    assert error.message.startswith(f"tools.1.custom.input_schema{problem}")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": None, "required": None},
        {"type": "object", "properties": {"a": True, "b": {"type": ["string", "null"]}}},
        {"type": "object", "additionalProperties": False, "x-own": [1]},
    ],
)
def test_a_good_input_schema_passes(schema: dict[str, object]) -> None:
    assert req(tools=[tool(input_schema=schema)]).answer() is None


def test_the_service_tools_need_no_schema() -> None:
    tools = [
        {"type": "bash_20250124", "name": "bash"},
        {"type": "web_search_20260318", "name": "web_search", "max_uses": 3},
        {"type": "mcp_toolset", "mcp_server_name": "x"},
    ]

    assert req(tools=tools).answer() is None


def test_marks_inside_tool_results_count_and_have_their_place() -> None:
    marked = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
    answer = {**result(), "content": [marked] * 5}

    error = req(user("a"), assistant(call()), user(answer)).answer()

    assert error is not None
    assert error.message == "A maximum of 4 blocks with cache_control may be provided. Found 5."


def test_an_hour_after_five_minutes_is_found_in_tools_and_results() -> None:
    short = {"type": "ephemeral"}
    hour = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}}

    error = req(
        user("a"),
        assistant(call()),
        user({**result(), "content": [text("x"), hour]}),
        tools=[tool(cache_control=short)],
    ).answer()

    assert error is not None
    assert error.message.startswith("messages.2.content.0.tool_result.content.1.cache_control.ttl")


def test_a_system_message_may_carry_settings_alone_but_no_empty_text() -> None:
    settings = {"role": "system", "output_config": {"effort": "low"}}

    assert req(user("a"), settings).answer() is None
    empty = req(user("a"), {"role": "system", "content": ""}).answer()
    assert empty is not None
    assert empty.message.startswith("messages.1: all messages must have non-empty content")


def test_effort_is_refused_by_models_without_it() -> None:
    error = req(output_config={"effort": "low"}, model="claude-haiku-4-5").answer()

    assert error is not None
    assert error.message == "This model does not support the effort parameter."


@pytest.mark.parametrize("name", ["temperature", "top_p"])
def test_sampling_parameters_reach_from_zero_to_one(name: str) -> None:
    answers = [old(**{name: value}).answer() for value in (-0.01, 0, 1, 1.01)]

    assert [answer and answer.message for answer in answers] == [
        f"{name}: range: 0..1", None, None, f"{name}: range: 0..1"
    ]  # fmt: skip


def test_search_results_of_a_user_may_not_carry_citations() -> None:
    cited = text("a", citations=[{"type": "page_location"}])
    found = {"type": "search_result", "content": [cited], "source": "s", "title": "t"}

    error = req(user(found)).answer()

    assert error is not None
    assert error.message.startswith("messages.0.content.0.search_result.citations")


def test_a_plain_text_reply_needs_no_thinking_in_front() -> None:
    thinking = {"type": "enabled", "budget_tokens": 1024}
    fields = {"thinking": thinking, "max_tokens": 2000, "model": "claude-haiku-4-5"}

    assert req(user("a"), assistant("b"), user("c"), **fields).answer() is None
    assert req(user("a"), **fields).answer() is None
    block = {"type": "redacted_thinking", "data": "x"}
    context = RequestContext(scripted_signatures=frozenset({"x"}))
    answered = body(user("a"), assistant(block, call()), user(result()), **fields)
    assert validate(answered, context) is None


def test_the_context_length_is_known_without_counting_when_the_size_is() -> None:
    long = body(user("a" * 900_000), model="claude-haiku-4-5")

    assert validate(long, RequestContext(size=10)) is None
    assert validate(long, RequestContext(size=900_100)) is not None


def test_100001_messages_are_too_many() -> None:
    error = validate(body(*[user("a")] * 100_001), RequestContext())

    assert error is not None
    assert "at most 100000 items" in error.message


def test_a_failed_case_in_the_table_would_show_as_accepted() -> None:
    from mini_agent_mock.rule_docs.table import _row

    row = _row(Case("shape", req(), "no", req(user("a|`b"))))

    assert "| accepted |" in row
    assert "a\\|`b" in row
