"""The rules as a Markdown page: each with a request, the service's answer and ours."""

from __future__ import annotations

from mini_agent_mock.rule_docs import CASES, UNKNOWN, Case
from mini_agent_mock.validation import RULES

_HEAD = """\
# What the mock refuses

Made by `mini-agent-mock rules`; a test keeps it current. The requests show only what differs from
`{"model": "claude-opus-5-5", "max_tokens": 64, "messages": [{"role": "user", "content": "Hello"}]}`
under `anthropic-version: 2026-10-21` with a valid key. *Service* is the wording others have
published; *same* means that ours is that, word for word. *Accepted* is the nearest request that
passes. Every rule can be switched off by its name.
"""
_COLUMNS = ("request", "service", "ours", "accepted")
_WIDEST = 240


def rules_markdown() -> str:
    """The whole page. Deterministic: it depends on the package's code alone."""
    parts = [_HEAD]
    for name, rule in RULES.items():
        off = "" if rule.default else " Off by default."
        parts.append(f"\n## `{name}`\n\n{rule.doc}{off} Source: {rule.source}.\n")
        parts.append(f"\n| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}\n")
        parts.extend(_row(case) for case in CASES if case.rule == name)
    return "".join(parts)


def _row(case: Case) -> str:
    error = case.refused.answer()
    if error is None:
        ours = "accepted"
    else:
        same = error.message == case.service
        ours = f"{error.status} {error.type}: " + ("same" if same else error.message)
    service = case.service if case.service == UNKNOWN else f"“{case.service}”"
    cells = (_code(str(case.refused)), service, ours, _code(str(case.accepted)))
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |\n"


def _code(text: str) -> str:
    short = text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
    fence = "``" if "`" in short else "`"
    return f"{fence}{short}{fence}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
