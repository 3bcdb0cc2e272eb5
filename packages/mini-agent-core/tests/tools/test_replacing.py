"""The edit as arithmetic: whatever the line ends, only the named text changes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent_core.tools.files.replacing import replace_text
from mini_agent_core.tools.text import Refusal

TEXTS = st.lists(st.sampled_from(["a", "b", "é", " ", "\n", "\r\n", "\r"]), max_size=12).map(
    "".join
)
PLAIN = st.lists(st.sampled_from(["a", "b", "é", " ", "\n"]), min_size=1, max_size=4).map("".join)


def shown(text: str) -> str:
    """The text as the model sees it."""
    return re.sub("\r\n|\r", "\n", text)


@given(original=TEXTS, old=PLAIN, new=st.one_of(st.just(""), PLAIN))
def test_the_model_gets_the_text_it_asked_for(original: str, old: str, new: str) -> None:
    view = shown(original)
    try:
        edited = replace_text(original, old, new, every=True)
    except Refusal as no:
        joined = "join" in str(no)
        assert joined or old not in view
        return
    assert shown(edited.text) == view.replace(old, new)
    assert edited.places == view.count(old)


@given(before=TEXTS, place=TEXTS, after=TEXTS, new=st.one_of(st.just(""), PLAIN))
def test_what_stands_around_the_place_keeps_its_characters(
    before: str, place: str, after: str, new: str
) -> None:
    before, place, after = before + "<", f"[{place}]", ">" + after
    edited = replace_text(before + place + after, shown(place), new, every=False).text
    assert edited.startswith(before)
    assert edited.endswith(after)
    assert shown(edited[len(before) : len(edited) - len(after)]) == new


@given(before=TEXTS, place=TEXTS, after=TEXTS)
def test_putting_the_same_text_there_changes_not_one_character(
    before: str, place: str, after: str
) -> None:
    original = f"{before}[{place}]{after}"
    old = shown(f"[{place}]")
    assert replace_text(original, old, old, every=True).text == original


@given(original=st.text(), old=st.text(min_size=1), new=st.text(), every=st.booleans())
def test_any_texts_give_an_edit_or_a_refusal(
    original: str, old: str, new: str, every: bool
) -> None:
    try:
        edited = replace_text(original, old, new, every=every)
    except Refusal:
        return
    assert edited.places >= 1


def test_a_hint_is_not_searched_for_in_a_huge_text() -> None:
    with pytest.raises(Refusal, match="^old_text is not in the file$"):
        replace_text("“x”" * 400_000, '"x"', "y", every=False)


@pytest.mark.parametrize("every", [True, False])
def test_two_lone_line_ends_are_not_joined_into_one(every: bool) -> None:
    with pytest.raises(Refusal, match="join"):
        replace_text("\ra\n", "a", "", every=every)
    assert replace_text("\ra\n", "a", "b", every=every).text == "\rb\n"
