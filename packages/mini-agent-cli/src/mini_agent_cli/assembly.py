"""The one place where parts are chosen: which client, which tools, which gate, which session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from mini_agent_cli.errors import CliError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mini_agent_cli.settings.values import Settings
    from mini_agent_core.interfaces import ModelClient, Tool
    from mini_agent_core.tools import BeforeChange


@dataclass(frozen=True, slots=True)
class Service:
    """Where the model is asked, and with which credential."""

    api_key: str
    base_url: str | None = None

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Service:
        """Return what ``ANTHROPIC_API_KEY`` and ``ANTHROPIC_BASE_URL`` say.

        Raises:
            CliError: there is no key.
        """
        key = env.get("ANTHROPIC_API_KEY", "").strip()
        if not key:
            raise CliError(
                "no API key: set ANTHROPIC_API_KEY, or see the program at work without one: "
                "mini-agent --demo (another model: --model or ANTHROPIC_MODEL)"
            )
        return cls(key, env.get("ANTHROPIC_BASE_URL", "").strip() or None)


class ClosingClient(Protocol):
    """A model client with connections to close."""

    @property
    def stream(self) -> object:
        """The model client's own method."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


@dataclass(frozen=True, slots=True)
class Parts:
    """What a run is made of that reaches outside: the seam for tests and for other programs.

    Attributes:
        make_client: builds the model client; may have a ``close`` coroutine.
        make_tools: builds the tools for a workspace, given the environment of its commands and
            what is to be told before a file is changed.
    """

    make_client: Callable[[Settings, Service], ModelClient]
    make_tools: Callable[[Settings, Mapping[str, str], BeforeChange], Sequence[Tool]]


def anthropic_client(settings: Settings, service: Service) -> ModelClient:
    """Return the client for the Messages API. The SDK is not loaded yet."""
    from mini_agent_core.anthropic_client import AnthropicClient

    chosen: dict[str, Any] = {
        "max_tokens": settings.max_tokens,
        "max_retries": settings.max_retries,
        "idle_timeout": settings.idle_timeout,
    }
    return AnthropicClient(
        model=settings.model,
        api_key=service.api_key,
        base_url=service.base_url,
        **{name: value for name, value in chosen.items() if value is not None},
    )


def tools_of_the_core(
    settings: Settings, env: Mapping[str, str], before_change: BeforeChange
) -> Sequence[Tool]:
    """Return the core's own tools for the workspace."""
    from mini_agent_cli.redaction import redactor_for
    from mini_agent_core.tools import DEFAULT_POLICY, SandboxPolicy, workspace_tools

    policy = SandboxPolicy(
        writable=settings.writable,
        network=settings.network,
        hidden=(*DEFAULT_POLICY.hidden, *settings.hidden),
    )
    return workspace_tools(
        settings.workspace,
        env=env,
        redact=redactor_for(env).redact,
        before_change=before_change,
        sandbox=policy if settings.sandbox else None,
    )


REAL_PARTS = Parts(anthropic_client, tools_of_the_core)
