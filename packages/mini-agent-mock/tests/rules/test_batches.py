import json
from typing import Any

import pytest

from mini_agent_mock.endpoints.batches import LIFETIME_SECONDS, Batches
from mini_agent_mock.errors import ApiError
from mini_agent_mock.http import HttpRequest, HttpResponse
from mini_agent_mock.rule_docs.case import body

PREFIX = "/v1/messages/batches"


@pytest.fixture
def batches(service: Any) -> Batches:
    return Batches(service)


def entry(name: str = "one", **fields: Any) -> dict[str, Any]:
    return {"custom_id": name, "params": body(**fields)}


def send(batches: Batches, method: str, path: str = "", **more: Any) -> HttpResponse:
    value = more.pop("json", None)
    raw = b"" if value is None else json.dumps(value).encode()
    path, _, query = path.partition("?")
    return batches.handle(
        HttpRequest(method, PREFIX + path, query, {"host": "mock:1"}, raw, mount="/run-1")
    )


def told(batches: Batches, method: str, path: str = "", **more: Any) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(send(batches, method, path, **more).body)
    return value


def create(batches: Batches, *entries: Any) -> dict[str, Any]:
    return told(batches, "POST", json={"requests": list(entries or [entry()])})


def refused(batches: Batches, method: str, path: str = "", **more: Any) -> ApiError:
    with pytest.raises(ApiError) as error:
        send(batches, method, path, **more)
    return error.value


def test_a_batch_is_in_progress_when_made_and_ended_when_looked_at(batches: Batches) -> None:
    made = create(batches, entry("one"), entry("two"))
    later = told(batches, "GET", f"/{made['id']}")

    assert made["processing_status"] == "in_progress"
    assert made["request_counts"]["processing"] == 2
    assert made["results_url"] is None
    assert later["processing_status"] == "ended"
    assert later["request_counts"] == {
        "processing": 0, "succeeded": 2, "errored": 0, "canceled": 0, "expired": 0
    }  # fmt: skip
    assert later["results_url"] == f"http://mock:1/run-1{PREFIX}/{made['id']}/results"


def test_the_results_are_one_line_per_request_in_order(batches: Batches, service: Any) -> None:
    made = create(batches, entry("one"), entry("two", max_tokens=10**9), entry("three"))
    told(batches, "GET", f"/{made['id']}")

    response = send(batches, "GET", f"/{made['id']}/results")
    one, two, three = (json.loads(line) for line in response.body.splitlines())

    assert ("content-type", "application/x-jsonl") in response.headers
    assert one["custom_id"] == "one"
    assert one["result"]["type"] == "succeeded"
    assert one["result"]["message"]["content"][0]["text"] == "answer 1"
    assert two["result"]["type"] == "errored"
    assert two["result"]["error"]["error"]["type"] == "invalid_request_error"
    assert two["result"]["error"]["error"]["message"].startswith("max_tokens: 1000000000 > ")
    assert three["result"]["message"]["content"][0]["text"] == "answer 2"


def test_a_scripted_failure_ends_as_errored(batches: Batches, service: Any) -> None:
    service.replies = [ApiError(529, "overloaded_error", "Overloaded")]
    made = create(batches)

    assert told(batches, "GET", f"/{made['id']}")["request_counts"]["errored"] == 1


def test_results_are_not_there_before_the_end(batches: Batches) -> None:
    made = create(batches)

    assert refused(batches, "GET", f"/{made['id']}/results").status == 404


def test_a_cancelled_batch_plays_nothing(batches: Batches, service: Any) -> None:
    made = create(batches)

    cancelled = told(batches, "POST", f"/{made['id']}/cancel")
    later = told(batches, "GET", f"/{made['id']}")

    assert cancelled["processing_status"] == "canceling"
    assert cancelled["cancel_initiated_at"]
    assert later["request_counts"]["canceled"] == 1
    assert service.asked == []
    assert "ended" in refused(batches, "POST", f"/{made['id']}/cancel").message


def test_a_batch_nobody_looked_at_for_a_day_has_expired(batches: Batches, service: Any) -> None:
    made = create(batches)
    service.clock.time += LIFETIME_SECONDS

    assert told(batches, "GET", f"/{made['id']}")["request_counts"]["expired"] == 1


def test_only_an_ended_batch_can_be_deleted(batches: Batches) -> None:
    made = create(batches)
    assert refused(batches, "DELETE", f"/{made['id']}").status == 400
    told(batches, "GET", f"/{made['id']}")

    gone = told(batches, "DELETE", f"/{made['id']}")

    assert gone == {"id": made["id"], "type": "message_batch_deleted"}
    assert refused(batches, "GET", f"/{made['id']}").status == 404


def test_batches_are_listed_newest_first_in_pages(batches: Batches) -> None:
    ids = [create(batches)["id"] for _ in range(3)][::-1]

    first = told(batches, "GET", "?limit=2")
    second = told(batches, "GET", f"?limit=2&after_id={first['last_id']}")
    back = told(batches, "GET", f"?limit=1&before_id={ids[2]}")

    assert [batch["id"] for batch in first["data"]] == ids[:2]
    assert first["has_more"]
    assert first["data"][0]["processing_status"] == "ended"
    assert [batch["id"] for batch in second["data"]] == ids[2:]
    assert not second["has_more"]
    assert [batch["id"] for batch in back["data"]] == [ids[1]]
    assert back["has_more"]
    assert not told(batches, "GET", f"?limit=2&before_id={ids[2]}")["has_more"]
    assert not told(batches, "GET", "?limit=3")["has_more"]
    assert told(batches, "GET", "?after_id=gone")["data"] == []
    assert told(batches, "GET", "?before_id=gone")["first_id"] is None


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "Input should be a valid dictionary or object to extract fields from"),
        ({}, "requests: Field required"),
        ({"requests": 1}, "requests: Input should be a valid list"),
        ({"requests": []}, "requests: List should have at least 1 item after validation, not 0"),
        ({"requests": [1]}, "requests.0: Input should be a valid dictionary"),
        ({"requests": [{"params": {}}]}, "requests.0.custom_id: Field required"),
        ({"requests": [{"custom_id": "a"}]}, "requests.0.params: Field required"),
        ({"requests": [entry(5)]},  # type: ignore[arg-type]  # a wrong type is the point
         "requests.0.custom_id: Input should be a valid string"),
        ({"requests": [entry("a b")]},
         "requests.0.custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"),
        ({"requests": [entry(), entry()]}, "requests: custom_id must be unique within a batch"),
    ],
)  # fmt: skip
def test_a_malformed_batch_is_refused_at_once(batches: Batches, value: Any, message: str) -> None:
    assert refused(batches, "POST", json=value).message.startswith(message)


def test_unknown_paths_and_methods_are_told_apart(batches: Batches) -> None:
    assert refused(batches, "PUT").status == 405
    assert refused(batches, "POST", "/x").status == 405
    assert refused(batches, "GET", "/x/nothing").status == 404
    assert refused(batches, "GET", "?limit=0").message.startswith("limit: Input should be greater")
    assert refused(batches, "GET", "?limit=1001").message.startswith("limit: Input should be less")
    assert refused(batches, "GET", "?limit=x").message.startswith("limit: Input should be a valid")


def test_a_lenient_server_knows_every_batch_and_takes_any_shape(service: Any) -> None:
    service.lenient = True
    batches = Batches(service)

    assert told(batches, "GET", "/any")["processing_status"] == "ended"
    assert told(batches, "POST", "/any/cancel")["id"] == "any"
    assert told(batches, "DELETE", "/any")["id"] == "any"
    assert send(batches, "GET", "/any/results").body == b""
    odd = told(batches, "POST", json={"requests": [1, {"custom_id": "a", "params": 5}]})
    assert odd["request_counts"]["processing"] == 1
    assert told(batches, "GET", f"/{odd['id']}")["request_counts"]["succeeded"] == 1
    assert told(batches, "POST", json=[])["request_counts"]["processing"] == 0


def test_without_a_host_the_address_of_the_results_is_relative(batches: Batches) -> None:
    request = HttpRequest("POST", PREFIX, body=json.dumps({"requests": [entry()]}).encode())
    made = json.loads(batches.handle(request).body)

    ended = told(batches, "GET", f"/{made['id']}")

    assert ended["results_url"] == f"{PREFIX}/{made['id']}/results"
