"""How tests run a thing on several backends and numbers of workers, and compare what is left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

import frontier as fr
from frontier.backends.cpu import execution
from frontier.backends.cuda import execution as cuda
from frontier.memory.arrays import to_host

__all__ = ["WORKERS", "agree", "at", "close", "equal", "host", "ids", "primitives_agree", "state", "workers"]

#: Numbers of workers to draw from; more than one takes the parallel paths however small the graph.
WORKERS = (1, 2, 3)


@contextmanager
def workers(count: int, small: int = 0) -> Iterator[None]:
    """Run with so many threads even on graphs that one thread would do.

    The backend cuda takes all its threads in any case; there more than one stands for the build for graphs with long
    lists, which graphs of tests rarely have.
    """
    before = execution.SMALL, fr.num_threads(), cuda.build_of
    teams = execution.GRAIN, execution.WAKING, execution.CORES
    execution.SMALL = small
    if not small:  # other threads help with every phase
        execution.GRAIN, execution.WAKING, execution.CORES = 1, 0, count
    fr.set_num_threads(count)
    if count > 1:
        cuda.build_of = lambda *given: replace(before[2](*given), low_degree=False)
    try:
        yield
    finally:
        execution.SMALL, cuda.build_of = before[0], before[2]
        execution.GRAIN, execution.WAKING, execution.CORES = teams
        fr.set_num_threads(before[1])


def equal(found: Any, expected: Any, **options: Any) -> None:
    """Arrays, wherever they lie, are the same; options as of NumPy's function."""
    np.testing.assert_array_equal(to_host(found), to_host(expected), **options)


def close(found: Any, expected: Any, **options: Any) -> None:
    """Arrays, wherever they lie, are nearly the same; options as of NumPy's function."""
    np.testing.assert_allclose(to_host(found), to_host(expected), **options)


def at(p: fr.Problem, f: fr.Frontier | None) -> fr.Frontier | None:
    """The frontier itself, or the same where a problem's graph lies."""
    if f is None or f.graph.offsets is p.graph.offsets:
        return f
    return fr.Frontier.all(p.graph, f.kind) if f.is_all else fr.Frontier(p.graph, f.host_ids(), kind=f.kind)


def ids(f: fr.Frontier | None) -> Any:
    """A frontier as a sorted list of ids, with its kind; raises where it is no set."""
    if f is None:
        return None
    some = sorted(f.ids.tolist())
    assert len(set(some)) == len(some) == len(f)
    return f.kind, some


def state(p: fr.Problem) -> dict[str, Any]:
    """All fields of a problem, as plain Python values."""
    made: dict[str, Any] = {name: getattr(p, name).tolist() for name in p.arrays}
    made |= {name: scalar[0].item() for name, scalar in p.scalars.items()}
    made |= {name: ids(pile) for name, pile in p.piles.items()}
    return made


def host(found: Any) -> Any:
    """What a run has left, in the host's memory: of a problem its fields."""
    if isinstance(found, tuple):
        return tuple(map(host, found))
    if isinstance(found, fr.Frontier):
        return fr.Frontier(found.graph.to("cpu"), found.host_ids(), kind=found.kind)
    if isinstance(found, fr.Problem):
        fields = {name: to_host(getattr(found, name)) for name in found.arrays}
        fields |= {name: scalar[0] for name, scalar in found.scalars.items()}
        fields |= {name: host(pile) for name, pile in found.piles.items()}
        return SimpleNamespace(graph=found.graph.to("cpu"), **fields)
    return to_host(found) if hasattr(found, "shape") else found


def agree(
    name: str,
    g: fr.Graph,
    make: Callable[[fr.Graph], fr.Problem],
    run: Callable[[fr.Problem], Any],
    count: int = 1,
) -> tuple[Any, Any]:
    """Run on python and on another backend; both must leave the same fields and frontier. Gives those of the other.

    A GPU adds floats in no fixed order and rounds a product and a sum at once, so there they are compared as such.
    """
    p = make(g.to("python"))
    expected = run(p)
    q = make(g.to(name))
    with workers(count):
        result = run(q)
    before, after = state(p), state(q)
    assert after.keys() == before.keys()
    for field, value in before.items():
        if name.startswith("cuda") and field not in p.piles and p.fields[field].dtype.kind == "f":
            np.testing.assert_allclose(after[field], value, rtol=1e-12, err_msg=field)
        else:
            np.testing.assert_equal(after[field], value, err_msg=field)
    if isinstance(expected, fr.Frontier):
        assert ids(result) == ids(expected)
    elif name.startswith("cuda") and isinstance(expected, float):
        np.testing.assert_allclose(result, expected, rtol=1e-12)
    else:
        np.testing.assert_equal(result, expected)
    return (q, result) if name == "cpu" else (host(q), host(result))


def primitives_agree(g: fr.Graph, there: fr.Graph) -> None:
    """The five primitives give on several parts of a graph what they give on one; verifiers look at paths."""
    found = fr.bfs(there, 5)
    assert np.array_equal(found.level, fr.bfs(g, 5).level)
    fr.verify.bfs(g, found)
    if g.weights is not None:
        fr.verify.sssp(g, fr.sssp(there, 5))
        fr.verify.sssp(g, fr.sssp(there, 5, schedule=fr.Schedule(order="near_far")))
    assert np.array_equal(fr.connected_components(there).label, fr.connected_components(g).label)
    np.testing.assert_allclose(fr.pagerank(there).rank, fr.pagerank(g).rank, rtol=1e-9)
    np.testing.assert_allclose(
        fr.betweenness(there, [5, 9]).centrality, fr.betweenness(g, [5, 9]).centrality, rtol=1e-9, atol=1e-12
    )
