"""A real conversation made into a scenario: `mini-agent-mock record --upstream URL OUT`.

A proxy on loopback stands in front of any upstream that speaks the Messages API. Point a client
at it; each reply becomes a turn. Secrets are removed in memory: keys the client sent, what
`--redact` names, and whatever looks like a key. Headers and requests are not written at all,
except for the beginnings of texts that tell one conversation from another.
"""

from __future__ import annotations

import argparse
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from mini_agent_mock.command_line import FAILED, Arguments, complain, port, say
from mini_agent_mock.errors import MockError
from mini_agent_mock.recorder.keeping import cleaned, kept
from mini_agent_mock.recorder.out_file import OutFile
from mini_agent_mock.recorder.proxy import Passed, Proxy, parsed_request, upstream_of
from mini_agent_mock.recorder.script import Recorded, scenario_of
from mini_agent_mock.secrets import SHORTEST, Redactor

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence
    from types import TracebackType


class Recorder:
    """Records into `out` while it is open; the file is rewritten whole after each exchange.

    The file is readable by its owner only, and stays as it was until there is something to
    write. `warnings` tell what was lost; `whole` is False if that is not in the file. Raises
    MockError for an address that is none and for a port or file that cannot be had.
    """

    def __init__(
        self,
        upstream: str,
        out: str | os.PathLike[str],
        *,
        port: int = 0,
        redact: Iterable[str] = (),
        timings: bool = False,
    ) -> None:
        self.out = Path(out)
        self.warnings: list[str] = []
        self.exchanges: list[Recorded] = []
        self.whole = True
        self._skipped = False
        self._timings = timings
        self._redactor = Redactor(redact)
        self._lock = threading.Lock()
        self._file = OutFile(self.out)
        self._proxy = Proxy(upstream_of(upstream), port, self._keep, self.warnings.append)
        self._thread = threading.Thread(target=self._proxy.serve_forever, args=(0.05,))

    @property
    def base_url(self) -> str:
        """Where to point the client."""
        return f"http://127.0.0.1:{self._proxy.server_address[1]}"

    def __enter__(self) -> Self:
        try:
            self._file.check()
        except MockError:
            self._proxy.server_close()
            raise
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._proxy.shutdown()
        self._proxy.server_close()
        self._thread.join()

    def scenario(self) -> dict[str, Any]:
        """What has been recorded so far, without secrets."""
        return scenario_of(self.exchanges, timings=self._timings)

    def _keep(self, passed: Passed) -> None:
        with self._lock:
            try:
                entry = self._entry(passed)
            except RecursionError:
                self._skipped = True
                self._lost("a request nests too deeply to be recorded")
                return
            if entry is None:
                return
            self.exchanges.append(entry)
            if entry.reply.lost:
                self.warnings.append(
                    f"reply {len(self.exchanges)} (status {passed.status}) {entry.reply.lost};"
                    " it is played as a connection that breaks"
                )
            try:
                self._file.write(self.scenario())
            except MockError as error:
                self._lost(str(error))
            else:
                self.whole = not self._skipped

    def _entry(self, passed: Passed) -> Recorded | None:
        """The exchange without secrets; None for a request that is no JSON object."""
        body = parsed_request(passed)
        if body is None:
            return None
        learnt = self._redactor.learn(passed.headers, passed.query, body)
        if self._redactor.learn(passed.reply_headers) or learnt:
            self.exchanges = [cleaned(entry, self._redactor) for entry in self.exchanges]
        return cleaned(kept(passed, body, self.exchanges), self._redactor)

    def _lost(self, why: str) -> None:
        self.whole = False
        if why not in self.warnings:
            self.warnings.append(why)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command, for whoever owns the parser."""
    parser.add_argument("out", metavar="OUT", help="the scenario file to write")
    parser.add_argument("--upstream", metavar="URL", required=True, help="the service to record")
    parser.add_argument("--port", type=port, default=0, help="port (default: a free one)")
    parser.add_argument(
        "--redact",
        metavar="TEXT",
        action="append",
        default=[],
        type=_secret,
        help="a further secret; repeatable",
    )
    parser.add_argument("--timings", action="store_true", help="let turns wait as the service did")


def run(arguments: argparse.Namespace) -> int:
    """Record until interrupted or terminated. Returns the exit code; raises MockError."""
    stop = threading.Event()
    recorder = Recorder(
        arguments.upstream,
        arguments.out,
        port=arguments.port,
        redact=arguments.redact,
        timings=arguments.timings,
    )
    previous = {
        number: signal.signal(number, lambda *_: stop.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        with recorder:
            say(f"mini-agent-mock: recording {arguments.upstream} at {recorder.base_url}")
            stop.wait()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    if recorder.scenario().get("service", {}).get("validation"):
        recorder.warnings.append(
            "the upstream took a request that the mock would refuse, so the scenario is lenient"
        )
    for warning in recorder.warnings:
        complain(f"mini-agent-mock: {warning}")
    turns = len(recorder.exchanges)
    if not recorder.whole:
        complain(f"mini-agent-mock: not all of the recording is in {arguments.out}")
        return FAILED
    if turns:
        say(f"{turns} turn{'' if turns == 1 else 's'} in {arguments.out}")
    else:
        say(f"nothing was recorded, and nothing written to {arguments.out}")
    return 0


def _secret(text: str) -> str:
    if len(text) < SHORTEST:
        what = f"fewer than {SHORTEST} characters would tear ordinary text apart"
        raise argparse.ArgumentTypeError(what)
    return text


def main(argv: Sequence[str]) -> int:
    """The command by itself. Prints one clear line on stderr for what it cannot do."""
    parser = Arguments(prog="mini-agent-mock record", description=__doc__)
    add_arguments(parser)
    try:
        return run(parser.parse_args(argv))
    except MockError as error:
        complain(f"mini-agent-mock: {error}")
        return FAILED
