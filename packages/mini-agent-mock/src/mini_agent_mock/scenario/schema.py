"""The JSON Schema of scenario files, made from the grammar that reads them."""

from __future__ import annotations

from typing import Any

from mini_agent_mock.scenario.file import SCENARIO


def scenario_schema() -> dict[str, Any]:
    """The schema, draft 2020-12. What it cannot say (one of several keys) the reader checks."""
    definitions: dict[str, Any] = {}
    top = SCENARIO.schema(definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mini-agent-mock scenario",
        **top,
        "$defs": definitions,
    }
