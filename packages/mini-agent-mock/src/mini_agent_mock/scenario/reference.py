"""The reference page of the scenario format, made from the grammar that reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mini_agent_mock.scenario.schema import scenario_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD = """# The scenario format

Made by `mini-agent-mock schema --markdown`; a test keeps it current. `mini-agent-mock schema`
prints the same as JSON Schema, for an editor. In Python the same values are dicts and lists, given
to `Scenario.parse` or to the fixture's `script`; a list is the turns of the one track `main`.

An unknown key is an error that names the file, the path and the nearest known key.
"""


def scenario_markdown() -> str:
    """The page: one section for each kind of object, one row for each key."""
    schema = scenario_schema()
    names = [schema["$ref"].rpartition("/")[2]]
    names += [name for name in schema["$defs"] if name not in names]
    sections = ["\n".join(_section(name, schema["$defs"][name])) for name in names]
    return "\n".join([_HEAD, *sections])


def _section(name: str, definition: dict[str, Any]) -> Iterator[str]:
    yield f"## {name}\n"
    yield f"{definition['description']}\n"
    yield "| key | value | meaning |\n|---|---|---|"
    required = definition.get("required", ())
    for key, kind in definition["properties"].items():
        mark = " (required)" if key in required else ""
        meaning = kind["description"].replace("|", "\\|")
        yield f"| `{key}`{mark} | {_value(kind)} | {meaning} |"
    yield ""


def _value(kind: dict[str, Any]) -> str:
    if "$ref" in kind:
        name = kind["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in kind:
        return " or ".join(_value(each) for each in kind["anyOf"])
    if "enum" in kind:
        return ", ".join(f"`{value}`" for value in kind["enum"])
    if kind.get("type") == "array":
        return f"list of {_value(kind['items'])}"
    if kind.get("type") == "object":
        inner = _value(kind["additionalProperties"])
        return f"object of {inner}"
    if kind.get("format") == "regex":
        return "regular expression"
    return {"string": "text", "boolean": "true or false", "integer": "whole number"}.get(
        kind.get("type", ""), "number" if kind.get("type") else "anything"
    )
