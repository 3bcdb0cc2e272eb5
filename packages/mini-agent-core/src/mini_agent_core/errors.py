"""Every error the core raises on purpose, and whose fault each one is.

    MiniAgentError
    ├── ConfigurationError      the caller's: a setting that cannot work
    ├── ModelError              the service's, or the network's on the way to it
    │   ├── ModelRequestError   the service answered with an error
    │   ├── ModelConnectionError  no answer, or the answer stopped coming
    │   ├── ProtocolBreach      the reply is not what the Messages API promises
    │   │   └── TruncatedReply  the stream ended before its last event
    │   └── EmptyReply          the reply has neither text nor a tool call
    ├── SessionError            the session file's, or the disk's
    │   ├── SessionCorrupt      a line that is no valid message
    │   ├── SessionLocked       another process is writing to it
    │   └── SessionWriteFailed  a message could not be made durable
    ├── CompactionFailed        the auxiliary model's: no usable summary; nothing was changed
    └── ToolInputInvalid        the model's: input that does not fit the tool's schema

No message of these errors ever holds a credential.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class MiniAgentError(Exception):
    """Base of every error that mini-agent-core raises on purpose."""


class ConfigurationError(MiniAgentError):
    """Raised when a setting cannot work: no key, an impossible value."""


class ModelError(MiniAgentError):
    """Base of everything that can go wrong between a request and its whole reply."""


class ModelRequestError(ModelError):
    """Raised when the service answers with an error, before or inside the stream.

    Attributes:
        status: the HTTP status; 200 when the error came inside a stream.
        error_type: the service's own name for it, such as ``overloaded_error``.
        request_id: the service's id of the request, for its support.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        error_type: str | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error_type = error_type
        self.request_id = request_id


class ModelConnectionError(ModelError):
    """Raised when no answer came, or when it stopped coming."""


class ProtocolBreach(ModelError):
    """Raised when a reply is not what the Messages API promises. Nothing of it is kept."""


class TruncatedReply(ProtocolBreach):
    """Raised when a stream ends before its ``message_stop``."""


class EmptyReply(ModelError):
    """Raised when a reply has neither text nor a tool call. Nothing of it is recorded."""

    def __init__(self) -> None:
        super().__init__("model completed without text or tool calls")


class SessionError(MiniAgentError):
    """Base of everything that can go wrong with a session file."""


class SessionCorrupt(SessionError):
    """Raised when a line of a session file is no valid message.

    Attributes:
        path: the session file.
        line: the number of the line, counted from 1.
    """

    def __init__(self, path: Path, line: int, reason: str) -> None:
        super().__init__(f"{path}:{line}: {reason}")
        self.path = path
        self.line = line


class SessionLocked(SessionError):
    """Raised when another writer holds the session file."""


class SessionWriteFailed(SessionError):
    """Raised when a message could not be made durable. The run does not go on."""


class CompactionFailed(MiniAgentError):
    """Raised when a history could not be summarised. The history is as it was."""


class ToolInputInvalid(MiniAgentError):
    """Raised when a tool call's input does not fit the tool's schema.

    The loop turns it into an error result for the model; it never leaves the run.
    """
