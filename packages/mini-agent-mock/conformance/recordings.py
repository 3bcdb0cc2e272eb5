"""Recorded exchanges with the real service, against what the mock says to the same request.

    uv run python packages/mini-agent-mock/conformance/recordings.py [VERSION]

The official SDK's source distribution holds recordings made for its own tests. Each request must
pass our validation; each reply is scripted from the recording, played, and compared: the message
or error field by field, a stream event by event (runs of deltas of one block count once, since
where the service cut its text is no rule). Exit code 1 if something differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mini_agent_mock import Engine, Scenario
from mini_agent_mock.http import HttpRequest, HttpResponse
from mini_agent_mock.recorder.assembly import assemble, events_of
from mini_agent_mock.recorder.script import Recorded, scenario_of
from mini_agent_mock.validation import RequestContext, parse_betas, validate
from sdk_suite import VERSIONS, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

DIFFERS_ON_PURPOSE = {
    "id": "made up, the same in every run",
    "stop_details": "null in today's replies, absent in older recordings",
    "caller": "in today's tool calls, absent in older recordings",
    "usage": "taken from the recording; fields the mock always has are added",
    "request_id": "made up, the same in every run",
    "retired models": "the recordings are older than the model table",
}


def exchanges_in(source: Path) -> Iterator[tuple[str, Json]]:
    """Every recorded messages exchange, with the name of its file."""
    for path in sorted(source.rglob("__inline_snapshot__/**/*.json")):
        for number, exchange in enumerate(json.loads(path.read_text())):
            if exchange["request"]["url"].partition("?")[0].endswith("/v1/messages"):
                yield f"{path.stem[:8]}[{number}]", exchange


def raw_body(response: Json) -> bytes:
    """The recorded body as bytes."""
    body = response["body"]
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def problems(exchange: Json) -> Iterator[str]:
    """What differs between the service's recorded answer and ours."""
    request, response = exchange["request"], exchange["response"]
    headers = {name.lower(): value for name, value in request["headers"].items()}
    context = RequestContext(
        version=headers["anthropic-version"],
        betas=parse_betas(headers.get("anthropic-beta")),
        disabled=frozenset({"known_model"}),
    )
    refused = validate(request["body"], context)
    if refused is not None:
        yield f"we refuse what the service accepted: {refused}"
    reply = assemble(response["status_code"], response["headers"], raw_body(response), [])
    script = scenario_of([Recorded(request["body"], reply)], timings=False)
    engine = Engine(Scenario.parse(script))
    sent = {"x-api-key": "k", **headers}
    raw = json.dumps(request["body"]).encode()
    ours = engine.handle(HttpRequest("POST", "/v1/messages", "beta=true", sent, raw))
    if ours.status != response["status_code"]:
        yield f"status {ours.status}, not {response['status_code']}: {ours.body[:200]!r}"
    elif "event-stream" in response["headers"]["content-type"]:
        yield from _stream_problems(raw_body(response), ours)
    else:
        yield from _differences(response["body"], json.loads(ours.body), "body")


def _stream_problems(recorded: bytes, ours: HttpResponse) -> Iterator[str]:
    theirs, mine = _outline(recorded), _outline(ours.body)
    if [name for name, _ in theirs] != [name for name, _ in mine]:
        yield f"events {[name for name, _ in mine]}, not {[name for name, _ in theirs]}"
        return
    for (name, there), (_, here) in zip(theirs, mine, strict=True):
        yield from _differences(there, here, name, values=name == "message_delta")


def _outline(body: bytes) -> list[tuple[str, Json]]:
    """The events without pings; of deltas of one kind in a row the first."""
    outline: list[tuple[str, Json]] = []
    for event in events_of(body):
        kind = event["type"]
        name = f"{kind} {event['delta']['type']}" if kind == "content_block_delta" else kind
        repeated = outline and outline[-1][0] == name and kind == "content_block_delta"
        if kind != "ping" and not repeated:
            outline.append((name, event))
    return outline


def _differences(there: Any, here: Any, path: str, *, values: bool = True) -> Iterator[str]:
    if isinstance(there, dict) and isinstance(here, dict):
        for name in there.keys() | here.keys():
            if name in DIFFERS_ON_PURPOSE and (name != "usage" or path == "body"):
                continue
            if name not in here:
                yield f"{path}.{name} is missing"
            elif name not in there:
                yield f"{path}.{name} is only in ours"
            else:
                yield from _differences(there[name], here[name], f"{path}.{name}", values=values)
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        for number, pair in enumerate(zip(there, here, strict=True)):
            yield from _differences(*pair, f"{path}.{number}", values=values)
    elif type(there) is not type(here) or (values and there != here):
        yield f"{path} is {here!r}, not {there!r}"


def main() -> int:
    """Compare all recordings of one version of the SDK."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", nargs="?", default=VERSIONS[0])
    with tempfile.TemporaryDirectory() as folder:
        source = unpacked(parser.parse_args().version, Path(folder).resolve())
        found = {name: list(problems(exchange)) for name, exchange in exchanges_in(source)}
    for name, differences in found.items():
        for difference in differences:
            print(f"{name}: {difference}")
    differing = sum(1 for differences in found.values() if differences)
    print(f"{len(found)} recorded exchanges, {differing} differ from ours")
    return 1 if differing or not found else 0


if __name__ == "__main__":
    sys.exit(main())
