"""Reads the scenario files of a course; every complaint names the line and the cure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from mini_agent_steps.course import is_below
from mini_agent_steps.findings import CourseError, Finding, did_you_mean
from mini_agent_steps.proof.matchers import TRACK_MATCHERS, WORLD_MATCHERS
from mini_agent_steps.proof.scenario import Run, Scenario, tracks_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mini_agent_steps.course import Course

_KEYS = ("title", "since", "until", "files", "home", "runs", "script", "expect")
_RUN_KEYS = ("argv", "input", "env")


def load_scenarios(course: Course) -> tuple[Scenario, ...]:
    """Read every scenario of a course, by name.

    Raises:
        CourseError: with everything that is wrong with any of them.
    """
    scenarios, findings = read_scenarios(course)
    if findings:
        raise CourseError(findings)
    return scenarios


def read_scenarios(course: Course) -> tuple[tuple[Scenario, ...], list[Finding]]:
    """Read every scenario; return those that can be used, and what is wrong with the rest."""
    scenarios, findings = [], []
    for path in sorted(course.scenarios.glob("*.json")):
        scenario, found = read_scenario(path, course)
        findings += found
        if scenario is not None:
            scenarios.append(scenario)
    if not scenarios and not findings:
        findings.append(Finding("scenarios", 0, "no scenario in it", "write NAME.json there"))
    return tuple(scenarios), findings


class _File:
    """A scenario file under examination: its text for line numbers, and its findings."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = f"scenarios/{path.name}"
        self.lines = text.splitlines()
        self.findings: list[Finding] = []

    def find(self, key: str, what: str, cure: str) -> None:
        """Complain at the first line that has ``"key"``, or else about the file."""
        pattern = re.compile(rf'"{re.escape(key)}"\s*:')
        numbers = (at for at, line in enumerate(self.lines, 1) if pattern.search(line))
        self.findings.append(Finding(self.path, next(numbers, 1), what, cure))


def read_scenario(path: Path, course: Course) -> tuple[Scenario | None, list[Finding]]:
    """Read one file; None if it is too wrong to be used."""
    name = f"scenarios/{path.name}"
    try:
        text = path.read_text("utf-8-sig")
        data = json.loads(text)
    except json.JSONDecodeError as error:
        return None, [Finding(name, error.lineno, f"not JSON: {error.msg}", "mend the syntax")]
    except (OSError, UnicodeDecodeError) as error:
        return None, [Finding(name, 0, f"cannot be read: {error}", "save it as UTF-8 text")]
    except (ValueError, RecursionError) as error:  # a number too long, or nested too deep
        return None, [Finding(name, 0, f"cannot be read: {error}", "write a smaller one")]
    file = _File(path, text)
    if not isinstance(data, dict):
        file.find("", "not an object", 'write {"title": …, "since": …, "runs": …, …}')
        return None, file.findings
    return _scenario(path.stem, data, course, file), file.findings


def _scenario(name: str, data: dict[str, Any], course: Course, file: _File) -> Scenario | None:
    """Check a file key by key; None if anything is wrong."""
    for key in data:
        if key not in _KEYS:
            file.find(key, f"unknown key {key!r}", did_you_mean(key, _KEYS))
    for key, kind, shape in (
        ("title", str, "a string"),
        ("since", str, "a step's slug"),
        ("script", dict, "the mock's script, an object with `turns` or `tracks`"),
        ("expect", dict, "an object"),
        ("runs", list, "a list of program starts"),
    ):
        if not isinstance(data.get(key), kind):
            file.find(key, f"`{key}` is missing or of the wrong kind", f"write {shape}")
    if file.findings:
        return None
    first, last = _range(data, course, file)
    runs = tuple(_run(item, file) for item in data["runs"])
    if not runs:
        file.find("runs", "no program start", 'write at least [{"argv": ["prompt"]}]')
    _check_texts(data, file)
    _check_script(data["script"], file)
    if file.findings:
        return None
    _check_expectations(data, file)
    if file.findings:
        return None
    return Scenario(
        name,
        data["title"],
        first,
        last,
        data.get("files", {}),
        data.get("home", {}),
        runs,
        data["script"],
        data["expect"],
    )


def _range(data: dict[str, Any], course: Course, file: _File) -> tuple[int, int]:
    ends = {"since": 0, "until": len(course.steps) - 1}
    for key in ends:
        slug = data.get(key)
        if slug is None:
            continue
        if slug not in course.slugs:
            file.find(key, f"unknown step {slug!r}", did_you_mean(str(slug), course.slugs))
        else:
            ends[key] = course.slugs.index(slug)
    if ends["since"] > ends["until"]:
        file.find("until", "`until` lies before `since`", "name the last step it holds for")
    return ends["since"], ends["until"]


def _run(item: object, file: _File) -> Run:
    if not isinstance(item, dict):
        file.find("runs", f"{item!r} is no program start", 'write {"argv": ["prompt"]}')
        return Run(())
    for key in item:
        if key not in _RUN_KEYS:
            file.find(key, f"unknown key {key!r} in a run", did_you_mean(key, _RUN_KEYS))
    parts = []
    for key in ("argv", "input"):
        value = item.get(key, [])
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            file.find(key, f"`{key}` is no list of strings", f'write "{key}": ["…"]')
            value = []
        if any(map(_is_unusable, value)):
            file.find(key, f"`{key}` has a character that no program can be given", _UNUSABLE)
        parts.append(tuple(value))
    env = item.get("env", {})
    if not isinstance(env, dict) or not all(isinstance(v, str | None) for v in env.values()):
        file.find("env", "`env` is no map of name to text or null", 'write "env": {"NAME": "…"}')
        env = {}
    texts = [*env, *(value for value in env.values() if value)]
    if any(map(_is_unusable, texts)) or any(not name or "=" in name for name in env):
        file.find("env", "`env` has a name or value that no environment can hold", _UNUSABLE)
    return Run(parts[0], parts[1], env)


def _check_texts(data: dict[str, Any], file: _File) -> None:
    for key in ("files", "home"):
        texts = data.get(key, {})
        if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
            file.find(key, f"`{key}` is no map of path to text", f'write "{key}": {{"path": "…"}}')
            continue
        for path, text in texts.items():
            _check_path(key, path, file)
            if not _is_unicode(text):
                file.find(path, f"the text of {path!r} holds half a character", "mend its \\u…")


def _check_path(key: str, path: str, file: _File) -> None:
    if not is_below(path) or not _is_unicode(path):
        what = f"{path!r} in `{key}` is no path below its folder"
        file.find(path, what, "write a relative path of a file, without `..`")


_UNUSABLE = "take out null characters and halves of characters; a name holds no `=`"


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _is_unusable(text: str) -> bool:
    """Whether the system cannot take it as a name, an argument or a value."""
    return "\0" in text or not _is_unicode(text)


def _check_script(script: dict[str, Any], file: _File) -> None:
    """Have the mock read the script, and pass its complaint on."""
    from mini_agent_mock import Scenario as Script
    from mini_agent_mock import ScenarioError

    try:
        Script.parse(dict(script))
    except ScenarioError as error:
        first, *rest = str(error).splitlines() or [""]
        file.find("script", f"the mock refuses `script`: {first}", " ".join(rest) or "mend it")


def _check_expectations(data: dict[str, Any], file: _File) -> None:
    expect = data["expect"]
    if "finalStopReason" not in expect:
        file.find("expect", "`finalStopReason` is missing", 'write "finalStopReason": "end_turn"')
    known = {**TRACK_MATCHERS, **WORLD_MATCHERS}
    tracks = expect.get("tracks", {})
    if not isinstance(tracks, dict) or not all(isinstance(item, dict) for item in tracks.values()):
        file.find(
            "tracks", "`tracks` is no map of track to what is expected", 'write {"main": {…}}'
        )
        tracks = {}
    _check_matchers({k: v for k, v in expect.items() if k != "tracks"}, known, file)
    names = tracks_of(data["script"])
    for track, matchers in tracks.items():
        if track not in names:
            file.find(track, f"unknown track {track!r} in `expect`", did_you_mean(track, names))
        _check_matchers(matchers, TRACK_MATCHERS, file)


def _check_matchers(expect: Mapping[str, Any], known: Mapping[str, Any], file: _File) -> None:
    for key, value in expect.items():
        matcher = known.get(key)
        if matcher is None:
            file.find(key, f"unknown expectation {key!r}", did_you_mean(key, list(known)))
        elif not matcher.fits(value):
            file.find(key, f"`{key}` is {value!r}", f"write {matcher.shape}")
