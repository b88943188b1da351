"""The graph between communities, as a program: the same as ``Graph.contracted``, but for the order in rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import equal
from conftest import Backend

import frontier as fr
from frontier.memory.arrays import to_host
from frontier.primitives._communities import weighted
from frontier.primitives._contraction import contraction


def rows(g: fr.Graph) -> list[Any]:
    """Ends and weights in the order of ends."""
    ends = [to_host(each) for each in (g.sources, g.targets, g.weights)]
    return [each[np.lexsort(ends[1::-1])] for each in ends]


def labels(kind: str, n: int) -> Any:
    rng = np.random.default_rng(n)
    made = {"own": np.arange(n), "one": np.full(n, n - 1), "few": rng.integers(0, 5, n) * (n // 5)}
    return made[kind] if kind in made else rng.integers(0, n, n)


@pytest.mark.parametrize("kind", ["own", "one", "few", "any"])
@pytest.mark.parametrize("name", ["karate", "loops", "isolated", "star", "zero weights"])
def test_the_same_graph(backend: Backend, name: str, kind: str) -> None:
    graphs = {
        "karate": fr.karate(),
        "loops": fr.from_edges([0, 0, 1, 3, 4], [0, 1, 2, 3, 4], [5, 1, 2, 7, 1]),
        "isolated": fr.from_edges([1], [2], num_vertices=9),
        "star": fr.star(70),
        "zero weights": fr.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 0], [0, 1, 0, 2, 0]),
    }
    h = weighted(backend(graphs[name]))
    label = h.placement.memory.xp.asarray(labels(kind, h.num_vertices).astype(h.id_dtype))
    group, found = contraction(h, label)
    expected = h.contracted(label)
    equal(group, np.searchsorted(to_host(expected.vertices["label"]), to_host(label)))
    assert found.num_vertices == expected.num_vertices
    assert found.symmetric
    for mine, other in zip(rows(found), rows(expected), strict=True):
        equal(mine, other)


def test_no_vertices(backend: Backend) -> None:
    h = weighted(backend(fr.from_edges([], [])))
    group, found = contraction(h, h.placement.memory.xp.empty(0, h.id_dtype))
    assert (len(group), found.num_vertices, found.num_slots) == (0, 0, 0)
