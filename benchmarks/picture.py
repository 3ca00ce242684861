"""`python -m benchmarks.picture`: docs/before-after.svg, a text before `ctxf fold` and behind it.

The text is the beginning of the transcript of `ctxf demo`, up to the end of its first block. It really runs
through `ctxf fold` and `ctxf restore`; what is drawn is what went in and what came out, some lines of it.
The SVG is written by hand as `benchmarks.chart` is: for light pages and dark ones; no script, no link.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

__all__ = ["PICTURE", "draw", "run"]

PICTURE: Final = Path(__file__).parents[1] / "docs" / "before-after.svg"

_WIDTH: Final = 860
_MARGIN, _PADDING = 16, 14
_LINE, _HEADING = 18, 34  # pixels from one line to the next, and of a card's heading
_FIRST, _LAST = 6, 2  # lines of the body that are shown, at its beginning and its end
_MARKER: Final = "<!-- @context-fold"
_REFERENCE: Final = "[[cf:v2:"
_STYLE: Final = """
text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 12px; fill: #1f2328;
  white-space: pre }
.card { fill: #ffffff; stroke: #d1d9e0 }
.heading { font-family: -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif; font-size: 14px;
  font-weight: 600 }
.marker { fill: #0969da }
.body { fill: #59636e }
.reference { fill: #1a7f37; font-weight: 600 }
.quiet { font-size: 12px; font-weight: 400; fill: #59636e }
.shade { fill: #f6f8fa }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .card { fill: #0d1117; stroke: #3d444d }
  .marker { fill: #4493f8 }
  .body, .quiet { fill: #9198a1 }
  .reference { fill: #3fb950 }
  .shade { fill: #151b23 }
}
"""


class Run(NamedTuple):
    """What went into `ctxf fold`, what came out, and what it said."""

    before: str
    after: str
    said: str


def run() -> Run:
    """Fold and restore in an archive that goes away again; raises where the bytes do not come back."""
    demo = resources.files("ctxf").joinpath("cli/demo.md").read_bytes()
    end = demo.index(b"\n", demo.index(b"<!-- @context-fold end")) + 1
    with tempfile.TemporaryDirectory(prefix="ctxf-picture-") as folder:
        folded = _ctxf(folder, "fold", demo[:end])
        if _ctxf(folder, "restore", folded.stdout).stdout != demo[:end]:
            raise RuntimeError("ctxf restore gave other bytes than ctxf fold took")
    return Run(demo[:end].decode(), folded.stdout.decode(), folded.stderr.decode().strip())


def _ctxf(folder: str, command: str, text: bytes) -> "subprocess.CompletedProcess[bytes]":
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("CTXF_", "XDG_"))}
    return subprocess.run(
        [sys.executable, "-m", "ctxf", command, "--archive", f"{folder}/archive.db"],
        input=text,
        capture_output=True,
        env={**environ, "HOME": folder, "PYTHONPATH": str(Path(__file__).parents[1])},
        cwd=folder,
        check=True,
    )


def draw(shown: Run) -> str:
    """The picture: two cards, one under the other."""
    before, after = (_excerpt(text.removesuffix("\n").split("\n")) for text in (shown.before, shown.after))
    first, top = _card(
        _MARGIN, f"Before: {_measure(shown.before)}", "what an agent wrote, from its conclusion on", before
    )
    said = shown.said.removeprefix("ctxf: ")
    second, bottom = _card(top + _MARGIN, f"After ctxf: {_measure(shown.after)}", said, after)
    foot = "ctxf restore gives every byte back. The conclusion stays where the model reads it."
    height = bottom + 2 * _MARGIN + 6
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
            f'height="{height}" role="img" aria-labelledby="title description">',
            '<title id="title">An agent\'s notes before and after ctxf</title>',
            f'<desc id="description">{escape(shown.said)}. A reference of one line stands where '
            "the log stood; the conclusion above it is untouched.</desc>",
            f"<style>{_STYLE}</style>",
            f'<rect class="card" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{height - 1}" rx="8"/>',
            *first,
            *second,
            _text(_MARGIN + _PADDING, height - 14, foot, "quiet"),
            "</svg>\n",
        )
    )


def _measure(text: str) -> str:
    return f"{text.count(chr(10)):,} lines, {len(text.encode()):,} bytes"


def _excerpt(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Lines with their class, from the conclusion on; of a long body only its beginning and its end."""
    conclusion = next(n for n, line in enumerate(lines) if line.startswith("Conclusion"))
    begin, end = (n for n, line in enumerate(lines) if line.startswith(_MARKER))
    body = [(line, "reference" if line.startswith(_REFERENCE) else "body") for line in lines[begin + 1 : end]]
    if (rest := len(body) - _FIRST - _LAST) > 0:
        body[_FIRST:-_LAST] = [(f"... {rest} more lines ...", "body")]
    head = [(line, "") for line in lines[conclusion:begin]]
    return [*head, (lines[begin], "marker"), *body, (lines[end], "marker")]


def _card(top: int, heading: str, aside: str, lines: Sequence[tuple[str, str]]) -> tuple[list[str], int]:
    """A card and where it ends."""
    height = _HEADING + len(lines) * _LINE + _PADDING
    left, width = _MARGIN + _PADDING, _WIDTH - 2 * _MARGIN
    elements = [
        f'<rect class="shade" x="{_MARGIN}" y="{top}" width="{width}" height="{height}" rx="6"/>',
        f'<text class="heading" x="{left}" y="{top + 23}">{escape(heading)}'
        f'<tspan class="quiet" dx="12">{escape(aside)}</tspan></text>',
    ]
    baselines = range(top + _HEADING + 13, top + height, _LINE)
    elements += [
        _text(left, y, line, kind) for y, (line, kind) in zip(baselines, lines, strict=False) if line
    ]
    return elements, top + height


def _text(x: int, y: int, text: str, kind: str) -> str:
    # No-break spaces: where `white-space: pre` is not known, others would run together.
    shown = escape(text).replace(" ", "\N{NO-BREAK SPACE}")
    kind = f' class="{kind}"' if kind else ""
    return f'<text{kind} x="{x}" y="{y}">{shown}</text>'


if __name__ == "__main__":
    PICTURE.write_text(draw(run()), encoding="utf-8")
