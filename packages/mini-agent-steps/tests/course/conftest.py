"""The last step as an importable package, built from the source as it stands."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

import pytest

from mini_agent_steps.build import build_into
from mini_agent_steps.course import BUILT_IN
from mini_agent_steps.course_file import load_course
from mini_agent_steps.snapshot import load_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from mini_agent_steps.course import Course


@pytest.fixture(scope="session")
def course() -> Course:
    """The course that ships with the package."""
    return load_course(BUILT_IN)


@pytest.fixture(scope="session")
def module(
    course: Course, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], ModuleType]]:
    """Import a module of the last step by its name."""
    folder = tmp_path_factory.mktemp("snapshots")
    last = load_source(course).snapshots[-1]
    build_into(folder, [last])
    sys.path.insert(0, str(folder))
    yield lambda name: importlib.import_module(f"{last.step.package}.{name}")
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.split(".")[0] == last.step.package]:
        del sys.modules[name]
