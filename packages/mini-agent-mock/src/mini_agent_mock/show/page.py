"""A log as one self-contained HTML page: no script, no address, nothing to load."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

from mini_agent_mock.show import wording
from mini_agent_mock.show.style import STYLE

if TYPE_CHECKING:
    from mini_agent_mock.show.log import Exchange, ShownRun

MAX_TEXT = 20_000
_COLOURS = 6
_WIDTH = 1000
_LANE_HEIGHT = 26


def html_page(run: ShownRun) -> str:
    """The page. Everything that comes from the log is escaped; long texts are cut and say so."""
    lanes = {lane: number % _COLOURS for number, lane in enumerate(run.lanes)}
    body = [
        f"<header><h1>{escape(wording.summary(run))}</h1>{_head_facts(run)}</header>",
        _overview(run, lanes),
        "".join(_failure(failure) for failure in run.failures),
        "<main>",
        "".join(_card(exchange, lanes[exchange.lane]) for exchange in run.exchanges),
        "</main>",
    ]
    title = escape(f"mini-agent-mock · {run.head.get('scenario') or 'run'}")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">"
        f"<title>{title}</title><style>{STYLE}</style></head><body>{''.join(body)}</body></html>\n"
    )


def _head_facts(run: ShownRun) -> str:
    total = {"read": 0, "written": 0, "fresh": 0, "output": 0}
    for exchange in run.exchanges:
        for name, count in wording.tokens(exchange).items():
            total[name] += count
    prompt = total["read"] + total["written"] + total["fresh"]
    share = f"{total['read'] / prompt:.0%} from cache" if prompt else "no tokens"
    return (
        f'<p class="facts">{wording.counted(prompt, "prompt token")}, {share} · '
        f"{wording.counted(total['output'], 'output token')} "
        f"· event log version {escape(str(run.head.get('version') or '?'))}</p>"
    )


def _overview(run: ShownRun, lanes: dict[str, int]) -> str:
    """The lanes over time: one bar per request, from its arrival to the end of its reply."""
    if not run.exchanges:
        return ""
    span = run.duration or 1.0
    height = _LANE_HEIGHT * len(lanes)
    rows = list(lanes)
    bars = []
    for exchange in run.exchanges:
        left = _WIDTH * exchange.at / span
        right = _WIDTH * (exchange.ended or exchange.replied) / span
        top = _LANE_HEIGHT * rows.index(exchange.lane) + 4
        kind = f"lane{lanes[exchange.lane]}" if wording.went_well(exchange) else "bad"
        bars.append(
            f'<a href="#r{exchange.n}"><rect class="{kind}" x="{left:.1f}" y="{top}" rx="2" '
            f'width="{max(4.0, right - left):.1f}" height="{_LANE_HEIGHT - 8}">'
            f"<title>#{exchange.n} {escape(wording.outcome(exchange))}</title></rect></a>"
        )
    names = "".join(f'<li class="lane{lanes[lane]}">{escape(lane)}</li>' for lane in rows)
    return (
        f'<section class="overview"><ul class="lanes">{names}</ul>'
        f'<svg viewBox="0 0 {_WIDTH} {height}" preserveAspectRatio="none" role="img" '
        f'aria-label="requests over time">{"".join(bars)}</svg>'
        f'<p class="axis"><span>0 s</span><span>{wording.duration(span)}</span></p></section>'
    )


def _failure(failure: dict[str, Any]) -> str:
    where = f"request {failure['n']}" if failure.get("n") else "the run"
    return (
        f'<section class="failure"><h2>{escape(where)}: {escape(str(failure.get("kind")))}</h2>'
        f"<pre>{escape(str(failure.get('account')))}</pre></section>"
    )


def _card(exchange: Exchange, colour: int) -> str:
    line = f"{exchange.request.get('method')} {exchange.request.get('path')}"
    facts = "".join(f"<li>{escape(fact)}</li>" for fact in wording.request_facts(exchange))
    good = "good" if wording.went_well(exchange) else "bad"
    return (
        f'<article id="r{exchange.n}" class="lane{colour}">'
        f'<h2><a href="#r{exchange.n}">#{exchange.n}</a> '
        f'<span class="lane">{escape(wording.place(exchange))}</span> '
        f"<code>{escape(line)}</code><time>{exchange.at:.3f} s</time></h2>"
        f'<ul class="facts">{facts}</ul>'
        f'<div class="sides">{_side("sent", wording.last_message(exchange))}'
        f"{_side('answered', exchange.message or exchange.error_message)}</div>"
        f'<p class="outcome {good}">{escape(wording.outcome(exchange))}</p>'
        f"{_cache_bar(exchange)}{_delta_strip(exchange)}"
        f"{_raw('request body', exchange.request.get('body'))}"
        f"{_raw('reply', exchange.reply.get('message') or exchange.reply.get('error'))}"
        f"{_raw('request headers', exchange.request.get('headers'))}</article>"
    )


def _side(name: str, message: dict[str, Any]) -> str:
    blocks = "".join(_block(block) for block in wording.blocks_of(message))
    return f'<div class="{name}">{blocks or "<p>nothing</p>"}</div>'


def _block(block: dict[str, Any]) -> str:
    label, text = wording.block_text(block)
    kind = escape(str(block.get("type")), quote=True)
    return (
        f'<div class="block" data-kind="{kind}"><h3>{escape(label)}</h3>'
        f"<pre>{escape(_cut(text))}</pre></div>"
    )


def _cache_bar(exchange: Exchange) -> str:
    """The prompt as one bar: what was read from cache, written to it, and neither."""
    count = wording.tokens(exchange)
    prompt = count["read"] + count["written"] + count["fresh"]
    if not prompt:
        return ""
    parts = (("read", "from cache"), ("written", "to cache"), ("fresh", "uncached"))
    bar = "".join(
        f'<span class="{name}" style="flex:{count[name]}" title="{count[name]:,} {label}"></span>'
        for name, label in parts
        if count[name]
    )
    said = ", ".join(f"{count[name]:,} {label}" for name, label in parts if count[name])
    return (
        f'<div class="cache">{bar}</div>'
        f'<p class="facts">prompt {wording.counted(prompt, "token")}: {said}; '
        f"output {count['output']:,}</p>"
    )


def _delta_strip(exchange: Exchange) -> str:
    """Each write of the reply as a tick over time, as high as it is long in bytes."""
    writes = exchange.writes
    if len(writes) < 2 or exchange.ended is None:
        return ""
    span = max(writes[-1].at, exchange.ended - exchange.replied) or 1.0
    largest = max(write.size for write in writes) or 1
    ticks = []
    for write in writes:
        height = 6 + 26 * write.size / largest
        x = (_WIDTH - 3) * min(1.0, write.at / span)
        size = wording.counted(write.size, "byte")
        told = f"{wording.duration(write.at)}: {size} {' '.join(write.events)}"
        ticks.append(
            f'<rect x="{x:.1f}" y="{32 - height:.1f}" width="3" height="{height:.1f}">'
            f"<title>{escape(told)}</title></rect>"
        )
    events = sum(len(write.events) for write in writes)
    return (
        f'<svg class="strip" viewBox="0 0 {_WIDTH} 32" preserveAspectRatio="none" role="img" '
        f'aria-label="writes over time">{"".join(ticks)}</svg>'
        f'<p class="axis"><span>{wording.counted(len(writes), "write")}, '
        f"{wording.counted(events, 'event')}</span><span>{wording.duration(span)}</span></p>"
    )


def _raw(name: str, value: Any) -> str:
    if value in (None, {}, []):
        return ""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return f"<details><summary>{name}</summary><pre>{escape(_cut(text))}</pre></details>"


def _cut(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}\n… {len(text) - MAX_TEXT:,} more characters"
