"""Schedule: how steps are carried out. It never changes an answer.

What an algorithm does (functors, loop) and how it is carried out are kept apart, as in GraphIt
(Zhang et al., OOPSLA 2018).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from frontier.errors import FrontierError

__all__ = ["Schedule"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "direction": ("auto", "push", "pull"),
    "balance": ("auto", "thread", "block", "twc", "merge_path", "degree_classes"),
    "dedup": ("auto", "claim", "bitmap"),
    "switch": ("beamer", "gunrock", "hubs"),
    "queue": ("append", "scan"),
}

_POSITIVE = ("alpha", "beta", "do_a", "do_b", "gamma")


@dataclass(frozen=True, repr=False)
class Schedule:
    """How to run a step, a loop or an enactor.

    Parameters
    ----------
    direction : {"auto", "push", "pull"}
        Push walks the out-edges of the frontier; pull lets every vertex for which ``where`` holds
        look for frontier vertices among its in-edges. ``auto`` decides in every pass by ``switch``.
    balance : {"auto", "thread", "block", "twc", "merge_path", "degree_classes"}
        How a push shares edges among workers. On a GPU: ``thread``, a few lanes for a vertex; ``block``, the threads
        of a block share the edges of as many vertices; ``twc``, a block, a warp or threads by the length of the list;
        ``merge_path``, equal chunks of edges, also within one vertex; ``degree_classes``, four queues by degree.
        ``auto`` decides. The cpu backend knows ``thread`` and ``merge_path``; it runs the others as ``merge_path``.
    dedup : {"auto", "claim", "bitmap"}
        How ``unique="exact"`` removes duplicates: a stamp for each vertex, or a bit.
    switch : {"beamer", "gunrock", "hubs"}
        Rule of ``direction="auto"``. ``beamer``: pull while the frontier has more than 1/alpha of the edges not
        yet walked; push again when it has fewer than 1/beta of the vertices (Beamer, Asanovic,
        Patterson: Direction-optimizing breadth-first search, SC 2012). ``gunrock``: pull once, when an estimate of
        the edges of a push exceeds ``do_a`` times one of those of a pull, until it is less than ``do_b`` times that.
        ``hubs``: pull as soon as more than ``gamma`` of all hubs are in the frontier, and to the end (Enterprise; Liu
        and Huang, SC 2015).
    alpha, beta : float
        Beamer's constants.
    do_a, do_b : float
        Gunrock's constants.
    gamma : float
        Enterprise's constant.
    hub_degree : int, optional
        Hubs are the vertices of a higher degree than this. Usually the degree that about 1,000 vertices exceed (in
        graphs of fewer than 16,000 vertices a sixteenth of them).
    queue : {"append", "scan"}
        How the next frontier is written on a GPU: appended to a queue while edges are visited; or marked in an array
        with an entry for every vertex, which is then scanned for the queue; and of several pulls in a row, those after
        the first go over a queue of the vertices that still wait, where the functors show that no other can come into
        question (Enterprise). The cpu backend appends.
    hub_cache : bool
        Whether a pull on a GPU keeps the frontier's hubs in shared memory, and looks for them first (Enterprise).
    fuse : bool
        Whether a declared loop runs as one compiled function. ``False`` returns to Python after every
        step, for tracing and debugging.
    deterministic : bool
        The same bits in every run: on the cpu backend by running on one thread. The cuda backend refuses it.
    """

    direction: str = "auto"
    balance: str = "auto"
    dedup: str = "auto"
    switch: str = "beamer"
    alpha: float = 15.0
    beta: float = 18.0
    do_a: float = 0.001
    do_b: float = 0.2
    gamma: float = 0.3
    hub_degree: int | None = None
    queue: str = "append"
    hub_cache: bool = False
    fuse: bool = True
    deterministic: bool = False

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise FrontierError(f"Schedule({name}={value!r}): choose from {', '.join(choices)}")
        if not all(getattr(self, name) > 0 for name in _POSITIVE):
            raise FrontierError(f"Schedule: {', '.join(_POSITIVE[:-1])} and {_POSITIVE[-1]} must be positive")
        if self.hub_degree is not None and not (isinstance(self.hub_degree, int) and self.hub_degree >= 0):
            raise FrontierError(f"Schedule(hub_degree={self.hub_degree!r}): a number of edges, or None")

    def __hash__(self) -> int:
        """Of few choices: every run asks for it, and equal schedules are nearly always one and the same."""
        return hash((self.direction, self.balance, self.queue, self.fuse))

    def __repr__(self) -> str:
        """What departs from the defaults."""
        own = ((f.name, getattr(self, f.name), f.default) for f in fields(self))
        return f"Schedule({', '.join(f'{name}={value!r}' for name, value, default in own if value != default)})"

    def but(self, **changes: Any) -> Schedule:
        """A copy with some choices changed."""
        return replace(self, **changes)

    def over(self, outer: Schedule) -> Schedule:
        """Take this schedule where it departs from the defaults, else the outer one."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return replace(outer, **own)
