"""Generated graphs: their shape, their seeds, what is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import environment

import frontier as fr
from frontier.generators import random_numbers

nx = pytest.importorskip("networkx", reason="NetworkX is not installed")


def edges_of(graph: fr.Graph) -> set[tuple[int, int]]:
    pairs = set(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    assert len(pairs) == graph.num_slots
    return pairs


@pytest.mark.parametrize(
    ("graph", "same"),
    [
        (fr.path(6), nx.path_graph(6)),
        (fr.path(1), nx.path_graph(1)),
        (fr.star(6), nx.star_graph(5)),
        (fr.star(1), nx.empty_graph(1)),
        (fr.complete(6), nx.complete_graph(6)),
        (fr.tree(3, 2), nx.balanced_tree(3, 2)),
        (fr.tree(1, 4), nx.path_graph(5)),
        (fr.tree(2, 0), nx.empty_graph(1)),
        (fr.grid(3, 4), nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 4))),
        (fr.small_world(9, 4, 0), nx.watts_strogatz_graph(9, 4, 0)),
        (fr.karate(), nx.karate_club_graph()),
    ],
)
def test_regular_graphs_are_those_of_networkx(graph: fr.Graph, same: Any) -> None:
    assert graph.num_vertices == len(same)
    assert edges_of(graph) == set(same.to_directed().edges)
    assert not graph.directed


@pytest.mark.parametrize("make", [fr.path, fr.star, fr.complete])
def test_graphs_without_vertices(make: Callable[[int], fr.Graph]) -> None:
    assert make(0).num_vertices == 0
    assert make(0).num_slots == 0


def test_a_grid_without_vertices() -> None:
    assert fr.grid(0, 5).num_vertices == 0
    assert fr.small_world(0, 0, 0.5).num_vertices == 0


@pytest.mark.parametrize("make", [fr.rmat, fr.urand])
@pytest.mark.parametrize("directed", [True, False])
def test_random_graphs(make: Callable[..., fr.Graph], directed: bool) -> None:
    graph = make(10, 8, seed=3, directed=directed)
    assert graph.num_vertices == 1024
    assert graph.directed == directed
    pairs = edges_of(graph)
    assert all(s != d for s, d in pairs)
    most = 1024 * 8 * (1 if directed else 2)
    assert most / 2 < len(pairs) <= most
    if not directed:
        assert pairs == {(d, s) for s, d in pairs}


@pytest.mark.parametrize("make", [fr.rmat, fr.urand])
def test_a_seed_decides(make: Callable[..., fr.Graph]) -> None:
    first, again, other = (make(8, seed=s, weights=(1, 64)) for s in (5, 5, 6))
    assert np.array_equal(first.targets, again.targets)
    assert np.array_equal(first.weights, again.weights)
    assert edges_of(first) != edges_of(other)
    assert edges_of(make(8)) != edges_of(make(8))


@pytest.mark.parametrize("make", [fr.rmat, fr.urand])
def test_threads_do_not_matter(make: Callable[..., fr.Graph], monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = []
    for count in (1, 3):
        monkeypatch.setattr(random_numbers, "workers_for", lambda _, count=count: count)
        graphs.append(make(7, seed=1, weights=(0.0, 1.0)))
    assert np.array_equal(graphs[0].targets, graphs[1].targets)
    assert np.array_equal(graphs[0].weights, graphs[1].weights)


def test_a_seed_means_the_same_in_every_version() -> None:
    """Whoever changes this changes every published measurement that names a seed."""
    graph = fr.rmat(4, 2, seed=1, weights=(1, 64))
    assert graph.targets.tolist() == RMAT_TARGETS
    assert graph.weights.tolist() == RMAT_WEIGHTS


def test_rmat_follows_its_probabilities() -> None:
    """The highest bit of source and target falls into the four quarters as a, b, c say."""
    a, b, c = 0.5, 0.3, 0.15
    src, dst = np.empty(40_000, np.int64), np.empty(40_000, np.int64)
    from frontier.generators import kernels

    thresholds = [np.uint64(p * 2**32) for p in (a, a + b, a + b + c)]
    kernels.rmat(np.uint64(9), 0, len(src), 5, *thresholds, src, dst)
    assert src.max() == dst.max() == 31
    for bit in range(5):
        quarter = ((src >> bit) & 1) * 2 + ((dst >> bit) & 1)
        share = np.bincount(quarter, minlength=4) / len(src)
        assert np.allclose(share, [a, b, c, 1 - a - b - c], atol=0.02)


def test_rmat_is_skewed_and_permuted() -> None:
    plain, permuted = fr.rmat(10, permute=False, seed=1), fr.rmat(10, seed=1)
    assert sorted(plain.out_degree) == sorted(permuted.out_degree)
    assert plain.out_degree.argmax() < 2 < permuted.out_degree.argmax()
    assert plain.out_degree.max() > 10 * plain.out_degree.mean()
    one_corner = fr.rmat(5, a=1.0, b=0, c=0, permute=False, seed=1)
    assert one_corner.num_slots == 0  # nothing but the self-loop of vertex 0


def test_a_uniform_graph_is_not_skewed() -> None:
    degree = fr.urand(12, 16, seed=1).out_degree
    assert degree.max() < 3 * degree.mean()
    assert 31 < degree.mean() <= 32


def test_a_small_world_between_order_and_chance() -> None:
    graph = fr.small_world(1000, 6, 0.1, seed=1)
    pairs = edges_of(graph)
    ring = edges_of(fr.small_world(1000, 6, 0, seed=1))
    assert all(s != d for s, d in pairs)
    assert 0.85 < len(pairs & ring) / len(ring) < 0.95
    assert 0.99 * len(ring) < len(pairs) <= len(ring)


def test_weights_in_a_range() -> None:
    whole = fr.grid(50, 50, weights=(2, 5), seed=1)
    assert whole.weights.dtype == np.int32
    assert set(whole.weights.tolist()) == {2, 3, 4, 5}
    assert np.array_equal(whole.weights[whole.in_edges], whole.weights)
    real = fr.karate(weights=(-1.0, 1.0), seed=1)
    assert real.weights.dtype == np.float64
    assert -1 <= real.weights.min() < -0.5 < 0.5 < real.weights.max() < 1
    assert fr.path(3, weights=(2**40, 2**40)).weights.tolist() == [2**40] * 4
    assert fr.path(2).weights is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fr.rmat(-1), "scale must be at least 0 and at most 40, not -1"),
        (lambda: fr.rmat(2.0), "scale must be an integer, not 2.0"),
        (lambda: fr.rmat(3, a=0.9, b=0.2), "add up to at most 1"),
        (lambda: fr.rmat(3, a=-0.1), "must be probabilities"),
        (lambda: fr.rmat(3, edge_factor=-1), "edge_factor must be a number from 0"),
        (lambda: fr.rmat(3, seed=-1), "seed must be at least 0"),
        (lambda: fr.rmat(3, seed="a"), "seed must be an integer"),
        (lambda: fr.urand("x"), "scale must be an integer, not 'x'"),
        (lambda: fr.path(-1), "n must be at least 0, not -1"),
        (lambda: fr.grid(2, -1), "columns must be at least 0"),
        (lambda: fr.tree(0, 3), "branching must be at least 1"),
        (lambda: fr.small_world(10, 3, 0.1), "k must be even and less than n = 10, not 3"),
        (lambda: fr.small_world(4, 4, 0.1), "k must be even and less than n = 4, not 4"),
        (lambda: fr.small_world(10, 4, 2), "p must be a probability, not 2"),
        (lambda: fr.star(5, weights=(9, 1)), "low <= high"),
        (lambda: fr.star(5, weights=3), "low <= high"),
        (lambda: fr.star(5, weights=(0, 2**64)), "must fit into int64"),
    ],
)
def test_bad_arguments(make: Callable[[], fr.Graph], message: str) -> None:
    with pytest.raises(fr.GraphError, match=message):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: fr.rmat(40),
        lambda: fr.urand(40, 0),
        lambda: fr.grid(10**6, 10**7),
        lambda: fr.path(10**14),
        lambda: fr.star(10**14),
        lambda: fr.complete(10**8),
        lambda: fr.tree(9, 40),
        lambda: fr.tree(1, 10**14),
        lambda: fr.small_world(10**13, 10, 0.5),
    ],
)
def test_a_graph_larger_than_memory(make: Callable[[], fr.Graph]) -> None:
    with pytest.raises(fr.FrontierMemoryError, match=r"bytes are needed .*, [\d,]+ are free .*; make a smaller one"):
        make()


def test_real_graphs_load(real_graph: Any) -> None:
    rome, karate = real_graph("road-rome99"), real_graph("nk-karate")
    assert (rome.num_vertices, rome.num_slots, rome.directed) == (3353, 8859, True)  # 11 of 8870 are parallel
    assert rome.weights.min() > 0
    assert edges_of(karate) == edges_of(fr.karate())


RMAT_TARGETS = [
    4,
    8,
    15,
    3,
    4,
    5,
    8,
    9,
    11,
    12,
    13,
    14,
    15,
    1,
    0,
    1,
    14,
    15,
    1,
    15,
    0,
    1,
    10,
    1,
    15,
    8,
    11,
    1,
    10,
    15,
    1,
    1,
    1,
    4,
    0,
    1,
    4,
    5,
    9,
    11,
]
RMAT_WEIGHTS = [
    35,
    7,
    4,
    11,
    34,
    40,
    30,
    39,
    27,
    10,
    62,
    54,
    13,
    11,
    35,
    34,
    13,
    34,
    40,
    31,
    7,
    30,
    61,
    39,
    62,
    61,
    4,
    27,
    4,
    15,
    10,
    62,
    54,
    13,
    4,
    13,
    34,
    31,
    62,
    15,
]


@pytest.mark.parametrize("scale", [0, 1, 2, 7, 12])
def test_array_operations_make_the_same_as_kernels(scale: int) -> None:
    from frontier.generators import arrays
    from frontier.generators import kernels as generate_kernels

    thresholds = [np.uint64(p * 2**32) for p in (0.57, 0.76, 0.95)]
    made = []
    for how in (arrays, generate_kernels):
        src, dst = np.full(3000, -1, np.int32), np.full(3000, -1, np.int32)
        how.rmat(np.uint64(2**64 - 5), 7, 2999, scale, *thresholds, src, dst)
        names, numbers = np.arange(1 << scale, dtype=np.int32), np.zeros(100, np.uint64)
        how.shuffle(np.uint64(11), names)
        how.relabel(src, names, 7, 2999)
        how.fill(np.uint64(2**63), 3, 99, numbers)
        made.append([each.tolist() for each in (src, dst, names, numbers)])
    assert made[0] == made[1]


def test_small_graphs_are_made_and_sorted_without_kernels(tmp_path: Path) -> None:
    """Compiled kernels are loaded only where they are worth it, and from there on used."""
    program = """
import sys
import frontier as fr
kernels = "frontier.generators.kernels", "frontier.graph.build_kernels"
fr.rmat(14, weights=(1, 9), seed=1)
print([name in sys.modules for name in ("numba", *kernels)])
fr.rmat(16, seed=1)
print([name in sys.modules for name in kernels])
"""
    env = environment(FRONTIER_CACHE_DIR=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", program], env=env, text=True, capture_output=True, check=True)
    assert done.stdout.splitlines() == ["[False, False, False]", "[True, True]"]
