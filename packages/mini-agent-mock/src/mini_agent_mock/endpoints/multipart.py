"""Reading `multipart/form-data`, also with parts that name no file, as some SDKs send them."""

from __future__ import annotations

from dataclasses import dataclass
from email.message import Message
from email.parser import HeaderParser
from email.policy import HTTP

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
    headers = HeaderParser(policy=HTTP).parsestr(head.lstrip().decode("utf-8", "replace"))
    disposition = headers["content-disposition"]
    name = disposition.params.get("name") if disposition is not None else None
    if not name:
        raise invalid_request("A part of the multipart body has no name")
    kind = headers.get_content_type() if headers["content-type"] else None
    return Part(name, disposition.params.get("filename"), kind, content)
