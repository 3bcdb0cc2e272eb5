"""The grammar of a scenario file's top level, and reading a file."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import TYPE_CHECKING, Any

from mini_agent_mock.errors import ScenarioError
from mini_agent_mock.files import read_file
from mini_agent_mock.scenario import Branch, Delivery, Scenario, Service, Track, Turn
from mini_agent_mock.scenario.file_conditions import CONDITIONS
from mini_agent_mock.scenario.file_turns import DELIVERY_KEYS, TURNS, delivery, template_names
from mini_agent_mock.scenario.grammar import (
    Boolean,
    Choice,
    Key,
    ListOf,
    MapOf,
    Number,
    Record,
    Text,
)
from mini_agent_mock.scenario.place import Place, json_type
from mini_agent_mock.scenario.place import nearest as nearest_name

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST = 64 * 2**20
_DEEPEST = 100


def _track(_place: Place, **given: Any) -> Track:
    given.pop("comment", None)
    return Track(name="", **given)


TRACK = Record(
    "Track",
    "An ordered queue of turns, and which requests belong to it.",
    (
        Key("match", CONDITIONS,
            "Which requests belong here; the one track without it takes what no other matches."),
        Key("turns", TURNS, "The turns, in order.", required=True),
        Key("concurrent", Boolean(),
            "Whether a request may come while another reply of this track is under way."),
        Key("optional", Boolean(), "Whether turns may be left over."),
        Key("comment", Text(), "For the reader; ignored."),
    ),
    _track,
)  # fmt: skip


def _service(_place: Place, **given: Any) -> Service:
    for key in ("disabled_rules", "enabled_rules"):
        given[key] = frozenset(given.get(key, ()))
    return Service(**given)


class _RuleName(Text):
    """The name of a validation rule."""

    def read(self, value: Any, place: Place) -> str:
        from mini_agent_mock.validation import RULES

        name = super().read(value, place)
        if name not in RULES:
            raise place.error(f"no rule is called {name!r}{nearest_name(name, list(RULES))}")
        return name


SERVICE = Record(
    "Service",
    "How the mocked service behaves, whatever the script says.",
    (
        Key("validation", Choice(("strict", "lenient")),
            "strict: refuse what the service refuses; lenient: accept any shape and any id."),
        Key("disabled_rules", ListOf(_RuleName()), "Names of validation rules to leave out."),
        Key("enabled_rules", ListOf(_RuleName()), "Names of rules to add that are off by default."),
        Key("models", ListOf(Text()), "Model ids that exist besides the known ones."),
        Key("api_key", Text(), "The only key that is accepted (default: any)."),
        Key("seed", Text(), "Changes the ids that are made up."),
        Key("brace_padding", Boolean(),
            "Put spaces before each event's last brace, as the service does."),
        Key("ping", Boolean(), "Send a ping after the first block has started (default true)."),
        Key("title_requests", Choice(("answer", "route")),
            "answer: a request for a conversation's title that no track matches gets a made-up"
            " title and takes no turn; route: it is routed like any other."),
        Key("max_body_bytes", Number(1, whole=True), "A smaller body limit than the service's."),
    ),
    _service,
)  # fmt: skip

DEFAULTS = Record(
    "Defaults", "Delivery of every turn that does not say otherwise.", DELIVERY_KEYS, delivery
)


def _scenario(place: Place, **given: Any) -> Scenario:
    if ("turns" in given) == ("tracks" in given):
        raise place.error("give either 'turns' or 'tracks'")
    if "turns" in given:
        tracks: tuple[Track, ...] = (Track("main", given["turns"]),)
        place_of = {"main": place.key("turns")}
    else:
        named: Mapping[str, Track] = given["tracks"]
        tracks = tuple(dataclasses.replace(track, name=name) for name, track in named.items())
        place_of = {name: place.key("tracks").key(name) for name in named}
    if not tracks:
        raise place.key("tracks").error("no track is given")
    catch_all = [track.name for track in tracks if track.match is None]
    if len(catch_all) > 1:
        both = " and ".join(repr(name) for name in catch_all[:2])
        raise place.key("tracks").error(f"{both} both have no 'match', so requests fit both")
    return Scenario(
        tracks=tuple(_with_templates(track, place_of[track.name]) for track in tracks),
        service=given.get("service", Service()),
        defaults=given.get("defaults", Delivery()),
        name=given.get("name", ""),
        source=place.source,
    )


SCENARIO = Record(
    "Scenario",
    "What the mock plays in one run, and what the run must be like.",
    (
        Key("$schema", Text(), "For editors; ignored."),
        Key("name", Text(), "What the scenario is called in logs."),
        Key("comment", Text(), "For the reader; ignored."),
        Key("turns", TURNS, "The turns of the one track `main`, which takes every request."),
        Key("tracks", MapOf(TRACK), "Name → track."),
        Key("defaults", DEFAULTS, "Delivery of every turn that does not say otherwise."),
        Key("service", SERVICE, "How the mocked service behaves."),
    ),
    _scenario,
)


def _with_templates(track: Track, place: Place) -> Track:
    """Mark the turns that use captured values, and refuse names that nothing captures."""
    captured = _captured_names(track.turns)
    if not captured:
        return track

    def marked(step: Turn | Branch) -> Turn | Branch:
        if isinstance(step, Branch):
            arms = (
                dataclasses.replace(arm, turns=tuple(marked(inner) for inner in arm.turns))
                for arm in step.arms
            )
            return dataclasses.replace(step, arms=tuple(arms))
        used = template_names([dict(block.body) for block in step.blocks])
        unknown = sorted(used - captured)
        if unknown:
            what = f"nothing captures {unknown[0]!r}{nearest_name(unknown[0], sorted(captured))}"
            raise Place(place.source, step.place).error(what)
        return dataclasses.replace(step, templated=bool(used))

    return dataclasses.replace(track, turns=tuple(marked(step) for step in track.turns))


def _captured_names(steps: tuple[Turn | Branch, ...]) -> set[str]:
    names: set[str] = set()
    for step in steps:
        if isinstance(step, Turn):
            names |= set(step.capture)
        else:
            names |= set().union(*(_captured_names(arm.turns) for arm in step.arms))
    return names


def parse_scenario(value: Any, source: str) -> Scenario:
    """Read a scenario from JSON-like values: an object, or a list of turns."""
    if isinstance(value, Scenario):
        return value
    if isinstance(value, (list, tuple)):
        value = {"turns": list(value)}
    place = Place(source)
    if _is_deep(value):
        raise place.error(f"it nests deeper than {_DEEPEST} levels")
    scenario: Scenario = SCENARIO.read(value, place)
    return scenario


def _is_deep(value: Any) -> bool:
    """Whether a value nests deeper than a scenario may; a list inside itself does."""
    level = [value]
    for _ in range(_DEEPEST):
        below: dict[int, Any] = {}  # by identity: what stands in many places is looked at once
        for part in level:
            inner = part.values() if isinstance(part, dict) else part
            if isinstance(part, (dict, list, tuple)):
                below.update((id(each), each) for each in inner)
        if not below:
            return False
        level = list(below.values())
    return True


def load_scenario(path: Any) -> Scenario:
    """Read the scenario file at a path: JSON in UTF-8, no key twice in one object."""
    if not isinstance(path, (str, os.PathLike)):
        what = f"a scenario file is named by its path, not by {json_type(path)}"
        raise ScenarioError(f"{what}; what is no file is played by `script`")
    source = os.fspath(path) or "''"
    try:
        raw = read_file(path, _LONGEST)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ScenarioError(f"{source}: cannot be read: {reason}") from None
    return parse_scenario(_json(_text(raw, source), source), source)


def _text(raw: bytes, source: str) -> str:
    """The text of a file. Raises `ScenarioError` for what is not UTF-8, or nothing."""
    encoding = json.detect_encoding(raw)
    if not encoding.startswith("utf-8"):
        raise ScenarioError(f"{source}: it is {encoding.upper()} text; save it as UTF-8")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte {error.start} is not UTF-8 text; save it as UTF-8"
        raise ScenarioError(f"{source}: {what}") from None
    if not text.strip():
        raise ScenarioError(f"{source}: the file is empty")
    return text


def _json(text: str, source: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique_keys)
    except json.JSONDecodeError as error:
        where = f"{source}:{error.lineno}:{error.colno}"
        raise ScenarioError(f"{where}: not JSON: {error.msg}") from None
    except RecursionError:
        raise ScenarioError(f"{source}: it nests deeper than {_DEEPEST} levels") from None
    except _DuplicateKey as error:
        raise ScenarioError(
            f"{source}: the key {error.args[0]!r} stands twice in one object"
        ) from None
    except ValueError:  # Python reads no number of more than some thousands of digits
        raise ScenarioError(f"{source}: a number in it has too many digits") from None


class _DuplicateKey(ValueError):
    """A key that stands twice in one object, where JSON would silently keep the last."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _DuplicateKey(key)
        found[key] = value
    return found
