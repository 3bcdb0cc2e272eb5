# @file >=plan-mode
"""Plan mode: the model may look at everything and change nothing."""

from dataclasses import dataclass

from .permissions import READ_ONLY
from .permissions import Denied

REMINDER = (
    "Plan mode is on: read and search as you need, then answer with a plan."
    " Whatever could change something is refused."
)


@dataclass
class PlanMode:
    """A switch: the gate and the reminder both look at it."""

    on: bool

    def toggle(self) -> None:
        """Turn plan mode on or off."""
        self.on = not self.on

    def check(self, name: str) -> None:
        """Refuse a tool that is not read-only, as long as plan mode is on."""
        if self.on and name not in READ_ONLY:
            raise Denied(f"plan mode is on, so {name} did not run")

    def remind(self, prompt: str) -> str:
        """Tell the model of plan mode, on the user's message."""
        return f"{prompt}\n\n{REMINDER}" if self.on else prompt
