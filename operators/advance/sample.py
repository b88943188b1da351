"""A random part of every vertex's edges, the same on every backend: ``part=fr.sample(k)``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from frontier.errors import FrontierError
from frontier.functors.numbers import hash as mixed
from frontier.lowering.ir import Expr, cast
from frontier.program.step import check_field

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.program.problem import Problem

__all__ = ["Sample", "sample", "sample_key", "sample_place"]


@dataclass(frozen=True)
class Sample:
    """A random part of each vertex's edges, made by :func:`sample`.

    Attributes
    ----------
    size : int
        Number of edges.
    seed : int or str
        A number, or the name of the scalar that holds it.
    """

    size: int
    seed: int | str

    def check(self, p: Problem) -> None:
        """Raise FrontierError unless the problem has the named scalar, and it holds an integer."""
        if isinstance(self.seed, str):
            check_field(p, self.seed, ("scalar",), "sample(seed=)")
            if p.scalars[self.seed].dtype.kind not in "iu":
                raise FrontierError(f"sample(seed={self.seed!r}): the scalar must hold an integer")

    def given(self, b: Builder) -> Expr:
        """The seed in a program, which is the same for every number."""
        if isinstance(self.seed, str):
            return cast("int64", b.scalars[self.seed])
        return b.parameter(self.seed)

    def places(self, seed: int, v: int, degree: int) -> list[int]:
        """Return the drawn positions in the adjacency list of v; all of them if the list is not longer."""
        if degree <= self.size:
            return list(range(degree))
        key = sample_key(None, seed, v)
        return [sample_place(None, key, degree, i) for i in range(self.size)]


def sample(k: int, seed: int | str = 0) -> Sample:
    """Select k random edges of each vertex, without replacement, or all if there are fewer: ``part=fr.sample(k)``.

    Parameters
    ----------
    k : int
        Number of edges of each vertex, at least 1. Drawing them takes time proportional to k squared, so it is
        meant for tens, not thousands.
    seed : int or str
        Equal seeds draw equal edges; none is compiled into a loop. A string names an integer scalar, which is read when
        the step begins: in a loop with ``count="turn"``, ``seed="turn"`` draws new edges in every pass.

    Returns
    -------
    Sample
        For ``Advance(part=)``.

    Notes
    -----
    All sets of k edges are equally likely, and the draws of different vertices are independent. The edges of vertex v
    are the first k entries after a Fisher-Yates shuffle of its list of d out-edges (or in-edges): for
    t = 0, 1, ..., k - 1, entry t is exchanged with entry t + ``fr.hash(key + t) % (d - t)``, where key is
    ``fr.hash(fr.hash(seed) + v)``. In-edges are sorted by source, as in ``g.in_sources``. So the edges depend only on
    the graph, k, the seed and v.

    Examples
    --------
    >>> g = fr.star(100)
    >>> len(fr.advance(fr.Problem(g), fr.Frontier(g, [0]), lambda p, dst: True, part=fr.sample(2, seed=1)))
    2
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise FrontierError(f"sample({k!r}): a number of edges, at least 1")
    if isinstance(seed, bool) or not isinstance(seed, (int, str)):
        raise FrontierError(f"sample(seed={seed!r}): an integer, or the name of a scalar that holds one")
    if isinstance(seed, int) and not -(2**63) <= seed < 2**63:
        raise FrontierError(f"sample(seed={seed!r}): an integer of 64 bits")
    return Sample(k, seed)


# Backends compile these two as they compile functors, hence the problem as first argument, which they ignore.


def sample_key(p: Any, seed: Any, v: Any) -> Any:
    """Return the key of a vertex's draws."""
    return mixed(mixed(seed) + v)


def sample_place(p: Any, key: Any, degree: Any, i: Any) -> Any:
    """Place in a list of ``degree`` edges that the i-th draw of a vertex gives.

    The shuffle needs no memory: what lies at a place is found by going back over the exchanges before.
    """
    at = i + mixed(key + i) % (degree - i)
    for t in range(i - 1, -1, -1):
        if at == t + mixed(key + t) % (degree - t):
            at = t
    return at
