"""The LDBC Graphalytics validation graphs: BFS, SSSP, PageRank, clustering and components as they should come out."""

from __future__ import annotations

from pathlib import Path

import ldbc
import numpy as np
import pytest
from compare import close, equal
from conftest import Backend

import frontier as fr
from frontier.memory.arrays import to_host


def all_cases(data_dir: Path, algorithm: str) -> list[ldbc.Case]:
    if not (data_dir / "ldbc").is_dir():
        pytest.skip(f"no LDBC validation graphs in {data_dir}")
    found = list(ldbc.cases(data_dir, algorithm))
    assert len(found) == 4
    return found


@pytest.mark.unsimulated("large graphs")
def test_bfs(backend: Backend, data_dir: Path) -> None:
    for case in all_cases(data_dir, "bfs"):
        result = fr.bfs(backend(case.graph), case.source)
        equal(result.level, case.expected, err_msg=case.name)
        fr.verify.bfs(case.graph, result).raise_if_failed()


@pytest.mark.unsimulated("large graphs")
def test_sssp(backend: Backend, data_dir: Path) -> None:
    for case in all_cases(data_dir, "sssp"):
        result = fr.sssp(backend(case.graph), case.source)
        close(result.distance, case.expected, rtol=ldbc.RELATIVE, err_msg=case.name)
        fr.verify.sssp(case.graph, result).raise_if_failed()


@pytest.mark.unsimulated("large graphs")
def test_pagerank(backend: Backend, data_dir: Path) -> None:
    for case in all_cases(data_dir, "pr"):
        assert case.iterations is not None
        result = fr.pagerank(backend(case.graph), tolerance=0, max_iterations=case.iterations)
        close(result.rank, case.expected, rtol=ldbc.RELATIVE, err_msg=case.name)
        assert result.iterations == case.iterations


def test_local_clustering_coefficients(backend: Backend, data_dir: Path) -> None:
    for case in all_cases(data_dir, "lcc"):
        # Some files have twelve digits.
        close(fr.clustering(backend(case.graph)).coefficient, case.expected, rtol=1e-11, err_msg=case.name)


@pytest.mark.unsimulated("large graphs")
@pytest.mark.parametrize("method", ["afforest", "hooking"])
def test_weak_components(backend: Backend, data_dir: Path, method: str) -> None:
    for case in all_cases(data_dir, "wcc"):
        result = fr.connected_components(backend(case.graph), method=method)
        pairs = np.unique(np.stack([to_host(result.label), case.expected]), axis=1)
        # The same partition: each of our labels goes with one of theirs, and each of theirs with one of ours.
        assert len(np.unique(pairs[0])) == len(np.unique(pairs[1])) == pairs.shape[1] == result.count, case.name
        fr.verify.connected_components(case.graph, result).raise_if_failed()
