"""Pays the SDK's and the mock's import once, before anything is forked or timed."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path

from mini_agent_steps.proof.host import Host

_SCRIPT = {"turns": [{"text": "ready"}, {"text": "ready"}]}


def warm_up() -> None:
    """Ask the mock once with and once without a stream, and leave no thread behind.

    The garbage collector rests meanwhile: it would walk through the whole SDK again and again.
    """
    gc.disable()
    try:
        from anthropic import Anthropic

        with (
            tempfile.TemporaryDirectory() as folder,
            Host() as host,
            host.run(_SCRIPT, Path(folder) / "events.jsonl") as mock,
            Anthropic(base_url=mock.base_url, api_key=mock.api_key, max_retries=0) as client,
        ):
            for stream in (False, True):
                reply = client.messages.create(
                    model="claude-sonnet-5-5",
                    max_tokens=10,
                    messages=[{"role": "user", "content": "ready?"}],
                    stream=stream,
                )
                if stream:
                    list(reply)
    finally:
        gc.enable()
