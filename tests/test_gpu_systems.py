"""The comparison with other systems on a GPU, with stand-ins for their programs and for the GPU."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import frontier as fr
from benchmarks import gpu_systems
from benchmarks.gpu_built import Outcome, run, write
from benchmarks.gpu_compared import compared
from benchmarks.gpu_properties import Properties
from benchmarks.measurement import Measurement

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs are scripts")

#: Computes as the programs do, by SciPy and by hand; ``mst`` dies, ``louvain`` gives one community.
PROGRAM = """#!{python}
import sys, time
import numpy as np
from scipy.sparse import csgraph, csr_array
folder, order, calls, seconds, tasks, *sources = sys.argv[1:]
offsets, targets = (np.fromfile(folder + "/" + name, np.int32) for name in ("offsets", "targets"))
n, sources = len(offsets) - 1, [int(source) for source in sources]
matrix = csr_array((np.ones(len(targets)), targets, offsets), shape=(n, n))
assert order == "plain" or (np.diff(np.diff(offsets)) <= 0).all()
def bfs(source):
    levels = csgraph.shortest_path(matrix, indices=source, unweighted=True)
    return np.where(levels < n, levels, 2**31 - 1).astype(np.int32)
def sssp(source):
    weighted = csr_array((np.fromfile(folder + "/weights", np.float32), targets, offsets), shape=(n, n))
    return csgraph.dijkstra(weighted, indices=source).astype(np.float32)
def cc(source):
    return csgraph.connected_components(matrix)[1].astype(np.int32)
def scc(source):
    label = csgraph.connected_components(matrix, connection="strong")[1].astype(np.int32)
    return np.repeat(label, 2)
def color(source):
    return np.arange(n, dtype=np.int32)
def mis(source):
    inside = np.zeros(n, bool)
    for v in range(n):
        inside[v] = not inside[targets[offsets[v]:offsets[v + 1]]].any()
    return np.where(inside, 0xFE, 0).astype(np.uint8)
def louvain(source):
    return np.zeros(n, np.int32)
def triangles(source):
    return np.rint(((matrix @ matrix) * matrix).sum(axis=1) / 2).astype(np.int32)
for task in tasks.split(","):
    print("begin", task, order, flush=True)
    if task == "mst":
        print("cannot do that")
        sys.exit(3)
    if task not in globals():
        time.sleep(60)
    globals()[task](sources[0]).tofile(task + "-" + order)
    print("time 0.25\\ntime 0.5\\ntime 0.75\\nend", flush=True)
print("done")
"""


def stand_in(folder: Path, name: str) -> None:
    (folder / name).write_text(PROGRAM.format(python=sys.executable), encoding="utf-8")
    (folder / name).chmod(0o700)


def test_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("scipy", reason="SciPy is not installed, so there is nothing to compare with")
    for name in ("ecl", "doublegraph"):
        stand_in(tmp_path, name)
    words = ["--ecl", str(tmp_path), "--doublegraph", str(tmp_path), "--gunrock", str(tmp_path), "--backend", "cpu"]
    tasks = ["bfs", "sssp", "cc", "color", "mis", "mst", "triangles", "louvain", "scc"]
    path = tmp_path / "rows.json"
    more = ["--sources", "2", "--calls", "1", "--limit", "20", "--json", str(path)]
    assert gpu_systems.main([*words, "--graphs", "kron7", "no-such-graph", "--only", *tasks, *more]) == 0
    assert "left out: no-such-graph" in capsys.readouterr().out
    made = Measurement.read(path)
    rows = {row[1]: dict(zip(made.columns, row, strict=True)) for row in made.rows}
    for title in ("BFS", "SSSP, float32", "connected components", "triangles", "Louvain", "strong components"):
        assert rows[title]["doubleGraph"] == 0.5, rows[title]
        assert rows[title]["best other / Frontier"] > 0
        assert rows[title]["Gunrock"] is None
    for title in ("connected components", "colouring", "independent set", "strong components"):
        assert rows[title]["ECL"] == 0.5, rows[title]
    assert rows["colouring, colours"]["ECL"] == 128
    assert rows["Louvain, modularity"]["doubleGraph"] == pytest.approx(0, abs=1e-9)
    assert rows["spanning forest"]["ECL"] is None
    assert "ECL plain: cannot do that; exit status 3" in rows["spanning forest"][gpu_systems.NOTES]
    assert "Gunrock : not started" in rows["BFS"][gpu_systems.NOTES]


def test_a_program_that_is_silent_is_ended(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="the stand-in needs it")
    stand_in(tmp_path, "ecl")
    write(fr.karate(), tmp_path / "graph")
    silent, fine = run(tmp_path / "ecl", tmp_path / "graph", "plain", ["unheard", "cc"], [0], 1, 1.0, 5.0)
    assert silent.error == "no answer for 5 seconds"
    assert silent.ms == float("inf")
    assert (fine.task, fine.error, fine.ms) == ("cc", "", 0.5)


@pytest.mark.parametrize(
    ("task", "values", "dtype"),
    [
        ("bfs", [0, 1, 1, 1], np.int32),
        ("sssp", [0, 1, 2, np.inf], np.float32),
        ("pagerank", [0.25, 0.25, 0.25, 0.25], np.float32),
        ("bc", [0, 1, 0, 0], np.float32),
        ("cc", [5, 5, 5, 5], np.int32),
        ("cc", [5, 5, 6, 7], np.int32),
        ("triangles", [1, 1, 1, 0], np.int32),
        ("color", [0, 1, 1, 0], np.int32),
        ("color", [0, 1, 0, -1], np.int32),
        ("mis", [0xFE, 0, 0xFE, 0], np.uint8),
    ],
)
def test_wrong_results_are_found(tmp_path: Path, task: str, values: list[float], dtype: Any) -> None:
    """Of the path 0-1-2 and the vertex 3."""
    g = fr.from_edges([0, 1], [1, 2], num_vertices=4)
    g = g.with_weights(np.ones(g.num_slots, np.float32))
    right = {
        "bfs": fr.bfs(g, 0), "sssp": fr.sssp(g, 0, dtype="float32"), "pagerank": fr.pagerank(g, tolerance=1e-10),
        "bc": fr.betweenness(g, sources=[0]), "cc": fr.connected_components(g), "triangles": fr.triangles(g),
    }.get(task)  # fmt: skip
    outcome = Outcome(task, "plain", tmp_path / "result")
    np.array(values, dtype).tofile(outcome.file)
    wrong, _ = compared(Properties(np, g), outcome, right, None)
    if task == "sssp":  # the only right one
        assert wrong == ""
        values[2] = 3
        np.array(values, dtype).tofile(outcome.file)
        wrong, _ = compared(Properties(np, g), outcome, right, None)
    if task == "bc":  # in proportion to the right one, which has half of that
        assert wrong == ""
        return
    assert wrong


def test_forests_by_their_numbers() -> None:
    right = SimpleNamespace(edges=np.zeros(7), weight=100.0)
    for numbers, fine in (
        ({"weight": 100.0, "edges": 7.0}, True), ({"weight": 100.05}, True), ({"weight": 101.0}, False),
        ({"weight": 100.0, "edges": 6.0}, False), ({"weight": 100.05, "edges": 7.0}, False),
    ):  # fmt: skip
        outcome = Outcome("mst", "plain", Path("none"), numbers=numbers)
        assert (compared(None, outcome, right, None)[0] == "") == fine  # type: ignore[arg-type]
