"""The decision on one tool call: deny rules win, then allow rules, then the mode.

    mode           read    edit   shell
    ask            yes     ask    ask
    accept-edits   yes     yes    no
    plan, deny     yes     no     no
    bypass         yes     yes    yes

Nothing here opens a way out of the workspace; the tools refuse that by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mini_agent_cli.permissions.disguises import (
    ASSIGNMENT,
    cannot_be_seen_through,
    programs_started,
)
from mini_agent_cli.permissions.paths import path_in_workspace
from mini_agent_cli.permissions.rules import EDITING_TOOLS, SHELL_TOOL, Rule, exact_rule
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


@dataclass(frozen=True, slots=True)
class Finding:
    """What the policy says to a call or to one segment of a command, and why."""

    answer: Answer
    reason: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision on a call: the strictest of its findings."""

    answer: Answer
    reason: str
    findings: tuple[Finding, ...] = ()
    would_allow: tuple[Rule, ...] = ()


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
        return Ruling(finding.answer, finding.reason, (), (exact_rule(tool, relative),))

    def _judge_path(self, tool: str, path: str, *, read_only: bool) -> Finding:
        for rule in self.deny:
            if rule.covers_tool(tool) and rule.covers_path(path):
                return Finding("deny", f"the rule {rule} denies it")
        kind: Kind = "read" if read_only else "edit" if tool in EDITING_TOOLS else "shell"
        if self.mode == "plan" and kind != "read":
            return self._by_mode(kind)
        for rule in self.allow:
            if rule.covers_tool(tool) and rule.covers_path(path):
                return Finding("allow", f"the rule {rule} allows it")
        return self._by_mode(kind)

    def _by_mode(self, kind: Kind) -> Finding:
        answer = _MODES[self.mode][kind]
        word = {"allow": "allows", "deny": "does not allow", "ask": "asks before"}[answer]
        what = {"read": "reading", "edit": "changing files", "shell": "commands"}[kind]
        return Finding(answer, f"the mode {self.mode} {word} {what}")

    def judge_command(self, command: str) -> Ruling:
        """Return the decision on a shell command, with what was found segment by segment."""
        segments = parse_shell(command).segments
        findings = tuple(self._judge_segment(segment) for segment in segments)
        if not findings:
            findings = (self._by_mode("shell"),)
        strictest = max(findings, key=lambda finding: _STRICTNESS[finding.answer])
        return Ruling(strictest.answer, strictest.reason, findings, self._missing(segments))

    def _judge_segment(self, segment: Segment) -> Finding:
        denial = self._denied_by(segment)
        if denial is not None:
            return Finding("deny", denial, segment.text)
        otherwise = self._by_mode("shell")
        if self.mode == "plan":
            return Finding("deny", otherwise.reason, segment.text)
        hidden = cannot_be_seen_through(segment)
        if hidden and otherwise.answer == "allow" and self._shell_rules(self.deny):
            reason = f"it holds {hidden}, which could hide something that a rule denies"
            return Finding("ask", reason, segment.text)
        obstacle = _obstacle_to_allowing(segment)
        for rule in self._shell_rules(self.allow):
            if rule.pattern is None or (not obstacle and rule.covers_words(segment.words)):
                return Finding("allow", f"the rule {rule} allows it", segment.text)
        reason = otherwise.reason
        if obstacle and otherwise.answer != "allow" and self._shell_rules(self.allow):
            reason += f"; no rule covers {obstacle}"
        return Finding(otherwise.answer, reason, segment.text)

    def _denied_by(self, segment: Segment) -> str | None:
        for rule in self._shell_rules(self.deny):
            for words in programs_started(segment):
                if rule.covers_words(words):
                    return f"the rule {rule} denies it"
        return None

    def _shell_rules(self, rules: Sequence[Rule]) -> list[Rule]:
        return [rule for rule in rules if rule.covers_tool(SHELL_TOOL)]

    def _missing(self, segments: Sequence[Segment]) -> tuple[Rule, ...]:
        """Return the rules that would have allowed the command, or nothing if none could."""
        missing: list[Rule] = []
        for segment in segments:
            if self._judge_segment(segment).answer == "allow":
                continue
            if _obstacle_to_allowing(segment):
                return ()
            rule = exact_rule(SHELL_TOOL, " ".join(segment.words))
            if rule not in missing:
                missing.append(rule)
        return tuple(missing)


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
