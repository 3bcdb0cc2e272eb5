"""The hand-written mutants of `mutants.toml`: a change, and the cells that must notice it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mini_agent_steps.findings import Finding, did_you_mean
from mini_agent_steps.grammar import parse
from mini_agent_steps.slicer import slice_file
from mini_agent_steps.symbols import symbols

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mini_agent_steps.proof.scenario import Scenario
    from mini_agent_steps.snapshot import Source

MUTANTS_FILE = "mutants.toml"

_KEYS = {"id", "file", "symbol", "find", "replace", "since", "kills"}
_REQUIRED = ("id", "file", "find", "replace", "since", "kills")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one canonical file.

    Attributes:
        id: its name, in reports and lists.
        file: the file in the canonical folder.
        step: the index of the first step it is applied at.
        lines: the canonical lines that differ.
        texts: step index → the file's changed text in that step's snapshot.
        cells: for a hand-written mutant the (scenario, step index) pairs that must go red.
    """

    id: str
    file: str
    step: int
    lines: frozenset[int]
    texts: Mapping[int, str]
    cells: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A generated mutant that may survive, and why."""

    mutant: str
    reason: str


@dataclass(frozen=True, slots=True)
class MutantList:
    """What `mutants.toml` holds."""

    mutants: tuple[Mutant, ...] = ()
    equivalents: tuple[Equivalent, ...] = ()


def read_mutants(source: Source, scenarios: Sequence[Scenario]) -> tuple[MutantList, list[Finding]]:
    """Read the list and make each mutant; return them with everything that is wrong."""
    path = source.course.root / MUTANTS_FILE
    try:
        text = path.read_text("utf-8-sig")
        data = tomllib.loads(text)
    except FileNotFoundError:
        return MutantList(), []
    except (OSError, ValueError, RecursionError) as error:
        return MutantList(), [Finding(MUTANTS_FILE, 1, f"cannot be read: {error}", "mend it")]
    reader = _Reader(source, {item.name: item for item in scenarios}, text.splitlines())
    for key in data:
        if key not in {"mutant", "equivalent"}:
            near = did_you_mean(key, ["mutant", "equivalent"])
            reader.findings.append(Finding(MUTANTS_FILE, 1, f"unknown key {key!r}", near))
    mutants = [reader.mutant(entry) for entry in reader.tables(data, "mutant")]
    equivalents = [reader.equivalent(entry) for entry in reader.tables(data, "equivalent")]
    made = tuple(mutant for mutant in mutants if mutant is not None)
    reader.check_unique(made)
    return MutantList(made, tuple(item for item in equivalents if item)), reader.findings


class _Reader:
    def __init__(self, source: Source, scenarios: Mapping[str, Scenario], lines: list[str]) -> None:
        self.source = source
        self.scenarios = scenarios
        self.lines = lines
        self.findings: list[Finding] = []

    def find(self, name: str, what: str, cure: str) -> None:
        """Complain at the line that names the mutant."""
        numbers = (at for at, line in enumerate(self.lines, 1) if name and f'"{name}"' in line)
        self.findings.append(Finding(MUTANTS_FILE, next(numbers, 1), what, cure))

    def tables(self, data: dict[str, Any], name: str) -> list[dict[str, Any]]:
        """The tables of an array; none, and a finding, if it is no such array."""
        found = data.get(name, [])
        if isinstance(found, list) and all(isinstance(entry, dict) for entry in found):
            return found
        self.find("", f"`{name}` is no list of tables", f"write [[{name}]]")
        return []

    def mutant(self, entry: dict[str, Any]) -> Mutant | None:
        name = str(entry.get("id", ""))
        for key in entry.keys() - _KEYS:
            self.find(name, f"unknown key {key!r}", did_you_mean(key, sorted(_KEYS)))
        for key in _REQUIRED:
            kind = list if key == "kills" else str
            if not isinstance(entry.get(key), kind):
                self.find(name, f"mutant {name!r} has no {key!r}", f"write {key} = …")
                return None
        if not isinstance(entry.get("symbol", ""), str):
            self.find(
                name, f"mutant {name!r}: `symbol` is no string", 'write symbol = "Class.name"'
            )
            return None
        slugs = self.source.course.slugs
        if entry["since"] not in slugs:
            near = did_you_mean(entry["since"], slugs)
            self.find(name, f"unknown step {entry['since']!r}", near)
            return None
        step = slugs.index(entry["since"])
        changed = self._change(name, entry, step)
        if changed is None:
            return None
        text, lines = changed
        texts = self._texts(entry["file"], text, step)
        cells = self._cells(name, entry, texts)
        return Mutant(name, entry["file"], step, lines, texts, cells)

    def equivalent(self, entry: dict[str, Any]) -> Equivalent | None:
        mutant, reason = entry.get("mutant"), entry.get("reason")
        if not isinstance(mutant, str) or not isinstance(reason, str) or not reason.strip():
            what = "an [[equivalent]] without `mutant` or `reason`"
            self.find(str(mutant), what, "name the mutant as selfcheck prints it, and why")
            return None
        return Equivalent(mutant, reason)

    def check_unique(self, mutants: Sequence[Mutant]) -> None:
        seen = set()
        for mutant in mutants:
            if mutant.id in seen:
                self.find(mutant.id, f"a second mutant {mutant.id!r}", "give it its own id")
            seen.add(mutant.id)

    def _change(
        self, name: str, entry: dict[str, Any], step: int
    ) -> tuple[str, frozenset[int]] | None:
        """Apply the change to the file's text; None if it cannot be."""
        file, find = entry["file"], entry["find"]
        if file not in self.source.files:
            known = sorted(self.source.files)
            self.find(name, f"there is no file {file!r}", did_you_mean(file, known))
            return None
        text = (self.source.course.canonical / file).read_text("utf-8-sig")
        span = self._span(name, text, entry.get("symbol"))
        if span is None:
            return None
        start, end = span
        count = text.count(find, start, end)
        if count != 1:
            what = f"mutant {name!r}: `find` occurs {count} times in {entry.get('symbol') or file}"
            self.find(name, what, "quote text that stands there exactly once")
            return None
        at = text.index(find, start, end)
        changed = text[:at] + entry["replace"] + text[at + len(find) :]
        first = text.count("\n", 0, at) + 1
        lines = frozenset(range(first, first + find.rstrip("\n").count("\n") + 1))
        if not self._usable(name, file, changed, step):
            return None
        return changed, lines

    def _span(self, name: str, text: str, symbol: str | None) -> tuple[int, int] | None:
        if symbol is None:
            return 0, len(text)
        starts = [0]
        for line in text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        known = {item.name: item for item in symbols(text)}
        if symbol not in known:
            self.find(name, f"there is no {symbol}", did_you_mean(symbol, sorted(known)))
            return None
        return starts[known[symbol].start - 1], starts[known[symbol].end]

    def _usable(self, name: str, file: str, changed: str, step: int) -> bool:
        """Whether the changed file still slices to Python, and differs at its first step."""
        parsed, findings = parse(changed, file, self.source.course.slugs)
        if findings:
            self.find(name, f"mutant {name!r} breaks a marker: {findings[0].what}", "change code")
            return False
        before, after = slice_file(self.source.files[file], step), slice_file(parsed, step)
        if after is None or before is None or before.text == after.text:
            slug = self.source.course.slugs[step]
            what = f"mutant {name!r} changes nothing at step {slug!r}"
            self.find(name, what, "name the step that has the line as `since`")
            return False
        try:
            compile(after.text, file, "exec", dont_inherit=True)
        except SyntaxError as error:
            what = f"mutant {name!r} does not parse: {error.msg}"
            self.find(name, what, "a mutant is wrong code, not no code")
            return False
        return True

    def _texts(self, file: str, text: str, step: int) -> dict[int, str]:
        """The changed file in each snapshot, from the step on, that the change shows in."""
        slugs = self.source.course.slugs
        parsed, _ = parse(text, file, slugs)
        texts = {}
        for index in range(step, len(slugs)):
            before = slice_file(self.source.files[file], index)
            after = slice_file(parsed, index)
            if before and after and before.text != after.text:
                texts[index] = after.text
        return texts

    def _cells(
        self, name: str, entry: dict[str, Any], texts: Mapping[int, str]
    ) -> tuple[tuple[str, int], ...]:
        slugs = self.source.course.slugs
        cells: list[tuple[str, int]] = []
        for kill in entry["kills"]:
            scenario, _, slug = str(kill).partition("@")
            if scenario not in self.scenarios:
                near = did_you_mean(scenario, sorted(self.scenarios))
                self.find(name, f"mutant {name!r}: no scenario {scenario!r}", near)
                continue
            if slug and slug not in slugs:
                self.find(name, f"mutant {name!r}: no step {slug!r}", did_you_mean(slug, slugs))
                continue
            held = self.scenarios[scenario]
            wanted = [slugs.index(slug)] if slug else list(texts)
            found = [i for i in wanted if held.first <= i <= held.last and i in texts]
            if not found:
                what = f"mutant {name!r}: no cell {kill!r} runs changed code"
                self.find(name, what, "name a scenario and a step that has the changed line")
            cells += [(scenario, index) for index in found]
        return tuple(dict.fromkeys(cells))
