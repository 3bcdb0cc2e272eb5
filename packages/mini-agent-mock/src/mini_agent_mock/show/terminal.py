"""A log as a timeline for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_mock.show import wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mini_agent_mock.show.log import Exchange, Json, ShownRun

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "cyan": "36"}
_INDENT = " " * 6


class _Paint:
    """Styles text, and takes from it the control characters a log could smuggle in."""

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour

    def __call__(self, text: str, style: str | None = None) -> str:
        clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
        if style is None or not self._colour:
            return clean
        return f"\x1b[{_CODES[style]}m{clean}\x1b[0m"


def timeline(run: ShownRun, *, colour: bool = False) -> str:
    """The whole run, one paragraph per request. With `colour`, ANSI styles."""
    paint = _Paint(colour=colour)
    lines = [paint(wording.summary(run), "bold"), ""]
    for exchange in run.exchanges:
        lines.extend(_paragraph(exchange, paint))
        lines.append("")
    for failure in run.failures:
        where = f"request {failure['n']}" if failure.get("n") else "the run"
        lines.append(paint(f"✗ {where}: {failure.get('kind')}", "red"))
        lines.extend(paint(_INDENT + line) for line in str(failure.get("account")).splitlines())
        lines.append("")
    return "\n".join(lines)


def _paragraph(exchange: Exchange, paint: _Paint) -> list[str]:
    facts = " · ".join(wording.request_facts(exchange))
    asked = f"{exchange.at:9.3f} s  {exchange.request.get('method')} {exchange.request.get('path')}"
    number = paint(f"#{exchange.n:<4}", "bold")
    lines = [f"{number} {paint(asked)}  {paint(wording.place(exchange), 'cyan')}  {paint(facts)}"]
    lines.extend(_blocks(wording.last_message(exchange), "←", paint))
    lines.extend(_blocks(exchange.message, "→", paint))
    ended = paint(wording.outcome(exchange), "green" if wording.went_well(exchange) else "red")
    lines.append(f"{_INDENT}{ended}{_figures(exchange, paint)}")
    return lines


def _blocks(message: Json, arrow: str, paint: _Paint) -> Iterator[str]:
    for block in wording.blocks_of(message):
        label, text = wording.block_text(block)
        yield f"{_INDENT}{paint(arrow, 'dim')} {paint(f'{label}: {wording.shortened(text)}')}"


def _figures(exchange: Exchange, paint: _Paint) -> str:
    parts = []
    if exchange.ended is not None:
        parts.append(wording.duration(exchange.ended - exchange.at))
    events = sum(len(write.events) for write in exchange.writes)
    if events > 1:
        writes = wording.counted(len(exchange.writes), "write")
        parts.append(f"{wording.counted(events, 'event')} in {writes}")
    if exchange.usage:
        count = wording.tokens(exchange)
        prompt = count["read"] + count["written"] + count["fresh"]
        cached = f" ({count['read']} from cache)" if count["read"] else ""
        parts.append(f"{prompt}{cached} → {wording.counted(count['output'], 'token')}")
    return paint("".join(f"  {part}" for part in parts), "dim")
