"""``write_file`` and ``edit_file``: decide on a change, show it beforehand, make it in one step."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from mini_agent_core.errors import ToolInputInvalid
from mini_agent_core.redaction import REDACTED
from mini_agent_core.schema import check_tool_input
from mini_agent_core.tools.base import WorkspaceTool, file_path, object_schema
from mini_agent_core.tools.files.change import Change
from mini_agent_core.tools.files.contents import (
    Content,
    current,
    read_whole,
    replace,
    require_writable,
)
from mini_agent_core.tools.files.replacing import replace_text
from mini_agent_core.tools.text import Refusal, show_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mini_agent_core.cancellation import CancelToken
    from mini_agent_core.messages import ToolResult
    from mini_agent_core.tools.workspace import Parents, Place

BOM = "\ufeff"
_PATH = {"type": "string", "description": "The file, relative to the workspace."}


class ChangingTool(WorkspaceTool):
    """A tool that changes one file. It decides from the file's current bytes, every time."""

    _creates = False

    def preview(self, tool_input: Mapping[str, Any]) -> Change | ToolResult:
        """Return the change that ``run`` would make now, or its refusal; nothing is touched.

        Blocks for as long as reading the file takes.
        """
        try:
            check_tool_input(tool_input, self.input_schema)
            parents: Parents = "imagined" if self._creates else "needed"
            path = file_path(tool_input)
            with self._setting.workspace.place(path, parents=parents) as place:
                return self._decide(place, tool_input)[0]
        except (Refusal, ToolInputInvalid) as no:
            return self._setting.result(str(no), is_error=True)

    def work(self, tool_input: Mapping[str, Any], cancel: CancelToken) -> str:  # noqa: ARG002 - short work looks at no token
        """Decide on the change and make it; see ``WorkspaceTool.work``."""
        setting = self._setting
        parents: Parents = "made" if self._creates else "needed"
        with setting.workspace.place(file_path(tool_input), parents=parents) as place:
            change, old = self._decide(place, tool_input)
            if old is not None:
                require_writable(place, old)
            data = change.after.encode("utf-8", "surrogateescape")
            setting.before_change(
                setting.workspace.root / place.path,
                None if old is None else old.data,
                None if old is None else old.mode,
            )
            replace(place, data, old)
            setting.remember(place.path, data)
        return self._report(change)

    def _change(self, place: Place, before: str, after: str) -> Change:
        # The model saw the file with its secrets taken out; writing that back would lose them.
        if (
            after.count(REDACTED) > before.count(REDACTED)
            and self._setting.redact(before) != before
        ):
            raise Refusal(
                f"{show_name(place.path)}: it holds a secret that is shown as {REDACTED}; "
                "leave the lines with it alone, with edit_file"
            )
        return Change(place.path, before, after)

    @abstractmethod
    def _decide(self, place: Place, tool_input: Mapping[str, Any]) -> tuple[Change, Content | None]:
        """Return the change, and the content it was decided on."""

    @abstractmethod
    def _report(self, change: Change) -> str:
        """Return the result's text for a change that was made."""


class WriteFile(ChangingTool):
    """Writes a whole file. One that the model does not know is never overwritten."""

    name = "write_file"
    description = (
        "Create a file of the workspace, or overwrite one, with exactly this content; missing "
        "folders are made. An existing file must have been read first, and must not have changed "
        "since. To change a part of a file, use edit_file."
    )
    input_schema = object_schema(
        ("path", "content"),
        path=_PATH,
        content={"type": "string", "description": "The whole content."},
    )
    _creates = True

    def _decide(self, place: Place, tool_input: Mapping[str, Any]) -> tuple[Change, Content | None]:
        after = _encodable(tool_input["content"], "content")
        old = current(place)
        if old is None:
            return Change(place.path, None, after), None
        if old.data and not self._setting.knows(place.path, old.data):
            state = "has changed since it was read" if self._setting.saw(place.path) else "exists"
            raise Refusal(f"{show_name(place.path)}: {state}; read it before overwriting it")
        before = old.data.decode("utf-8", "surrogateescape")
        return self._change(place, before, after), old

    def _report(self, change: Change) -> str:
        lines = len(change.after.split("\n")) - change.after.endswith("\n")
        count = f"{lines if change.after else 0} lines"
        if change.before is None:
            return f"created {show_name(change.path)} ({count})"
        return f"overwrote {show_name(change.path)} ({count})\n{change.diff()}"


class EditFile(ChangingTool):
    """Replaces a text in a file. Everything else in the file keeps its bytes."""

    name = "edit_file"
    description = (
        "Replace old_text by new_text in a file of the workspace. old_text must be in the file "
        "exactly once, unless replace_all is set; give enough of the lines around it, without "
        "line numbers. Both texts are taken literally. The file's own line ends are kept."
    )
    input_schema = object_schema(
        ("path", "old_text", "new_text"),
        path=_PATH,
        old_text={"type": "string", "description": "The text to replace."},
        new_text={"type": "string", "description": "The text to put there."},
        replace_all={
            "type": "boolean",
            "description": "Replace every occurrence (default false).",
        },
    )

    def _decide(self, place: Place, tool_input: Mapping[str, Any]) -> tuple[Change, Content | None]:
        old_text = _encodable(tool_input["old_text"], "old_text")
        new_text = _encodable(tool_input["new_text"], "new_text")
        if not old_text:
            raise Refusal("old_text is empty; to create or fill a file, use write_file")
        if old_text == new_text:
            raise Refusal("old_text and new_text are the same: no change")
        old = read_whole(place)
        before = old.data.decode("utf-8", "surrogateescape")
        bom = BOM if before.startswith(BOM) else ""
        every = tool_input.get("replace_all", False)
        try:
            edited = replace_text(before.removeprefix(BOM), old_text, new_text, every=every)
        except Refusal as no:
            raise Refusal(f"{show_name(place.path)}: {no}{self._staleness(place, old)}") from None
        after = bom + edited.text
        if after == before:
            raise Refusal(f"{show_name(place.path)}: the edit changes nothing")
        return self._change(place, before, after), old

    def _staleness(self, place: Place, old: Content) -> str:
        if self._setting.saw(place.path) and not self._setting.knows(place.path, old.data):
            return "; the file has changed since it was read, read it again"
        return ""

    def _report(self, change: Change) -> str:
        return f"edited {show_name(change.path)}\n{change.diff()}"


def _encodable(text: str, field_name: str) -> str:
    """Return the text if it can be written as UTF-8.

    Raises:
        Refusal: it holds a lone surrogate, which no file in UTF-8 can hold.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise Refusal(f"{field_name}: holds half a character (a lone surrogate)") from None
    return text
