# @file >=autonomy
"""Autonomy: pursue a goal, repeat on a clock, and let a model answer for the user."""

import re

from anthropic.types import MessageParam

from .agent import Agent
from .agent import AgentError
from .context import transcript
from .permissions import Ask

MAX_ROUNDS = 5

JUDGE = (
    "You judge whether a coding agent has reached a goal. Believe what its tools"
    " returned, not what it claims. Answer MET or NOT_MET, and then why, in a sentence."
)
GUARD = (
    "You decide for an absent user whether a coding agent may go on with a tool call."
    " Allow what the user's own words call for; block what they do not, and what cannot"
    " be undone. Answer ALLOW or BLOCK, and then why, in a sentence."
)


def pursue_goal(agent: Agent, goal: str) -> None:
    """Do `/goal GOAL`: run the agent until a judge says that the goal is met.

    Raises:
        AgentError: when it is not met after the last round.
    """
    prompt = goal
    for _ in range(MAX_ROUNDS):
        agent.run(prompt)
        happened = f"Goal: {goal}\n\nWhat happened:\n{transcript(agent.history)}"
        verdict = agent.aux_model_call("goal", JUDGE, happened)
        agent.event_sink("verdict", verdict)
        if begins_with("MET", verdict):
            return
        prompt = f"The goal is not reached yet: {goal}\nWhat a judge said: {verdict}"
    raise AgentError(f"the goal is not reached after {MAX_ROUNDS} rounds")


def repeat(agent: Agent, argument: str) -> None:
    """Do `/loop SECONDS TIMES PROMPT`: run the prompt again after each wait."""
    parts = re.fullmatch(r"(\d+) (\d+) (.+)", argument)
    if not parts:
        raise AgentError("write it as /loop SECONDS TIMES PROMPT")
    agent.run(parts[3])
    for _ in range(1, int(parts[2])):
        agent.clock.sleep(int(parts[1]))
        agent.run(parts[3])


def model_decides(agent: Agent) -> Ask:
    """Let a model answer the gate's questions.

    It sees what the user asked for and the call, but nothing a tool returned: no file
    can talk it into anything. Whatever is not a clear ALLOW is a no.
    """

    def ask(question: str) -> bool:
        asked = "\n".join(prompts(agent.history))
        case = f"The user asked:\n{asked}\n\nThe agent wants to run:\n{question}"
        verdict = agent.aux_model_call("auto:stage1", GUARD, case)
        agent.event_sink("verdict", verdict)
        return begins_with("ALLOW", verdict)

    return ask


def prompts(history: list[MessageParam]) -> list[str]:
    """Pick out what the user wrote."""
    return [text for message in history if isinstance(text := message["content"], str)]


def begins_with(word: str, verdict: str) -> bool:
    """Tell whether a verdict is this word, as a whole word and first of all."""
    return re.match(rf"\s*{word}\b", verdict) is not None
