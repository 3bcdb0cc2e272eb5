"""The agent: it keeps the history and asks the model."""

from dataclasses import dataclass
from dataclasses import field

from anthropic import Anthropic
from anthropic.types import Message
from anthropic.types import MessageParam
from anthropic.types import ToolResultBlockParam  # @step >=note-taking

from .tools import TAKE_NOTE  # @step >=note-taking
from .tools import run_tool  # @step >=note-taking

MODEL = "claude-sonnet-5-5"


@dataclass
class Agent:
    """Answers prompts, remembering what was said."""

    client: Anthropic = field(default_factory=Anthropic)
    history: list[MessageParam] = field(default_factory=list)

    def ask(self, prompt: str) -> str:
        """Return the model's answer to a prompt."""
        self.history.append({"role": "user", "content": prompt})
        # @step >=note-taking
        reply = self.call_model()
        while results := tool_results(reply):
            self.history.append({"role": "user", "content": results})
            reply = self.call_model()
        # @else
        # | reply = self.call_model()
        # @endstep
        return "".join(block.text for block in reply.content if block.type == "text")

    def call_model(self) -> Message:
        """Send the history and keep the reply in it."""
        reply = self.client.messages.create(
            model=MODEL,
            max_tokens=1000,
            messages=self.history,
            tools=[TAKE_NOTE],  # @step >=note-taking
        )
        self.history.append({"role": "assistant", "content": reply.content})
        return reply


# @step >=note-taking
def tool_results(reply: Message) -> list[ToolResultBlockParam]:
    """Run every tool that the reply calls; return what each came to."""
    return [
        {
            "type": "tool_result",
            "tool_use_id": block.id,
            "content": run_tool(block.name, block.input),
        }
        for block in reply.content
        if block.type == "tool_use"
    ]


# @endstep
