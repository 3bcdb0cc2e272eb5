"""JSON in and out, with the corners that a history must survive settled once.

Text is plain ASCII JSON, so that no separator, control character or lone surrogate in a
message can ever break a line or an encoder.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

MAX_DEPTH = 128
"""Deepest nesting accepted, well below what the interpreter's own parser can take."""


def dump_line(value: Any) -> bytes:
    """Return ``value`` as one line of ASCII JSON, its newline included.

    Raises:
        ValueError: for NaN, infinities and what is no JSON value at all.
    """
    try:
        text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not a JSON value: {error}") from error
    return text.encode("ascii") + b"\n"


def dump_utf8(value: Any) -> bytes:
    """Return ``value`` as compact UTF-8 JSON; in its strings lone surrogates become U+FFFD.

    Raises:
        ValueError: for NaN, infinities and what is no JSON value at all.
    """
    try:
        text = _ENCODER.encode(value)
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not a JSON value: {error}") from error
    return without_lone_surrogates(text).encode("utf-8")


def parse_json(text: str | bytes, max_depth: int = MAX_DEPTH) -> Any:
    """Return the JSON value in ``text``.

    Raises:
        ValueError: for anything that is not JSON (NaN is not), for numbers too large to be
            written again, and for nesting deeper than ``max_depth``.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    may_be_deep = text.count("[") + text.count("{") > max_depth
    if may_be_deep and _deeper_than(value, max_depth):
        raise ValueError("nested too deeply")
    return value


def without_lone_surrogates(text: str) -> str:
    """Return ``text`` as valid Unicode: halves of a pair joined, lone ones replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def valid_unicode(value: Any) -> Any:
    """Return a JSON value with every string in it, keys included, as valid Unicode."""
    if isinstance(value, str):
        return without_lone_surrogates(value)
    if isinstance(value, Mapping):
        return {without_lone_surrogates(key): valid_unicode(item) for key, item in value.items()}
    if isinstance(value, list):
        return [valid_unicode(item) for item in value]
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large a number")
    return number


def _as_dict(value: Any) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_as_dict
)


def _deeper_than(value: Any, limit: int) -> bool:
    if isinstance(value, dict):
        children: Any = value.values()
    elif isinstance(value, list):
        children = value
    else:
        return False
    return limit == 0 or any(_deeper_than(child, limit - 1) for child in children)
