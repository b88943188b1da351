"""What Louvain and Leiden promise alike: exact sums, the same on any number of threads, and no move that is left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import equal, workers
from fuzz_communities import campaign, exact_modularity, graph_of

import frontier as fr
from frontier.memory import detection
from frontier.primitives._communities import common_divisor, weighted

BOTH = pytest.mark.parametrize("find", [fr.louvain, fr.leiden])
ON_CPU = pytest.mark.skipif(detection.simulated(), reason="the cpu backend is what is tested")


@BOTH
@pytest.mark.parametrize("scale", [10**9, 2**53 + 1, 0.1, 1e-310, 1e300])
def test_the_unit_of_weights_does_not_matter(find: Any, scale: float) -> None:
    g = fr.karate().to("python")
    expected, found = find(g), find(g.with_weights(np.full(g.num_slots, scale)))
    equal(found.label, expected.label)
    assert found.modularity == expected.modularity


@BOTH
def test_weights_far_apart(find: Any) -> None:
    """An edge of 1e-300 of the others counts as none: no float can tell what it adds to modularity."""
    g = fr.from_edges([0, 1, 0, 3], [1, 2, 2, 4], [1e150, 1e150, 1e150, 1e-150]).to("python")
    result = find(g)
    assert result.label.tolist() == [0, 0, 0, 1, 2]
    assert fr.verify.communities(g, result, connected=True, tolerance=1e-15)


@pytest.mark.parametrize("bits", [3, 40, 61.9])
@pytest.mark.parametrize("dtype", ["int64", "uint64", "float32", "float64"])
def test_weights_become_integers_whose_sums_fit(dtype: str, bits: float) -> None:
    values = np.random.default_rng(1).random(8)
    values = np.maximum(values / values.sum() * 2.0**bits / 2, 1).astype(dtype)
    values[0] = values[0] if dtype[0] == "f" else values[0] | 1
    g = fr.from_edges([0, 0, 1, 2, 3, 3, 4, 5], [0, 1, 2, 3, 3, 4, 5, 0], values)
    h = weighted(g)
    assert h.weights is not None
    assert h.weights.dtype == np.int64
    total = sum(h.weights.tolist())
    assert total < 2**62
    assert common_divisor(h.weights) == 1
    given = np.array(g.weights.tolist(), object)
    pairs = zip(h.weights.tolist(), given, strict=True)
    share = [abs(w * sum(given) - v * total) / (total * sum(given)) for w, v in pairs]
    assert max(share) <= (2.0**-60 if dtype[0] == "f" else 0)


def test_common_divisors() -> None:
    for values, divisor in (([], 1), ([0, 0], 1), ([0, 6, 4], 2), ([7], 7), ([2**61, 3 * 2**60], 2**60), ([5, 3], 1)):
        assert common_divisor(np.array(values, np.int64)) == divisor
    assert common_divisor(np.append(np.full(5000, 12), 8)) == 4


@ON_CPU
@BOTH
def test_float_weights_are_the_same_on_any_number_of_threads(find: Any) -> None:
    """Tenths, as sums of which are rounded differently in another order; and the interpreter finds the same."""
    g = fr.rmat(5, 6, seed=1, weights=(1, 3))
    g = g.with_weights(g.weights / 10)
    expected = find(g.to("python"))
    for count in (1, 2, 4) * 3:
        with workers(count):
            found = find(g.to("cpu"))
        equal(found.label, expected.label)
        assert found.modularity == expected.modularity


@ON_CPU
@BOTH
@pytest.mark.deep
def test_float_weights_are_the_same_in_many_runs(find: Any) -> None:
    """A hundred for each number of threads by hand."""
    g = fr.urand(11, 12, seed=1)
    there = g.with_weights(np.full(g.num_slots, 0.1)).to("cpu")
    assert g.num_vertices + g.num_slots > 1 << 15  # more than one worker takes part
    seen = set()
    for count in (1, 2, 4):
        with workers(count):
            for _ in range(6):
                found = find(there)
                seen.add((found.label.tobytes(), found.modularity))
    assert len(seen) == 1


@ON_CPU
@pytest.mark.parametrize("number", [204, 215, 236])
def test_no_vertex_is_left_that_had_better_be_alone(number: int) -> None:
    """Also the one by which its community is called."""
    g, resolution = graph_of(number), (1.0, 1.0, 0.5, 2.0)[number % 4]
    result = fr.louvain(g.to("cpu"), resolution=resolution, seed=number)
    modularity, gain = exact_modularity(g, result.label.tolist(), resolution)
    assert result.modularity == pytest.approx(float(modularity), abs=1e-13)
    assert gain <= 1e-15


@ON_CPU
def test_some_graphs_against_exact_arithmetic() -> None:
    """10,000 of them by hand: python -m tests.fuzz_communities."""
    found = campaign(40)
    assert found == {"wrong": [], "left": {"louvain": [], "leiden": []}}
