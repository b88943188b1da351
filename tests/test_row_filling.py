"""Edges of graphs in parts come to their rows: the same by compiled kernels on threads as by array operations."""

from __future__ import annotations

import numpy as np
import pytest

import frontier as fr
from frontier.distributed.ranks import row_filling, row_kernels
from frontier.native import threads


@pytest.fixture(params=[1, 3])
def compiled(request, monkeypatch):
    """Kernels also for few entries, on some threads."""
    monkeypatch.setattr(row_filling, "_kernels", lambda number: row_kernels)
    monkeypatch.setattr(row_filling, "workers_for", lambda number: request.param)
    before = threads.num_threads()
    threads.set_num_threads(request.param)
    yield
    threads.set_num_threads(before)


@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("counted", ["int32", "int64"])
@pytest.mark.parametrize(("length", "rows"), [(0, 5), (1, 1), (4000, 3), (4000, 2500), (20_000, 40)])
def test_counts_and_places(compiled, ids, counted, length, rows):
    given = np.random.default_rng(length).integers(0, rows, length).astype(ids)
    found = np.zeros(rows + 1, counted)
    row_filling.count(found[1:], given)
    assert np.array_equal(found[1:], np.bincount(given, minlength=rows))
    cursor = np.cumsum(found)[:-1].astype(counted)
    other = cursor.copy()
    for part in (given[: length // 3], given[length // 3 :]):  # the second goes on
        assert np.array_equal(row_filling.places(cursor, part), row_filling._few_places(other, part))
    assert np.array_equal(cursor, other)


@pytest.mark.parametrize("dtype", ["bool", "int16", "int32", "uint64", "float32", "float64", "U3", "complex128"])
def test_values(compiled, dtype):
    at = np.random.default_rng(1).permutation(5000)
    values = (np.arange(5000) % 7).astype(dtype)
    out = np.zeros(5000, dtype)
    row_filling.scatter(out, at, values)
    row_filling.scatter(out[:2], at[:0], values[:0])
    assert np.array_equal(out[at], values)


def test_values_of_another_dtype(compiled):
    out = np.zeros(6, "int64")
    row_filling.scatter(out, np.array([4, 2]), np.array([3, -1], "int32"))
    assert out.tolist() == [0, 0, -1, 0, 3, 0]


@pytest.mark.parametrize("there", ["ranks:3", "ranks:4,2d"])
@pytest.mark.parametrize("directed", [False, True])
def test_graphs(compiled, there, directed):
    made = fr.rmat(10, 8, seed=5, weights=(1, 9), directed=directed, placement=there)
    whole = fr.rmat(10, 8, seed=5, weights=(1, 9), directed=directed)
    assert np.array_equal(made.offsets, whole.offsets)
    assert np.array_equal(made.targets.gather(), whole.targets)
    assert np.array_equal(made.weights.gather(), whole.weights)
    found = fr.pagerank(made)
    np.testing.assert_allclose(found.rank, fr.pagerank(whole).rank, rtol=1e-9)
