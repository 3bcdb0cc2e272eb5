"""What the parts behind the endpoints may ask of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from mini_agent_mock.clock import Clock
    from mini_agent_mock.http import HttpRequest
    from mini_agent_mock.validation import RequestContext
    from mini_agent_mock.validation.context import Endpoint


class ServiceFace(Protocol):
    """The engine as `Batches`, `Files` and `Completions` see it. Called under its lock."""

    @property
    def clock(self) -> Clock:
        """The run's clock."""

    @property
    def lenient(self) -> bool:
        """Whether any id exists and any shape is accepted."""

    @property
    def disabled(self) -> frozenset[str]:
        """Validation rules that are left out."""

    def new_id(self, prefix: str) -> str:
        """A fresh id with this prefix, the same in every run."""

    def context(self, request: HttpRequest, endpoint: Endpoint) -> RequestContext:
        """What validation needs to know about the request."""

    def answer(self, body: dict[str, Any], request: HttpRequest) -> dict[str, Any]:
        """Play the scripted reply to a messages body without streaming it.

        Returns the finished message. Raises `ApiError` for a scripted status and for
        everything that fails the run.
        """
