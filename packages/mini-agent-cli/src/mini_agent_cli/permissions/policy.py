"""The decision on one tool call: deny rules win, then allow rules, then the mode.

    mode           read    edit   shell
    ask            yes     ask    ask
    accept-edits   yes     yes    no
    plan, deny     yes     no     no
    bypass         yes     yes    yes

Nothing here opens a way out of the workspace; the tools refuse that by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mini_agent_cli.permissions.disguises import (
    ASSIGNMENT,
    cannot_be_seen_through,
    programs_started,
    runs_unseen,
)
from mini_agent_cli.permissions.paths import path_in_workspace
from mini_agent_cli.permissions.rules import EDITING_TOOLS, SHELL_TOOL, Rule, exact_rule, written
from mini_agent_cli.permissions.shell_syntax import Segment, parse_shell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Mode: TypeAlias = Literal["ask", "accept-edits", "plan", "deny", "bypass"]
Kind: TypeAlias = Literal["read", "edit", "shell"]
Answer: TypeAlias = Literal["allow", "deny", "ask"]

_MODES: dict[Mode, dict[Kind, Answer]] = {
    "ask": {"read": "allow", "edit": "ask", "shell": "ask"},
    "accept-edits": {"read": "allow", "edit": "allow", "shell": "deny"},
    "plan": {"read": "allow", "edit": "deny", "shell": "deny"},
    "deny": {"read": "allow", "edit": "deny", "shell": "deny"},
    "bypass": {"read": "allow", "edit": "allow", "shell": "allow"},
}


MOST_PROGRAMS = 500
"""How many programs that a command may start are looked at for a rule that denies."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What the policy says to a call or to one segment of a command, and why.

    Attributes:
        final: whether no rule that allows could change it.
    """

    answer: Answer
    reason: str
    text: str = ""
    final: bool = False


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision on a call: the strictest of its findings.

    Attributes:
        would_allow: the rules that would have allowed it; nothing if none with a pattern could.
        no_rule_covers: what in the command keeps such rules away; empty if nothing does.
    """

    answer: Answer
    reason: str
    findings: tuple[Finding, ...] = ()
    would_allow: tuple[Rule, ...] = ()
    no_rule_covers: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules and a mode. Frozen: a new rule makes a new policy."""

    mode: Mode
    workspace: Path
    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()

    def judge(self, tool: str, tool_input: Mapping[str, Any], *, read_only: bool) -> Ruling:
        """Return the decision on a call of ``tool`` with this input."""
        if tool == SHELL_TOOL:
            return self.judge_command(str(tool_input.get("command", "")))
        path = tool_input.get("path")
        relative = path_in_workspace(path, self.workspace) if isinstance(path, str) else "."
        finding = self._judge_path(tool, relative, read_only=read_only)
        would_allow = () if finding.final else (exact_rule(tool, relative),)
        return Ruling(finding.answer, finding.reason, (), would_allow)

    def _judge_path(self, tool: str, path: str, *, read_only: bool) -> Finding:
        for rule in self.deny:
            if rule.covers_tool(tool) and rule.covers_path(path):
                return Finding("deny", f"the rule {rule} denies it", final=True)
        kind: Kind = "read" if read_only else "edit" if tool in EDITING_TOOLS else "shell"
        otherwise = self._by_mode(kind)
        if otherwise.final:
            return otherwise
        for rule in self.allow:
            if rule.covers_tool(tool) and rule.covers_path(path):
                return Finding("allow", f"the rule {rule} allows it")
        return otherwise

    def _by_mode(self, kind: Kind) -> Finding:
        answer = _MODES[self.mode][kind]
        word = {"allow": "allows", "deny": "does not allow", "ask": "asks before"}[answer]
        what = {"read": "reading", "edit": "changing files", "shell": "commands"}[kind]
        reason = f"the mode {self.mode} {word} {what}"
        if self.mode == "plan" and answer == "deny":
            return Finding(answer, f"{reason} (choose another with --permission-mode)", final=True)
        return Finding(answer, reason)

    def judge_command(self, command: str) -> Ruling:
        """Return the decision on a shell command, with what was found segment by segment."""
        segments = parse_shell(command).segments
        findings = tuple(self._judge_segment(segment) for segment in segments)
        if not findings:
            findings = (self._by_mode("shell"),)
        strictest = max(findings, key=lambda finding: _STRICTNESS[finding.answer])
        rules, obstacle = _missing(segments, findings)
        return Ruling(strictest.answer, strictest.reason, findings, rules, obstacle)

    def _judge_segment(self, segment: Segment) -> Finding:
        denial = self._denied_by(segment)
        if denial is not None:
            return Finding("deny", denial, segment.text, final=True)
        otherwise = self._by_mode("shell")
        if otherwise.final:
            return replace(otherwise, text=segment.text)
        obstacle = _obstacle_to_allowing(segment)
        allowing = next(
            (
                rule
                for rule in self._shell_rules(self.allow)
                if rule.pattern is None or (not obstacle and rule.covers_words(segment.words))
            ),
            None,
        )
        if (allowing or otherwise.answer == "allow") and (hidden := self._could_hide(segment)):
            reason = f"it holds {hidden}, which could hide something that a rule denies"
            return Finding("ask", reason, segment.text, final=True)
        if allowing:
            return Finding("allow", f"the rule {allowing} allows it", segment.text)
        reason = otherwise.reason
        if obstacle and otherwise.answer != "allow" and self._shell_rules(self.allow):
            reason += f"; no rule covers {obstacle}"
        return Finding(otherwise.answer, reason, segment.text)

    def _denied_by(self, segment: Segment) -> str | None:
        for rule in self._shell_rules(self.deny):
            for count, words in enumerate(programs_started(segment)):
                if rule.covers_words(words):
                    return f"the rule {rule} denies it"
                if count > MOST_PROGRAMS:
                    return f"it may start too many programs to hold against the rule {rule}"
        return None

    def _could_hide(self, segment: Segment) -> str:
        """Say what in the segment could turn out to be something that a rule denies."""
        rules = self._shell_rules(self.deny)
        if not rules:
            return ""
        if hidden := cannot_be_seen_through(segment):
            return hidden
        for words in programs_started(segment):
            if hidden := runs_unseen(words):
                return hidden
            for rule in rules:
                if (word := rule.undecided_word(words)) is not None:
                    return f"{word!r}, which is made up at run time"
        return ""

    def _shell_rules(self, rules: Sequence[Rule]) -> list[Rule]:
        return [rule for rule in rules if rule.covers_tool(SHELL_TOOL)]


def _missing(
    segments: Sequence[Segment], findings: Sequence[Finding]
) -> tuple[tuple[Rule, ...], str]:
    """Return the rules that would have allowed the command, or what keeps any from doing so."""
    if any(finding.final for finding in findings):
        return (), ""
    missing: list[Rule] = []
    for segment, finding in zip(segments, findings, strict=False):  # no segment has one finding
        if finding.answer == "allow":
            continue
        if obstacle := _obstacle_to_allowing(segment):
            return (), obstacle
        rule = exact_rule(SHELL_TOOL, written(segment.words))
        if rule not in missing:
            missing.append(rule)
    return tuple(missing), ""


_STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}


def _obstacle_to_allowing(segment: Segment) -> str:
    """Say what in the segment no allowing rule with a pattern covers, or nothing."""
    if segment.redirects:
        return f"a redirect ({segment.redirects[0]})"
    if not segment.words:
        return "an empty command"
    if ASSIGNMENT.match(segment.words[0]):
        return "a variable set before a command"
    return cannot_be_seen_through(segment)
