from typing import Any

import pytest

from mini_agent_mock.errors import ApiError
from mini_agent_mock.http import HttpRequest
from mini_agent_mock.validation import RequestContext


class HandClock:
    """A clock that a test moves by hand."""

    def __init__(self) -> None:
        self.time = 1_796_000_000.0

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds

    def sleep_sync(self, seconds: float) -> None:
        self.time += seconds


class PlainService:
    """A service face whose model says `answer 1`, `answer 2`, … or what `replies` holds."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.lenient = False
        self.disabled: frozenset[str] = frozenset()
        self.asked: list[dict[str, Any]] = []
        self.replies: list[Any] = []
        self._ids = 0

    def new_id(self, prefix: str) -> str:
        self._ids += 1
        return f"{prefix}{self._ids}"

    def context(self, request: HttpRequest, endpoint: Any) -> RequestContext:
        return RequestContext(endpoint=endpoint)

    def answer(self, body: dict[str, Any], request: HttpRequest) -> dict[str, Any]:
        self.asked.append(body)
        if self.replies:
            reply = self.replies.pop(0)
            if isinstance(reply, ApiError):
                raise reply
            return dict(reply)
        return {
            "type": "message",
            "model": body.get("model"),
            "content": [{"type": "text", "text": f"answer {len(self.asked)}"}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
        }


@pytest.fixture
def service() -> PlainService:
    return PlainService()
