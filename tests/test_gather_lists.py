"""Gather on the GPU, with lists around every length at which it takes another way, and several in a warp."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from compare import host
from conftest import Backend

import frontier as fr
from frontier.program.execution import run

#: Lengths around those at which lists are walked in another way.
LENGTHS = (1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129, 1023, 1024)
SPREAD, N = 160, 1300


def problem(g: fr.Graph) -> fr.Problem:
    n, m = g.num_vertices, g.num_slots
    return fr.Problem(
        g,
        value=fr.vertex("int32", np.arange(n) * 37 % 101 - 50),
        real=fr.vertex("float32", (np.arange(n) * 37 % 101 - 50) / 8),
        steep=fr.vertex("bool", np.arange(n) * 37 % 101 == 0),
        price=fr.edge("int64", np.arange(m) * 11 % 103),
        whole=fr.vertex("int64", -99),
        part=fr.vertex("float64", -99),
        flag=fr.vertex("bool"),
    )


def all_there_is(p, src, dst, edge, weight):
    return p.value[src] * 3 - p.value[dst] + p.price[edge] * weight


def far_in(p, src):
    return p.real[src]


def far_out(p, dst):
    return p.real[dst]


def chosen(p, src, dst):
    return p.real[src] if p.value[src] < p.value[dst] else 8 * p.real[dst]


def steep(p, src):
    return p.steep[src]


def open_out(p, dst):
    return not p.steep[dst]


def low(p, src):
    return p.value[src] < 0


STEPS: dict[str, dict[str, Any]] = {
    "sum of floats": {"fn": far_in, "op": "sum", "into": "part"},
    "sum of floats, out": {"fn": far_out, "op": "sum", "into": "part", "edges": "out"},
    "sum of all there is": {"fn": all_there_is, "op": "sum", "into": "whole"},
    "max of all there is, out": {"fn": all_there_is, "op": "max", "into": "whole", "edges": "out"},
    "min with a branch": {"fn": chosen, "op": "min", "into": "part"},
    "max with a branch, out": {"fn": chosen, "op": "max", "into": "part", "edges": "out"},
    "any": {"fn": steep, "op": "any", "into": "flag"},
    "all, out": {"fn": open_out, "op": "all", "into": "flag", "edges": "out"},
    "with a condition": {"fn": far_in, "op": "sum", "into": "part", "where": low},
}


@cache
def graph(most: int) -> fr.Graph:
    """Lists of all lengths up to ``most``, in both directions: some side by side, some among short and empty ones."""
    rng = np.random.default_rng(most)
    lengths = [length for length in (*LENGTHS, *LENGTHS[3:9], 1100, 1100) if length <= most]
    few = np.concatenate((np.arange(20), rng.choice(np.arange(20, SPREAD), len(lengths) - 20, replace=False)))
    assert len(few) == len(lengths)
    near = np.repeat(few, rng.permutation(lengths))
    far = np.concatenate([SPREAD + rng.permutation(N - SPREAD)[: np.sum(near == v)] for v in dict.fromkeys(near)])
    src, dst = np.concatenate((near, far)), np.concatenate((far, near))
    g = fr.from_edges(src, dst, rng.integers(1, 9, len(src)), num_vertices=N, directed=True)
    for degree in (g.in_degree, g.out_degree):
        assert {0, *lengths} <= set(degree.tolist())
    return g


def gathered(g: fr.Graph, step: dict[str, Any], ids: Any) -> Any:
    p = problem(g)
    if ids is None:  # a program that sweeps, as PageRank's
        run(fr.Gather(**step, over="vertices"), p)
    else:
        run(fr.Gather(**step), p, fr.Frontier(g, ids))
    return getattr(host(p), step["into"])


@pytest.mark.parametrize("name", STEPS)
def test_lists_of_every_length(cuda: Backend, name: str) -> None:
    for most, ids in ((1024, None), (1100, np.random.default_rng(3).permutation(N)[: N // 2])):
        g = graph(most)
        np.testing.assert_array_equal(gathered(cuda(g), STEPS[name], ids), gathered(g, STEPS[name], ids))
