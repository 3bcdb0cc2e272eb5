"""What is kept of an exchange: without secrets, and only if a scenario can say it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from mini_agent_mock.engine.catalogue import extra_models
from mini_agent_mock.errors import MockError
from mini_agent_mock.recorder.assembly import ODD_SHAPES, assemble, lost
from mini_agent_mock.recorder.script import Recorded, turn_of
from mini_agent_mock.scenario import Scenario
from mini_agent_mock.validation import RequestContext, parse_betas, validate, validate_headers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mini_agent_mock.recorder.assembly import Reply
    from mini_agent_mock.recorder.proxy import Passed
    from mini_agent_mock.secrets import Redactor

_ODD = (*ODD_SHAPES, MockError)


def kept(passed: Passed, body: dict[str, Any], earlier: Iterable[Recorded]) -> Recorded:
    """The exchange with its secrets still in it. Never raises, whatever the upstream said."""
    reply = assemble(
        passed.status, passed.reply_headers, passed.reply, passed.times, cut=passed.cut
    )
    ended = passed.started + (passed.times[-1] if passed.times else 0.0)
    said = passed.headers.get("x-stainless-retry-count", "0")
    retry = int(said) if said.isdecimal() and len(said) < 6 else 0
    return Recorded(body, reply, _refused(passed, body, earlier), passed.started, ended, retry)


def cleaned(entry: Recorded, redactor: Redactor) -> Recorded:
    """The exchange without secrets; the reply is lost if no turn can give it.

    Raises RecursionError for a request too deep to look for secrets in it.
    """
    body = redactor.clean(entry.body)
    try:
        played = dataclasses.replace(entry, body=body, reply=_clean(entry.reply, redactor))
        Scenario.parse([turn_of(played, timings=True)])
    except _ODD:
        reply = lost(entry.reply, entry.reply.lost or "cannot be said in a scenario")
        return dataclasses.replace(entry, body=body, reply=reply)
    return played


def _clean(reply: Reply, redactor: Redactor) -> Reply:
    return dataclasses.replace(
        reply,
        message=redactor.clean(reply.message),
        error=redactor.clean(reply.error),
        raw=redactor.clean(reply.raw),
        raw_inputs=redactor.clean_values(reply.raw_inputs),
        headers=redactor.clean_values(reply.headers),
    )


def _refused(passed: Passed, body: dict[str, Any], earlier: Iterable[Recorded]) -> str:
    """What the mock itself would say against this request; "" if nothing."""
    headers = passed.headers
    replies = [entry.reply.message or {"content": []} for entry in earlier]
    blocks = [block for reply in replies for block in reply["content"]]
    context = RequestContext(
        version=headers.get("anthropic-version", ""),
        betas=parse_betas(headers.get("anthropic-beta")),
        models=extra_models((str(body.get("model")),)),
        scripted_signatures=frozenset(
            block["signature"] for block in blocks if isinstance(block.get("signature"), str)
        ),
        size=len(passed.body),
    )
    said = validate_headers(headers, context, None) or validate(body, context)
    return "" if said is None else said.message
