"""The loop, the contracts and the tools of a coding agent.

Importing this package imports next to nothing: each name is fetched from its module when it
is first used. The names in ``__all__`` are the package's public face.
"""

from __future__ import annotations

TYPE_CHECKING = False  # what type checkers take for true; importing typing would cost more
if TYPE_CHECKING:
    from mini_agent_core.agent import RunResult, RunStopReason, run_agent, run_agent_sync
    from mini_agent_core.anthropic_client import AnthropicClient
    from mini_agent_core.approval import (
        Rule,
        allow_all,
        ask_through,
        deny_shell,
        first_verdict,
        read_only_gate,
        rules,
    )
    from mini_agent_core.cancellation import CancelToken
    from mini_agent_core.compaction import Compaction
    from mini_agent_core.context import messages_to_send, send_all, trim_context
    from mini_agent_core.errors import (
        CompactionFailed,
        ConfigurationError,
        EmptyReply,
        MiniAgentError,
        ModelConnectionError,
        ModelError,
        ModelRequestError,
        ProtocolBreach,
        SessionCorrupt,
        SessionError,
        SessionLocked,
        SessionWriteFailed,
        ToolInputInvalid,
        TruncatedReply,
    )
    from mini_agent_core.events import (
        BlockCompleted,
        MessageRecorded,
        ModelEvent,
        ReplyCompleted,
        RetryScheduled,
        RunEvent,
        TextDelta,
        ThinkingDelta,
        ToolCallFinished,
        ToolCallStarted,
        TurnStarted,
    )
    from mini_agent_core.interfaces import (
        ALLOW,
        BeforeToolCall,
        Context,
        ContextPolicy,
        Decision,
        ModelClient,
        ModelRequest,
        Observer,
        Tool,
    )
    from mini_agent_core.messages import (
        AssistantBlock,
        AssistantMessage,
        Message,
        OpaqueBlock,
        StopReason,
        SummaryMessage,
        TextBlock,
        ToolCall,
        ToolMessage,
        ToolResult,
        Usage,
        UserMessage,
    )
    from mini_agent_core.redaction import RedactedTool, Redactor, redact_results
    from mini_agent_core.session import Session, load_session

_NAMES = {
    "agent": "RunResult RunStopReason run_agent run_agent_sync",
    "anthropic_client": "AnthropicClient",
    "approval": "Rule allow_all ask_through deny_shell first_verdict read_only_gate rules",
    "cancellation": "CancelToken",
    "compaction": "Compaction",
    "context": "messages_to_send send_all trim_context",
    "errors": (
        "CompactionFailed ConfigurationError EmptyReply MiniAgentError ModelConnectionError "
        "ModelError ModelRequestError ProtocolBreach SessionCorrupt SessionError SessionLocked "
        "SessionWriteFailed ToolInputInvalid TruncatedReply"
    ),
    "events": (
        "BlockCompleted MessageRecorded ModelEvent ReplyCompleted RetryScheduled RunEvent "
        "TextDelta ThinkingDelta ToolCallFinished ToolCallStarted TurnStarted"
    ),
    "interfaces": (
        "ALLOW BeforeToolCall Context ContextPolicy Decision ModelClient ModelRequest Observer Tool"
    ),
    "messages": (
        "AssistantBlock AssistantMessage Message OpaqueBlock StopReason SummaryMessage TextBlock "
        "ToolCall ToolMessage ToolResult Usage UserMessage"
    ),
    "redaction": "RedactedTool Redactor redact_results",
    "session": "Session load_session",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "ALLOW",
    "AnthropicClient",
    "AssistantBlock",
    "AssistantMessage",
    "BeforeToolCall",
    "BlockCompleted",
    "CancelToken",
    "Compaction",
    "CompactionFailed",
    "ConfigurationError",
    "Context",
    "ContextPolicy",
    "Decision",
    "EmptyReply",
    "Message",
    "MessageRecorded",
    "MiniAgentError",
    "ModelClient",
    "ModelConnectionError",
    "ModelError",
    "ModelEvent",
    "ModelRequest",
    "ModelRequestError",
    "Observer",
    "OpaqueBlock",
    "ProtocolBreach",
    "RedactedTool",
    "Redactor",
    "ReplyCompleted",
    "RetryScheduled",
    "Rule",
    "RunEvent",
    "RunResult",
    "RunStopReason",
    "Session",
    "SessionCorrupt",
    "SessionError",
    "SessionLocked",
    "SessionWriteFailed",
    "StopReason",
    "SummaryMessage",
    "TextBlock",
    "TextDelta",
    "ThinkingDelta",
    "Tool",
    "ToolCall",
    "ToolCallFinished",
    "ToolCallStarted",
    "ToolInputInvalid",
    "ToolMessage",
    "ToolResult",
    "TruncatedReply",
    "TurnStarted",
    "Usage",
    "UserMessage",
    "allow_all",
    "ask_through",
    "deny_shell",
    "first_verdict",
    "load_session",
    "messages_to_send",
    "read_only_gate",
    "redact_results",
    "rules",
    "run_agent",
    "run_agent_sync",
    "send_all",
    "trim_context",
]


def __getattr__(name: str) -> object:
    import importlib

    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
