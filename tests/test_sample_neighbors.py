"""Neighbour sampling in layers: which edges, which vertices, in which order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import equal
from conftest import Backend
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs

import frontier as fr
from frontier.memory.arrays import to_host


def check(g: fr.Graph, found: Any, begin: list[int], fanouts: list[int], edges: str) -> None:
    """Layer by layer: of each vertex that is new, as many edges as asked for, or all; vertices in order, each once."""
    node, slot = to_host(found.node).tolist(), to_host(found.edge)
    source, target = g.sources[slot], g.targets[slot]
    equal(source, np.array(node, np.int64)[to_host(found.row)])
    equal(target, np.array(node, np.int64)[to_host(found.col)])
    near, far = (target, source) if edges == "in" else (source, target)
    degree = g.in_degree if edges == "in" else g.out_degree
    known, fresh, at = list(begin), list(begin), 0
    assert found.num_sampled_nodes[0] == len(begin)
    for layer, count in enumerate(fanouts):
        cut = slice(at, at + found.num_sampled_edges[layer])
        at = cut.stop
        assert len(set(slot[cut].tolist())) == cut.stop - cut.start
        drawn = np.bincount(near[cut], minlength=g.num_vertices)
        assert {v: drawn[v] for v in fresh} == {v: min(degree[v], count) for v in fresh}
        assert drawn.sum() == sum(drawn[v] for v in fresh)
        fresh = sorted(set(far[cut].tolist()) - set(known))
        known += fresh
        assert found.num_sampled_nodes[layer + 1] == len(fresh)
    assert node == known
    assert at == len(slot)


@pytest.mark.parametrize("edges", ["in", "out"])
@given(graphs(min_vertices=1), st.data())
def test_layers(backend: Backend, edges: str, g: fr.Graph, data: Any) -> None:
    begin = data.draw(st.lists(st.integers(0, g.num_vertices - 1), unique=True, max_size=4))
    fanouts = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    seed = data.draw(st.integers(0, 9))
    found = fr.sample_neighbors(backend(g), begin, fanouts, edges=edges, seed=seed)
    check(g, found, begin, fanouts, edges)
    again = fr.sample_neighbors(g.to("python"), begin, fanouts, edges=edges, seed=seed)
    equal(found.edge, again.edge)


def test_seeds_and_larger_graphs(backend: Backend) -> None:
    g = fr.rmat(9, 8, seed=1, directed=True)
    begin = [3, 1, 200]
    drawn = [fr.sample_neighbors(backend(g), begin, [5, 3], seed=seed) for seed in (1, 2, 1)]
    for found in drawn:
        check(g, found, begin, [5, 3], "in")
    equal(drawn[0].edge, drawn[2].edge)
    assert set(to_host(drawn[0].edge).tolist()) != set(to_host(drawn[1].edge).tolist())


def test_by_label(backend: Backend) -> None:
    g = backend(fr.from_edges(["ann", "bob", "cid"], ["bob", "cid", "ann"], directed=True))
    found = fr.sample_neighbors(g, ["ann"], [1, 1])
    assert found.table()["source"].tolist() == ["cid", "bob"]
    assert found.table()["target"].tolist() == ["ann", "cid"]
    assert to_host(found.node).tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vertices": [0, 0]}, "one of them comes twice"), ({"vertices": [9]}, "no vertex 9"),
        ({"fanouts": []}, "at least 1"), ({"fanouts": [2, 0]}, "at least 1"), ({"edges": "both"}, "choose 'in' or"),
        ({"seed": 0.5}, "seed"),
    ],
)  # fmt: skip
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    given = {"vertices": [0], "fanouts": [2], **options}
    with pytest.raises(fr.GraphError, match=message):
        fr.sample_neighbors(fr.path(4), **given)
