"""The models by name, with their prices: the one table the program knows them from.

Prices are US dollars per million tokens, standard service tier, five-minute cache writes.
Source: Anthropic's public model and pricing pages, read on 2026-11-30. The cache-read price of
Fable 5.2 was not on the page that was read; the table takes the ordinary tenth of the input price.
A bill is made from Anthropic's records, never from this table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mini_agent_core.messages import Usage

PRICES_READ_ON = "2026-11-30"

DEFAULT_MODEL = "claude-sonnet-5-5"

SMALLEST_CONTEXT = 200_000
"""The context window, in tokens, of a model that the table does not know."""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens."""

    input: float
    output: float
    cache_write: float
    cache_read: float


@dataclass(frozen=True, slots=True)
class Model:
    """A model's name, its price, and its price for long prompts where that differs.

    Attributes:
        long_price: holds for every token of a request whose prompt has more than
            ``long_prompt`` tokens, cached ones included.
    """

    name: str
    price: Price
    context_tokens: int = 1_000_000
    long_prompt: int | None = None
    long_price: Price | None = None

    def cost(self, usage: Usage) -> float:
        """Return what one reply cost, in dollars."""
        price = self.price
        if self.long_price is not None and usage.prompt_tokens > (self.long_prompt or 0):
            price = self.long_price
        millionths = (
            usage.input_tokens * price.input
            + usage.cache_creation_input_tokens * price.cache_write
            + usage.cache_read_input_tokens * price.cache_read
            + usage.output_tokens * price.output
        )
        return millionths / 1_000_000


def _price(input_price: float, output_price: float, cache_read: float) -> Price:
    return Price(input_price, output_price, input_price * 1.25, input_price * cache_read)


_HAIKU_5_5 = Model(
    "claude-haiku-5-5",
    _price(0.10, 0.50, 0.10),
    long_prompt=100_000,
    long_price=_price(0.50, 2.50, 0.10),
)

MODELS: tuple[Model, ...] = (
    Model("claude-opus-5-5", _price(4, 20, 0.05)),
    Model("claude-sonnet-5-5", _price(2, 10, 0.05)),
    _HAIKU_5_5,
    Model("claude-fable-5-2", _price(8, 40, 0.10)),
    Model("claude-fable-5-1", _price(10, 50, 0.025)),
    Model("claude-opus-5", _price(5, 25, 0.10)),
    Model("claude-sonnet-5", _price(2, 10, 0.10)),
    Model("claude-opus-4-8", _price(5, 25, 0.10)),
    Model("claude-sonnet-4-6", _price(3, 15, 0.10)),
    Model("claude-haiku-4-5", _price(1, 5, 0.10), context_tokens=SMALLEST_CONTEXT),
)


def find_model(name: str) -> Model | None:
    """Return the model of this name, dated ids such as ``claude-opus-5-5-20261001`` included."""
    for model in MODELS:
        if name == model.name or _is_dated(name, model.name):
            return replace(model, name=name)
    return None


def is_same_model(one: str, other: str) -> bool:
    """Whether two names are of one model, a dated id and its short form included."""
    return one == other or _is_dated(one, other) or _is_dated(other, one)


def _is_dated(name: str, base: str) -> bool:
    stem, _, date = name.rpartition("-")
    return stem == base and len(date) == len("20261130") and date.isdigit()


def nearest_model(name: str) -> str | None:
    """Return the known name that is most like ``name``, if any is."""
    from difflib import get_close_matches

    close = get_close_matches(name.lower(), [model.name for model in MODELS], n=1, cutoff=0.5)
    return close[0] if close else None
