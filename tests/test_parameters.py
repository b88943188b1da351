"""Numbers that calls and loops are given are no part of compiled code: any of them runs the same program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import pool
import pytest
from compare import ids

import frontier as fr
from frontier.backends.cpu import code, execution

G = fr.karate()
WEIGHTED = fr.path(6, weights=(1, 9), seed=1)


class Named(Exception):
    """The name of the code that would be compiled."""


def name_of(call: Callable[[], Any]) -> str:
    def code_of(step: Any, *given: Any) -> Any:  # whether or not it has been compiled
        program = execution.program_of(step, *given)
        program.captures = step._captures.parts
        raise Named(code._named(program)[0])

    with mock.patch.object(execution, "code_of", code_of), pytest.raises(Named) as caught:
        call()
    return str(caught.value)


def accept(p, dst):
    return dst != p.k


def nothing(p, i):
    pass


def keep(p, v):
    return v != p.k


CALLS: dict[str, Callable[[fr.Problem, int], Any]] = {
    "seed": lambda p, k: fr.advance(p, fr.Frontier.all(G), accept, part=fr.sample(2, seed=k)),
    "over": lambda p, k: fr.compute(p, None, nothing, over=k),
    "times": lambda p, k: fr.Loop(fr.Filter(keep), times=k)(p, fr.Frontier.all(G)),
    "times within": lambda p, k: fr.Loop(fr.Loop(fr.Filter(keep), times=k), times=k + 1)(p, fr.Frontier.all(G)),
    "delta": lambda p, k: fr.sssp(WEIGHTED, 0, delta=k),
    "delta of floats": lambda p, k: fr.sssp(WEIGHTED.with_weights(WEIGHTED.weights / 2), 0, delta=k / 3),
    "damping": lambda p, k: fr.pagerank(G, damping=1 / k, max_iterations=k),
    "walks": lambda p, k: fr.node2vec_walks(G, length=k, seed=k, p=k, q=1 / k),
    "sources": lambda p, k: fr.sssp_many(WEIGHTED, range(k)),
}


@pytest.mark.parametrize("what", CALLS)
def test_a_number_is_no_part_of_the_code(what: str) -> None:
    p = fr.Problem(G.to("cpu"), k=fr.scalar("int64"))
    assert len({name_of(lambda k=k: CALLS[what](p, k)) for k in (2, 3, 5)}) == 1


def test_the_numbers_count(backend: Any) -> None:
    """The same program with other numbers does other things."""
    g = backend(fr.path(6))
    p = pool.problem(g)
    counts = fr.Problem(g, total=fr.scalar("int64"))
    for k in (1, 3, 4):
        loop = fr.Loop(fr.Advance(lambda p, dst: True), times=k)
        assert ids(loop(p, fr.Frontier(g, [0])))[1] == list(range(k % 2, k + 1, 2))
        assert fr.reduce(counts, None, lambda p, i: i + 1, "sum", "total", over=k) == k * (k + 1) // 2
    for seed in (-(2**63), 7, 2**63 - 1):
        drawn = fr.advance(p, fr.Frontier(g, [2]), lambda p, dst: True, part=fr.sample(1, seed=seed))
        place = fr.sample(1).places(seed, 2, 2)[0]
        assert ids(drawn)[1] == [[1, 3][place]]


def test_setting_numbers_compiles_nothing() -> None:
    p = fr.Problem(G.to("cpu"), k=fr.scalar("int64"), x=fr.scalar("float64"), y=fr.scalar("float64"))
    p.x = 2.5
    with mock.patch.object(execution, "compiled", side_effect=AssertionError):
        fr.set(p, k=7)
    fr.set(p, k=1, y=lambda p: p.k + p.x, x=4)
    assert (p.k, p.x, p.y) == (1, 4.0, 9.5)
    with pytest.raises(fr.FrontierError, match="k="):
        fr.set(p, x=1.0, k=1.5)
    assert p.x == 4.0
