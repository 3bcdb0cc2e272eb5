"""What a request must be like: the tests behind `match`, `expect` and `when`.

Each check answers with the reason why it does not hold, as a sentence for the account; the
empty string means it holds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Protocol

from mini_agent_mock.request import ABSENT

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping

    from mini_agent_mock.request import RequestView, SentToolResult


_WORTH_CUTTING = 60


class Check(Protocol):
    """One condition on a request."""

    def why_not(self, view: RequestView) -> str:
        """Why the request does not fit; empty when it does."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Checks that must all hold."""

    checks: tuple[Check, ...] = ()

    def why_not(self, view: RequestView) -> tuple[str, ...]:
        """Every reason why the request does not fit; empty when it does."""
        return tuple(reason for check in self.checks if (reason := check.why_not(view)))


def shown(value: Any, limit: int = 120) -> str:
    """A value as a reader wants it in an account: quoted, in one line, not too long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    quoted = repr(text) if isinstance(value, str) else text
    if len(quoted) <= limit + _WORTH_CUTTING:
        return quoted
    return f"{quoted[: limit - 20]} … {quoted[-15:]} ({len(text)} characters)"


@dataclass(frozen=True, slots=True)
class TextTest:
    """Conditions on one text; all that are given must hold."""

    contains: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    equals: str | None = None
    starts_with: str | None = None
    matches: re.Pattern[str] | None = None

    def why_not(self, text: str, what: str) -> str:
        """The first condition that does not hold, about the text called `what`."""
        for part in self.contains:
            if part not in text:
                return f"{what} does not contain {part!r}: {shown(text)}"
        for part in self.excludes:
            if part in text:
                return f"{what} contains {part!r}, which is excluded"
        if self.equals is not None and text != self.equals:
            return f"{what} is {shown(text)}, not {shown(self.equals)}"
        if self.starts_with is not None and not text.startswith(self.starts_with):
            return f"{what} does not start with {self.starts_with!r}: {shown(text)}"
        if self.matches is not None and not self.matches.search(text):
            return f"{what} does not match {self.matches.pattern!r}: {shown(text)}"
        return ""


@dataclass(frozen=True, slots=True)
class TextCheck:
    """A text of the request."""

    what: str
    get: Callable[[RequestView], str]
    test: TextTest

    def why_not(self, view: RequestView) -> str:
        return self.test.why_not(self.get(view), self.what)


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """The model id against a shell-style pattern."""

    pattern: str

    def why_not(self, view: RequestView) -> str:
        if fnmatchcase(view.model, self.pattern):
            return ""
        return f"the model is {shown(view.model)}, not {self.pattern!r}"


@dataclass(frozen=True, slots=True)
class ToolsCheck:
    """The names of the offered tools."""

    includes: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    exactly: tuple[str, ...] | None = None

    def why_not(self, view: RequestView) -> str:
        names = view.tool_names
        offered = f"the tools are [{', '.join(names)}]"
        if self.exactly is not None and names != self.exactly:
            return f"{offered}, not exactly [{', '.join(self.exactly)}]"
        missing = [name for name in self.includes if name not in names]
        if missing:
            return f"{offered}, without {', '.join(missing)}"
        unwanted = [name for name in self.excludes if name in names]
        if unwanted:
            return f"{offered}, with the excluded {', '.join(unwanted)}"
        return ""


@dataclass(frozen=True, slots=True)
class ValueCheck:
    """A property of the request that must equal one value."""

    what: str
    get: Callable[[RequestView], Any]
    wanted: Any

    def why_not(self, view: RequestView) -> str:
        found = self.get(view)
        if found == self.wanted and type(found) is type(self.wanted):
            return ""
        return f"{self.what} is {shown(found)}, not {shown(self.wanted)}"


@dataclass(frozen=True, slots=True)
class OutputFormatCheck:
    """Whether, or as what, a structured answer is asked for."""

    wanted: bool | str

    def why_not(self, view: RequestView) -> str:
        found = view.output_format
        fits = bool(found) == self.wanted if isinstance(self.wanted, bool) else found == self.wanted
        if fits:
            return ""
        wanted = (
            self.wanted if isinstance(self.wanted, str) else ("some" if self.wanted else "none")
        )
        return f"output_config.format is {found or 'none'}, not {wanted}"


@dataclass(frozen=True, slots=True)
class BetasCheck:
    """Entries that the `anthropic-beta` header must have."""

    wanted: tuple[str, ...]

    def why_not(self, view: RequestView) -> str:
        missing = [beta for beta in self.wanted if beta not in view.betas]
        return f"the anthropic-beta header lacks {', '.join(missing)}" if missing else ""


@dataclass(frozen=True, slots=True)
class ToolResultTest:
    """What one tool result must be like."""

    text: TextTest
    name: str | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None

    def why_not(self, result: SentToolResult, what: str) -> str:
        """The first condition that does not hold."""
        pairs = (
            ("answers the tool", result.name, self.name),
            ("has the id", result.tool_use_id, self.tool_use_id),
            ("has is_error", result.is_error, self.is_error),
        )
        for verb, found, wanted in pairs:
            if wanted is not None and found != wanted:
                return f"{what} {verb} {shown(found)}, not {shown(wanted)}"
        return self.text.why_not(result.text, what)


@dataclass(frozen=True, slots=True)
class ToolResultsCheck:
    """The tool results of the last message: as many as listed, in order."""

    tests: tuple[ToolResultTest, ...]

    def why_not(self, view: RequestView) -> str:
        results = view.tool_results
        if len(results) != len(self.tests):
            return f"the last message has {len(results)} tool results, not {len(self.tests)}"
        for index, (test, result) in enumerate(zip(self.tests, results, strict=True)):
            reason = test.why_not(result, f"tool result {index}")
            if reason:
                return reason
        return ""


@dataclass(frozen=True, slots=True)
class SomeToolResultCheck:
    """At least one tool result of the last message fits."""

    test: ToolResultTest

    def why_not(self, view: RequestView) -> str:
        results = view.tool_results
        if not results:
            return "the last message has no tool result"
        reasons = [self.test.why_not(r, f"tool result {i}") for i, r in enumerate(results)]
        return "" if "" in reasons else "; ".join(reasons)


@dataclass(frozen=True, slots=True)
class BodyCheck:
    """Values at dotted paths of the body, compared exactly."""

    wanted: Mapping[str, Any]

    def why_not(self, view: RequestView) -> str:
        for path, value in self.wanted.items():
            found = view.at(path)
            if found is ABSENT:
                return f"{path} is absent, not {shown(value)}"
            if found != value or type(found) is not type(value):
                return f"{path} is {shown(found)}, not {shown(value)}"
        return ""


@dataclass(frozen=True, slots=True)
class AbsentCheck:
    """Dotted paths of the body that must lead nowhere."""

    paths: tuple[str, ...]

    def why_not(self, view: RequestView) -> str:
        for path in self.paths:
            found = view.at(path)
            if found is not ABSENT:
                return f"{path} is {shown(found)}, but must be absent"
        return ""
