"""Degrees that ranks count together, each those of some vertices: the same cuts and offsets as of all at once."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontier.distributed.partition.cuts import PER_VERTEX, at_equal_weights, of_ranks
from frontier.distributed.ranks import degree_counts
from frontier.distributed.ranks.degree_counts import Counts, offsets_of
from frontier.distributed.ranks.graphs import on_all
from frontier.distributed.transport.threads import Threads


def counted(pieces, n, size, dtype=np.int32):
    """For each rank its starts, its degrees, and the offsets of all; every rank counts a share of each piece."""

    def one(comm):
        counts = Counts(comm, np.dtype(dtype))
        for piece in pieces:
            counts.add(piece[comm.rank :: size], piece[:0])
        starts = counts.starts(n)
        before = counts.before(starts)
        own = counts.own(starts)
        return starts, before, own, *offsets_of(own, starts, comm)

    return on_all(Threads(size).members, one)


def check(pieces, n, size, **more):
    ids = np.concatenate([np.zeros(0, np.int64), *pieces])
    degree = np.bincount(ids, minlength=n)
    expected = np.concatenate(([0], np.cumsum(degree)))
    cuts = of_ranks(at_equal_weights(expected, size))
    for rank, (starts, before, own, offsets, bounds) in enumerate(counted(pieces, n, size, **more)):
        assert np.array_equal(starts, cuts)
        assert np.array_equal(before, expected[cuts])
        assert np.array_equal(own, degree[cuts[rank] : cuts[rank + 1]])
        assert np.array_equal(offsets, expected)
        assert offsets.dtype == np.int32
        assert np.array_equal(bounds, expected[cuts])
    return cuts, expected


@given(
    st.integers(1, 5), st.integers(0, 300), st.sampled_from([1, 2, 5]), st.sampled_from([1, 7]),
    st.integers(0, 2**32), st.sampled_from(["int32", "int64"]),
)  # fmt: skip
@settings(max_examples=80, deadline=None)
def test_cuts_degrees_and_offsets_are_those_of_all(size, n, bits, least, seed, dtype):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(degree_counts, "BITS", bits)
        patch.setattr(degree_counts, "_BLOCK", 1 << bits)
        patch.setattr(degree_counts, "_LEAST", least)
        draw = np.random.default_rng(seed)
        pieces = [(n * draw.random(draw.integers(0, 200)) ** 3).astype(dtype) for _ in range(3 if n else 0)]
        check(pieces, n, size, dtype=dtype)


@pytest.mark.parametrize("size", [1, 3, 8])
@pytest.mark.parametrize("shape", ["skewed", "one hub", "isolated at the end"])
def test_parts_have_about_equal_weights(size, shape):
    draw, n, k = np.random.default_rng(3), 50_000, 200_000
    ids = {
        "skewed": (n * draw.random(k) ** 4).astype(np.int32),
        "one hub": np.where(draw.random(k) < 0.1, 777, draw.integers(0, n, k)).astype(np.int32),
        "isolated at the end": draw.integers(0, n // 10, k).astype(np.int32),
    }[shape]
    cuts, offsets = check(np.array_split(ids, 4), n, size)
    before = offsets + PER_VERTEX * np.arange(n + 1)
    heaviest = int(np.diff(before).max())
    rounded = 0 if size == 1 else int((before[32:] - before[:-32]).max())  # 16 vertices more at each end
    for first, end in itertools.pairwise(cuts.tolist()):
        assert before[end] - before[first] <= before[-1] / size + heaviest + rounded


def test_a_rank_counts_its_blocks_alone():
    size, n = 8, 1 << 18

    def one(comm):
        counts = Counts(comm, np.dtype(np.int32))
        counts.add(np.arange(comm.rank, n, size, dtype=np.int32))
        counts.starts(n)
        return counts._found.nbytes

    assert max(on_all(Threads(size).members, one)) <= 4 * n / size * 9 / 8
