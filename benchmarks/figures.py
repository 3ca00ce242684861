"""The figures of docs/speed.md: five numbers of the committed results, in the form of the page."""

from pathlib import Path
from typing import Any, Final

from benchmarks.results import Results, plain

__all__ = ["insert", "section"]

_BEGIN: Final = "<!-- speed: made by python -m benchmarks --publish -->\n"
_END: Final = "<!-- speed: end -->\n"
# Rows of the table by a part of their name, and what stands on the page for their floor.
_ROWS: Final = {
    "of prose, nothing marked": "a loop that copies",
    "blocks of 4 KB, durable": "hashing, compressing and storing the same bytes in one transaction",
    "`ctxf read` cold": "a Python that does nothing",
}


def section(results: Results) -> str:
    """What stands between the two comments."""
    lines = ["| | |", "|---|---|", *_of_peers(results["peers"]["cells"])]
    for part, floor in _ROWS.items():
        row = next(row for row in results["rows"] if part in row["name"])
        memory = f", {row['peak_kib'] / 1024:.0f} MiB of memory" if row["peak_kib"] else ""
        lines.append(
            f"| {row['name']} | **{_seconds(row['seconds'])}**{memory}; {plain(row['ratio'], 2)} x {floor} |"
        )
    return "\n".join(lines) + "\n"


def insert(results: Results, page: Path) -> None:
    """Put the section in its place; raises ValueError where the two comments are not there."""
    text = page.read_text()
    begin, end = text.index(_BEGIN) + len(_BEGIN), text.index(_END)
    page.write_text(text[:begin] + section(results) + text[end:])


def _of_peers(cells: list[dict[str, Any]]) -> list[str]:
    speeds = [cell for cell in cells if cell["unit"] == "MB/s"]
    exact = [cell for cell in cells if cell["row"].startswith("hard bodies")]
    row = speeds[0]["row"]
    return [
        f"| {row[0].lower()}{row[1:]}, MB/s | {_each({t: _range(speeds, t) for t in _tools(speeds)})} |",
        f"| {exact[0]['row']}, of 14 | {_each({cell['tool']: _count(cell) for cell in exact})} |",
    ]


def _tools(cells: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(cell["tool"] for cell in cells))


def _each(values: dict[str, str]) -> str:
    ours = values["ctxf"]
    return f"**{ours}**; " + ", ".join(f"{tool} {value}" for tool, value in values.items() if tool != "ctxf")


def _range(cells: list[dict[str, Any]], tool: str) -> str:
    values = [cell["value"] for cell in cells if cell["tool"] == tool]
    low, high = plain(min(values), 2), plain(max(values), 2)
    return low if low == high else f"{low} to {high}"


def _count(cell: dict[str, Any]) -> str:
    return "cannot" if cell["value"] is None else str(cell["value"])


def _seconds(value: float) -> str:
    return f"{plain(value, 2)} s" if value >= 1 else f"{plain(value * 1e3, 2)} ms"
