"""Pays the SDK's and the mock's import once, before anything is forked or timed."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path

from mini_agent_steps.proof.host import Host
from mini_agent_steps.proof.stage import environment, here

_SCRIPT = {"turns": [{"text": "ready"}, {"text": "ready"}]}


def warm_up() -> None:
    """Ask the mock once with and once without a stream, and leave no thread behind.

    The SDK is loaded in a cell's environment: a proxy or a setting of the machine's could keep
    it from the mock.

    The garbage collector rests meanwhile: it would walk through the whole SDK again and again.
    """
    gc.disable()
    try:
        with (
            tempfile.TemporaryDirectory() as name,
            Host() as host,
            host.run(_SCRIPT, Path(name) / "events.jsonl") as mock,
            here(Path(name), environment(Path(name), mock.base_url, mock.api_key, {})),
        ):
            _ask()
    finally:
        gc.enable()


def _ask() -> None:
    from anthropic import Anthropic

    with Anthropic(max_retries=0) as client:
        for stream in (False, True):
            reply = client.messages.create(
                model="claude-sonnet-5-5",
                max_tokens=10,
                messages=[{"role": "user", "content": "ready?"}],
                stream=stream,
            )
            if stream:
                list(reply)
