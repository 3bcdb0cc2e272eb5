"""A real conversation made into a scenario: `mini-agent-mock record --upstream URL OUT`.

A proxy on loopback stands in front of any upstream that speaks the Messages API. Point a client
at it; each reply becomes a turn. Secrets are removed in memory: keys the client sent, what
`--redact` names, and whatever looks like a key. Headers and requests are not written at all,
except for the beginnings of texts that tell one conversation from another.
"""

from __future__ import annotations

import json
import signal
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from mini_agent_mock.command_line import FAILED, Arguments, complain, port, say
from mini_agent_mock.errors import MockError
from mini_agent_mock.recorder.assembly import assemble
from mini_agent_mock.recorder.proxy import Passed, Proxy, parsed_request, upstream_of
from mini_agent_mock.recorder.script import Recorded, scenario_of
from mini_agent_mock.recorder.secrets import Redactor

if TYPE_CHECKING:
    import argparse
    import os
    from collections.abc import Iterable, Sequence
    from types import TracebackType


class Recorder:
    """Records into `out` while it is open; the file is rewritten whole after each exchange.

    The file is readable by its owner only. Raises MockError for an address that is none and for
    a port or file that cannot be had.
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
        self._timings = timings
        self._redactor = Redactor(redact)
        self._lock = threading.Lock()
        self._proxy = Proxy(upstream_of(upstream), port, self._keep, self.warnings.append)
        self._thread = threading.Thread(target=self._proxy.serve_forever, args=(0.05,))

    @property
    def base_url(self) -> str:
        """Where to point the client."""
        return f"http://127.0.0.1:{self._proxy.server_address[1]}"

    def __enter__(self) -> Self:
        try:
            self._write()
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
        body = parsed_request(passed)
        if body is None:
            return
        with self._lock:
            self._redactor.learn(passed.headers)
            reply = assemble(passed.status, passed.reply_headers, passed.reply, passed.times)
            reply.message = self._redactor.clean(reply.message)
            reply.error = self._redactor.clean(reply.error)
            reply.raw_inputs = {
                place: self._redactor.clean(text) for place, text in reply.raw_inputs.items()
            }
            self.exchanges.append(Recorded(self._redactor.clean(body), reply))
            try:
                self._write()
            except MockError as error:
                self.warnings.append(str(error))

    def _write(self) -> None:
        text = json.dumps(self.scenario(), indent=2, ensure_ascii=False) + "\n"
        temporary = None
        try:
            handle, temporary = tempfile.mkstemp(dir=self.out.parent, prefix=f".{self.out.name}.")
            with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:  # noqa: PTH123 - a descriptor, not a path
                file.write(text)
            Path(temporary).replace(self.out)
        except OSError as error:
            if temporary is not None:
                Path(temporary).unlink(missing_ok=True)
            raise MockError(f"cannot write {self.out}: {error.strerror}") from None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command, for whoever owns the parser."""
    parser.add_argument("out", metavar="OUT", help="the scenario file to write")
    parser.add_argument("--upstream", metavar="URL", required=True, help="the service to record")
    parser.add_argument("--port", type=port, default=0, help="port (default: a free one)")
    parser.add_argument(
        "--redact", metavar="TEXT", action="append", default=[], help="a further secret; repeatable"
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
            say(f"{recorder.base_url} records {arguments.upstream}; Ctrl-C ends it")
            stop.wait()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    for warning in recorder.warnings:
        complain(f"mini-agent-mock: {warning}")
    turns = len(recorder.exchanges)
    say(f"{turns} turn{'' if turns == 1 else 's'} in {arguments.out}")
    return 0


def main(argv: Sequence[str]) -> int:
    """The command by itself. Prints one clear line on stderr for what it cannot do."""
    parser = Arguments(prog="mini-agent-mock record", description=__doc__)
    add_arguments(parser)
    try:
        return run(parser.parse_args(argv))
    except MockError as error:
        complain(f"mini-agent-mock: {error}")
        return FAILED
