"""The loop: ask the model, run the tools it calls, hand back the results, repeat."""

import json
import time  # @step >=autonomy
from collections.abc import Callable  # @step >=system-prompt
from dataclasses import dataclass
from dataclasses import field
from typing import Any  # @step >=system-prompt
from typing import Protocol  # @step >=autonomy
from typing import TypedDict  # @step >=system-prompt

from anthropic import Anthropic
from anthropic.types import CacheControlEphemeralParam  # @step >=system-prompt
from anthropic.types import Message
from anthropic.types import MessageParam
from anthropic.types import ThinkingConfigAdaptiveParam  # @step >=system-prompt
from anthropic.types import ToolParam
from anthropic.types import ToolResultBlockParam
from anthropic.types import ToolUseBlock

from .context import CONTEXT_LIMIT  # @step >=context
from .context import compact  # @step >=context
from .context import context_tokens  # @step >=context
from .memory import with_memories  # @step >=memory
from .permissions import Ask  # @step >=permissions
from .permissions import permission_gate  # @step >=permissions
from .plan import PlanMode  # @step >=plan-mode
from .prompt import system_prompt  # @step >=system-prompt
from .session import SessionStore  # @step >=sessions
from .tools import Tool  # @step >=tools
from .tools import clip  # @step >=tools
from .tools import find_tool  # @step >=tools
from .tools import tool_registry  # @step >=tools

# @step ==agent-loop
# | from .tools import READ_FILE
# | from .tools import read_file
# @endstep

MODEL = "claude-sonnet-5-5"
MAX_TOKENS = 16_000
MAX_TURNS = 50

# @step >=system-prompt
# Told what happens, as it happens: a kind of event and its text.
EventSink = Callable[[str, str], None]
# @endstep


class AgentError(Exception):
    """The run cannot go on; the text says why, for the person at the keyboard."""


# @step >=autonomy
class Clock(Protocol):
    """What waits: the module `time` is one."""

    def sleep(self, seconds: float, /) -> None:
        """Wait."""


# @endstep
# @step >=system-prompt
class Request(TypedDict):
    """Everything the model is sent."""

    model: str
    max_tokens: int
    thinking: ThinkingConfigAdaptiveParam
    cache_control: CacheControlEphemeralParam
    system: str
    tools: list[ToolParam]
    messages: list[MessageParam]


# @endstep
@dataclass
class Agent:
    """A conversation with the model, and what the model may use in it."""

    client: Anthropic
    event_sink: EventSink  # @step >=system-prompt
    session: SessionStore  # @step >=sessions
    ask: Ask  # @step >=permissions
    plan: PlanMode  # @step >=plan-mode
    system: str = field(default_factory=system_prompt)  # @step >=system-prompt
    tools: dict[str, Tool] = field(default_factory=tool_registry)  # @step >=tools
    model: str = MODEL  # @step >=sessions
    history: list[MessageParam] = field(default_factory=list)
    context_tokens: int = 0  # @step >=context
    clock: Clock = time  # @step >=autonomy

    def run(self, prompt: str) -> str:
        """Answer one prompt: go on until the model calls no tool, return its text."""
        prompt = with_memories(prompt)  # @step >=memory
        prompt = self.plan.remind(prompt)  # @step >=plan-mode
        self.record({"role": "user", "content": prompt})
        for _ in range(MAX_TURNS):
            self.before_turn()  # @step >=context
            # @step >=system-prompt
            reply = self.call_model(self.build_request())
            # @else
            # | reply = self.client.messages.create(
            # |     model=MODEL,
            # |     max_tokens=MAX_TOKENS,
            # |     thinking={"type": "adaptive"},
            # |     tools=self.tool_params(),
            # |     messages=self.history,
            # | )
            # @endstep
            check(reply)
            self.after_assistant(reply)  # @step >=context
            # @step >=system-prompt
            answer: MessageParam = {"role": "assistant", "content": as_data(reply)}
            # @else
            # | answer: MessageParam = {"role": "assistant", "content": reply.content}
            # @endstep
            calls = [block for block in reply.content if block.type == "tool_use"]
            if not calls:
                self.record(answer)
                return text_of(reply)
            results = [self.execute_tool_call(call) for call in calls]
            self.record(answer, {"role": "user", "content": results})
        raise AgentError(f"no answer after {MAX_TURNS} turns")

    # @step >=system-prompt
    def build_request(self) -> Request:
        """Put together what the model is sent.

        All but `messages` stays the same, and `messages` grows at its end. So a request
        repeats the one before it, and the service can reuse the work it did on that.
        """
        return {
            # @step >=sessions
            "model": self.model,
            # @else
            # | "model": MODEL,
            # @endstep
            "max_tokens": MAX_TOKENS,
            "thinking": {"type": "adaptive"},
            "cache_control": {"type": "ephemeral"},
            "system": self.system,
            "tools": self.tool_params(),
            "messages": self.history,
        }

    def call_model(self, request: Request) -> Message:
        """Ask the model once, and pass on what it says."""
        self.event_sink("request", json.dumps(request, indent=2))
        # @step >=streaming
        with self.client.messages.stream(**request) as stream:
            for chunk in stream.text_stream:
                self.event_sink("chunk", repr(chunk))
                self.event_sink("text", chunk)
            reply = stream.get_final_message()
        # @else
        # | reply = self.client.messages.create(**request)
        # | self.event_sink("text", text_of(reply))
        # @endstep
        self.event_sink("text", "\n" if text_of(reply) else "")
        return reply

    # @endstep
    def tool_params(self) -> list[ToolParam]:
        """List what the model is told of its tools."""
        # @step >=tools
        return [tool.param for tool in self.tools.values()]
        # @else
        # | return [READ_FILE]
        # @endstep

    def execute_tool_call(self, call: ToolUseBlock) -> ToolResultBlockParam:
        """Run one tool call, and make what comes of it a block for the model."""
        # @step >=system-prompt
        self.event_sink("tool", f"{call.name} {json.dumps(call.input)}")
        # @else
        # | print(f"[tool] {call.name} {json.dumps(call.input)}")
        # @endstep
        # @step >=tools
        try:
            tool = find_tool(self.tools, call.name)
            self.plan.check(call.name)  # @step >=plan-mode
            permission_gate(call.name, call.input, self.ask)  # @step >=permissions
            content, failed = tool.run(**call.input), False
        except Exception as error:  # noqa: BLE001 - the model is to know
            content, failed = f"{type(error).__name__}: {error}", True
        content = clip(content)
        self.event_sink("result", content)  # @step >=system-prompt
        # @else
        # | content = read_file(str(call.input["path"]))
        # @endstep
        return {
            "type": "tool_result",
            "tool_use_id": call.id,
            "content": content,
            "is_error": failed,  # @step >=tools
        }

    def record(self, *messages: MessageParam) -> None:
        """Add messages to the history, a call always together with its result."""
        self.session.save(messages)  # @step >=sessions
        self.history.extend(messages)

    # @step >=sessions
    def start_over(self, messages: list[MessageParam]) -> None:
        """Go on from these messages instead of the history."""
        self.session.save(messages, start_over=True)
        self.history = messages

    # @endstep
    # @step >=context
    def before_turn(self) -> None:
        """Make room when the last reply left too little of the context window."""
        if self.context_tokens > CONTEXT_LIMIT:
            self.compact()

    def after_assistant(self, reply: Message) -> None:
        """Note how much of the context window the conversation fills by now."""
        self.context_tokens = context_tokens(reply.usage)

    def compact(self) -> None:
        """Put a summary in the place of all but the newest messages."""
        self.start_over(compact(self.history, self.aux_model_call))
        self.context_tokens = 0

    def aux_model_call(self, kind: str, system: str, question: str) -> str:
        """Ask the model something aside: no tools, and no trace in the history."""
        self.event_sink("aside", kind)
        reply = self.client.messages.create(
            model=self.model,
            max_tokens=MAX_TOKENS,
            thinking={"type": "adaptive"},
            system=system,
            messages=[{"role": "user", "content": question}],
        )
        check(reply)
        return text_of(reply)

    # @endstep


def check(reply: Message) -> None:
    """Refuse a reply that is not whole: its last tool call may be cut off."""
    if not any(block.type in {"text", "tool_use"} for block in reply.content):
        raise AgentError("the model's reply is empty")
    if reply.stop_reason not in {"end_turn", "tool_use"}:
        why = reply.stop_reason or "it broke off"
        raise AgentError(f"the model's reply is not whole: {why}")


# @step >=system-prompt
def as_data(reply: Message) -> Any:
    """Turn a reply's content into plain data, complete, to be sent back unchanged."""
    return reply.model_dump(mode="json", exclude_unset=True)["content"]


# @endstep
def text_of(reply: Message) -> str:
    """Join the texts of a reply."""
    return "".join(block.text for block in reply.content if block.type == "text")
