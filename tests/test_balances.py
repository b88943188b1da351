"""A balance from outside the package."""

from __future__ import annotations

import numpy as np
import pytest
from compare import host

import frontier as fr
from frontier.operators.shared.kernels import kernels

LOWERED: list[str] = []


def by_vertices(step, builder, source, target, next_scan):
    """As the shipped ``thread``, of which it is made."""
    LOWERED.append(builder.backend)
    kernels(builder, "advance").thread.lower(step, builder, source, target, next_scan)


def by_edges(step, builder, source, target, next_scan):
    LOWERED.append(builder.backend)
    kernels(builder, "advance").merge_path.lower(step, builder, source, target, next_scan)


for backend_ in ("cpu", "cuda"):
    fr.register_balance("outside_vertices", backend_, by_vertices)
    fr.register_balance("outside_edges", backend_, by_edges, scanned=True)
fr.register_balance("only_elsewhere", "elsewhere", by_vertices)


@pytest.mark.parametrize("balance", ["outside_vertices", "outside_edges"])
def test_a_search_by_a_registered_balance(compiled, balance):
    g = fr.rmat(8, 8, seed=1)
    LOWERED.clear()
    found = fr.bfs(compiled(g), 3, schedule=fr.Schedule(balance=balance, direction="push"))
    assert [compiled.name] == LOWERED
    assert np.array_equal(host(found.level), fr.bfs(g, 3).level)


def test_what_is_refused(compiled):
    with pytest.raises(fr.FrontierError, match="cannot be called 'thread'"):
        fr.register_balance("thread", "cpu", by_vertices)
    with pytest.raises(fr.FrontierError, match="cannot be called 'a b'"):
        fr.register_balance("a b", "cpu", by_vertices)
    with pytest.raises(fr.FrontierError, match="choose from"):
        fr.Schedule(balance="unknown")
    with pytest.raises(fr.FrontierError, match=r"registered for elsewhere, not for (cpu|cuda)"):
        fr.bfs(compiled(fr.karate()), 0, schedule=fr.Schedule(balance="only_elsewhere"))
