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
    "switch": ("beamer",),
}


@dataclass(frozen=True)
class Schedule:
    """How to run a step, a loop or an enactor.

    Parameters
    ----------
    direction : {"auto", "push", "pull"}
        Push walks the out-edges of the frontier; pull lets every vertex for which ``where`` holds
        look for frontier vertices among its in-edges. ``auto`` decides in every pass by ``switch``.
    balance : {"auto", "thread", "block", "twc", "merge_path", "degree_classes"}
        How edges are shared among workers. The cpu backend knows ``thread`` (chunks of vertices) and
        ``merge_path`` (chunks of edges, also within one vertex); it runs the others as ``merge_path``.
    dedup : {"auto", "claim", "bitmap"}
        How ``unique="exact"`` removes duplicates: a stamp for each vertex, or a bit.
    switch : {"beamer"}
        Rule of ``direction="auto"``: pull while the frontier has more than 1/alpha of the edges not
        yet walked; push again when it has fewer than 1/beta of the vertices (Beamer, Asanovic,
        Patterson: Direction-optimizing breadth-first search, SC 2012).
    alpha, beta : float
        Beamer's constants.
    fuse : bool
        Whether a declared loop runs as one compiled function. ``False`` returns to Python after every
        step, for tracing and debugging.
    deterministic : bool
        The same bits in every run: on the cpu backend by running on one thread.
    """

    direction: str = "auto"
    balance: str = "auto"
    dedup: str = "auto"
    switch: str = "beamer"
    alpha: float = 15.0
    beta: float = 18.0
    fuse: bool = True
    deterministic: bool = False

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise FrontierError(f"Schedule({name}={value!r}): choose from {', '.join(choices)}")
        if not (self.alpha > 0 and self.beta > 0):
            raise FrontierError("Schedule: alpha and beta must be positive")

    def but(self, **changes: Any) -> Schedule:
        """A copy with some choices changed."""
        return replace(self, **changes)

    def over(self, outer: Schedule) -> Schedule:
        """Take this schedule where it departs from the defaults, else the outer one."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return replace(outer, **own)
