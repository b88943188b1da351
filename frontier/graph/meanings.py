"""What the names of columns of a table of edges mean, and what tables say of edges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from frontier.errors import GraphError, warn

__all__ = [
    "SOURCES", "TARGETS", "Columns", "called", "columns_of", "counts_rows", "plain", "said_by", "type_column",
    "warn_of_doubt", "weight_of",
]  # fmt: skip

SOURCES = ("src", "source", "from", "start", "u")
TARGETS = ("dst", "dest", "destination", "target", "to", "end", "v")
#: Names of weights; the first are what nothing else is called.
WEIGHTS = ("weight", "weights", "w")
QUANTITIES = ("cost", "length", "distance", "capacity", "strength", "value")


@dataclass
class Columns:
    """Where in a row the source, the target and the weight of an edge stand, and what the other cells are called.

    ``doubt`` are the names of columns that might be meant as weights, and are not taken as such; ``guessed`` those that
    are taken as the ends because they come first, of four or more.
    """

    source: int = 0
    target: int = 1
    weight: int | None = None
    others: dict[str, int] = field(default_factory=dict)
    doubt: list[str] = field(default_factory=list)
    guessed: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Cells in a row."""
        return 2 + (self.weight is not None) + len(self.others)


def plain(name: str) -> str:
    """A name of a column as it is looked up: ``Source``, ``source_id`` and ``SourceNode`` are one."""
    letters = re.sub(r"[\W_]", "", name.lower())
    return re.sub(r"(node|vertex)?(id)?$", "", letters) or letters


def counts_rows(name: str) -> bool:
    """Whether a column is called like the row numbers that pandas writes, and again when it has read them."""
    return not name.strip() or re.fullmatch(r"Unnamed: \d+|__index_level_\d+__", name.strip()) is not None


def columns_of(
    names: list[str], weight: str | bool | None = None, source: str | None = None, target: str | None = None
) -> Columns:
    """Which column is which, by their names.

    Where the names of ends are not known, the first two columns are the ends, or the one beside an end that is known;
    row numbers are none. A column is the weight only if it is called so. ``weight`` says which it is instead, or, as
    False, that none is; ``source`` and ``target`` say which are the ends.

    Raises
    ------
    GraphError
        There is no column called like that, or one is to be two things.
    """
    known = [plain(name) for name in names]
    asked = _asked(names, {"source": source, "target": target, "weight": weight})
    taken = {*asked.values()}
    src, dst = asked.get("source"), asked.get("target")
    fixed = src is not None or dst is not None
    weights = {i for i, name in enumerate(known) if fixed and name in (*WEIGHTS, *QUANTITIES)} | {asked.get("weight")}
    free = [i for i, name in enumerate(names) if i in (src, dst) or not (counts_rows(name) or i in weights)]
    if src is None:
        src = next((known.index(name) for name in SOURCES if name in known and known.index(name) not in taken), None)
    if dst is None:
        dst = next((known.index(name) for name in TARGETS if name in known and known.index(name) not in taken), None)
    if src is None or dst is None:
        free = free if len(free) > 1 else [*range(len(names))]
        src, dst = _beside(src, dst, free, fixed)
    others = {name or f"column{i}": i for i, name in enumerate(names) if i not in (src, dst)}
    made = Columns(src, dst, asked.get("weight"), others)
    if weight is None or weight is True:
        _find_weight(made, known)
    made.others = {name: i for name, i in others.items() if i != made.weight}
    if not fixed and made.count > 3 and known[src] not in SOURCES and known[dst] not in TARGETS:
        made.guessed = [] if any(map(counts_rows, made.others)) else [names[src], names[dst]]
    return made


def _asked(names: list[str], wanted: Mapping[str, Any]) -> dict[str, int]:
    """The places of columns that arguments name."""
    called = [name or f"column{i}" for i, name in enumerate(names)]
    found: dict[str, int] = {}
    for what, name in wanted.items():
        if not isinstance(name, str):
            continue
        if name not in called:
            raise GraphError(f"{what}={name!r}: there is no such column, but {', '.join(map(repr, called))}")
        at = called.index(name)
        before = next((other for other, place in found.items() if place == at), None)
        if before is not None:
            raise GraphError(f"{before}= and {what}= are two columns, and both are {name!r}")
        found[what] = at
    return found


def called(names: list[str], known: tuple[str, ...]) -> str | None:
    """The column that is called like one of these, of several the first of them; None if none is."""
    plainly = {plain(name): name for name in reversed(names)}
    return next((plainly[each] for each in known if each in plainly), None)


def weight_of(names: list[str]) -> str | None:
    """The column that is called like weights, or alone like a quantity; None if there is none."""
    quantities = [name for name in names if plain(name) in QUANTITIES]
    return called(names, WEIGHTS) or (quantities[0] if len(quantities) == 1 else None)


def _beside(src: int | None, dst: int | None, free: list[int], fixed: bool) -> tuple[int, int]:
    """The ends, of which one may be known: the other is next to it; ``fixed``: the known one stays in any case."""
    if src is not None and src in free and (fixed or free[-1] != src):
        at = free.index(src)
        return src, free[at + 1 if at + 1 < len(free) else at - 1]
    if dst is not None and dst in free and (fixed or free[0] != dst):
        at = free.index(dst)
        return free[at - 1 if at else 1], dst
    return free[0], free[1]


def _find_weight(made: Columns, known: list[str]) -> None:
    """Take a column for the weights that is called so; of several quantities none is, and all are in doubt."""
    found = weight_of([*made.others])
    made.weight = None if found is None else made.others[found]
    if found is None:
        made.doubt = [name for name, i in made.others.items() if known[i] in QUANTITIES]


def warn_of_doubt(name: str, columns: Columns, weight: str | bool | None) -> None:
    """Warn of columns of a file that might not be meant as they are taken: as ends of edges, and not as weights."""
    if columns.guessed:
        ends = " and ".join(map(repr, columns.guessed))
        warn(
            f"{name}: the columns {ends} are taken as sources and targets of edges, being the first: source= and "
            "target= (--source-column, --target-column) say which are"
        )
    if not columns.doubt or weight is not None:
        return
    first = columns.doubt[0]
    if len(columns.doubt) > 1:
        what = f"the columns {', '.join(map(repr, columns.doubt))} may all be weights, and none is taken for them"
    elif first.startswith("column") or counts_rows(first):
        what = "the column without a name is kept as data of edges, and not taken for weights"
    else:
        what = f"the column {first!r} is kept as data of edges, and not taken for weights"
    warn(f"{name}: {what}: weight={first!r} (--weight {first}) takes it, weight=False says that there are none")


def type_column(columns: Mapping[str, Any]) -> bool | None:
    """Whether edges are directed, as a column called ``Type`` says; None without such."""
    found = next((column for name, column in columns.items() if name.lower() == "type"), None)
    return None if found is None else said_by(found.tolist())


def said_by(kinds: Iterable[Any]) -> bool | None:
    """Whether edges are directed, as a column says where each is ``Directed`` or ``Undirected``; None of others.

    Raises
    ------
    GraphError
        Some are and some are not.
    """
    found = {str(kind).strip().lower() for kind in kinds}
    if found == {"directed", "undirected"}:
        raise GraphError("the column of types has directed and undirected edges: directed=True or False says which")
    return {"directed": True, "undirected": False}.get(found.pop()) if len(found) == 1 else None
