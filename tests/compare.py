"""How tests run a thing on several backends and numbers of workers, and compare what is left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import frontier as fr
from frontier.backends.cpu import execution

__all__ = ["WORKERS", "agree", "ids", "state", "workers"]

#: Numbers of workers to draw from; more than one takes the parallel paths however small the graph.
WORKERS = (1, 2, 3)


@contextmanager
def workers(count: int, small: int = 0) -> Iterator[None]:
    """Run with so many threads even on graphs that one thread would do."""
    before = execution.SMALL, fr.num_threads()
    execution.SMALL = small
    fr.set_num_threads(count)
    try:
        yield
    finally:
        execution.SMALL = before[0]
        fr.set_num_threads(before[1])


def ids(f: fr.Frontier | None) -> Any:
    """A frontier as a sorted list of ids, with its kind; raises where it is no set."""
    if f is None:
        return None
    some = sorted(f.ids.tolist())
    assert len(set(some)) == len(some) == len(f)
    return f.kind, some


def state(p: fr.Problem) -> dict[str, Any]:
    """All fields of a problem, as plain Python values."""
    made: dict[str, Any] = {name: array.tolist() for name, array in p.arrays.items()}
    made |= {name: scalar[0].item() for name, scalar in p.scalars.items()}
    made |= {name: ids(pile) for name, pile in p.piles.items()}
    return made


def agree(
    g: fr.Graph, make: Callable[[fr.Graph], fr.Problem], run: Callable[[fr.Problem], Any], count: int = 1
) -> tuple[fr.Problem, Any]:
    """Run on python and on cpu; both must leave the same fields and frontier. Gives those of cpu."""
    p = make(g.to("python"))
    expected = run(p)
    q = make(g.to("cpu"))
    with workers(count):
        result = run(q)
    before, after = state(p), state(q)
    for name, value in before.items():
        np.testing.assert_equal(after[name], value, err_msg=name)
    if isinstance(expected, fr.Frontier):
        assert ids(result) == ids(expected)
    else:
        np.testing.assert_equal(result, expected)
    return q, result
