"""One cell of the matrix: one scenario on one step, in folders of its own."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mini_agent_steps.proof.expectations import complaints
from mini_agent_steps.proof.observation import Observation, SeenRequest
from mini_agent_steps.proof.program import Program, start_fresh
from mini_agent_steps.proof.scenario import Run, fill_in
from mini_agent_steps.proof.stage import (
    TIME_LIMIT,
    TOO_MUCH,
    Clock,
    Outcome,
    Screen,
    environment,
    play,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mini_agent_mock import HostedRun
    from mini_agent_steps.build import Built
    from mini_agent_steps.proof.host import Host
    from mini_agent_steps.proof.observation import Written
    from mini_agent_steps.proof.program import Ended
    from mini_agent_steps.proof.scenario import Scenario

Way: TypeAlias = Literal["", "process", "prompt"]
"""How a cell's program is run: imported, its last start as a process, or its prompts typed."""

PROCESS_LIMIT = 3 * TIME_LIMIT
"""Seconds that a process may take."""

# A process writes to a file, so its chunks cannot be timed; a prompt shows question marks.
_DOES_NOT_APPLY: Mapping[Way, set[str]] = {"": set(), "process": {"chunks"}, "prompt": {"stdout"}}


@dataclass(frozen=True, slots=True)
class Cell:
    """A scenario on a step, run in one of the ways.

    A process is a fork of an interpreter that has the SDK loaded, or, if ``fresh``, begins with
    nothing, as for a reader, and takes two seconds longer.
    """

    scenario: Scenario
    built: Built
    way: Way = ""
    fresh: bool = False

    @property
    def name(self) -> str:
        """How a report and a mutant's list call it."""
        suffix = f" ({self.way})" if self.way else ""
        return f"{self.scenario.name}@{self.built.snapshot.step.slug}{suffix}"


@dataclass(frozen=True, slots=True)
class CellResult:
    """What came of a cell: green if there are no complaints."""

    name: str
    complaints: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Folders:
    """Where a cell plays. The event logs lie outside of what the agent can see."""

    workspace: Path
    home: Path
    event_log: Path
    mcp_log: Path

    @property
    def tokens(self) -> dict[str, str]:
        """What the scenario's ``{tokens}`` stand for."""
        return {
            "workspace": str(self.workspace),
            "home": str(self.home),
            "python": sys.executable,
            "mcp_log": str(self.mcp_log),
        }


def prepare(folder: Path, scenario: Scenario) -> Folders:
    """Lay out the scenario's workspace and home below an empty folder."""
    folder = folder.resolve()
    folders = Folders(
        folder / "workspace", folder / "home", folder / "events.jsonl", folder / "mcp.jsonl"
    )
    for place, files in ((folders.workspace, scenario.files), (folders.home, scenario.home)):
        place.mkdir(parents=True)
        for path, text in fill_in(dict(files), folders.tokens).items():
            target = place / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode())
    return folders


def run_cell(cell: Cell, host: Host, folder: Path, *, limit: float = TIME_LIMIT) -> CellResult:
    """Run the cell and check it. Never raises for what the step does."""
    started = time.monotonic()
    folders = prepare(folder, cell.scenario)
    seen = observe(cell, host, folders, limit=limit)
    skip = frozenset(_DOES_NOT_APPLY[cell.way])
    found = complaints(cell.scenario, seen, folders.tokens, skip=skip)
    return CellResult(cell.name, tuple(found), time.monotonic() - started)


def observe(
    cell: Cell,
    host: Host,
    folders: Folders,
    watcher: Callable[[Written], None] | None = None,
    *,
    limit: float = TIME_LIMIT,
) -> Observation:
    """Run the scenario's program starts one after another and return what happened."""
    script = fill_in(dict(cell.scenario.script), folders.tokens)
    screen, clock = Screen(watcher=watcher), Clock()
    problems: list[str] = []
    codes = []
    with host.run(script, folders.event_log) as mock:
        for number, run in enumerate(cell.scenario.runs, 1):
            env = environment(
                folders.home, mock.base_url, mock.api_key, fill_in(dict(run.env), folders.tokens)
            )
            argv = fill_in(list(run.argv), folders.tokens)
            lines = fill_in(list(run.input), folders.tokens)
            if cell.way == "process" and number == len(cell.scenario.runs):
                program = Program(
                    cell.built.snapshot.step.package,
                    cell.built.folder,
                    tuple(argv),
                    tuple(lines),
                    folders.workspace,
                    env,
                )
                start = start_fresh if cell.fresh else host.start
                outcome = _outcome(start(program, PROCESS_LIMIT), screen)
            else:
                outcome = play(
                    cell.built,
                    argv,
                    lines,
                    folder=folders.workspace,
                    env=env,
                    screen=screen,
                    clock=clock,
                    limit=limit,
                )
            codes.append(outcome.exit_code)
            if outcome.problem:
                problems.append(outcome.problem)
        problems += [str(failure["account"]) for failure in mock.failures]
        requests = requests_of(mock)
    return Observation(
        requests=requests,
        screen=tuple(screen.written),
        exit_codes=tuple(codes),
        sleeps=tuple(clock.sleeps),
        files=read_tree(folders.workspace),
        home_files=read_tree(folders.home),
        mcp_methods=_mcp_methods(folders.mcp_log),
        problems=tuple(problems),
    )


def typed(scenario: Scenario) -> Scenario:
    """Return the scenario with its one-shot prompts typed instead.

    A run with flags, or with no prompt among its arguments, stays as it is.
    """
    runs = tuple(
        Run((), (*run.argv, *run.input), run.env)
        if len(run.argv) == 1 and not run.argv[0].startswith("-")
        else run
        for run in scenario.runs
    )
    return replace(scenario, runs=runs)


def _outcome(ended: Ended, screen: Screen) -> Outcome:
    """What a process showed, and how it ended."""
    screen.add("out", ended.stdout)
    screen.add("err", ended.stderr)
    if ended.too_much:
        return Outcome(1, TOO_MUCH)
    if ended.exit_code is None:
        return Outcome(1, f"the program was still running after {PROCESS_LIMIT:g} s")
    if "Traceback (most" in ended.stderr:
        last = ended.stderr.splitlines()[-1]
        return Outcome(ended.exit_code, f"the program died with a traceback: {last}")
    return Outcome(ended.exit_code)


def requests_of(mock: HostedRun) -> tuple[SeenRequest, ...]:
    """Pair each request for a reply with how it was answered."""
    seen: dict[int, dict[str, Any]] = {}
    started = 0.0
    for event in mock.events:
        if event.get("record") == "run":
            started = float(event["started"])
        elif event.get("record") == "request" and event.get("purpose") == "messages":
            seen[event["n"]] = {"track": event.get("track"), "body": event.get("body") or {}}
        elif event.get("n") in seen and event.get("record") == "reply":
            seen[event["n"]]["status"] = event.get("status", 0)
            seen[event["n"]]["reply"] = event.get("message") or {}
        elif event.get("n") in seen and event.get("record") == "sent":
            seen[event["n"]]["finished_at"] = started + event["at"]
    return tuple(SeenRequest(**item) for item in seen.values())


def _mcp_methods(log: Path) -> tuple[str, ...]:
    """The methods that an MCP server noted, in order."""
    try:
        lines = log.read_text("utf-8").splitlines()
    except OSError:
        return ()
    entries = [json.loads(line) for line in lines]
    return tuple(entry["method"] for entry in entries if "method" in entry)


def read_tree(folder: Path) -> dict[str, str]:
    """Return every file below a folder; what is not UTF-8 appears as its bytes' repr."""
    tree = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            try:
                text = data.decode()
            except UnicodeDecodeError:
                text = repr(data)
            tree[path.relative_to(folder).as_posix()] = text
    return tree
