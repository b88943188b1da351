"""The directives ``results`` and ``results-plot``: tables and bar plots of the measurements in ``benchmarks/results``.

The argument of both is the name of a file there, without ``.json``. Lists within options are separated by ``;``, since
names of columns may have commas. benchmarks/README.md describes the files, and ``Measurement`` checks them.
"""

from __future__ import annotations

import html
import math
import re
from io import StringIO
from itertools import cycle
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from benchmarks.measurement import RESULTS, Cell, Measurement

#: Of medium brightness, for light and dark pages; Frontier is to be seen, so it has one of its own.
FRONTIER, OTHERS = "#d9622b", ("#5b8fc7", "#57a98f", "#9a86c4", "#b3914b", "#8c8c8c")
#: Drawn in this colour is what then gets the colour of the page's text.
INK = "#012345"
WIDTH, BAR = 8.0, 0.24  # inches


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(";") if part.strip()]


def _pairs(text: str) -> list[tuple[str, str]]:
    """``column=value; column=value``; a value may have ``=`` in it, a column not."""
    pairs = [part.partition("=") for part in _list(text)]
    if any(not equals for _, equals, _ in pairs):
        raise ValueError("rows are chosen by column=value, separated by ;")
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def shown(cell: Cell, numeric: bool) -> str:
    """A cell as text; where a number is not known, a dash."""
    if cell is None:
        return "\N{EN DASH}" if numeric else ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return cell if isinstance(cell, str) else f"{cell:,}"


def caption(m: Measurement) -> list[nodes.Node]:
    """What was measured, on what, when, of which commit, and how."""
    facts = m.machine[0].upper() + m.machine[1:], m.date, m.commit and f"commit {m.commit}"
    text = f"{m.subject}. {', '.join(fact for fact in facts if fact)}"
    return [nodes.Text(text)] if m.command is None else [nodes.Text(f"{text}: "), nodes.literal("", m.command)]


def table(m: Measurement) -> nodes.table:
    """A table with its caption; columns of numbers stand right."""
    numeric = [all(cell is None or _number(cell) for cell in m.cells(name)) for name in m.columns]
    texts = [m.columns, *([shown(*each) for each in zip(row, numeric, strict=True)] for row in m.rows)]
    group = nodes.tgroup("", cols=len(m.columns))
    group += [nodes.colspec(colwidth=max(map(len, column))) for column in zip(*texts, strict=True)]
    head, *body = (_row(each, numeric) for each in texts)
    group += [nodes.thead("", head), nodes.tbody("", *body)]
    return nodes.table("", nodes.title("", "", *caption(m)), group, classes=["results"])


def _number(cell: Cell) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _row(cells: list[str], numeric: list[bool]) -> nodes.row:
    entries = (
        nodes.entry("", nodes.paragraph(text=text), classes=["text-right"] if right else [])
        for text, right in zip(cells, numeric, strict=True)
    )
    return nodes.row("", *entries)


def bars(m: Measurement, group: str, series: str, values: list[str]) -> dict[str, dict[str, float]]:
    """Group -> system -> number.

    The systems are the columns ``values`` or, if ``series`` names a column, its cells; then ``values`` is one column.
    """
    found: dict[str, dict[str, float]] = {}
    if series and len(values) != 1:
        raise ValueError(f"with series, columns names the one column of numbers, not {values}")
    names = [str(cell) for cell in m.cells(series)] if series else []
    for column in values or [name for name in m.columns if name != group]:
        for place, (label, cell) in enumerate(zip(m.cells(group), m.cells(column), strict=True)):
            if cell is not None and not _number(cell):
                raise ValueError(f"{column} is not a column of numbers: {cell!r}")
            bar = found.setdefault(str(label), {})
            name = names[place] if series else column
            if name in bar:
                raise ValueError(f"several rows are {label}, {name}: choose among them by rows")
            if cell is not None:
                bar[name] = float(cell)
    return found


def drawn(found: dict[str, dict[str, float]], unit: str, log: bool) -> str:
    """The plot as SVG, with text in the colour of the page; needs matplotlib."""
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    systems = list(dict.fromkeys(name for bar in found.values() for name in bar))
    others = cycle(OTHERS)
    colours = {name: FRONTIER if name == "Frontier" else next(others) for name in systems}
    style = {
        "svg.fonttype": "none", "svg.hashsalt": "results", "font.size": 10, "text.color": INK, "axes.edgecolor": INK,
        "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
    }  # fmt: skip
    with mpl.rc_context(style):
        count = sum(len(bar) for bar in found.values())
        figure = Figure(figsize=(WIDTH, BAR * (count + len(found)) + 1.1), layout="constrained")
        axes = figure.subplots()
        top, places = 0.0, []
        for bar in found.values():
            places.append(top + (len(bar) - 1) / 2)
            for name, value in bar.items():
                made = axes.barh(top, value, height=0.86, color=colours[name])
                axes.bar_label(made, [f"{value:,g}"], padding=3, fontsize=9)
                top += 1
            top += 1
        axes.set_yticks(places, list(found))
        axes.set_ylim(top - 1, -1)
        axes.set_xlabel(unit)
        if log:  # bars begin at a power of ten, so that every one can be seen
            axes.set_xscale("log")
            least = min(value for bar in found.values() for value in bar.values())
            axes.set_xlim(left=10 ** math.floor(math.log10(least / 1.5)))
        axes.set_xlim(right=axes.get_xlim()[1] * (2 if log else 1.08))  # room for the last number
        axes.xaxis.set_major_formatter(lambda x, place: f"{x:,g}")
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right"]].set_visible(False)
        patches = [Patch(color=colour) for colour in colours.values()]
        figure.legend(patches, systems, loc="outside upper center", ncols=len(systems), frameon=False)
        out = StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    svg = out.getvalue()
    return svg[svg.index("<svg") :].replace(INK, "currentColor")


class Results(SphinxDirective):
    """A table of a file."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {
        "columns": directives.unchanged_required,
        "rows": directives.unchanged_required,
        "sort": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Read, choose, and make the nodes; what is wrong is an error of the page."""
        path = RESULTS / f"{self.arguments[0]}.json"
        self.env.note_dependency(str(path))
        try:
            return self.made(Measurement.read(path))
        except (OSError, ValueError) as error:
            raise self.error(f"{self.name} {self.arguments[0]}: {error}") from error

    def made(self, m: Measurement) -> list[nodes.Node]:
        """The table, and under it the note."""
        chosen = m.chosen(_list(self.options.get("columns", "")), self.where(), self.options.get("sort", ""))
        note = [nodes.paragraph(text=m.note, classes=["results-note"])] if m.note else []
        return [table(chosen), *note]

    def where(self) -> list[tuple[str, str]]:
        """The rows that are wanted."""
        return _pairs(self.options.get("rows", ""))


class ResultsPlot(Results):
    """A bar plot of a file; without matplotlib the table."""

    option_spec: ClassVar[dict[str, Any]] = {
        **Results.option_spec,
        "group": directives.unchanged_required,
        "series": directives.unchanged_required,
        "unit": directives.unchanged_required,
        "log": directives.flag,
    }

    def made(self, m: Measurement) -> list[nodes.Node]:
        """A figure whose picture is part of the page, so that it has the colours of the page."""
        group, series = self.options.get("group", m.columns[0]), self.options.get("series", "")
        values = _list(self.options.get("columns", ""))
        chosen = m.chosen(where=self.where(), sort=self.options.get("sort", ""))
        found = bars(chosen, group, series, values)
        try:
            svg = drawn(found, self.options.get("unit", ""), "log" in self.options)
        except ImportError:
            return [table(chosen.chosen([group, *([series] if series else []), *values] if values else ()))]
        opening = f'<svg role="img" aria-label="{html.escape(m.subject, quote=True)}" '
        opening += 'style="width: 100%; max-width: 800px; height: auto" '
        svg = opening + re.sub(r'^<svg|(?<= )(?:width|height)="[\d.]+pt"', "", svg, count=3)
        return [nodes.figure("", nodes.raw("", svg, format="html"), nodes.caption("", "", *caption(m)))]


def setup(app: Any) -> dict[str, Any]:
    """Register both directives."""
    app.add_directive("results", Results)
    app.add_directive("results-plot", ResultsPlot)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
