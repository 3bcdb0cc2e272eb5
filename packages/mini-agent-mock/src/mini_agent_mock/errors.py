"""Whose fault it is.

MockError
├── ScenarioError     the author of the scenario: it cannot be played as written
├── ScenarioFailure   the program under test: it did not do what the scenario demands
└── ApiError          the client: the service would refuse this request
"""

from __future__ import annotations

from typing import Any


class MockError(Exception):
    """Base of everything this package raises on purpose."""


class ScenarioError(MockError):
    """A scenario that cannot be played.

    The text is one line: the file (if there is one), the path into it, what is wrong, and
    the nearest known key where a key was misspelt. `problems` are all such lines, as far as
    one mistake does not hide another; the text is the first.
    """

    def __init__(self, problem: str, *more: str) -> None:
        super().__init__(problem)
        self.problems = (problem, *more)


class ScenarioFailure(MockError, AssertionError):
    """The run did not go as the scenario demands; the text is the readable account."""


class ApiError(MockError):
    """A refusal in the service's own terms.

    `status` is the HTTP status, `type` and `message` are the fields of the error envelope,
    `details` is the optional third one. `should_retry` is None where the service sends no
    `x-should-retry` header.
    """

    def __init__(
        self,
        status: int,
        type: str,
        message: str,
        details: dict[str, Any] | None = None,
        *,
        should_retry: bool | None = None,
    ) -> None:
        super().__init__(f"{status} {type}: {message}")
        self.status = status
        self.type = type
        self.message = message
        self.details = details
        self.should_retry = should_retry

    def envelope(self, request_id: str) -> dict[str, Any]:
        """The JSON body the service answers with."""
        error: dict[str, Any] = {"type": self.type, "message": self.message}
        if self.details is not None:
            error = {"details": self.details, **error}
        return {"type": "error", "error": error, "request_id": request_id}


def invalid_request(message: str) -> ApiError:
    """The commonest refusal: 400 `invalid_request_error`."""
    return ApiError(400, "invalid_request_error", message)
