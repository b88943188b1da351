"""A random part of every vertex's edges, the same on every backend: ``part=fr.sample(k)``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from frontier.errors import FrontierError
from frontier.functors.numbers import hash as mixed
from frontier.program.step import check_field

if TYPE_CHECKING:
    from frontier.program.problem import Problem

__all__ = ["Sample", "sample", "sample_key", "sample_place"]


@dataclass(frozen=True)
class Sample:
    """What :func:`sample` gives.

    Attributes
    ----------
    size : int
        Number of edges.
    seed : int or str
        A number, or the scalar that holds it.
    """

    size: int
    seed: int | str

    def check(self, p: Problem) -> None:
        """Raise FrontierError unless the scalar that is named is there and holds an integer."""
        if isinstance(self.seed, str):
            check_field(p, self.seed, ("scalar",), "sample(seed=)")
            if p.scalars[self.seed].dtype.kind not in "iu":
                raise FrontierError(f"sample(seed={self.seed!r}): the scalar must hold an integer")

    def places(self, seed: int, v: int, degree: int) -> list[int]:
        """Which places of vertex v's list are drawn; all of them if it is no longer than the sample."""
        if degree <= self.size:
            return list(range(degree))
        key = sample_key(None, seed, v)
        return [sample_place(None, key, degree, i) for i in range(self.size)]


def sample(k: int, seed: int | str = 0) -> Sample:
    """``part=fr.sample(k)``: k random edges of each vertex, without replacement, or all where there are fewer.

    Parameters
    ----------
    k : int
        How many edges of each vertex, at least 1. Drawing them takes time in proportion to k squared: it is
        meant for tens, not thousands.
    seed : int or str
        Equal seeds draw equal edges. A number is part of the loop's code; a string names an integer scalar,
        whose value at the beginning of the step counts: ``seed="turn"`` in a loop with ``count="turn"``
        draws anew in every pass.

    Returns
    -------
    Sample
        For ``Advance(part=)``.

    Notes
    -----
    All sets of k edges are equally likely, and vertices draw independently. The edges of vertex v are at the
    first k places of a shuffle (Fisher and Yates) of the list of d out-edges, or in-edges, that it walks: for
    t = 0, 1, ..., k - 1 place t is exchanged with place t + ``fr.hash(key + t) % (d - t)``, where key is
    ``fr.hash(fr.hash(seed) + v)``. In-edges are listed by ascending source, as in ``g.in_sources``. So the edges
    depend on nothing but the graph, k, the seed and v.
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
    """What a vertex's draws begin with."""
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
