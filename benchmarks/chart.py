"""The results as one SVG, written by hand: grouped bars on logarithmic scales, for light pages and dark ones.

It stands on a card of its own colour, because a page's theme and the reader's preference, which is all that
an image sees, need not agree. No script, no font and no link in it.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from benchmarks.results import Results, plain

__all__ = ["draw"]

_WIDTH: Final = 800
_LEFT, _RIGHT = 152, 640  # the scale runs between these; labels stand on both sides
_MARGIN: Final = 28
_BAR, _STEP, _GAP = 13, 18, 14  # a bar, from one to the next, and between two groups
_HEADING_PIXELS, _TEXT_PIXELS = 7.2, 6.0  # a letter's width, roughly: what would not fit is cut
_STYLE: Final = """
.card { fill: #ffffff; stroke: #d1d9e0 }
.title { font-weight: 600; font-size: 16px; fill: #1f2328 }
.group { font-weight: 600; font-size: 13px; fill: #1f2328 }
.label, .value { font-size: 12px; fill: #1f2328 }
.quiet, .tick { font-weight: 400; font-size: 12px; fill: #59636e }
.tick { font-size: 11px }
.ours { fill: #0969da }
.other { fill: #afb8c1 }
.grid { stroke: #e6eaef }
.run { stroke: #1f2328; stroke-opacity: 0.55; stroke-width: 1.5 }
.bold { font-weight: 600 }
@media (prefers-color-scheme: dark) {
  .card { fill: #0d1117; stroke: #3d444d }
  .title, .group, .label, .value { fill: #f0f6fc }
  .quiet, .tick { fill: #9198a1 }
  .ours { fill: #4493f8 }
  .other { fill: #59636e }
  .grid { stroke: #21262d }
  .run { stroke: #f0f6fc }
}
"""


@dataclass(frozen=True, slots=True)
class _Bar:
    """One bar: from the scale's left end to `value`, with its fastest and slowest run; or words instead."""

    label: str
    value: float | None
    shown: str
    aside: str = ""
    low: float | None = None
    high: float | None = None
    is_ours: bool = False


@dataclass(frozen=True, slots=True)
class _Panel:
    """Groups of bars on one scale."""

    title: str
    caption: str
    groups: Sequence[tuple[str, str, Sequence[_Bar]]]  # heading, what is said beside it, bars
    unit: str


def draw(results: Results) -> str:
    """The whole picture: beside the peers, where they were measured, and beside the floors."""
    panels = [panel for panel in (_peers(results), _floors(results)) if panel.groups]
    body: list[str] = []
    top = float(_MARGIN)
    for panel in panels:
        lines, top = _draw_panel(panel, top)
        body += lines
        top += _MARGIN
    run = results["run"]
    quick = " A quick run." if run["quick"] else ""
    body.append(
        _text(
            _MARGIN,
            top,
            f"ctxf {run['ctxf']}, Python {run['python']}, {run['cores']} cores, {run['machine']}. Medians; "
            f"the thin lines reach from the fastest run to the slowest.{quick}",
            "tick",
        )
    )
    height = round(top + _MARGIN * 0.75)
    description = "; ".join(
        f"{panel.title}: "
        + ", ".join(f"{group} {bar.label} {bar.shown}" for group, _, bars in panel.groups for bar in bars)
        for panel in panels
    )
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
            f'height="{height}" role="img" aria-labelledby="title description" '
            "font-family=\"-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif\">",
            '<title id="title">How fast ctxf is</title>',
            f'<desc id="description">{escape(description)}</desc>',
            f"<style>{_STYLE}</style>",
            f'<rect class="card" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{height - 1}" rx="8"/>',
            *body,
            "</svg>\n",
        )
    )


def _peers(results: Results) -> _Panel:
    """Throughput on the main path, a group for each kind of text."""
    peers = results.get("peers", {"tools": [], "cells": []})
    cells = [cell for cell in peers["cells"] if cell["group"]]
    versions = {tool["name"]: tool["version"] for tool in peers["tools"]}
    absent = [
        _Bar(tool["name"], None, f"not measured: {tool['error']}")
        for tool in peers["tools"]
        if tool["version"] is None
    ]
    groups: dict[str, list[_Bar]] = {}
    ours: float | None = None
    for cell in cells:
        name, value = cell["tool"], cell["value"]
        is_ours = name == "ctxf"
        ours = value if is_ours else ours
        ratio = _times(ours / value) if not is_ours and ours and value else ""
        groups.setdefault(cell["group"], []).append(
            _Bar(
                label=name if is_ours else f"{name} {versions[name]}",
                value=value,
                shown=f"{plain(value, 3)} MB/s" if value else f"cannot: {cell['error']}",
                aside=ratio,
                low=min(cell["runs"], default=None),
                high=max(cell["runs"], default=None),
                is_ours=is_ours,
            )
        )
    title = cells[0]["row"] if cells else ""
    listed = [(group, "", [*bars, *absent]) for group, bars in groups.items()]
    return _Panel(
        title[:1].upper() + title[1:], "MB/s on a logarithmic scale: longer is better", listed, "MB/s"
    )


def _times(ratio: float) -> str:
    return f"{plain(ratio, 2)} times slower" if ratio >= 1 else f"{plain(1 / ratio, 2)} times faster"


def _floors(results: Results) -> _Panel:
    """Time beside the floor of each row that has one; growth with the input is no matter of seconds."""
    groups = []
    for row in results["rows"]:
        if row["floor"].startswith("the same"):
            continue
        target = f", target {row['target']:g}" if row["target"] is not None else ""
        bars = [
            _Bar(
                "ctxf",
                row["seconds"],
                _seconds(row["seconds"]),
                f"{row['ratio']:.2f} x{target}",
                row["fastest"],
                row["slowest"],
                is_ours=True,
            ),
            _Bar("floor", row["floor_seconds"], _seconds(row["floor_seconds"])),
        ]
        groups.append((row["name"].replace("`", ""), f"floor: {row['floor']}", bars))
    return _Panel(
        "Beside the least that the same bytes can cost",
        "seconds on a logarithmic scale: shorter is better",
        groups,
        "s",
    )


def _seconds(value: float) -> str:
    return f"{plain(value, 3)} s" if value >= 1 else f"{plain(value * 1e3, 3)} ms"


def _draw_panel(panel: _Panel, top: float) -> tuple[list[str], float]:
    """The panel's elements from `top` downwards, and where it ends."""
    scale = _Scale.of(bar for _, _, bars in panel.groups for bar in bars)
    lines = [_text(_MARGIN, top + 12, panel.title, "title"), _text(_MARGIN, top + 32, panel.caption, "quiet")]
    top += 58
    marks: list[str] = []
    y = top + _STEP
    for group, beside, bars in panel.groups:
        heading = _cut(group, 100)
        left = int((_WIDTH - 2 * _MARGIN - _HEADING_PIXELS * len(heading)) / _TEXT_PIXELS)
        aside = f' <tspan class="quiet">{escape(_cut(beside, left))}</tspan>' if beside and left > 12 else ""
        marks.append(f'<text class="group" x="{_MARGIN}" y="{y + 6:.1f}">{escape(heading)}{aside}</text>')
        y += _STEP
        for bar in bars:
            marks += _draw_bar(bar, y, scale)
            y += _STEP
        y += _GAP
    bottom = y - _GAP + 2
    for tick in scale.ticks():
        x = scale.x(tick)
        lines.append(f'<path class="grid" d="M{x:.1f} {top + 4:.1f}V{bottom:.1f}"/>')
        label = f"{tick:g}" if panel.unit != "s" else _seconds(tick)
        lines.append(_text(x, top, label, "tick", "middle"))
    return lines + marks, bottom


def _draw_bar(bar: _Bar, y: float, scale: "_Scale") -> Iterator[str]:
    yield _text(_LEFT - 10, y + 11, bar.label, "label bold" if bar.is_ours else "label", "end")
    if bar.value is None:
        yield _text(_LEFT + 4, y + 11, _cut(bar.shown, 76), "quiet")
        return
    end = scale.x(bar.value)
    kind = "ours" if bar.is_ours else "other"
    yield f'<rect class="{kind}" x="{_LEFT}" y="{y:.1f}" width="{end - _LEFT:.1f}" height="{_BAR}" rx="2"/>'
    if bar.low is not None and bar.high is not None:
        middle = y + _BAR / 2
        yield f'<path class="run" d="M{scale.x(bar.low):.1f} {middle:.1f}H{scale.x(bar.high):.1f}"/>'
        end = max(end, scale.x(bar.high))
    aside = f' <tspan class="quiet">{escape(bar.aside)}</tspan>' if bar.aside else ""
    weight = " bold" if bar.is_ours else ""
    yield f'<text class="value{weight}" x="{end + 7:.1f}" y="{y + 11:.1f}">{escape(bar.shown)}{aside}</text>'


@dataclass(frozen=True, slots=True)
class _Scale:
    """From value to x, logarithmic, over whole decades."""

    low: int
    high: int

    @classmethod
    def of(cls, bars: Iterable[_Bar]) -> "_Scale":
        values = [
            value
            for bar in bars
            for value in (bar.value, bar.low, bar.high)
            if value is not None and value > 0
        ]
        low = math.floor(math.log10(min(values, default=1)))
        return cls(low, max(low + 1, math.ceil(math.log10(max(values, default=10)))))

    def x(self, value: float) -> float:
        share = (math.log10(max(value, 10.0**self.low)) - self.low) / (self.high - self.low)
        return _LEFT + share * (_RIGHT - _LEFT)

    def ticks(self) -> list[float]:
        return [10.0**power for power in range(self.low, self.high + 1)]


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}\u2026"


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}"{place}>{escape(text)}</text>'
