"""The class Trace: one row for each step of each pass, while ``with fr.trace() as t:`` is active.

Compiled loops collect their rows themselves, and pass them on when they return to Python: the last rows of a run one by
one, and sums over all of them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from frontier.display import html
from frontier.system.atomic_write import replacing
from frontier.system.forks import renewed

__all__ = [
    "RankTotal", "Row", "Trace", "acting_as", "active", "add", "add_compile", "add_lost", "add_ranks", "add_row",
    "add_totals", "trace",
]  # fmt: skip

#: Rows up to which a plot has the names of steps on its axis.
NAMED = 40

_open: list[Trace] = []

#: For which rank this thread works, and in which pass: facts of all its rows.
_acting = threading.local()
#: Parts that are threads of one process add to the same sums.
_adding = renewed(threading.Lock())


@dataclass(frozen=True)
class Row:
    """One step of one pass.

    Parameters
    ----------
    number : int
        Number of passes that had begun in the run.
    step : str
    direction, balance : str
        Empty if a step has none.
    size_in, size_out : int
        Elements of the frontier before and after; -1 where not known.
    edges : int
        Number of edges of the frontier (push), or of examined edges (pull).
    seconds : float
    compile_seconds : float
        In a row ``compile``: the time to compile a step or loop.
    backend : str
    rank : int
        Which of several ranks ran it.
    sent, waited : int, float
        In a row ``exchange`` of several ranks or GPUs: the bytes that the rank gave to the others together, and the
        seconds until all had given theirs.
    read : int
        Bytes of edges that were read from outside the memory of the GPU, where that is known.
    """

    number: int
    step: str
    direction: str = ""
    balance: str = ""
    size_in: int = -1
    size_out: int = -1
    edges: int = 0
    seconds: float = 0.0
    compile_seconds: float = 0.0
    backend: str = ""
    rank: int = 0
    sent: int = 0
    waited: float = 0.0
    read: int = 0

    @property
    def gteps(self) -> float:
        """Billions of edges per second."""
        return self.edges / self.seconds / 1e9 if self.seconds > 0 else 0.0


@dataclass
class Total:
    """Sums over all rows of one step, including rows that a run no longer keeps."""

    step: str
    calls: int = 0
    edges: int = 0
    seconds: float = 0.0


@dataclass
class RankTotal:
    """What one of several ranks, or one of several GPUs, did in all runs.

    Parameters
    ----------
    rank : int
    exchanges : int
    preparing : float
        Seconds until a step's code is ready: in the first run it is compiled, or read from disk.
    computing : float
        Seconds in steps.
    merging : float
        Seconds for finding what has changed, and for bringing in what the others have told.
    waiting : float
        Seconds from giving what it has to tell until all have given theirs: the others' steps, and the transport.
    sent : int
        Bytes that it gave to the others together; of a GPU, bytes of values that it has read from them.
    read : int
        Bytes of edges that a GPU has read from outside the memory of GPUs.
    """

    rank: int
    exchanges: int = 0
    preparing: float = 0.0
    computing: float = 0.0
    merging: float = 0.0
    waiting: float = 0.0
    sent: int = 0
    read: int = 0


class Trace:
    """The steps that ran while the trace was active; see :func:`trace`.

    Attributes
    ----------
    rows : list of Row
    totals : dict of str to Total
        For every step: calls, edges and seconds.
    ranks : dict of int to RankTotal
        For every rank of the ranks backend, on each of them, and for every one of several GPUs: the sums over all runs
        that came to their end. If the host divides a program among GPUs: over all steps.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.ranks: dict[int, RankTotal] = {}
        self.totals: dict[str, Total] = {}
        self.lost = 0  # rows that did not fit into the ring of a fused loop

    def __enter__(self) -> Trace:
        _open.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _open.remove(self)

    @property
    def seconds(self) -> float:
        """Time spent in steps, without compiling."""
        return sum(total.seconds for total in self.totals.values())

    @property
    def compile_seconds(self) -> float:
        """Time spent compiling."""
        return sum(row.compile_seconds for row in self.rows)

    def to_json(self, path: str | Path | None = None, indent: int | None = None) -> str:
        """Return all rows and totals as JSON text, and write it to ``path`` if given."""
        rows = [{**asdict(row), "milliseconds": row.seconds * 1e3, "gteps": row.gteps} for row in self.rows]
        made: dict[str, Any] = {"rows": rows, "totals": [asdict(total) for total in self.totals.values()]}
        made |= {"ranks": [asdict(total) for total in self.ranks.values()], "lost": self.lost}
        return _written(json.dumps(made, indent=indent), path)

    def to_chrome(self, path: str | Path | None = None) -> str:
        """The rows one after another in Chrome's trace format (chrome://tracing, Perfetto)."""
        events: list[dict[str, Any]] = []
        now: dict[int, float] = {}
        for row in self.rows:
            duration = (row.seconds + row.compile_seconds) * 1e6
            details = {"pass": row.number, "in": row.size_in, "out": row.size_out, "edges": row.edges}
            events.append(
                {"name": row.step, "cat": row.direction or "step", "ph": "X", "ts": now.get(row.rank, 0.0),
                 "dur": duration, "pid": 0, "tid": row.rank, "args": details}
            )  # fmt: skip
            now[row.rank] = now.get(row.rank, 0.0) + duration
        return _written(json.dumps({"traceEvents": events}), path)

    def plot(self, ax: Any = None) -> Any:
        """Plot milliseconds, as bars, and frontier size, as a line, of every row with matplotlib; returns the axes.

        Each step has a colour. Up to 40 rows have its name below them; of more rows, a legend tells the names.
        """
        axes = ax
        if axes is None:
            import matplotlib.pyplot as plt

            axes = plt.subplots(layout="constrained")[1]
        rows = [row for row in self.rows if not row.compile_seconds]
        for k, step in enumerate(dict.fromkeys(row.step for row in rows)):
            own = [i for i, row in enumerate(rows) if row.step == step]
            axes.bar(own, [rows[i].seconds * 1e3 for i in own], color=f"C{k % 10}", alpha=0.7, label=step)
        axes.set(xlabel="row", ylabel="milliseconds")
        if len(rows) <= NAMED:
            axes.set_xticks(range(len(rows)), [row.step for row in rows], rotation=90, fontsize=7)
            axes.set(xlabel="")
        else:
            axes.legend(fontsize=7)
        sizes = axes.twinx()
        sizes.plot([max(row.size_in, 0) for row in rows], ".-", color="black", linewidth=1)
        sizes.set(ylabel="frontier", yscale="symlog", ylim=(0, None))
        return axes

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        return _table(self)

    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
        head, *lines = _lines(self)
        return html.rows(head, lines, html.text(repr(self)), cut=True)

    def __repr__(self) -> str:
        return f"Trace({len(self.rows)} rows, {self.seconds * 1e3:.3f} ms)"


def trace() -> Trace:
    """Record the steps and loops that run in a block: ``with fr.trace() as t: ...; print(t)``.

    Examples
    --------
    >>> with fr.trace() as t:
    ...     result = fr.bfs(fr.path(4), 0)
    >>> len(t) > 0
    True
    """
    return Trace()


@contextmanager
def paused() -> Iterator[None]:
    """Within this context, nothing is traced: for programs that are run for another one."""
    kept, _open[:] = _open[:], []
    try:
        yield
    finally:
        _open[:] = kept


def active() -> bool:
    """Whether any trace is open."""
    return bool(_open)


@contextmanager
def acting_as(rank: int, number: int) -> Iterator[None]:
    """Within it this thread works for a rank, in a pass of a program, which its rows name; inside another, for that."""
    before = getattr(_acting, "facts", {})
    _acting.facts = before or {"rank": rank, "number": number}
    try:
        yield
    finally:
        _acting.facts = before


def add(*, seconds: float, step: str, **facts: Any) -> None:
    """Add one row, and to its step's totals, in every open trace."""
    row = _row(step=step, seconds=seconds, **facts)
    for each in _open:
        each.rows.append(row)
    add_totals(step, 1, row.edges, seconds)


def _row(**facts: Any) -> Row:
    return Row(**{**facts, **getattr(_acting, "facts", {})})


def add_ranks(totals: Iterable[RankTotal]) -> None:
    """Add to the sums of ranks in every open trace."""
    for total in totals:
        for each in _open:
            known = each.ranks.setdefault(total.rank, RankTotal(total.rank))
            for field in fields(RankTotal)[1:]:
                setattr(known, field.name, getattr(known, field.name) + getattr(total, field.name))


def add_row(**facts: Any) -> None:
    """Add one row whose sums come by :func:`add_totals`."""
    for each in _open:
        each.rows.append(_row(**facts))


def add_lost(count: int) -> None:
    """Note rows that a ring overwrote."""
    for each in _open:
        each.lost += count


def add_totals(step: str, calls: int, edges: int, seconds: float) -> None:
    """Add to the sums of a step in every open trace."""
    for each in _open:
        with _adding:
            total = each.totals.setdefault(step, Total(step))
            total.calls += calls
            total.edges += edges
            total.seconds += seconds


def add_compile(step: str, seconds: float, backend: str) -> None:
    """Add a row for code that was made."""
    for each in _open:
        each.rows.append(Row(0, f"compile {step}", compile_seconds=seconds, backend=backend))


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        with replacing(path) as file:
            file.write(text.encode())
    return text


def _lines(made: Trace) -> list[list[str]]:
    """The names of columns, and the cells of each row."""
    head = ["pass", "step", "direction", "balance", "in", "out", "edges", "ms", "GTEPS", "backend"]
    reading = any(row.read for row in made.rows)
    lines = [head + ["rank", "sent", "waited ms"] * bool(made.ranks) + ["read"] * reading]
    for row in made.rows:
        seconds = row.seconds + row.compile_seconds
        line = [
            str(row.number), row.step, row.direction, row.balance, _count(row.size_in), _count(row.size_out),
            f"{row.edges:,}", f"{seconds * 1e3:.3f}", f"{row.gteps:.3f}", row.backend,
        ]  # fmt: skip
        if made.ranks:
            told = row.backend == "ranks" or row.step == "exchange"
            exchange = [f"{row.sent:,}", f"{row.waited * 1e3:.3f}"] if told else ["", ""]
            line += [str(row.rank), *exchange]
        if reading:
            line.append(f"{row.read:,}" if row.read else "")
        lines.append(line)
    return lines


def _table(made: Trace) -> str:
    text = _aligned(_lines(made), {1, 2, 3, 9})
    compiling = f", and {made.compile_seconds:.3f} s of compiling" if made.compile_seconds else ""
    text.append(f"{made.seconds * 1e3:.3f} ms in {sum(t.calls for t in made.totals.values()):,} steps{compiling}")
    if made.lost:
        text.append(f"{made.lost:,} earlier rows are only in the sums")
    if made.ranks:
        text += ["", *_rank_table(made)]
    return "\n".join(text)


def _rank_table(made: Trace) -> list[str]:
    kinds = ("preparing", "computing", "merging", "waiting")
    totals = [made.ranks[rank] for rank in sorted(made.ranks)]
    reading = any(total.read for total in totals)
    lines = [["rank", "exchanges", *(f"{kind} ms" for kind in kinds), "sent", *["read"] * reading]]
    for name, some in (*((str(total.rank), [total]) for total in totals), ("all", totals)):
        times = [f"{sum(getattr(x, kind) for x in some) * 1e3:.3f}" for kind in kinds]
        read = [f"{sum(x.read for x in some):,}"] * reading
        lines.append([name, f"{sum(x.exchanges for x in some):,}", *times, f"{sum(x.sent for x in some):,}", *read])
    return _aligned(lines, {0})


def _aligned(lines: list[list[str]], left: set[int]) -> list[str]:
    """Columns of text, with a rule below the first line."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    text = [
        "  ".join(
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    text.insert(1, "  ".join("-" * width for width in widths))
    return text


def _count(size: int) -> str:
    return "" if size < 0 else f"{size:,}"
