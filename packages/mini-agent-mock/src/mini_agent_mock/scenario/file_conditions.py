"""The grammar of conditions in a scenario file: `match`, `expect` and `when` share it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mini_agent_mock.scenario.conditions import (
    AbsentCheck,
    BetasCheck,
    BodyCheck,
    Check,
    Conditions,
    ModelCheck,
    OutputFormatCheck,
    SomeToolResultCheck,
    TextCheck,
    TextTest,
    ToolResultsCheck,
    ToolResultTest,
    ToolsCheck,
    ValueCheck,
)
from mini_agent_mock.scenario.grammar import (
    Anything,
    Boolean,
    Either,
    Key,
    Kind,
    ListOf,
    MapOf,
    Number,
    Record,
    Regex,
    Text,
)

if TYPE_CHECKING:
    from mini_agent_mock.request import RequestView
    from mini_agent_mock.scenario.place import Place


def _strings(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


STRINGS = Either((Text(), ListOf(Text(), least=1)), _strings)

_TEXT_KEYS = (
    Key("contains", STRINGS, "Text, or a list of texts, that must all occur."),
    Key("excludes", STRINGS, "Text, or a list of texts, none of which may occur."),
    Key("equals", Text(), "The whole text."),
    Key("starts_with", Text(), "How the text begins."),
    Key("matches", Regex(), "A Python regular expression, searched for anywhere."),
)


def _text_test(place: Place, **given: Any) -> TextTest:
    if not given:
        raise place.error("an empty text condition holds for everything; give one of its keys")
    return TextTest(**given)


TEXT = Either(
    (Text(), Record("Text", "Conditions on one text; all must hold.", _TEXT_KEYS, _text_test)),
    lambda value: TextTest(contains=(value,)) if isinstance(value, str) else value,
)


def _result_test(place: Place, **given: Any) -> ToolResultTest:
    own = {key: given.pop(key) for key in ("name", "tool_use_id", "is_error") if key in given}
    if not own and not given:
        raise place.error("an empty tool result condition holds for everything")
    return ToolResultTest(text=TextTest(**given), **own)


TOOL_RESULT = Either(
    (
        Text(),
        Record(
            "ToolResult",
            "Conditions on one tool result; all must hold. A bare string means `contains`.",
            (
                Key("name", Text(), "The tool whose call it answers."),
                Key("tool_use_id", Text(), "The id of the call it answers."),
                Key("is_error", Boolean(), "Whether it is marked as an error."),
                *_TEXT_KEYS,
            ),
            _result_test,
        ),
    ),
    lambda value: ToolResultTest(TextTest(contains=(value,))) if isinstance(value, str) else value,
)


def _tools(place: Place, **given: Any) -> ToolsCheck:
    if not given:
        raise place.error("an empty tools condition holds for everything; give one of its keys")
    return ToolsCheck(**given)


TOOLS = Either(
    (
        ListOf(Text(), least=1),
        Record(
            "Tools",
            "Conditions on the names of the offered tools.",
            (
                Key("includes", STRINGS, "Names that must be offered."),
                Key("excludes", STRINGS, "Names that must not be offered."),
                Key("exactly", ListOf(Text()), "All names, in order; an empty list means none."),
            ),
            _tools,
        ),
    ),
    lambda value: ToolsCheck(includes=value) if isinstance(value, tuple) else value,
)


def _last_role(view: RequestView) -> Any:
    return view.messages[-1].get("role") if view.messages else None


_CONDITIONS: tuple[tuple[str, Kind, str, Any], ...] = (
    ("system", TEXT, "The system text (blocks and system messages joined).",
     lambda test: TextCheck("the system text", lambda view: view.system, test)),
    ("first_user", TEXT, "The text of the first user message.",
     lambda test: TextCheck("the first user text", lambda view: view.first_user, test)),
    ("last_user", TEXT, "The text of the last user message that has text.",
     lambda test: TextCheck("the last user text", lambda view: view.last_user, test)),
    ("model", Text(), "The requested model id; `*` and `?` are wildcards.", ModelCheck),
    ("tools", TOOLS, "The offered tools; a list means that these must be among them.",
     lambda check: check),
    ("tool_results", ListOf(TOOL_RESULT),
     "The tool results of the last message: exactly these, in this order.", ToolResultsCheck),
    ("tool_result", TOOL_RESULT, "At least one tool result of the last message is like this.",
     SomeToolResultCheck),
    ("stream", Boolean(), "Whether events are asked for.",
     lambda wanted: ValueCheck("stream", lambda view: view.stream, wanted)),
    ("output_format", Either((Boolean(), Text())),
     "Whether `output_config.format` is set, or its type.", OutputFormatCheck),
    ("betas", STRINGS, "Entries that the `anthropic-beta` header must have.", BetasCheck),
    ("message_count", Number(least=1, whole=True), "How many messages the request carries.",
     lambda wanted: ValueCheck("the message count", lambda view: len(view.messages), wanted)),
    ("last_role", Text(), "The role of the last message.",
     lambda wanted: ValueCheck("the last role", _last_role, wanted)),
    ("body", MapOf(Anything()),
     "Dotted path into the body (`thinking.type`, `messages.-1.role`) → the exact value there.",
     BodyCheck),
    ("absent", STRINGS, "Dotted paths that must not exist in the body.", AbsentCheck),
)  # fmt: skip

_MAKERS = {name: make for name, _, _, make in _CONDITIONS}


def _conditions(place: Place, **given: Any) -> Conditions:
    if not given:
        raise place.error("no condition is given, so this would hold for every request")
    checks: list[Check] = [_MAKERS[name](value) for name, value in given.items()]
    return Conditions(tuple(checks))


CONDITIONS = Record(
    "Conditions",
    "What a request must be like; all given keys must hold. A bare string means `contains`.",
    tuple(Key(name, kind, doc) for name, kind, doc, _ in _CONDITIONS),
    _conditions,
)
