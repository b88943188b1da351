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


#: Fields of several values that are exchanged, and sources that are a frontier, on processes.
FIELDS = """
    import numpy as np
    import frontier as fr

    def above(p, src, i):
        return p.here[src, i]

    def powers(g):
        p = fr.Problem(g, here=fr.vertex("int64", [1, 2, 3], shape=3), there=fr.vertex("int64", shape=3))
        fr.Loop(fr.Gather(above, "sum", into="there", over="vertices"), fr.Swap("here", "there"), times=3)(p)
        return np.asarray(p.here)

    g = fr.rmat(6, 4, seed=3)
    for there in (g.to("ranks"), fr.rmat(6, 4, seed=3, placement="ranks")):
        assert (powers(there) == powers(g)).all()
        assert (np.asarray(fr.bfs_many(there, fr.Frontier(there, [5, 2])).level) == fr.bfs_many(g, [2, 5]).level).all()
    print("the same")
"""


@processes
def test_fields_of_several_values(tmp_path: Path) -> None:
    made = mpirun(2, tmp_path, FIELDS, FRONTIER_RANKS_WHOLE="0")
    assert made.returncode == 0, made.stderr
    assert made.stdout.count("the same") == 2


@processes
def test_one_process_says_that_it_is_alone(tmp_path: Path) -> None:
    made = mpirun(1, tmp_path, ["-m", "frontier", "bfs", "path:5", "--source", "0", "--backend", "ranks"])
    assert "ranks, 1 process, as no others were started" in made.stdout, made.stderr


@processes
@pytest.mark.parametrize(("count", "place"), [(2, "ranks"), (4, "ranks,2x2")])
def test_processes(count: int, place: str, tmp_path: Path) -> None:
    made = mpirun(count, tmp_path, PROGRAM.replace("PLACE", repr(place)), FRONTIER_RANKS_WHOLE="0")
    assert made.returncode == 0, made.stderr
    assert made.stdout.count("the same") == count


#: Every primitive by its name on the command line, and fields of results that any run may choose differently.
ALL = """
    import numpy as np, dataclasses, warnings
    import frontier as fr
    from frontier import registry
    from frontier.distributed.ranks import field_storage

    field_storage.LEAST = 0
    warnings.simplefilter("ignore")
    calls = {
        "bfs": lambda g: fr.bfs(g, 0), "bfs_many": lambda g: fr.bfs_many(g, [0, 3]), "bc": fr.betweenness,
        "sssp": lambda g: fr.sssp(g, 0), "sssp_many": lambda g: fr.sssp_many(g, [0, 3]),
        "cc": fr.connected_components, "scc": fr.strongly_connected_components,
        "katz": lambda g: fr.katz(g, alpha=0.01), "max_flow": lambda g: fr.max_flow(g, 0, 3),
        "bellman_ford": lambda g: fr.bellman_ford(g, 0), "johnson": lambda g: fr.johnson(g, [0, 3]),
        "predecessors": lambda g: fr.predecessors(g, fr.bfs(g, 0)),
        "shortest_path": lambda g: fr.shortest_path(g, 0, 3), "who_to_follow": lambda g: fr.who_to_follow(g, 0),
        "personalized_pagerank": lambda g: fr.personalized_pagerank(g, [0]),
        "random_walks": lambda g: fr.random_walks(g, length=5),
        "topological_order": lambda g: fr.topological_order(acyclic[g]),
        "condensation": lambda g: fr.condensation(acyclic[g]),
        "node2vec_walks": lambda g: fr.node2vec_walks(g, length=5, p=0.5, q=2),
    }
    chosen = {"parent", "iterations", "visited", "passes", "error", "flow"}
    one = np.arange(12)
    pairs = np.r_[one[:-1], one[:-3]], np.r_[one[1:], one[3:]]
    g, there = (fr.rmat(5, 4, seed=3, weights=(1, 9), placement=place) for place in ("cpu", "ranks"))
    acyclic = {each: fr.from_edges(*pairs, directed=True, placement=each.placement) for each in (g, there)}

    def same(found, expected):
        if dataclasses.is_dataclass(expected):
            names = [each.name for each in dataclasses.fields(expected)]
            return all(same(getattr(found, x), getattr(expected, x)) for x in names if x[0] != "_" and x not in chosen)
        if isinstance(expected, np.ndarray | int | float | list):
            return np.allclose(np.asarray(found), np.asarray(expected), 1e-5, 1e-7, equal_nan=True)
        return True

    names = [name for name in registry.primitives() if name != "sample_neighbors"]  # which refuses graphs in parts
    for name in names[PART::4]:
        call = calls.get(name) or getattr(fr, name)
        assert same(call(there), call(g)), name
    print("the same")
"""


@processes
@pytest.mark.parametrize("part", range(4))
def test_all_primitives_on_processes(part: int, tmp_path: Path) -> None:
    made = mpirun(2, tmp_path, ALL.replace("PART", str(part)), FRONTIER_RANKS_WHOLE="0")
    assert made.returncode == 0, made.stderr
    assert made.stdout.count("the same") == 2
