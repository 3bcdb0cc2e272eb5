import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent_mock.endpoints.files import Files
from mini_agent_mock.endpoints.multipart import parse_multipart
from mini_agent_mock.errors import ApiError
from mini_agent_mock.http import HttpRequest, HttpResponse

FORM = "multipart/form-data; boundary=XX"


@pytest.fixture
def files(service: Any) -> Files:
    return Files(service)


def form(*parts: tuple[str, bytes]) -> bytes:
    pieces = [b"--XX\r\n" + head.encode() + b"\r\n\r\n" + content for head, content in parts]
    return b"\r\n".join([*pieces, b"--XX--\r\n"])


def named(filename: str | None = "a.txt", kind: str | None = "text/plain") -> str:
    head = 'Content-Disposition: form-data; name="file"'
    head += f'; filename="{filename}"' if filename is not None else ""
    return head + (f"\r\nContent-Type: {kind}" if kind else "")


def upload(files: Files, *parts: tuple[str, bytes], kind: str = FORM) -> dict[str, Any]:
    body = form(*(parts or ((named(), b"hello"),)))
    request = HttpRequest("POST", "/v1/files", headers={"content-type": kind}, body=body)
    value: dict[str, Any] = json.loads(files.handle(request).body)
    return value


def send(files: Files, method: str, path: str = "") -> HttpResponse:
    path, _, query = path.partition("?")
    return files.handle(HttpRequest(method, "/v1/files" + path, query))


def told(files: Files, method: str, path: str = "") -> dict[str, Any]:
    value: dict[str, Any] = json.loads(send(files, method, path).body)
    return value


def refused(files: Files, method: str, path: str = "") -> ApiError:
    with pytest.raises(ApiError) as error:
        send(files, method, path)
    return error.value


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("UTF-8''%e2%82%ac.txt", "€.txt"),
        ("latin-1''%e9.txt", "é.txt"),
        ("nope''a.txt", "a.txt"),
        ("U\0F''a.txt", "a.txt"),
    ],
    ids=["UTF-8", "latin-1", "no character set", "NUL in the character set"],
)
def test_a_file_name_may_say_its_character_set(files: Files, told: str, name: str) -> None:
    head = f'Content-Disposition: form-data; name="file"; filename*={told}'
    assert upload(files, (head, b"x"))["filename"] == name


def test_an_upload_is_described_and_found_again(files: Files) -> None:
    made = upload(files)

    assert made == {
        "type": "file",
        "id": "file_0111",
        "filename": "a.txt",
        "mime_type": "text/plain",
        "size_bytes": 5,
        "created_at": "2026-11-30T00:53:20Z",
        "downloadable": False,
        "expires_at": None,
    }
    assert told(files, "GET", f"/{made['id']}") == made


@pytest.mark.parametrize(
    ("filename", "kind", "name", "mime"),
    [
        (None, "application/pdf", "unnamed.pdf", "application/pdf"),
        ("", "application/x-odd", "unnamed", "application/x-odd"),
        (None, None, "unnamed.bin", "application/octet-stream"),
        ("b.png", None, "b.png", "image/png"),
        ("/etc/passwd.txt", "text/plain", "passwd.txt", "text/plain"),
    ],
)
def test_a_part_may_lack_a_name_or_a_type(
    files: Files, filename: str | None, kind: str | None, name: str, mime: str
) -> None:
    made = upload(files, (named(filename, kind), b"x"))

    assert (made["filename"], made["mime_type"]) == (name, mime)


def test_content_may_hold_anything_but_the_boundary(files: Files) -> None:
    content = b"\r\n--X\r\n\r\n\x00\xff--"

    assert upload(files, (named(), content))["size_bytes"] == len(content)


def test_a_file_can_be_given_an_end(files: Files) -> None:
    field = 'Content-Disposition: form-data; name="expires_in_seconds"'

    assert upload(files, (named(), b"x"), (field, b"60"))["expires_at"] == "2026-11-30T00:54:20Z"
    with pytest.raises(ApiError, match="expires_in_seconds: Input should be a valid integer"):
        upload(files, (named(), b"x"), (field, b"soon"))


def test_files_are_listed_newest_first_in_pages(files: Files) -> None:
    ids = [upload(files)["id"] for _ in range(3)][::-1]

    first = told(files, "GET", "?limit=2")
    second = told(files, "GET", f"?page={first['next_page']}")

    assert [file["id"] for file in first["data"]] == ids[:2]
    assert [file["id"] for file in second["data"]] == ids[2:]
    assert second["next_page"] is None
    chosen = told(files, "GET", f"?ids[]={ids[0]}&ids[]=gone")
    assert [file["id"] for file in chosen["data"]] == ids[:1]
    assert refused(files, "GET", "?limit=0").status == 400


def test_a_deleted_file_is_gone(files: Files) -> None:
    made = upload(files)

    assert told(files, "DELETE", f"/{made['id']}") == {"id": made["id"], "type": "file_deleted"}
    assert refused(files, "GET", f"/{made['id']}").status == 404


def test_an_upload_cannot_be_downloaded_unless_the_server_is_lenient(
    files: Files, service: Any
) -> None:
    made = upload(files)

    error = refused(files, "GET", f"/{made['id']}/content")
    service.lenient = True
    response = send(files, "GET", f"/{made['id']}/content")

    assert error.details == {"error_code": "file_not_downloadable"}
    assert response.body == b"hello"
    assert ("content-type", "text/plain") in response.headers


def test_a_lenient_server_knows_every_file(files: Files, service: Any) -> None:
    service.lenient = True

    assert told(files, "GET", "/any")["id"] == "any"
    assert told(files, "DELETE", "/any")["id"] == "any"


def test_unknown_paths_and_methods_are_told_apart(files: Files) -> None:
    assert refused(files, "PUT").status == 405
    assert refused(files, "POST", "/x").status == 405
    assert refused(files, "GET", "/x/nothing").status == 404


@pytest.mark.parametrize(
    ("kind", "body", "message"),
    [
        ("application/json", b"{}", "Content-Type must be multipart/form-data"),
        ("multipart/form-data", b"", "Content-Type must be multipart/form-data"),
        (FORM, b"", "The multipart body does not end with its boundary"),
        (FORM, b"--XX\r\nno headers\r\n--XX--", "A part of the multipart body has no end"),
        (FORM, form(("X-Odd: 1", b"")), "A part of the multipart body has no name"),
        (FORM, form(('Content-Disposition: form-data; name="other"', b"")), "file: Field required"),
    ],
)
def test_a_malformed_form_is_refused(files: Files, kind: str, body: bytes, message: str) -> None:
    request = HttpRequest("POST", "/v1/files", headers={"content-type": kind}, body=body)

    with pytest.raises(ApiError) as error:
        files.handle(request)

    assert error.value.status == 400
    assert error.value.message.startswith(message)


@given(st.binary(max_size=60), st.text(max_size=30))
def test_any_bytes_are_a_form_or_refused(body: bytes, kind: str) -> None:
    for content_type in (FORM, "multipart/form-data; " + kind, kind):
        with contextlib.suppress(ApiError):
            parse_multipart(content_type, b"--XX\r\n" + body + b"\r\n--XX--")
