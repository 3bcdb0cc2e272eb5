"""A course of two steps to experiment on: a copy of the one that `new` hands out."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mini_agent_steps import course as course_module
from mini_agent_steps.build import CACHE_VARIABLE
from mini_agent_steps.course_file import load_course
from mini_agent_steps.snapshot import Source, load_source

if TYPE_CHECKING:
    from mini_agent_steps.course import Course

TEMPLATE = Path(course_module.__file__).parent / "template"


@dataclass(frozen=True)
class Bench:
    """A copy of the template, and the ways a test changes it."""

    root: Path

    @property
    def course(self) -> Course:
        """The course as its files stand now."""
        return load_course(self.root)

    @property
    def source(self) -> Source:
        """The parsed canonical folder as it stands now."""
        return load_source(self.course)

    def path(self, name: str) -> Path:
        """A file of the course."""
        return self.root / name

    def read(self, name: str) -> str:
        """A file's text."""
        return self.path(name).read_text("utf-8")

    def write(self, name: str, text: str) -> None:
        """Replace a whole file."""
        self.path(name).write_text(text, "utf-8")

    def change(self, name: str, old: str, new: str) -> None:
        """Replace a text that stands in the file exactly once."""
        text = self.read(name)
        assert text.count(old) == 1, f"{name} has {text.count(old)} times {old!r}"
        self.write(name, text.replace(old, new))

    def scenario(self, name: str, **changes: Any) -> None:
        """Change keys of a scenario; None removes one."""
        path = self.path(f"scenarios/{name}.json")
        data = json.loads(path.read_text("utf-8")) if path.exists() else {}
        data.update(changes)
        kept = {key: value for key, value in data.items() if value is not None}
        path.write_text(json.dumps(kept, indent=2), "utf-8")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config) -> Bench:
    """A copy of the template course, with a build cache of its own; mypy's all tests share."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv("MYPY_CACHE_DIR", str(pytestconfig.cache.mkdir("mypy")))
    root = tmp_path / "course"
    shutil.copytree(TEMPLATE, root, ignore=shutil.ignore_patterns("__pycache__"))
    return Bench(root)
