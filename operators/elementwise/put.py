"""Put: add the frontier to a pile, and keep it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frontier.operators.elementwise.split import Split
from frontier.program.frontiers import Frontier

if TYPE_CHECKING:
    from frontier.backends.python.interpreter import Context
    from frontier.program.schedule import Schedule
    from frontier.program.step import Over

__all__ = ["Put"]


def _aside(p: Any) -> bool:
    """All elements are added to the pile."""
    return False


class Put(Split):
    """Add the frontier to a pile; the frontier stays as it is.

    Parameters
    ----------
    pile : str
        Name of the pile. A pile is a set, so adding an element twice has no effect.
    over, schedule
        See :class:`frontier.program.step.Step`.

    Notes
    -----
    The inverse of :class:`Take`: what several steps find is collected, and goes on together. In the loop of an epidemic
    below, a pass begins with all who are ill, and both they and those whom they infect are ill in the next one.

    Examples
    --------
    >>> def infect(p, src, dst):
    ...     return fr.random(p.day, src + 100 * dst) < 0.3 and fr.atomic_cas(p.since, dst, -1, p.day) == -1
    >>> def still_ill(p, v):
    ...     return p.day - p.since[v] < 3
    >>> loop = fr.Loop(fr.Filter(still_ill), fr.Put("ill"), fr.Advance(infect), fr.Put("ill"), take="ill", count="day")
    >>> p = fr.Problem(fr.karate(), since=fr.vertex("int32", -1), day=fr.scalar("int32"), ill=fr.pile())
    >>> p.since[0], p.ill = 0, [0]
    >>> _ = loop(p)
    >>> int((p.since >= 0).sum()) > 1
    True
    """

    name = "put"
    #: Whether the elements that go to the pile stay in the frontier, too.
    both = True

    def __init__(self, pile: str, over: Over = None, schedule: Schedule | None = None) -> None:
        super().__init__(_aside, pile, over, schedule)

    def interpret(self, context: Context, f: Frontier) -> Frontier:
        """Run on the python backend."""
        super().interpret(context, f)
        return f

    def __repr__(self) -> str:
        return f"Put({self.rest!r})"
