"""``list_files`` and ``grep_search``: what the model asks, and the form of the answer."""

from __future__ import annotations

import json
import subprocess
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from mini_agent_core.errors import ToolInputInvalid
from mini_agent_core.schema import check_tool_input
from mini_agent_core.tools.base import object_schema
from mini_agent_core.tools.child import python_child
from mini_agent_core.tools.search.limits import MAX_FILES, MAX_MATCH_CHARS, MAX_MATCHES
from mini_agent_core.tools.text import Refusal, cut_line, show_name
from mini_agent_core.tools.threads import in_own_thread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mini_agent_core.cancellation import CancelToken
    from mini_agent_core.messages import ToolResult
    from mini_agent_core.tools.base import Setting

TIME_LIMIT = 20.0
"""Seconds a search may take; a pattern that backtracks without end takes longer than any."""

_GLOB = (
    "*, ?, [abc], {a,b} and ** (any folders). A pattern without a slash is matched against file "
    "names in every folder; one with a slash against the path below the folder searched."
)
_PATH = {"type": "string", "description": "The folder to search (default: the workspace)."}
_INCLUDE_IGNORED = {
    "type": "boolean",
    "description": "Search what .gitignore and the fixed list leave out, too (default false).",
}


class SearchTool(ABC):
    """A search in the workspace, done by a child process that can be ended at any time.

    Args:
        setting: where it works.
        time_limit: seconds it may take.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    read_only = True

    def __init__(self, setting: Setting, *, time_limit: float = TIME_LIMIT) -> None:
        self._setting = setting
        self._time_limit = time_limit

    async def run(self, tool_input: Mapping[str, Any], cancel: CancelToken) -> ToolResult:
        """Search; a set token ends it. See ``Tool.run``."""
        try:
            check_tool_input(tool_input, self.input_schema)
            request = {
                "root": str(self._setting.workspace.root),
                "path": tool_input.get("path", "."),
                "everything": tool_input.get("include_ignored", False),
                **self._request(tool_input),
            }
            answer = await self._ask(json.dumps(request).encode(), cancel)
        except (Refusal, ToolInputInvalid) as no:
            return self._setting.result(str(no), is_error=True)
        return self._setting.result("\n".join([*self._lines(answer), *_notes(answer)]))

    async def _ask(self, request: bytes, cancel: CancelToken) -> Mapping[str, Any]:
        worker = await in_own_thread(self._start_worker)
        forget = cancel.on_cancel(worker.kill)
        try:
            written = await in_own_thread(lambda: _converse(worker, request, self._time_limit))
        finally:
            forget()
            worker.kill()  # if it is the waiting that was given up, the search must not go on
        if cancel.is_set:
            raise Refusal("the search was stopped: the run was cancelled")
        if written is None:
            raise Refusal(
                f"the search took more than {self._time_limit:g} seconds and was ended; "
                "make the pattern simpler, or search a smaller folder"
            )
        if worker.returncode != 0:
            raise Refusal("the search broke down; make the pattern simpler")
        answer: Mapping[str, Any] = json.loads(written)
        if "refusal" in answer:
            raise Refusal(answer["refusal"])
        return answer

    def _start_worker(self) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                python_child("mini_agent_core.tools.search.worker"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=dict(self._setting.env),
            )
        except OSError as error:
            raise Refusal(f"the search could not be started: {error.strerror}") from error

    @abstractmethod
    def _request(self, tool_input: Mapping[str, Any]) -> dict[str, Any]:
        """Return the part of the request that differs between the two."""

    @abstractmethod
    def _lines(self, answer: Mapping[str, Any]) -> list[str]:
        """Return the result's lines for what was found."""


class ListFiles(SearchTool):
    """Lists the files below a folder."""

    name = "list_files"
    description = (
        "List the files below a folder of the workspace, by path. pattern narrows it down: "
        f"{_GLOB} Files named by .gitignore, and folders such as .git and node_modules, are left "
        f"out. At most {MAX_FILES} are shown, those nearest to the top first."
    )
    input_schema = object_schema(
        (),
        pattern={"type": "string", "description": "Which files (default: all)."},
        path=_PATH,
        include_ignored=_INCLUDE_IGNORED,
    )

    def _request(self, tool_input: Mapping[str, Any]) -> dict[str, Any]:
        return {"glob": tool_input.get("pattern")}

    def _lines(self, answer: Mapping[str, Any]) -> list[str]:
        names, total = answer["names"], answer["total"]
        lines = [_listed(name, is_link=is_link) for name, is_link in names]
        if total > len(names):
            lines.append(f"[{total} files; shown are the {len(names)} nearest to the top]")
        return lines or ["(no files)"]


class GrepSearch(SearchTool):
    """Searches the lines of text files for a regular expression."""

    name = "grep_search"
    description = (
        "Search the text files below a folder of the workspace, or one file, for a regular "
        "expression (Python's syntax; (?i) at its start ignores case). Matching lines are shown "
        f"with their numbers below the file's path. include narrows down the files: {_GLOB} "
        "Files named by .gitignore, and folders such as .git and node_modules, are left out. "
        f"At most {MAX_MATCHES} matches are shown."
    )
    input_schema = object_schema(
        ("pattern",),
        pattern={"type": "string", "description": "The regular expression."},
        path={"type": "string", "description": "The folder or file (default: the workspace)."},
        include={"type": "string", "description": "Which files, such as *.py (default: all)."},
        include_ignored=_INCLUDE_IGNORED,
    )

    def _request(self, tool_input: Mapping[str, Any]) -> dict[str, Any]:
        return {"regex": tool_input["pattern"], "glob": tool_input.get("include")}

    def _lines(self, answer: Mapping[str, Any]) -> list[str]:
        if not answer["total"]:
            return ["(no matches)"]
        lines, shown = [], 0
        for path, matches in answer["files"]:
            lines.append(show_name(path))
            for number, start, length in matches:
                text = cut_line(start, MAX_MATCH_CHARS, self._setting.redact, full_length=length)
                lines.append(f"  {number}: {text}")
            shown += len(matches)
        count = f"{answer['total']} matches in {answer['matched']} files"
        lines.append(f"[{count}]" if shown == answer["total"] else f"[{count}; {shown} shown]")
        return lines


def _converse(worker: subprocess.Popen[bytes], request: bytes, time_limit: float) -> bytes | None:
    """Return the worker's answer, or None if it took too long."""
    with worker:
        try:
            return worker.communicate(request, time_limit)[0]
        except subprocess.TimeoutExpired:
            worker.kill()
            return None


def _listed(name: str, *, is_link: bool) -> str:
    mark = " (link)"
    if is_link:
        return show_name(name) + mark
    return json.dumps(name) if name.endswith(mark) else show_name(name)


def _notes(answer: Mapping[str, Any]) -> list[str]:
    notes = []
    nothing = not answer["total"]
    if answer["ignored"] and nothing:
        notes.append(f"[{answer['ignored']} ignored entries were left out; see include_ignored]")
    if answer["unreadable"]:
        notes.append(f"[{answer['unreadable']} entries could not be read or are too large]")
    if answer["cut"]:
        notes.append("[the folder holds too much; a part was left out: search a smaller one]")
    return notes
