import json
from typing import Any

import pytest

from mini_agent_mock.endpoints.completions import Completions
from mini_agent_mock.errors import ApiError
from mini_agent_mock.http import HttpRequest, HttpResponse

ASKED = {"model": "claude-2.1", "prompt": "\n\nHuman: Hi\n\nAssistant:", "max_tokens_to_sample": 5}


def send(service: Any, body: Any, method: str = "POST") -> HttpResponse:
    request = HttpRequest(method, "/v1/complete", body=json.dumps(body).encode())
    return Completions(service).handle(request)


def test_a_prompt_becomes_a_user_message_and_the_text_the_completion(service: Any) -> None:
    response = send(service, ASKED)
    value = json.loads(response.body)

    assert response.status == 200
    assert value == {
        "type": "completion",
        "id": "compl_011",
        "completion": "answer 1",
        "stop_reason": "stop_sequence",
        "stop": None,
        "model": "claude-2.1",
    }
    assert service.asked[0]["messages"] == [{"role": "user", "content": ASKED["prompt"]}]
    assert service.asked[0]["max_tokens"] == 5


def test_running_out_of_tokens_is_told(service: Any) -> None:
    service.replies = [
        {"model": "m", "content": [], "stop_reason": "max_tokens", "stop_sequence": None}
    ]

    assert json.loads(send(service, ASKED).body)["stop_reason"] == "max_tokens"


def test_a_stream_is_completion_ping_completion(service: Any) -> None:
    response = send(service, {**ASKED, "stream": True})
    events = [part.split(b"\r\n") for part in response.body.split(b"\r\n\r\n") if part]

    assert response.status == 200
    assert [name for name, _ in events] == [
        b"event: completion", b"event: ping", b"event: completion"
    ]  # fmt: skip
    assert json.loads(events[0][1][6:])["completion"] == "answer 1"
    assert json.loads(events[2][1][6:])["stop_reason"] == "stop_sequence"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prompt": "Hi"}, "prompt must start with"),
        ({"prompt": 5}, "prompt: Input should be a valid string"),
        ({"max_tokens_to_sample": 0}, "max_tokens_to_sample: Input should be greater"),
        ({"foo": 1}, "foo: Extra inputs are not permitted"),
    ],
)
def test_a_malformed_request_is_refused(service: Any, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ApiError) as error:
        send(service, {**ASKED, **change})

    assert error.value.message.startswith(message)


def test_only_post_is_answered(service: Any) -> None:
    with pytest.raises(ApiError) as error:
        send(service, ASKED, "GET")

    assert error.value.status == 405


def test_a_lenient_server_answers_any_body(service: Any) -> None:
    service.lenient = True

    odd_ones: list[Any] = [[], {"prompt": "no human"}]
    for odd in odd_ones:
        assert json.loads(send(service, odd).body)["type"] == "completion"
