"""The endpoints beside messages: batches, files, completions. Made when first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mini_agent_mock.http import HttpRequest, HttpResponse
    from mini_agent_mock.service import ServiceFace


class SideEndpoints:
    """Finds the endpoint for a path, and keeps its state for the run."""

    prefixes = ("/v1/messages/batches", "/v1/files", "/v1/complete")

    def __init__(self, service: ServiceFace) -> None:
        self._service = service
        self._made: dict[str, Any] = {}

    def handle(self, request: HttpRequest) -> tuple[str, HttpResponse]:
        """The purpose of a request and the response to it. Raises `ApiError` to refuse it."""
        if request.path.startswith("/v1/files"):
            purpose = "files"
        else:
            purpose = "complete" if request.path.startswith("/v1/complete") else "batches"
        if purpose not in self._made:
            self._made[purpose] = self._make(purpose)
        response: HttpResponse = self._made[purpose].handle(request)
        return purpose, response

    def _make(self, purpose: str) -> Any:
        from mini_agent_mock.endpoints.batches import Batches
        from mini_agent_mock.endpoints.completions import Completions
        from mini_agent_mock.endpoints.files import Files

        kinds = {"batches": Batches, "files": Files, "complete": Completions}
        return kinds[purpose](self._service)
