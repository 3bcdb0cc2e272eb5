"""The last step of the course and `mini-agent` do the same in the same scenarios.

What they may differ in stands in `parity.toml`, each with its reason, and nowhere else.
"""

from __future__ import annotations

import io
import re
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mini_agent_cli.host import Host as CliHost
from mini_agent_cli.main import main
from mini_agent_steps.build import build
from mini_agent_steps.course import BUILT_IN
from mini_agent_steps.course_file import load_course
from mini_agent_steps.proof.cell import Cell, observe, prepare, read_tree, requests_of
from mini_agent_steps.proof.host import Host
from mini_agent_steps.proof.observation import SeenCall, SeenResult, calls_of, results_of
from mini_agent_steps.proof.scenario import fill_in
from mini_agent_steps.proof.scenario_file import load_scenarios
from mini_agent_steps.proof.stage import environment
from mini_agent_steps.snapshot import load_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mini_agent_steps.proof.cell import Folders
    from mini_agent_steps.proof.observation import SeenRequest
    from mini_agent_steps.proof.scenario import Scenario

ROOT = Path(__file__).resolve().parent.parent
TABLE = tomllib.loads((ROOT / "tests/parity.toml").read_text("utf-8"))
LEFT_OUT = {name for entry in TABLE["left_out"] for name in entry["scenarios"]}

COURSE = load_course(BUILT_IN)
SCENARIOS = {
    scenario.name: scenario
    for scenario in load_scenarios(COURSE)
    if scenario.holds_for(COURSE.steps[-1])
}
COMPARED = sorted(SCENARIOS.keys() - LEFT_OUT)

# How the steps' options are spelled for mini-agent. The sandbox is not what is compared.
_OPTIONS = {
    "--yes": ["--permission-mode", "bypass", "--no-sandbox"],
    "--plan": ["--permission-mode", "plan"],
    "--resume": ["--continue"],
    "--auto": [],
    "--trace-request": [],
    "--trace-stream": [],
}
# What the steps' gate lets run unasked, mini-agent is told to. A rule reads each command of a
# compound one by itself.
_HARMLESS = ("echo", "ls", "pwd", "wc")
_ALLOWED = [
    word
    for name in _HARMLESS
    for form in (name, f"{name} *")
    for word in ("--allow", f"run_shell({form})")
]


@dataclass(frozen=True)
class Track:
    """What happened between an agent and one track's model, in order."""

    calls: tuple[SeenCall, ...]
    results: tuple[SeenResult, ...]
    stop_reasons: tuple[str | None, ...]


@dataclass(frozen=True)
class Account:
    """What one program did in one scenario. Its folders' names are taken out of it."""

    tracks: Mapping[str, Track]
    files: Mapping[str, str]
    succeeded: tuple[bool, ...]
    problems: tuple[str, ...] = ()


@dataclass
class Differences:
    """Compares two accounts by the table; remembers what is wrong and which entries it used."""

    scenario: str
    found: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def compare(self, step: Account, agent: Account) -> list[str]:
        """Return everything that differs and is not in the table."""
        self.found += [*step.problems, *agent.problems]
        self._same("succeeded", step.succeeded, agent.succeeded)
        self._same("tracks", sorted(step.tracks), sorted(agent.tracks))
        for name in sorted(step.tracks.keys() & agent.tracks.keys()):
            one, other = step.tracks[name], agent.tracks[name]
            self._same(f"{name}: stop reasons", one.stop_reasons, other.stop_reasons)
            self._same(f"{name}: calls", one.calls, other.calls)
            self._same(f"{name}: number of results", len(one.results), len(other.results))
            pairs = zip(one.calls, one.results, other.results, strict=False)
            for number, (call, mine, theirs) in enumerate(pairs, 1):
                self._compare_results(f"{name}: call {number}", number, call, mine, theirs)
        self._compare_files(step.files, agent.files)
        return self.found

    def _same(self, what: str, one: object, other: object) -> None:
        if one != other:
            self.found.append(f"{what}: the step {one!r}, mini-agent {other!r}")

    def _different(self) -> Iterator[dict[str, Any]]:
        return (entry for entry in TABLE["different"] if entry["scenario"] == self.scenario)

    def _compare_results(
        self, where: str, number: int, call: SeenCall, step: SeenResult, agent: SeenResult
    ) -> None:
        for entry in self._different():
            if entry["call"] == number:
                self.used.add(entry["what"])
                listed = [
                    SeenResult(entry[side], entry.get(f"{side}_error", False))
                    for side in ("step", "agent")
                ]
                self._same(f"{where}, listed as {entry['what']!r}", [step, agent], listed)
                return
        if step == agent:
            return
        self._same(f"{where}: error flag", step.is_error, agent.is_error)
        for entry in TABLE["normalised"]:
            if entry.get("tool", call.name) == call.name and (
                entry.get("error", False) == step.is_error
            ):
                forms = _forms(entry, step.content, agent.content)
                if forms is not None:
                    self.used.add(entry["what"])
                    self._same(f"{where}: {entry['what']}", *forms)
                    return
        self._same(f"{where}: result", step.content, agent.content)

    def _compare_files(self, step: Mapping[str, str], agent: Mapping[str, str]) -> None:
        listed = {
            path: tuple(texts)
            for entry in self._different()
            for path, texts in entry.get("files", {}).items()
        }
        for path in sorted(step.keys() | agent.keys()):
            texts = step.get(path), agent.get(path)
            if path in listed:
                self._same(f"file {path}, listed", texts, listed[path])
            else:
                self._same(f"file {path}", *texts)


def _forms(entry: Mapping[str, Any], step: str, agent: str) -> tuple[str, str] | None:
    """The two texts in the form that an entry of the table gives them; None if it fits neither."""
    if "layout" in entry:
        of_step, of_agent = LAYOUTS[entry["layout"]]
        return of_step(step), of_agent(agent)
    forms = []
    for pattern, text in ((entry["step"], step), (entry["agent"], agent)):
        match = re.fullmatch(pattern, text, re.DOTALL)
        if match is None:
            return None
        forms.append(entry["form"].format(**match.groupdict(default="")))
    return forms[0], forms[1]


_FOOTER = re.compile(r"\n\[(?:lines \d+-\d+ of|\d+ ignored entries|\d+ matches? in) ?[^\n]*\]$")


def _numbered_lines(text: str) -> str:
    text = "     1\t" if text == "(empty file)" else _FOOTER.sub("", text)
    return re.sub(r"^ *(\d+)\t", r"\1\t", text, flags=re.MULTILINE)


def _visible_files(text: str) -> str:
    text = _FOOTER.sub("", text)
    if text == "(no files)":
        return "no files"
    return "\n".join(line for line in text.split("\n") if not _is_hidden(line))


def _visible_matches(text: str) -> str:
    lines, path = [], ""
    for line in _FOOTER.sub("", text).split("\n"):
        match = re.fullmatch(r"  (\d+): (.*)", line)
        if match is None:
            path = line
        elif not _is_hidden(path):
            lines.append(f"{path}:{match[1]}: {match[2]}")
    return "\n".join(lines) or "no matches"


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))


LAYOUTS: dict[str, tuple[Callable[[str], str], Callable[[str], str]]] = {
    "numbered_lines": (str, _numbered_lines),
    "visible_files": (str, _visible_files),
    "visible_matches": (str, _visible_matches),
}


def _account(
    requests: Sequence[SeenRequest],
    codes: Sequence[int],
    folders: Folders,
    problems: Sequence[str],
) -> Account:
    def placeless(text: str) -> str:
        home, workspace = str(folders.home), str(folders.workspace)
        return text.replace(home, "{home}").replace(workspace, "{workspace}")

    def without_places(value: Any) -> Any:
        if isinstance(value, str):
            return placeless(value)
        if isinstance(value, dict):
            return {key: without_places(item) for key, item in value.items()}
        return value

    tracks = {}
    for name in {str(request.track) for request in requests}:
        own = [request for request in requests if str(request.track) == name]
        tracks[name] = Track(
            tuple(SeenCall(call.name, without_places(call.input)) for call in calls_of(own)),
            tuple(replace(item, content=placeless(item.content)) for item in results_of(own)),
            tuple(request.stop_reason for request in own),
        )
    files = read_tree(folders.workspace)
    return Account(tracks, files, tuple(code == 0 for code in codes), tuple(problems))


def _run_step(scenario: Scenario, host: Host, folder: Path) -> Account:
    source = load_source(COURSE)
    (built,) = build(COURSE, source.snapshots[-1:])
    folders = prepare(folder, scenario)
    seen = observe(Cell(scenario, built), host, folders)
    return _account(seen.requests, seen.exit_codes, folders, seen.problems)


def _run_agent(scenario: Scenario, host: Host, folder: Path) -> Account:
    """Run the real program, `mini-agent -p`, once for each start of the scenario."""
    folders = prepare(folder, scenario)
    codes = []
    with host.run(fill_in(dict(scenario.script), folders.tokens), folders.event_log) as mock:
        for run in scenario.runs:
            extra = fill_in(dict(run.env), folders.tokens)
            env = environment(folders.home, mock.base_url, mock.api_key, extra)
            env = {name: value for name, value in env.items() if not name.startswith("XDG_")}
            argv = ["-C", str(folders.workspace), *_spelled(fill_in(list(run.argv), {}))]
            host_of_cli = CliHost(env, io.StringIO(), io.StringIO(), io.StringIO())
            codes.append(main(argv, host_of_cli))
        problems = [str(failure["account"]) for failure in mock.failures]
        return _account(requests_of(mock), codes, folders, problems)


def _spelled(argv: Sequence[str]) -> list[str]:
    """The arguments of a step as mini-agent understands them."""
    options, words = [*_ALLOWED], []
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--model":
            options += [word, rest.pop(0)]
        elif word.startswith("--"):
            options += _OPTIONS[word]
        else:
            words.append(word)
    return [*options, "-p", " ".join(words)]


@pytest.fixture(scope="module")
def accounts(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], tuple[Account, Account]]:
    """Both programs' accounts of a scenario, each run once."""
    known: dict[str, tuple[Account, Account]] = {}

    def of(name: str) -> tuple[Account, Account]:
        if name not in known:
            folder = tmp_path_factory.mktemp(name)
            with Host() as host:
                known[name] = (
                    _run_step(SCENARIOS[name], host, folder / "step"),
                    _run_agent(SCENARIOS[name], host, folder / "agent"),
                )
        return known[name]

    return of


@pytest.mark.parametrize("name", COMPARED)
def test_the_last_step_and_mini_agent_do_the_same(
    name: str, accounts: Callable[[str], tuple[Account, Account]]
) -> None:
    step, agent = accounts(name)
    assert not Differences(name).compare(step, agent)


def test_every_entry_of_the_table_is_needed(
    accounts: Callable[[str], tuple[Account, Account]],
) -> None:
    used: set[str] = set()
    for name in COMPARED:
        differences = Differences(name)
        differences.compare(*accounts(name))
        used |= differences.used
    assert {entry["what"] for entry in (*TABLE["normalised"], *TABLE["different"])} == used


def test_chapter_13_shows_the_whole_table() -> None:
    page = (ROOT / "docs/chapters/13-from-the-steps-to-mini-agent.md").read_text("utf-8")
    missing = [table for table in tables() if table not in page]
    assert not missing, "put this into the chapter:\n\n" + "\n\n".join(missing)


def tables() -> list[str]:
    """The table as Markdown, one text for each kind of entry."""
    normalised = [
        (entry["what"], entry["steps_say"], entry["agent_says"], entry["why"])
        for entry in TABLE["normalised"]
    ]
    different = [
        (
            entry["what"],
            f"`{entry['scenario']}`, call {entry['call']}",
            f"`{entry['step']}`" if entry["step"] else "nothing",
            f"`{entry['agent']}`",
            entry["why"],
        )
        for entry in TABLE["different"]
    ]
    left_out = [
        (", ".join(f"`{name}`" for name in entry["scenarios"]), entry["why"])
        for entry in TABLE["left_out"]
    ]
    not_compared = [(entry["what"], entry["why"]) for entry in TABLE["not_compared"]]
    return [
        _markdown(("what", "a step says", "mini-agent says", "why"), normalised),
        _markdown(("what", "where", "the step", "mini-agent", "why"), different),
        _markdown(("scenarios left out", "why"), left_out),
        _markdown(("not compared", "why"), not_compared),
    ]


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def test_every_scenario_of_the_last_step_is_compared_or_left_out_with_a_reason() -> None:
    assert SCENARIOS.keys() >= LEFT_OUT
    assert all(entry["why"] for group in TABLE.values() for entry in group)
    assert len(COMPARED) + len(LEFT_OUT) == len(SCENARIOS)
    assert {"fix-a-bug", "two-calls-in-one-reply", "resume-a-session"} <= set(COMPARED)


def _result(track: Track, number: int, **changes: Any) -> Track:
    results = list(track.results)
    results[number - 1] = replace(results[number - 1], **changes)
    return replace(track, results=tuple(results))


BREAKAGES: dict[str, Callable[[Track], Track]] = {
    "another result": lambda track: _result(track, 5, content="     2\t    return 0"),
    "a result cut short": lambda track: _result(track, 1, content="shop/prices.py\n"),
    "a result in other words": lambda track: _result(track, 4, content="done"),
    "results in another order": lambda track: replace(track, results=track.results[::-1]),
    "a result lost": lambda track: replace(track, results=track.results[:-1]),
    "a failure unsaid": lambda track: _result(track, 2, is_error=True),
    "calls in another order": lambda track: replace(track, calls=track.calls[::-1]),
    "another argument": lambda track: replace(
        track, calls=(SeenCall("list_files", {"path": "x"}), *track.calls[1:])
    ),
    "another tool": lambda track: replace(
        track, calls=(SeenCall("grep_search", track.calls[0].input), *track.calls[1:])
    ),
    "a turn too many": lambda track: replace(track, stop_reasons=(*track.stop_reasons, "end_turn")),
    "another end": lambda track: replace(
        track, stop_reasons=(*track.stop_reasons[:-1], "max_tokens")
    ),
}


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_a_changed_result_or_order_is_noticed(
    breakage: str, accounts: Callable[[str], tuple[Account, Account]]
) -> None:
    step, agent = accounts("fix-a-bug")
    broken = BREAKAGES[breakage](agent.tracks["main"])
    assert Differences("fix-a-bug").compare(step, replace(agent, tracks={"main": broken}))


def test_a_changed_file_exit_or_track_is_noticed(
    accounts: Callable[[str], tuple[Account, Account]],
) -> None:
    step, agent = accounts("fix-a-bug")
    path = "shop/prices.py"
    for broken in (
        replace(agent, files={path: "other\n"}),
        replace(agent, files={}),
        replace(agent, files={**agent.files, "left behind": ""}),
        replace(agent, succeeded=(False,)),
        replace(agent, tracks={}),
        replace(agent, tracks={**agent.tracks, "aside": agent.tracks["main"]}),
        replace(agent, problems=("a turn was never asked for",)),
    ):
        assert Differences("fix-a-bug").compare(step, broken)


def test_a_listed_difference_that_comes_out_otherwise_is_noticed(
    accounts: Callable[[str], tuple[Account, Account]],
) -> None:
    step, agent = accounts("write-a-file")
    same = _result(agent.tracks["main"], 2, content="wrote old.txt", is_error=False)
    assert Differences("write-a-file").compare(step, replace(agent, tracks={"main": same}))
    assert Differences("write-a-file").compare(step, replace(agent, files=step.files))
