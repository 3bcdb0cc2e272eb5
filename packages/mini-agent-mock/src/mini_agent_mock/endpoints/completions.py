"""The legacy text completions: `POST /v1/complete`, played from the same scenario.

The prompt becomes one user message; the text of the scripted reply becomes the completion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mini_agent_mock.endpoints.paging import wrong_method
from mini_agent_mock.errors import invalid_request
from mini_agent_mock.http import HttpResponse, bytes_response, json_response, to_json
from mini_agent_mock.validation import parse_body
from mini_agent_mock.validation.shapes import (
    anything,
    array,
    boolean,
    dictionary,
    integer,
    model,
    number,
    optional,
    string,
)

if TYPE_CHECKING:
    from mini_agent_mock.http import HttpRequest
    from mini_agent_mock.service import ServiceFace

HUMAN = "\n\nHuman:"
_STOP_REASONS = {"max_tokens": "max_tokens"}

_SHAPE = model(
    {"model": string(minimum=1), "prompt": string(), "max_tokens_to_sample": integer(at_least=1)},
    {
        "stop_sequences": optional(array(string())),
        "stream": optional(boolean),
        "metadata": dictionary,
        "temperature": optional(number),
        "top_p": optional(number),
        "top_k": optional(integer()),
        "betas": anything,
    },
)


class Completions:
    """The completions endpoint of one run. Called under the engine's lock."""

    def __init__(self, service: ServiceFace) -> None:
        self._service = service

    def handle(self, request: HttpRequest) -> HttpResponse:
        """Answer `POST /v1/complete`, streamed if asked. Raises ApiError to refuse it."""
        if request.method != "POST":
            raise wrong_method()
        body = parse_body(request.body)
        if not self._service.lenient:
            _check(body)
        if not isinstance(body, dict):
            body = {}
        message = self._service.answer(
            {
                "model": body.get("model", ""),
                "max_tokens": body.get("max_tokens_to_sample", 1),
                "messages": [{"role": "user", "content": str(body.get("prompt", ""))}],
            },
            request,
        )
        completion = self._completion(message)
        if body.get("stream"):
            return _stream(completion)
        return json_response(200, completion)

    def _completion(self, message: dict[str, Any]) -> dict[str, Any]:
        texts = [block["text"] for block in message["content"] if block["type"] == "text"]
        return {
            "type": "completion",
            "id": self._service.new_id("compl_01"),
            "completion": "".join(texts),
            "stop_reason": _STOP_REASONS.get(str(message["stop_reason"]), "stop_sequence"),
            "stop": message.get("stop_sequence"),
            "model": message["model"],
        }


def _check(body: Any) -> None:
    fault = _SHAPE(body)
    if fault is not None:
        raise invalid_request(str(fault))
    if HUMAN not in "\n\n" + body["prompt"].lstrip("\n"):
        raise invalid_request(
            f"prompt must start with {HUMAN!r} turn after an optional system prompt"
        )


def _stream(completion: dict[str, Any]) -> HttpResponse:
    """The whole text in one event, then the end: there is nothing to pace on this endpoint."""
    begun = {**completion, "stop_reason": None, "stop": None}
    ended = {**completion, "completion": ""}
    events = (("completion", begun), ("ping", {"type": "ping"}), ("completion", ended))
    data = b"".join(
        b"event: " + name.encode() + b"\r\ndata: " + to_json(event) + b"\r\n\r\n"
        for name, event in events
    )
    return bytes_response(200, data, "text/event-stream; charset=utf-8")
