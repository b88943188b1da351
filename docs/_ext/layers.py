"""The directive ``layers``: a picture of the package's layers and what imports what, drawn from the imports themselves.

``tools/check_imports.py`` knows the layers and finds the imports. A line goes from a layer to each that it imports, and
is the thicker, the more imports there are. All lines lead down: an import that goes back fails the check.
"""

from __future__ import annotations

import html
from collections import Counter
from math import log2
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from tools.check_imports import LAYERS, arrows

ROOT = Path(__file__).resolve().parents[2]

#: Sizes, in units of the picture: a row, a box, a letter of 12 pixels, the gaps, and where lines begin.
ROW, BOX, LETTER, GAP, LEFT = 58, 30, 7.0, 8, 150
WIDTH = 1000


def between_layers(root: Path) -> Counter[tuple[str, str]]:
    """(importing layer, imported layer) -> number of imports."""
    layer = {f"frontier.{room}": name for name, rooms in LAYERS.items() for room in rooms.split()}
    found: Counter[tuple[str, str]] = Counter()
    for (here, there), lines in arrows(root).items():
        if here in layer and there in layer and layer[here] != layer[there]:
            found[layer[here], layer[there]] += len(lines)
    return found


def boxes(rooms: str) -> list[list[str]]:
    """The rooms of a layer in lines that fit; of operators and backends, names without that of the layer."""
    lines: list[list[str]] = [[]]
    used = 0.0
    for room in rooms.split():
        width = len(room) * LETTER + 2 * GAP
        if lines[-1] and used + width > WIDTH - LEFT - GAP:
            lines.append([])
            used = 0.0
        lines[-1].append(room)
        used += width + GAP
    return lines


def drawn(found: Counter[tuple[str, str]]) -> str:
    """The picture as SVG, in the colours of the page."""
    parts, middle, y = [], {}, 10.0
    for layer, rooms in reversed(LAYERS.items()):
        lines = boxes(rooms)
        middle[layer] = y + (len(lines) * (BOX + 4) - 4) / 2
        parts.append(f'<text x="8" y="{middle[layer] + 4:.0f}" font-weight="bold">{html.escape(layer)}</text>')
        for line in lines:
            x = float(LEFT)
            for room in line:
                width = len(room) * LETTER + 2 * GAP
                parts.append(
                    f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{BOX}" rx="4" fill="none" '
                    f'stroke="currentColor" stroke-opacity="0.5"/><text x="{x + width / 2:.0f}" y="{y + 20:.0f}" '
                    f'text-anchor="middle">{html.escape(room)}</text>'
                )
                x += width + GAP
            y += BOX + 4
        y += ROW - BOX - 14
    for (here, there), count in sorted(found.items()):
        a, b = middle[here], middle[there]
        bend = LEFT - 12 - 0.16 * abs(b - a)
        parts.append(
            f'<path d="M {LEFT - 4} {a:.0f} C {bend:.0f} {a:.0f}, {bend:.0f} {b:.0f}, {LEFT - 4} {b:.0f}" fill="none" '
            f'stroke="#d9622b" stroke-opacity="0.45" stroke-width="{0.6 + 0.45 * log2(count):.1f}">'
            f"<title>{here} imports {there}: {count}</title></path>"
        )
    label = "Layers of Frontier; each imports only layers below it"
    return (
        f'<svg role="img" aria-label="{label}" viewBox="0 0 {WIDTH} {y:.0f}" xmlns="http://www.w3.org/2000/svg" '
        f'style="width: 100%; height: auto" font-size="12" fill="currentColor">{"".join(parts)}</svg>'
    )


class Layers(SphinxDirective):
    """The picture."""

    def run(self) -> list[nodes.Node]:
        """Draw it."""
        text = "Layers and their folders and modules. Lines lead from a layer to those that it imports."
        picture = nodes.raw("", drawn(between_layers(ROOT)), format="html")
        return [nodes.figure("", picture, nodes.caption("", text))]


def setup(app: Any) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("layers", Layers)
    return {"parallel_read_safe": True}
