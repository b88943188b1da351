"""Primitives of several programs on processes, of graphs that are made in parts."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi import mpirun, processes

#: What all ranks find, of a graph in parts and of one that every rank has, is what one process finds.
PROGRAM = """
    import numpy as np
    import frontier as fr

    place = PLACE
    for directed in (False, True):
        options = {"seed": 3, "weights": (1, 9), "directed": directed}
        g = fr.rmat(6, 4, **options)
        for there in (g.to(place), fr.rmat(6, 4, placement=place, **options)):
            some = fr.bfs_many(there, range(64))
            assert (np.asarray(some.level) == fr.bfs_many(g, range(64)).level).all()
            found, expected = fr.eccentricity(there), fr.eccentricity(g)
            assert (found.eccentricity == expected.eccentricity).all()
            for target in range(1, 9):
                for weighted in (False, True):
                    found = fr.shortest_path(there, 0, target, weighted=weighted)
                    expected = fr.shortest_path(g, 0, target, weighted=weighted)
                    assert (found.distance, found.path[-1:]) == (expected.distance, expected.path[-1:])
                found, expected = fr.max_flow(there, 0, target), fr.max_flow(g, 0, target)
                assert found.value == expected.value
                assert (np.asarray(found.cut) == expected.cut).all()
            closed = fr.transitive_closure(there)
            assert (closed.to_dense() == fr.transitive_closure(g).to_dense()).all()
    print("the same")
"""


@processes
@pytest.mark.parametrize(("count", "place"), [(2, "ranks"), (4, "ranks,2x2")])
def test_processes(count: int, place: str, tmp_path: Path) -> None:
    made = mpirun(count, tmp_path, PROGRAM.replace("PLACE", repr(place)), FRONTIER_RANKS_WHOLE="0")
    assert made.returncode == 0, made.stderr
    assert made.stdout.count("the same") == count
