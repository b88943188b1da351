"""Edges of infinite weight, and sums that overflow: nobody is reached over them, so nobody has a parent there."""

from __future__ import annotations

import numpy as np
import pytest
from compare import equal, workers

import frontier as fr
from frontier.memory import arrays

SHAPES = {
    "one edge": ([0], [1], [np.inf]),
    "a way around": ([0, 0, 1], [1, 2, 2], [np.inf, 1.0, 2.0]),
    "beyond": ([0, 1, 2], [1, 2, 3], [1.0, np.inf, 1.0]),
    "a sum that overflows": ([0, 1, 2], [1, 2, 3], [1e308, 1e308, 1e308]),
    "a loop, and parallel edges": ([0, 0, 0, 1], [0, 1, 1, 2], [np.inf, np.inf, 2.0, np.inf]),
    "all": ([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], [np.inf] * 5),
}


def expected(g: fr.Graph) -> np.ndarray:
    """Bellman and Ford's."""
    distance = np.full(g.num_vertices, np.inf, g.weights.dtype)
    distance[0] = 0
    with np.errstate(over="ignore"):
        for _ in range(g.num_vertices):
            np.minimum.at(distance, g.targets, distance[g.sources] + g.weights)
    return distance


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", SHAPES)
def test_nobody_is_reached_over_an_infinite_edge(backend, name, directed, dtype):
    src, dst, weights = SHAPES[name]
    with np.errstate(over="ignore"):
        values = np.array(weights, dtype)
    g = fr.from_edges(src, dst, values, directed=directed, duplicates="keep")
    for options in ({}, {"dtype": "float32"}) if dtype == "float32" else ({},):
        with workers(2):
            result = fr.sssp(backend(g), 0, **options)
        distance = expected(g)
        equal(result.distance, distance)
        assert (arrays.to_host(result.parent)[np.isinf(distance)] == -1).all()
        fr.verify.sssp(backend(g), result).raise_if_failed()
        fr.verify.sssp(backend(g), result, tolerance=0).raise_if_failed()


def test_integers_that_may_overflow_are_refused(backend):
    g = fr.from_edges([0, 1], [1, 2], np.array([2**62, 2**62]))
    with pytest.raises(fr.GraphError, match="may not fit into 64 bits"):
        fr.sssp(backend(g), 0)
