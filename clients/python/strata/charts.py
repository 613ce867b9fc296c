"""Pictures for notebooks, as SVG and HTML without a library: where the time of a run went, and when each layer was busy."""
from __future__ import annotations

import html
from typing import Any, Sequence

WIDTH, ROW, LABEL, AXIS = 640, 22, 150, 18  # pixels of the plot, a layer's row, its label, and the axis below
GREY = "#8a8f98"


def clock(seconds: float) -> str:
    """hours and minutes from ten minutes on"""
    minutes = round(seconds / 60)
    return f"{seconds:.3g} s" if seconds < 600 else f"{minutes // 60}:{minutes % 60:02d} h"


class Chart:
    """A picture with its text; notebooks show the picture."""

    def __init__(self, picture: str, text: str):
        self.picture, self.text = picture, text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.picture


def bars(title: str, rows: Sequence[tuple[str, float, str]], whole: float) -> str:
    """an HTML table of (label, seconds, colour), each with its share of @whole as a bar"""
    lines = []
    for label, seconds, color in rows:
        share = 100 * seconds / whole if whole else 0
        lines.append(f'<tr><td style="text-align:left">{html.escape(label)}</td><td>{seconds:.3f} s</td><td style="width:16em">'
                     f'<div style="background:{html.escape(color)};height:0.8em;width:{share:.1f}%"></div></td><td>{share:.1f} %</td></tr>')
    return f"<p>{title}</p><table>{''.join(lines)}</table>"


def areas(title: str, start: float, end: float, bin: float, rows: Sequence[tuple[str, str, Sequence[tuple[float, float]]]]) -> Chart:
    """a row per layer: (label, colour, [(start of a bin in seconds, value)]), drawn over time, each row up to
    the largest value of all; layers without any are left out"""
    rows = [row for row in rows if row[2]]
    top = max((value for _, _, points in rows for _, value in points), default=0) or 1
    height, scale = ROW * len(rows) + AXIS, WIDTH / ((end - start) or 1)
    drawn = []
    for i, (label, color, points) in enumerate(rows):
        base = ROW * (i + 1) - 2
        path = "".join(f"M{max(at - start, 0) * scale:.1f} {base}V{base - (ROW - 4) * value / top:.1f}H{min(at + bin - start, end - start) * scale:.1f}V{base}Z"
                       for at, value in points if value)
        drawn.append(f'<text x="{LABEL - 8}" y="{base - 4}" text-anchor="end">{html.escape(label)}</text><g transform="translate({LABEL})">'
                     f'<path d="M0 {base}H{WIDTH}" stroke="{GREY}" stroke-width="0.5"/><path d="{path}" fill="{html.escape(color)}"/></g>')
    ticks = "".join(f'<text x="{LABEL + WIDTH * part}" y="{height - 4}" text-anchor="{anchor}">{clock(start + (end - start) * part)}</text>'
                    for part, anchor in ((0, "start"), (0.5, "middle"), (1, "end")))
    picture = (f'<p>{title}</p><svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {LABEL + WIDTH} {height}" width="{LABEL + WIDTH}" '
               f'style="max-width:100%" font-family="sans-serif" font-size="11" fill="currentColor">{"".join(drawn)}{ticks}</svg>')
    return Chart(picture, f"<Chart of {len(rows)} layers, {clock(start)} to {clock(end)}>")
