"""Makes one ``Settings`` of files, environment and flags; the later wins, rules add up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from mini_agent_cli.errors import CliError, UsageError
from mini_agent_cli.folders import config_folder, workspace_folder
from mini_agent_cli.models import DEFAULT_MODEL, find_model
from mini_agent_cli.permissions.remembered import remembered_rules
from mini_agent_cli.permissions.rules import parse_rule
from mini_agent_cli.settings.files import read_settings
from mini_agent_cli.settings.keys import WIDENING
from mini_agent_cli.settings.sandbox import check_hidden, parse_paths
from mini_agent_cli.settings.trust import PROJECT_SETTINGS, is_trusted
from mini_agent_cli.settings.values import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mini_agent_cli.arguments import RunOptions
    from mini_agent_cli.permissions.policy import Mode

Layer: TypeAlias = tuple[str, dict[str, Any]]
"""Where values come from, as errors name it (nothing for flags), and the values."""

USER_SETTINGS = "settings.toml"


def resolve(
    options: RunOptions, env: Mapping[str, str], workspace: Path, *, can_ask: bool
) -> Settings:
    """Return the settings of a run.

    Args:
        options: the flags, which win.
        env: the environment.
        workspace: the folder to work in, as ``find_workspace`` returns it.
        can_ask: whether somebody is there to answer questions; decides the default mode.

    Raises:
        UsageError: a settings file, a variable or a rule that cannot work.
    """
    layers, warnings = _file_layers(env, workspace)
    if model := env.get("ANTHROPIC_MODEL", "").strip():
        layers.append(("ANTHROPIC_MODEL", {"model": model}))
    layers.append(("", _flags(options)))
    merged = _merge(layers, env, workspace)
    if merged["hidden"] and not merged.get("sandbox", True):
        warnings.append("nothing is hidden from commands, since the sandbox is off")
    settings = Settings(
        workspace=workspace,
        model=merged.pop("model", DEFAULT_MODEL),
        mode=cast("Mode", merged.pop("permission_mode", "ask" if can_ask else "accept-edits")),
        warnings=tuple(warnings),
        **merged,
    )
    _check(settings)
    return settings


def _merge(layers: Sequence[Layer], env: Mapping[str, str], workspace: Path) -> dict[str, Any]:
    """Return the values by name: of one kind the last, of rules and folders all."""
    merged: dict[str, Any] = {
        "allow": remembered_rules(env, workspace),
        "deny": (),
        "writable": (),
        "hidden": (),
    }
    for where, layer in layers:
        for name, value in layer.items():
            source = where or f"--{name}"
            if name in ("allow", "deny"):
                merged[name] += tuple(parse_rule(text, source) for text in value)
            elif name in ("writable", "hidden"):
                merged[name] += parse_paths(value, f"{source}: {name}", workspace, env)
            else:
                merged[name] = value
    return merged


def _check(settings: Settings) -> None:
    check_hidden(settings)
    if settings.max_cost is not None and find_model(settings.model) is None:
        raise UsageError(
            f"--max-cost needs the price of {settings.model!r}, and the table has none "
            "(mini-agent doctor lists the known models)"
        )


def _file_layers(env: Mapping[str, str], workspace: Path) -> tuple[list[Layer], list[str]]:
    layers: list[Layer] = []
    if _has_home(env):
        user = config_folder(env) / USER_SETTINGS
        layers.append((str(user), read_settings(user)))
    project = workspace / PROJECT_SETTINGS
    values = read_settings(project)
    widening = sorted(set(values) & set(WIDENING))
    warnings: list[str] = []
    if widening and not (_has_home(env) and is_trusted(env, workspace)):
        warnings.append(
            f"{project}: {', '.join(widening)} left out, the folder is not trusted; "
            "read the file, then run mini-agent trust"
        )
        values = {name: value for name, value in values.items() if name not in widening}
    layers.append((str(project), values))
    return layers, warnings


def _has_home(env: Mapping[str, str]) -> bool:
    try:
        workspace_folder(env, Path("/"))
        config_folder(env)
    except CliError:  # no home folder: then there are no files either
        return False
    return True


def _flags(options: RunOptions) -> dict[str, Any]:
    names = ("model", "permission_mode", "max_turns", "max_cost", "max_tokens", "idle_timeout")
    flags = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if options.no_sandbox:
        flags["sandbox"] = False
    return {**flags, "allow": list(options.allow), "deny": list(options.deny)}
