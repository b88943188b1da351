"""Right results of the primitives, made by the oracles, and what is expected of reports on wrong ones."""

from __future__ import annotations

from types import SimpleNamespace as Result
from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest

import frontier as fr

FAR = oracles.UNREACHED


def bfs_result(g: fr.Graph, source: int) -> Result:
    level = oracles.bfs_levels(g, source)
    return Result(source=source, level=level, parent=oracles.parents(g, source, level, weighted=False))


def sssp_result(g: fr.Graph, source: int) -> Result:
    distance = oracles.sssp_distances(g, source)
    parent = oracles.parents(g, source, distance, weighted=True)
    return Result(source=source, distance=distance, parent=parent)


def cc_result(g: fr.Graph) -> Result:
    label = oracles.components(g)
    return Result(label=label, count=len(np.unique(label)))


def pagerank_result(g: fr.Graph, weighted: bool = False, personalization: Any = None) -> Result:
    rank = oracles.pagerank(g, 0.85, personalization, weighted)
    return Result(rank=rank, damping=0.85, tolerance=1e-9, weighted=weighted, personalization=personalization)


def betweenness_result(g: fr.Graph, sources: Any = None, normalized: bool = False) -> Result:
    found = oracles.betweenness(g, sources, normalized)
    return Result(centrality=found, sources=sources, normalized=normalized)


def communities_result(g: fr.Graph, label: list[int], resolution: float = 1.0) -> Result:
    parts = [{v for v, c in enumerate(label) if c == each} for each in range(max(label) + 1)]
    found = nx.community.modularity(g.to_networkx(), parts, resolution=resolution)
    return Result(label=np.array(label), count=len(parts), modularity=found, resolution=resolution)


def but(result: Result, **fields: Any) -> Result:
    """Give the result with other fields; a dict replaces some entries of an array."""
    new = dict(vars(result))
    for name, value in fields.items():
        if isinstance(value, dict):
            new[name] = np.array(new[name])
            for v, entry in value.items():
                new[name][v] = entry
        else:
            new[name] = value
    return Result(**new)


def expect_failure(report: fr.verify.Report, *words: str) -> None:
    """Check that a report failed, and at the check that was meant to."""
    assert not report.passed
    assert not report
    assert [check.ok for check in report.checks] == [True] * (len(report.checks) - 1) + [False]
    text = str(report)
    for word in words:
        assert word in text
    with pytest.raises(fr.VerificationError):
        report.raise_if_failed()
