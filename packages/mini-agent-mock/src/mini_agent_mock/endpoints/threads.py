"""Message threads: conversations whose history the server holds (a beta of 2026).

A request with `thread: {"type": "create"}` lets its conversation be held under the reply's id;
one with `{"type": "continue", "previous_message_id": …}` sends only what is new. The tool runner
of the official Python SDK does so by default. Source: the beta types of SDK 2.14; the wording
of the refusals is ours, their `error_code`s are the SDK's. Not simulated: that `system` and
`tools` must stay the same within a thread.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from mini_agent_mock.errors import ApiError

MAX_THREADS = 512


class MessageThreads:
    """The threads of one run; the longest unused are forgotten. Called under the engine's lock."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, list[Any]] = OrderedDict()
        self._continued: OrderedDict[str, None] = OrderedDict()

    def expand(self, body: Any) -> Any:
        """The body with the held history before its messages; any other body as it is.

        Raises ApiError (400, with an `error_code`) for a reply that is not held, or that was
        continued already.
        """
        thread = body.get("thread") if isinstance(body, dict) else None
        if not isinstance(thread, dict) or thread.get("type") != "continue":
            return body
        previous = thread.get("previous_message_id")
        if not isinstance(previous, str) or not isinstance(body.get("messages"), list):
            return body  # the shape check has the words for it
        if previous in self._continued:
            raise _refusal("thread_already_continued", f"{previous} has already been continued")
        held = self._held.get(previous)
        if held is None:
            raise _refusal("thread_not_found", f"no thread is held under {previous}")
        return {**body, "messages": [*held, *body["messages"]]}

    def remember(self, body: dict[str, Any], message: dict[str, Any]) -> None:
        """Hold the conversation of an expanded `body` and its reply, if it asked for a thread."""
        thread, messages = body.get("thread"), body.get("messages")
        if not isinstance(thread, dict) or not isinstance(messages, list):
            return
        reply = {"role": "assistant", "content": message["content"]}
        self._held[message["id"]] = [*messages, reply]
        previous = thread.get("previous_message_id")
        if isinstance(previous, str):
            self._continued[previous] = None
            self._held.pop(previous, None)
        for memory in (self._held, self._continued):
            while len(memory) > MAX_THREADS:
                memory.popitem(last=False)


def _refusal(code: str, message: str) -> ApiError:
    return ApiError(
        400,
        "invalid_request_error",
        f"thread.previous_message_id: {message}",
        {"error_code": code},
    )
