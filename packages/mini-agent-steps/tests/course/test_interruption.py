"""An interrupted run leaves a history that the service takes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from mini_agent_mock.edges.fixture import HostedScript


def test_ctrl_c_in_a_tool_leaves_no_call_without_its_result(
    module: Callable[[str], ModuleType],
    anthropic_mock: HostedScript,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    anthropic_mock.script([{"tools": [{"name": "list_files", "input": {}}]}, {"text": "Here."}])
    from anthropic import Anthropic

    def interrupt(**_: Any) -> str:
        raise KeyboardInterrupt

    store = module("session").new_session()
    with Anthropic() as client:
        agent = module("agent").Agent(
            client,
            event_sink=lambda kind, text: None,
            session=store,
            ask=module("permissions").ask_user,
            plan=module("plan").PlanMode(on=False),
        )
        listed = agent.tools["list_files"]
        agent.tools["list_files"] = module("tools").Tool(listed.param, interrupt)
        with pytest.raises(KeyboardInterrupt):
            agent.run("List the files.")
        assert agent.run("Are you there?") == "Here."
    prompts = [{"role": "user", "content": text} for text in ("List the files.", "Are you there?")]
    assert anthropic_mock.requests[-1].body["messages"] == prompts
    assert store.load() == agent.history
