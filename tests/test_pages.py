"""The pages a stranger reads first say what is true of this checkout."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_readme_has_two_set_up_commands_and_ci_runs_the_second() -> None:
    blocks = re.findall(
        r"```sh\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    set_up = [block.strip() for block in blocks if "pip install" in block]
    assert set_up == [
        "pip install uv && uv run mini-agent --demo",
        "pip install uv && uv run nox",
    ]
    assert "pip install --quiet uv && uv run nox)" in (ROOT / ".ci" / "run").read_text()


def test_no_page_links_to_a_file_that_is_not_there() -> None:
    dangling = []
    for page in tracked("*.md"):
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:|#", target):
                continue
            if not (page.parent / target.partition("#")[0]).exists():
                dangling.append(f"{page.relative_to(ROOT)}: {target}")
    assert not dangling


def test_no_page_tells_anyone_to_install_the_taken_name() -> None:
    wrong = re.compile(r"pip install (?:-\S+ )*['\"]?mini-agent-cli")
    assert not [str(page) for page in tracked("*.md") if wrong.search(page.read_text("utf-8"))]


def tracked(pattern: str) -> list[Path]:
    """The files of that name pattern that git knows of."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", pattern], cwd=ROOT, check=True, capture_output=True
    ).stdout.decode()
    return [ROOT / name for name in listed.split("\0") if name]
