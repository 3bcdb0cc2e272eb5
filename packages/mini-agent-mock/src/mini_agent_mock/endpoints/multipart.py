"""Reading `multipart/form-data`, also with parts that name no file, as some SDKs send them."""

from __future__ import annotations

from dataclasses import dataclass
from email.message import Message
from email.parser import HeaderParser

from mini_agent_mock.errors import invalid_request


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a form."""

    name: str
    filename: str | None
    content_type: str | None
    content: bytes


def parse_multipart(content_type: str, body: bytes) -> list[Part]:
    """The parts of a form, in order. Raises ApiError (400) if the body is no such form."""
    header = Message()
    header["content-type"] = content_type
    boundary = header.get_param("boundary")
    if header.get_content_type() != "multipart/form-data" or not isinstance(boundary, str):
        raise invalid_request("Content-Type must be multipart/form-data with a boundary")
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary.encode("latin-1", "replace"))
    parts: list[Part] = []
    for piece in pieces[1:]:
        if piece.startswith(b"--"):
            return parts
        parts.append(_part(piece))
    raise invalid_request("The multipart body does not end with its boundary")


def _part(piece: bytes) -> Part:
    head, found, content = piece.partition(b"\r\n\r\n")
    if not found:
        raise invalid_request("A part of the multipart body has no end of its headers")
    headers = HeaderParser().parsestr(head.lstrip().decode("utf-8", "replace"))
    name = _parameter(headers, "name")
    if not name:
        raise invalid_request("A part of the multipart body has no name")
    kind = headers.get_content_type() if headers["content-type"] else None
    return Part(name, _parameter(headers, "filename"), kind, content)


def _parameter(headers: Message, name: str) -> str | None:
    """A parameter of the disposition, also in the form `name*=UTF-8''…` (RFC 8187)."""
    found = headers.get_param(name, header="content-disposition")
    if not isinstance(found, tuple):
        return found
    charset, _, value = found
    raw = value.encode("latin-1", "replace")  # each escaped byte as one character
    try:
        return raw.decode(charset or "utf-8", "replace")
    except (LookupError, ValueError):  # a character set that is none
        return raw.decode("utf-8", "replace")
