from typing import Any

import pytest

from mini_agent_mock.request import ABSENT, RequestView, is_title_request
from mini_agent_mock.scenario.file_conditions import CONDITIONS
from mini_agent_mock.scenario.place import Place

BODY: dict[str, Any] = {
    "model": "claude-haiku-4-5",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}],
    "tools": [{"name": "read_file", "input_schema": {}}, {"name": "run_shell", "input_schema": {}}],
    "stream": True,
    "thinking": {"type": "adaptive"},
    "output_config": {"format": {"type": "json_schema", "schema": {}}},
    "messages": [
        {"role": "user", "content": "Read a.txt and tell"},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}},
                {"type": "tool_use", "id": "toolu_2", "name": "run_shell", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "alpha"},
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_2",
                    "content": [
                        {"type": "text", "text": "beta"},
                        {"type": "text", "text": "gamma"},
                    ],
                    "is_error": True,
                },
                {"type": "text", "text": "go on"},
            ],
        },
    ],
}
HEADERS = {"anthropic-beta": "one-2026-01-01, two-2026-01-01"}

CASES: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    # (name, holds, does not hold, why not)
    (
        "system",
        {"system": "kind"},
        {"system": "cruel"},
        "the system text does not contain 'cruel': 'Be br",
    ),
    (
        "first_user",
        {"first_user": {"starts_with": "Read"}},
        {"first_user": {"starts_with": "read"}},
        "the first user text does not start with 'read': 'Read a.txt and tell'",
    ),
    (
        "last_user",
        {"last_user": {"equals": "go on"}},
        {"last_user": {"equals": "go"}},
        "the last user text is 'go on', not 'go'",
    ),
    (
        "contains, several",
        {"system": {"contains": ["brief", "kind"]}},
        {"system": {"contains": ["brief", "x"]}},
        "the system text does not contain 'x'",
    ),
    (
        "excludes",
        {"system": {"excludes": "x"}},
        {"system": {"excludes": ["x", "kind"]}},
        "the system text contains 'kind', which is excluded",
    ),
    (
        "matches",
        {"first_user": {"matches": r"\w+\.txt"}},
        {"first_user": {"matches": r"\.md$"}},
        "the first user text does not match '\\\\.md$'",
    ),
    (
        "model",
        {"model": "claude-haiku-*"},
        {"model": "claude-opus-*"},
        "the model is 'claude-haiku-4-5', not",
    ),
    (
        "tools",
        {"tools": ["read_file"]},
        {"tools": ["grep"]},
        "the tools are [read_file, run_shell], without grep",
    ),
    (
        "tools, excluded",
        {"tools": {"excludes": "grep"}},
        {"tools": {"excludes": ["run_shell"]}},
        "with the excluded run_shell",
    ),
    (
        "tools, exactly",
        {"tools": {"exactly": ["read_file", "run_shell"]}},
        {"tools": {"exactly": []}},
        "the tools are [read_file, run_shell], not exactly []",
    ),
    (
        "tool_results",
        {
            "tool_results": [
                "alpha",
                {"is_error": True, "name": "run_shell", "tool_use_id": "toolu_2"},
            ]
        },
        {"tool_results": ["alpha"]},
        "the last message has 2 tool results, not 1",
    ),
    (
        "tool_results, in order",
        {"tool_results": ["alpha", "gamma"]},
        {"tool_results": ["gamma", "alpha"]},
        "tool result 0 does not contain 'gamma': 'alpha'",
    ),
    (
        "tool_result",
        {"tool_result": "beta"},
        {"tool_result": "delta"},
        "tool result 0 does not contain 'delta'",
    ),
    (
        "tool_result, name",
        {"tool_result": {"name": "run_shell"}},
        {"tool_result": {"name": "grep"}},
        "tool result 0 answers the tool 'read_file', not 'grep'",
    ),
    (
        "tool_result, id",
        {"tool_result": {"tool_use_id": "toolu_1"}},
        {"tool_result": {"tool_use_id": "toolu_9"}},
        "tool result 1 has the id 'toolu_2', not 'toolu_9'",
    ),
    (
        "tool_result, error and text",
        {"tool_result": {"is_error": True, "equals": "beta\ngamma"}},
        {"tool_result": {"is_error": True, "equals": "alpha"}},
        "tool result 0 has is_error false, not true; tool result 1 is 'beta\\ngamma', not 'alpha'",
    ),
    ("stream", {"stream": True}, {"stream": False}, "stream is true, not false"),
    (
        "output_format",
        {"output_format": True},
        {"output_format": False},
        "format is json_schema, not none",
    ),
    (
        "output_format, by name",
        {"output_format": "json_schema"},
        {"output_format": "grammar"},
        "output_config.format is json_schema, not grammar",
    ),
    (
        "betas",
        {"betas": "two-2026-01-01"},
        {"betas": ["one-2026-01-01", "three"]},
        "the anthropic-beta header lacks three",
    ),
    ("message_count", {"message_count": 3}, {"message_count": 2}, "the message count is 3, not 2"),
    (
        "last_role",
        {"last_role": "user"},
        {"last_role": "assistant"},
        "the last role is 'user', not 'assistant'",
    ),
    (
        "body",
        {
            "body": {
                "thinking.type": "adaptive",
                "messages.-1.role": "user",
                "tools.0.name": "read_file",
            }
        },
        {"body": {"max_tokens": 99}},
        "max_tokens is 100, not 99",
    ),
    ("body, by type", {"body": {"stream": True}}, {"body": {"stream": 1}}, "stream is true, not 1"),
    (
        "body, absent",
        {"body": {"max_tokens": 100}},
        {"body": {"messages.7.role": "user"}},
        "messages.7.role is absent, not 'user'",
    ),
    (
        "absent",
        {"absent": "temperature"},
        {"absent": ["x", "thinking"]},
        'thinking is {"type": "adaptive"}, but must',
    ),
]


@pytest.mark.parametrize(
    ("holds", "fails", "reason"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_a_condition_accepts_what_it_describes_and_says_why_it_rejects_the_rest(
    holds: dict[str, Any], fails: dict[str, Any], reason: str
) -> None:
    view = RequestView(BODY, HEADERS)
    assert CONDITIONS.read(holds, Place("t")).why_not(view) == ()
    (why,) = CONDITIONS.read(fails, Place("t")).why_not(view)
    assert reason in why


def test_every_condition_has_a_case_that_it_rejects() -> None:
    rejected = {next(iter(case[2])) for case in CASES}
    assert rejected == set(CONDITIONS.by_name)


def test_all_reasons_are_given() -> None:
    conditions = CONDITIONS.read({"stream": False, "message_count": 1}, Place("t"))
    assert len(conditions.why_not(RequestView(BODY))) == 2


def test_a_request_without_messages_has_empty_texts_and_no_results() -> None:
    view = RequestView({"messages": "nonsense", "model": 4, "tools": {}, "system": 3})
    assert (view.system, view.first_user, view.last_user, view.model) == ("", "", "", "")
    assert (view.tool_names, view.tool_results, view.messages) == ((), (), [])
    missing = CONDITIONS.read({"tool_result": "x"}, Place("t")).why_not(view)
    assert missing == ("the last message has no tool result",)
    assert CONDITIONS.read({"last_role": "user"}, Place("t")).why_not(view) == (
        "the last role is null, not 'user'",
    )


def test_a_system_message_inside_messages_counts_as_system_text() -> None:
    view = RequestView({"system": "a", "messages": [{"role": "system", "content": "b"}]})
    assert view.system == "a\nb"


def test_a_path_that_leads_nowhere_is_absent() -> None:
    view = RequestView(BODY)
    for path in (
        "x",
        "messages.9",
        "messages.-4",
        "messages.x",
        "max_tokens.y",
        "messages.0.content.0",
    ):
        assert view.at(path) is ABSENT, path


def test_a_long_text_is_shortened_in_the_reason() -> None:
    view = RequestView({"system": "x" * 5000 + "end"})
    (why,) = CONDITIONS.read({"system": "no"}, Place("t")).why_not(view)
    assert len(why) < 250
    assert why.endswith("xend' (5003 characters)")


def title_body(**fields: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}, **fields}


def test_only_a_title_format_without_tools_is_a_title_request() -> None:
    assert is_title_request(RequestView(title_body()))
    assert not is_title_request(RequestView(title_body(tools=[{"name": "t"}])))
    assert not is_title_request(RequestView({}))
    assert not is_title_request(RequestView({"output_config": {"effort": "low"}}))
