"""The rules by example: a refused and an accepted request for each, for the docs and the tests."""

from __future__ import annotations

from mini_agent_mock.rule_docs.before_body import BEFORE_THE_BODY, SHAPE
from mini_agent_mock.rule_docs.case import UNKNOWN, Attempt, Case
from mini_agent_mock.rule_docs.conversation import CONVERSATION
from mini_agent_mock.rule_docs.parameters import PARAMETERS
from mini_agent_mock.rule_docs.thinking import THINKING
from mini_agent_mock.rule_docs.tools import TOOLS

CASES = (*BEFORE_THE_BODY, *SHAPE, *CONVERSATION, *THINKING, *TOOLS, *PARAMETERS)
"""All cases, in the order in which the rules are asked."""

__all__ = ["CASES", "UNKNOWN", "Attempt", "Case"]
