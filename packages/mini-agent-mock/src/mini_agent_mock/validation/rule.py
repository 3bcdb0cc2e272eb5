"""What a rule is, and the one registry that holds them all, in the order they are asked.

A rule is a function from a `Request` to the service's message (a refusal with 400
`invalid_request_error`), to an `ApiError` where the refusal is of another kind, or to None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mini_agent_mock import models
from mini_agent_mock.errors import ApiError

if TYPE_CHECKING:
    from mini_agent_mock.validation.context import RequestContext

Verdict = str | ApiError | None

Turn = tuple[str, list[tuple[int, int, dict[str, Any]]]]
"""A role and its blocks, each with the indexes of its message and of itself."""


class Request:
    """A body of the right shape, read once, as the rules want to look at it.

    `blocks` lists `(message, block, role, content)` for every block in a content list, with both
    indexes; string contents are not in it. `traits` says which fields, block types
    (`block:text`) and roles (`role:assistant`) occur, so that a rule is asked only where it can
    matter.
    """

    __slots__ = ("_turns", "blocks", "body", "context", "messages", "model", "traits")

    def __init__(self, body: dict[str, Any], context: RequestContext) -> None:
        self.body = body
        self.context = context
        self.messages: list[dict[str, Any]] = body["messages"]
        extra = context.models
        name = body["model"]
        self.model = (extra.get(name) if extra else None) or models.lookup(name)
        self.blocks: list[tuple[int, int, str, dict[str, Any]]] = []
        traits = {name for name, value in body.items() if value is not None}
        for number, message in enumerate(self.messages):
            role = message["role"]
            traits.add(_ROLE_TRAITS[role])
            content = message.get("content")
            if isinstance(content, list):
                for index, block in enumerate(content):
                    self.blocks.append((number, index, role, block))
                    traits.add("block:" + block["type"])
        self.traits = frozenset(traits)
        self._turns: list[Turn] | None = None

    def of_type(self, *types: str) -> list[tuple[int, int, str, dict[str, Any]]]:
        """The blocks of these types, in order."""
        return [entry for entry in self.blocks if entry[3]["type"] in types]

    def turns(self) -> list[Turn]:
        """The conversation with same-role messages merged, as the service merges them."""
        if self._turns is None:
            turns: list[Turn] = []
            for number, message in enumerate(self.messages):
                role, content = message["role"], message.get("content")
                if not turns or turns[-1][0] != role:
                    turns.append((role, []))
                if isinstance(content, str):
                    content = [{"type": "text", "text": content}]
                turns[-1][1].extend([(number, i, block) for i, block in enumerate(content or ())])
            self._turns = turns
        return self._turns


_ROLE_TRAITS = {role: f"role:{role}" for role in ("user", "assistant", "system")}

Check = Callable[[Request], Verdict]


@dataclass(frozen=True, slots=True)
class Rule:
    """A named refusal.

    `when` are the traits of which at least one must be there for the rule to matter (none: it
    always does); `source` says where the wording comes from; `doc` is the check's docstring.
    Rules with `default` False must be switched on by name. `check` is None for the rules that
    look at headers or raw bytes, before there is a body.
    """

    name: str
    source: str
    doc: str
    when: frozenset[str] = frozenset()
    default: bool = True
    check: Check | None = None


REGISTRY: dict[str, Rule] = {}


def rule(source: str, *when: str, default: bool = True) -> Callable[[Check], Check]:
    """Register the decorated check under its own name."""

    def register(check: Check) -> Check:
        name = check.__name__
        REGISTRY[name] = Rule(name, source, _doc(check), frozenset(when), default, check)
        return check

    return register


def declare(name: str, source: str, doc: str) -> None:
    """Register a rule that is checked outside the body's rules: on headers, bytes or shape."""
    REGISTRY[name] = Rule(name, source, doc)


def _doc(check: Check) -> str:
    return " ".join((check.__doc__ or "").split())
