"""Names that cannot be misread, and cuts that leak no half of a secret."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent_core.redaction import Redactor
from mini_agent_core.tools.text import SLACK, cut_line, no_redaction, show_name

SECRET = "s" * 200


@given(st.text())
def test_a_name_is_shown_on_one_line_and_can_be_told_back(name: str) -> None:
    shown = show_name(name)
    assert shown.isprintable()
    shown.encode("utf-8")
    assert (json.loads(shown) if shown.startswith('"') else shown) == name


@pytest.mark.parametrize("length", [10, 100, 10 + SLACK, 11 + SLACK, 5_000])
def test_a_line_is_cut_at_the_limit_and_its_length_told(length: int) -> None:
    cut = cut_line("x" * length, 10, no_redaction)
    assert cut == "x" * 10 + (f" [line cut: {length} characters in all]" if length > 10 else "")


@pytest.mark.parametrize("secrets", range(6))
def test_a_cut_shows_no_part_of_a_secret_however_much_shorter_the_line_became(secrets: int) -> None:
    """Each secret taken out brings text closer that was beyond the cut."""
    redact = Redactor([SECRET]).redact
    for offset in range(0, len(SECRET), 7):
        line = SECRET * secrets + "x" * offset + SECRET * 20
        assert "ss" not in cut_line(line, 500, redact)
