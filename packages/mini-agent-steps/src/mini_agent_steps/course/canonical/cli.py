"""The command line: choose the parts, read prompts, show what happens."""

import sys  # @step >=system-prompt
import time  # @step >=autonomy
from argparse import ArgumentParser  # @step >=sessions
from argparse import Namespace  # @step >=sessions
from collections.abc import Callable  # @step >=sessions
from collections.abc import Iterable  # @step >=sessions
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import suppress
from functools import partial  # @step >=system-prompt

from anthropic import Anthropic

from .agent import MODEL  # @step >=sessions
from .agent import Agent
from .agent import AgentError  # @step >=sessions
from .agent import Clock  # @step >=autonomy
from .autonomy import model_decides  # @step >=autonomy
from .autonomy import pursue_goal  # @step >=autonomy
from .autonomy import repeat  # @step >=autonomy
from .mcp_client import mcp_tools  # @step >=mcp
from .permissions import always_yes  # @step >=permissions
from .permissions import ask_user  # @step >=permissions
from .plan import PlanMode  # @step >=plan-mode
from .session import latest_session  # @step >=sessions
from .session import new_session  # @step >=sessions
from .skills import skill_commands  # @step >=skills
from .subagent import agent_tool  # @step >=sub-agents

# @step >=system-prompt
PREVIEW = 500
SHOWN = (
    "tool",
    "result",
    "aside",  # @step >=context
    "verdict",  # @step >=autonomy
)
# @endstep
# @step >=sessions
COMMANDS: dict[str, Callable[[Agent, str], None]] = {
    "clear": lambda agent, _: agent.start_over([]),
    "compact": lambda agent, _: agent.compact(),  # @step >=context
    "plan": lambda agent, _: agent.plan.toggle(),  # @step >=plan-mode
    "goal": pursue_goal,  # @step >=autonomy
    "loop": repeat,  # @step >=autonomy
}


def parse_arguments(argv: Sequence[str]) -> Namespace:
    """Sort the arguments into options and the words of the prompt."""
    parser = ArgumentParser(prog="mini-agent", description="A coding agent.")
    add = parser.add_argument
    add("prompt", nargs="*", help="what to do; without one, prompts are read")
    add("--model", default=MODEL)
    add("--resume", action="store_true", help="go on with this folder's last session")
    # @step >=permissions
    add("--yes", action="store_true", help="answer every question of the gate with yes")
    # @endstep
    # @step >=plan-mode
    add("--plan", action="store_true", help="look and plan, change nothing")
    # @endstep
    # @step >=autonomy
    add("--auto", action="store_true", help="let a model answer the gate's questions")
    # @endstep
    trace = partial(add, dest="traced", action="append_const", default=[])
    trace("--trace-request", const="request", help="show each request")
    # @step >=streaming
    trace("--trace-stream", const="chunk", help="show each piece of a reply")
    # @endstep
    return parser.parse_args(argv)


# @endstep
def run_cli(
    argv: Sequence[str],
    clock: Clock = time,  # @step >=autonomy
) -> int:
    """Run the prompt in the arguments, or each line typed; return the exit code."""
    # @step >=sessions
    options = parse_arguments(argv)
    words = options.prompt
    # @else >=system-prompt
    # | words = [word for word in argv if word != "--trace-request"]
    # | traced = ["request"] if len(words) < len(argv) else []
    # @else
    # | words = argv
    # @endstep
    prompts = [" ".join(words)] if words else typed_prompts()
    try:
        with Anthropic() as client:
            # @step >=sessions
            agent = assemble(client, options)
            # @else >=system-prompt
            # | agent = Agent(client, partial(print_event, traced))
            # @else
            # | agent = Agent(client)
            # @endstep
            agent.tools["agent"] = agent_tool(agent)  # @step >=sub-agents
            # @step >=autonomy
            agent.clock = clock
            if options.auto:
                agent.ask = model_decides(agent)
            # @endstep
            # @step >=mcp
            with mcp_tools() as more_tools:
                agent.tools |= more_tools
                return converse(agent, prompts)
            # @else >=sessions
            # | return converse(agent, prompts)
            # @else >=system-prompt
            # | for prompt in prompts:
            # |     agent.run(prompt)
            # | return 0
            # @else
            # | for prompt in prompts:
            # |     print(agent.run(prompt))
            # | return 0
            # @endstep
    except (Exception, KeyboardInterrupt) as error:
        raise SystemExit(f"mini-agent: {str(error) or 'interrupted'}") from error


# @step >=sessions
def assemble(client: Anthropic, options: Namespace) -> Agent:
    """Choose the parts. Everything else in this package takes what it is given."""
    session = latest_session() if options.resume else new_session()
    return Agent(
        client,
        partial(print_event, options.traced),
        session,
        model=options.model,
        history=session.load() if options.resume else [],
        ask=always_yes if options.yes else ask_user,  # @step >=permissions
        plan=PlanMode(options.plan),  # @step >=plan-mode
    )


def converse(agent: Agent, prompts: Iterable[str]) -> int:
    """Run each prompt; return 1 if the last one failed. A failure ends only its run."""
    exit_code = 0
    for prompt in prompts:
        try:
            handle(agent, prompt)
            exit_code = 0
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - no tracebacks
            print(f"mini-agent: {str(error) or 'interrupted'}", file=sys.stderr)
            exit_code = 1
    return exit_code


def handle(agent: Agent, line: str) -> None:
    """Do what a line like `/name text` says, or run it as a prompt."""
    if not line.startswith("/"):
        agent.run(line)
        return
    name, _, text = line[1:].partition(" ")
    # @step >=skills
    commands = skill_commands() | COMMANDS
    # @else
    # | commands = COMMANDS
    # @endstep
    if name not in commands:
        raise AgentError(f"there is no /{name}, only /{', /'.join(commands)}")
    commands[name](agent, text)


# @endstep
def typed_prompts() -> Iterator[str]:
    """Read lines until the input ends, leaving out empty ones."""
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            if line := input("> ").strip():
                yield line


# @step >=system-prompt
def print_event(traced: Sequence[str], kind: str, text: str) -> None:
    """Print the model's text as it comes, and the start of what else is shown."""
    if kind == "text":
        print(text, end="", flush=True)
    elif kind in SHOWN:
        print(f"[{kind}] {text[:PREVIEW]}", file=sys.stderr)
    elif kind in traced:
        print(f"[{kind}] {text}", file=sys.stderr)


# @endstep
