"""A run that ended without the agent's last word is marked wherever a session is shown."""

from __future__ import annotations

import pytest

from mini_agent_cli.render.style import Style
from mini_agent_cli.repl.recent import recent_lines
from mini_agent_cli.sessions.export import to_markdown
from mini_agent_cli.sessions.export_html import to_html
from mini_agent_cli.sessions.unanswered import NO_ANSWER, unanswered
from mini_agent_core.messages import (
    AssistantMessage,
    Message,
    SummaryMessage,
    TextBlock,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)

ASKED, ANSWERED = UserMessage("go"), AssistantMessage((TextBlock("Done."),))
CALLED = AssistantMessage((ToolCall("toolu_1", "run_shell", {"command": "ls"}),))
TOLD = ToolMessage("toolu_1", ToolResult("stopped by the user", is_error=True))
SUMMARY = SummaryMessage("It went well.", covers=2)


@pytest.mark.parametrize(
    ("history", "gaps"),
    [
        ((), set()),
        ((ASKED, ANSWERED), set()),
        ((ASKED, CALLED, TOLD, ANSWERED), set()),
        ((ASKED, ANSWERED, SUMMARY), set()),
        ((ASKED,), {0}),
        ((ASKED, ASKED, ANSWERED), {0}),
        ((ASKED, CALLED, TOLD, ASKED, ANSWERED), {2}),
        ((ASKED, CALLED), {1}),
        ((ASKED, CALLED, ASKED), {1, 2}),
    ],
)
def test_a_gap_is_where_an_answer_was_due_and_none_came(
    history: tuple[Message, ...], gaps: set[int]
) -> None:
    assert unanswered(history) == gaps


@pytest.mark.parametrize(
    ("history", "times"), [((ASKED, CALLED, TOLD, ASKED), 2), ((ASKED, ANSWERED), 0)]
)
def test_a_gap_is_told_on_resume_and_in_both_exports(
    history: tuple[Message, ...], times: int
) -> None:
    plain = Style(colour=False)
    resumed = "\n".join(recent_lines(history, plain))
    shown = (resumed, to_markdown(history, "s1"), to_html(history, "s1"))
    assert [text.count(NO_ANSWER) for text in shown] == [times] * 3


def edit(result: ToolResult) -> tuple[Message, ...]:
    texts = {"path": "a.py", "old_text": "one", "new_text": "two"}
    call = ToolCall("toolu_1", "edit_file", texts)
    return (ASKED, AssistantMessage((call,)), ToolMessage("toolu_1", result), ANSWERED)


def test_an_edit_is_shown_once_on_the_page() -> None:
    page = to_html(edit(ToolResult("edited a.py:\n- one\n+ two")), "s1")
    assert page.count("one</span>") == 1
    assert "edited a.py" not in page


def test_a_denied_call_is_not_shown_as_if_it_had_run_when_a_session_is_resumed() -> None:
    history = edit(ToolResult("denied by the user: not now", is_error=True))
    lines = recent_lines(history, Style(colour=False))
    called = lines.index("● edit_file a.py")
    assert lines[called + 1] == "  └ denied by the user: not now"


def test_why_a_call_was_denied_can_be_read_without_opening_anything() -> None:
    page = to_html(edit(ToolResult("denied by the user: not now", is_error=True)), "s1")
    assert '<details class="failed" open>' in page
    assert "denied by the user: not now" in page
    called = to_html((ASKED, CALLED, TOLD, ANSWERED), "s1")
    assert '<details class="failed" open>' in called
