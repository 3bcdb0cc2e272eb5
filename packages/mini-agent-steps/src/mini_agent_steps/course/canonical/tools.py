"""What the model can do: each tool is a function, and the words that offer it."""

# @region head
import inspect  # @step >=tools
import os  # @step >=tools
import re  # @step >=tools
import signal  # @step >=tools
import subprocess  # @step >=tools
from collections.abc import Callable  # @step >=tools
from collections.abc import Iterator  # @step >=tools
from contextlib import suppress  # @step >=tools
from dataclasses import dataclass  # @step >=tools
from pathlib import Path
from tempfile import TemporaryFile  # @step >=tools
from typing import Any  # @step >=tools

from anthropic.types import ToolParam

# @step >=tools
JSON_TYPES = {str: "string", int: "integer", bool: "boolean"}
KEPT_ENDS = 10_000
# @endstep
# @endregion


# @step >=tools
@dataclass(frozen=True)
class Tool:
    """Something the model can call: what it is told, and what then runs."""

    param: ToolParam
    run: Callable[..., str]


def as_tool(function: Callable[..., str]) -> Tool:
    """Offer a function to the model: its name, its signature and its docstring."""
    properties, required = {}, []
    for name, parameter in inspect.signature(function).parameters.items():
        properties[name] = {"type": JSON_TYPES[parameter.annotation]}
        if parameter.default is parameter.empty:
            required.append(name)
    schema: Any = {"type": "object", "properties": properties, "required": required}
    param: ToolParam = {
        "name": function.__name__,
        "description": inspect.getdoc(function) or "",
        "input_schema": schema,
    }
    return Tool(param, function)


# @endstep
def read_file(
    path: str,
    offset: int = 1,  # @step >=tools
    limit: int = 2000,  # @step >=tools
) -> str:
    """Read a text file; its lines are numbered from 1."""
    lines = Path(path).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    numbered = [f"{number}\t{line}" for number, line in enumerate(lines, 1)]
    numbered = numbered[offset - 1 : offset - 1 + limit]  # @step >=tools
    return "\n".join(numbered)


# @step ==agent-loop
# | READ_FILE: ToolParam = {
# |     "name": "read_file",
# |     "description": "Read a text file with line numbers.",
# |     "input_schema": {
# |         "type": "object",
# |         "properties": {"path": {"type": "string"}},
# |         "required": ["path"],
# |     },
# | }
# @endstep


# @step >=tools
def write_file(path: str, content: str) -> str:
    """Write a whole file, and any folder it needs; what was there is replaced."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(content.encode())
    return f"wrote {path}"


def edit_file(
    path: str, old_text: str, new_text: str, replace_all: bool = False
) -> str:
    """Replace `old_text`, which must occur exactly once unless `replace_all` is set."""
    text = Path(path).read_bytes().decode()  # as it is, with its line endings
    count = text.count(old_text) if old_text else 0
    if count == 0 or (count > 1 and not replace_all):
        raise ValueError(f"old_text occurs {count} times in {path}; nothing changed")
    Path(path).write_bytes(text.replace(old_text, new_text).encode())
    return f"replaced {count} in {path}"


def list_files(pattern: str = "**/*", path: str = ".") -> str:
    """List the files below `path` that match a glob pattern, hidden ones left out."""
    return "\n".join(str(file) for file in files(path, pattern)) or "no files"


def grep_search(pattern: str, path: str = ".", include: str = "**/*") -> str:
    """Find a regular expression in files: one `file:line: text` for each match."""
    found = [
        f"{file}:{number}: {line}"
        for file in files(path, include)
        for number, line in enumerate(file.read_text(errors="replace").split("\n"), 1)
        if re.search(pattern, line)
    ]
    return "\n".join(found) or "no matches"


def files(path: str, pattern: str) -> Iterator[Path]:
    """Walk the files below a folder in order, without hidden ones."""
    for file in sorted(Path(path).glob(pattern)):
        hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
        if file.is_file() and not hidden:
            yield file


def run_shell(command: str, timeout: int = 60) -> str:
    """Run a shell command; return its exit code and all it printed."""
    # A file and not a pipe, which a child left behind could hold open for ever.
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        process = subprocess.Popen(
            command,
            shell=True,
            env={k: v for k, v in os.environ.items() if "API_KEY" not in k},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(timeout)
        finally:
            kill_group(process)
        output.seek(0)
        return f"exit code {process.returncode}\n{output.read()}"


def kill_group(process: subprocess.Popen[Any]) -> None:
    """End a process, and all that it started and left."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def tool_registry() -> dict[str, Tool]:
    """Offer the tools for work in the current folder, each under its name."""
    functions = (read_file, write_file, edit_file, list_files, grep_search, run_shell)
    return {function.__name__: as_tool(function) for function in functions}


def find_tool(tools: dict[str, Tool], name: str) -> Tool:
    """Look a tool up; an unknown name is an error that lists the known ones."""
    if name not in tools:
        raise LookupError(f"no tool {name}; there are: {', '.join(tools)}")
    return tools[name]


def clip(text: str) -> str:
    """Keep the head and the tail of a text that would crowd out everything else."""
    surplus = len(text) - 2 * KEPT_ENDS
    if surplus <= 0:
        return text
    return f"{text[:KEPT_ENDS]}\n… {surplus} characters left out …\n{text[-KEPT_ENDS:]}"


# @endstep
