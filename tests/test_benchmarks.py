"""The benchmarks run, and every system in them computes the same."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import strict_cupy

import frontier as fr
from benchmarks import (
    ablations,
    built,
    catalogue,
    closures,
    cpu_systems,
    gpu_graphs,
    gpu_properties,
    gpu_rest,
    graphs,
    published,
    run,
    several_gpus,
)
from benchmarks.devices import Host
from benchmarks.measurement import Measurement
from benchmarks.protocols import PROTOCOLS
from benchmarks.run import PRIMITIVES
from benchmarks.systems import SYSTEMS
from frontier.memory import detection

ROOT = Path(__file__).resolve().parents[1]


def printed(*command: str) -> str:
    """What a program of the benchmarks prints; it ends well."""
    own = [sys.executable, "-m", *command]
    done = subprocess.run(own, cwd=ROOT, env={**os.environ}, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a journal, but those for making a graph; all of them verified."""
    rows = [row for row in json.loads(path.read_text("utf-8"))["rows"] if row["key"][-1] != "made"]
    assert not any("error" in row or row["verified"].startswith("WRONG") for row in rows)
    return rows


def table_of(path: Path) -> list[dict[str, Any]]:
    """The rows of what a program has written with --json, by the names of the columns."""
    made = Measurement.read(path)
    assert made.command is not None
    assert made.command.startswith("python -m benchmarks.")
    assert str(path) not in made.command
    return [dict(zip(made.columns, row, strict=True)) for row in made.rows]


def test_run(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="SciPy is not installed, so there is nothing to compare with")
    wanted = ("--graphs", "karate", "grid:20x30", "no-such-graph", "--runs", "2")
    assert "left out: no-such-graph" in printed("benchmarks.run", *wanted, "--json", str(tmp_path / "rows.json"))
    rows = table_of(tmp_path / "rows.json")
    assert all(row["agrees"] for row in rows)
    assert {row["primitive"] for row in rows if row["system"] == "frontier"} == set(PRIMITIVES)
    assert {row["system"] for row in rows} == {name for name, kind in SYSTEMS.items() if kind.version()}


def test_residence(tmp_path: Path) -> None:
    """What needs no GPU: reading from files, and building them; results are compared."""
    words = ("--backend", "cpu", "--graph", "rmat8", "--parts", "disk", "build", "limit", "--edges", "20000")
    out = printed("benchmarks.residence", *words, "--folder", str(tmp_path), "--memory", "1GiB", "--limit", "1GiB")
    assert out.count("equal") == 6
    assert list(tmp_path.iterdir()) == []


@pytest.mark.gpu
def test_several_gpus(capsys: pytest.CaptureFixture[str]) -> None:
    devices = "0,1" if detection.simulated() else "0,0"
    words = ["rmat:6", "--devices", devices, "--sources", "1", "--times", "1", "--phases"]
    with strict_cupy.simulated() if detection.simulated() else nullcontext():
        several_gpus.main(words)
    head, row, columns, *phases = capsys.readouterr().out.splitlines()
    assert head.startswith("rmat:6: 64 vertices")
    assert row.endswith("equal")
    assert columns.split() == ["times", "us", "work", "0", "work", "1", "phase"]
    assert phases[-1].endswith("all")
    assert sum(int(line.split()[0]) for line in phases[:-1]) == int(phases[-1].split()[0]) > 5


def test_beside_another_checkout(tmp_path: Path) -> None:
    words = (str(ROOT), "--rounds", "1", "--calls", "1", "--graphs", "rmat:8", "grid:10x10")
    head, *rows = printed("benchmarks.beside", *words, "--json", str(tmp_path / "rows.json")).splitlines()
    assert [row["call"] for row in table_of(tmp_path / "rows.json")] == [" ".join(row.split()[:-3]) for row in rows]
    assert head.split()[-1] == "this/other"
    assert [row.split()[0] for row in rows] == ["bfs", "sssp", "pagerank", "cc", "bc"] * 2


def test_weights_are_the_same_both_ways() -> None:
    g = graphs.load("karate")
    w = {(u, v): x for u, v, x in zip(g.sources.tolist(), g.targets.tolist(), g.weights.tolist(), strict=True)}
    assert all(w[u, v] == w[v, u] for u, v in w)
    assert g.weights.dtype == np.float32
    assert w[0, 1] == ((1 * 40503) >> 7) % 64 + 1


@pytest.mark.parametrize("command", [catalogue.main, run.parse])
def test_help_is_for_readers(
    command: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmark", "--help"])
    with pytest.raises(SystemExit, match="0"):
        command()
    shown = capsys.readouterr().out
    assert "rmat:SCALE" in shown
    assert "----" not in shown, "the sections of a docstring"


def test_sources_have_edges() -> None:
    g = fr.from_edges([3], [5], num_vertices=100)
    assert set(graphs.sources(g, 8, seed=1)) <= {3, 5}


# -- the programs for a GPU, with NumPy in its place ---------------------------------------------------------------


def test_gpu(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    wanted = ("--backend", "cpu", "--graphs", "kron8", "grid12", "--primitives", "bfs,pagerank", "--journal", str(path))
    text = printed("benchmarks.gpu", *wanted)
    assert "kron8: 256 vertices" in text
    assert text.count("8 of 8") == 4
    rows = rows_of(path)
    assert {tuple(row["key"]) for row in rows} == {(g, p) for g in ("kron8", "grid12") for p in ("bfs", "pagerank")}
    assert all(row["ms"] > 0 and row["sources"] == 8 for row in rows)
    assert all((row["iterations"] > 0) == (row["primitive"] == "pagerank") for row in rows)
    printed("benchmarks.gpu", *wanted, "--resume", "--json", str(tmp_path / "table.json"))
    assert rows_of(path) == rows  # nothing was measured again
    table = table_of(tmp_path / "table.json")
    assert [row["cell"] for row in table] == [" ".join(row["key"]) for row in rows]
    assert all(one["ms"] == pytest.approx(row["ms"], rel=1e-3) for one, row in zip(table, rows, strict=True))


def test_another_order(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    wanted = ("--backend", "cpu", "--graphs", "kron8", "--primitives", "bfs,cc", "--order", "degree", "--here")
    wanted += ("--prepared",)
    text = printed("benchmarks.gpu", *wanted, "--journal", str(path))
    assert "; vertices by degree, which took " in text.split("kron8: 256 vertices")[1].splitlines()[0]
    assert "; vertices by degree)" in text
    assert text.count("8 of 8") == 2
    assert len(rows_of(path)) == 2
    data = json.loads(path.read_text("utf-8"))
    assert data["facts"]["order"] == data["graphs"]["kron8"]["order"] == "degree"
    assert data["graphs"]["kron8"]["order_ms"] > 0
    made = gpu_graphs.make("kron8", Host())
    original = made.graph.reordered().vertices["original"]
    assert original[data["graphs"]["kron8"]["sources"]].tolist() == gpu_graphs.sources(np, made.graph, 8, seed=1)
    other = made.ordered("degree", Host())
    np.testing.assert_array_equal(other.input_degree, made.input_degree[original])
    np.testing.assert_array_equal(other.fresh().targets, made.graph.reordered().targets)


def test_enterprise(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    wanted = ("--backend", "cpu", "--graphs", "Kron-7-8", "--primitives", "bfs", "--protocol", "enterprise")
    text = printed("benchmarks.gpu", *wanted, "--ids", "64", "--here", "--journal", str(path))
    assert "Kron-7-8, loops and duplicates kept, 64-bit ids: 128 vertices" in text
    assert "64 of 64" in text
    facts = json.loads(path.read_text("utf-8"))["facts"]
    assert (facts["protocol"]["kept"], facts["ids"]) == (True, 64)


def test_the_catalogue_has_all_primitives() -> None:
    functions = [each for name in fr.__all__ if inspect.isfunction(each := getattr(fr, name))]
    names = {each.__name__ for each in functions if each.__module__.startswith("frontier.primitives.")}
    elsewhere = {"bfs", "sssp", "connected_components", "pagerank", "betweenness", "sssp_many"}
    elsewhere |= {  # without a benchmark
        "predecessors", "bellman_ford", "johnson", "edge_betweenness", "link_prediction", "degree_assortativity",
        "modularity", "square_clustering", "biconnected_components", "condensation", "onion_layers", "layout",
    }  # fmt: skip
    rows = {case.name.split()[0] for case in catalogue.cases()}
    assert names - elsewhere == rows


@pytest.mark.parametrize("name", ["who_to_follow", "eccentricity"])
def test_rows_of_the_rest(name: str) -> None:
    graphs_of = gpu_rest.Graphs("rmat:6", Host())
    case = gpu_rest.cases()[name]
    result = case.call(graphs_of.there(case.graph))
    assert not graphs_of.check(case, result)


def test_gpu_catalogue(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    wanted = ("--backend", "cpu", "--graph", "kron6", "--closures", "dense20", "--rest", "rmat:6", "--here")
    only = ("--only", "color", "core_numbers", "scc", "closure", "clustering", "--journal", str(path))
    text = printed("benchmarks.gpu_catalogue", *wanted, *only)
    names = ["color", "core_numbers", "scc", *(f"closure:{m}" for m in ("auto", "warshall", "squaring", "serial"))]
    assert [row["key"][1] for row in rows_of(path)] == [*names, "clustering"]
    assert text.count("  yes; count ") == 4  # of colours and components, twice each
    text = printed("benchmarks.gpu_catalogue", *wanted, "--only", "louvain", "--seconds", "0", "--journal", str(path))
    assert "no time for: kron6 louvain" in text


def test_closures(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    wanted = ("--graphs", "random300", "no-such-graph", "--backend", "cpu", "--runs", "1", "--size", "1000")
    assert "no-such-graph    left out: " in printed("benchmarks.closures", *wanted, "--json", str(path))
    (row,) = table_of(path)
    assert (row["graph"], row["verified"], row["vertices"]) == ("random300", "yes", 300)
    assert row["written"] == row["pairs"] > 1000


def test_wrong_pairs_of_closures_are_seen() -> None:
    g = closures.load("random300", Host())
    r = fr.transitive_closure(g)
    arguments = SimpleNamespace(size=1000, seconds=10)
    assert closures.verified(g, r, Host(), arguments) == []
    pairs = np.concatenate([np.stack(piece) for piece in r.pairs_in_pieces()], axis=1)
    for wrong in (pairs[:, 1:], pairs[:, ::-1], np.where(pairs == 7, 8, pairs), np.minimum(pairs + [[0], [1]], 299)):
        pieces = [tuple(wrong)]
        other = SimpleNamespace(**vars(r), row=r.row, pairs_in_pieces=lambda _, pieces=pieces: iter(pieces))
        assert closures.verified(g, other, Host(), arguments)


def test_wrong_results_of_further_primitives_are_seen() -> None:
    g = gpu_graphs.make("kron6", Host()).graph
    checker = gpu_properties.Properties(np, g)
    v = int(g.out_degree.argmax())
    plain = fr.Graph(g.offsets, g.targets, directed=False)
    cores, colours, independent = fr.core_numbers(plain), fr.color(plain), fr.maximal_independent_set(plain)
    for off in (-1, 1):
        changed = cores.core.copy()
        changed[v] += off
        assert checker.core_numbers(replace(cores, core=changed))
    changed = colours.color.copy()
    changed[v] = changed[g.targets[g.offsets[v]]]
    assert checker.color(replace(colours, color=changed))
    for value in (True, False):
        mask = independent.mask.copy()
        mask[np.flatnonzero(mask != value)[0]] = value
        assert checker.maximal_independent_set(replace(independent, mask=mask, count=int(mask.sum())))
    forest = fr.minimum_spanning_forest(g)
    other = np.setdiff1d(np.flatnonzero(g.sources < g.targets), forest.edges)
    edges = np.sort(np.append(forest.edges[1:], other[g.weights[other].argmax()]))
    assert checker.minimum_spanning_forest(replace(forest, edges=edges, weight=float(g.weights[edges].sum())))
    triangles, corners = fr.triangles(plain), fr.triangles(plain, per_vertex=True).per_vertex
    assert checker.triangles(replace(triangles, count=triangles.count + 1), corners)
    assert checker.triangles(triangles, np.roll(corners, 1))
    louvain = fr.louvain(plain)
    assert checker.louvain(replace(louvain, modularity=louvain.modularity + 0.001))
    directed = gpu_graphs.as_generated("kron6", Host())
    strong = fr.strongly_connected_components(fr.Graph(*directed, directed=True))
    largest = next(iter(strong.sizes()))
    for wrong in (np.arange(64), np.where(np.arange(64) == v, 63, strong.label), np.full(64, largest)):
        count = len(np.unique(wrong))
        assert gpu_properties.strong(np, *directed, replace(strong, label=wrong, count=count))
    closed = fr.transitive_closure(fr.Graph(*directed, directed=True))
    assert gpu_properties.closure(np, fr.Graph(*directed, directed=True), replace(closed, rows=closed.rows ^ 1))


def test_ablations(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    wanted = ("--backend", "cpu", "--graphs", "kron8", "--groups", "tutorial", "--sources", "1")
    text = printed("benchmarks.ablations", *wanted, "--journal", str(path))
    labels = [variant.label for variant in ablations.GROUPS["tutorial"].variants]
    assert [tuple(row["key"]) for row in rows_of(path)] == [("kron8", "tutorial", "bfs", label) for label in labels]
    assert all(text.count(f"\n{label:20}") == 1 for label in labels)  # in the table
    assert "(1.00)" in text


def test_ablations_say_what_they_begin_with(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"key": ("kron8", "enterprise", "bfs", "TS"), "ms": 2.0, "verified": "8 of 8"}
    ablations.report(SimpleNamespace(rows=[row]))
    text = capsys.readouterr().out
    assert "queue, block" in text
    assert "Enterprise's BL has no queue" in text
    assert "2.000" in text


def test_handwritten(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    wanted = ("--backend", "cpu", "--graphs", "kron8", "--runs", "1", "--journal", str(path))
    assert printed("benchmarks.handwritten", *wanted).count("  right") >= 5
    names = {row["key"][1] for row in rows_of(path)}
    assert names == {"push_queue", "push_scan", "pull", "gather_float", "gather_double"}


def test_host(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    text = printed("benchmarks.host", "--calls", "2", "--json", str(path))
    rows = {row["call"]: row for row in table_of(path)}
    assert all(name in text for name in rows)
    assert all(row["right"] and row["launches"] >= 1 for row in rows.values())
    assert {"Compute", "fr.bfs"} <= set(rows)


@pytest.mark.parametrize("wide", [False, True])
def test_loops_and_duplicates_are_kept(wide: bool) -> None:
    made = gpu_graphs.make("Kron-6-30", Host(), kept=True, wide=wide)
    plain = gpu_graphs.make("Kron-6-30", Host())
    g, sources = made.graph, made.graph.sources
    loops = int((sources == g.targets).sum())
    assert made.input_edges == 30 << 6
    assert g.num_slots == 2 * made.input_edges - loops > plain.graph.num_slots
    assert loops > 0
    assert int(made.input_degree.sum()) == made.input_edges
    assert (g.targets.dtype, g.offsets.dtype) == (("int64",) * 2 if wide else ("int32",) * 2)
    pairs = np.unique(sources[sources != g.targets].astype(np.int64) << 32 | g.targets[sources != g.targets])
    np.testing.assert_array_equal(pairs, plain.graph.sources.astype(np.int64) << 32 | plain.graph.targets)
    fr.from_csr(g.offsets, g.targets, g.weights, directed=False)  # both directions are there as often


def test_what_enterprise_can_be_compared_with() -> None:
    def told(protocol: str, ids: int) -> tuple[str, str]:
        return published.enterprise({"protocol": vars(PROTOCOLS[protocol]), "ids": ids})[1:]

    same, other = told("enterprise", 64)
    assert all(text in same for text in ("64 sources", "loops and duplicates", "ids of 64 bits"))
    assert "the GPU" in other
    same, other = told("targets", 32)
    assert all(text in other for text in ("64 sources", "loops and duplicates", "ids of 64 bits (here 32"))


def test_iterations_beside_cugraph() -> None:
    row = {"graph": "kron21", "iterations": 14}
    (line,) = published.stops({("kron21", "pagerank"): row, ("kron21", "bfs"): {"graph": "kron21", "iterations": 0}})
    assert "kron21 14 iterations" in line
    assert "was not recorded" in line
    assert published.stops({("kron21", "pagerank"): {**row, "graph": "kron21, 64-bit ids"}}) == []


#: Stands for the programs of other systems: it reads a graph, and says how much of it there is, as milliseconds.
PROGRAM = """#!{python}
import sys
import numpy as np
name, *words = sys.argv
text = " ".join(words)
path = next(f"graph.{{kind}}" for kind in ("sg", "wsg", "bin", "adj") if f"graph.{{kind}}" in text)
if path.endswith("sg"):
    data = open(path, "rb").read()
    slots, vertices = np.frombuffer(data, np.int64, 2, 1)
    offsets = np.frombuffer(data, np.int64, vertices + 1, 17)
    lists = np.frombuffer(data, np.int32, -1, 17 + 8 * len(offsets)).reshape(slots, -1)
    assert data[0] == 0 and lists[:, 0].max() < vertices
elif path.endswith("bin"):
    data = open(path, "rb").read()
    vertices, slots, size = np.frombuffer(data, np.int64, 3)
    assert len(data) == size and np.frombuffer(data, np.int64, vertices + 1, 24)[-1] == slots
else:
    kind, *numbers = open(path).read().split()
    vertices, slots = map(int, numbers[:2])
    lists = np.stack([np.array(each, int) for each in (numbers[-2 * slots : -slots], numbers[-slots:])], axis=1)
    assert kind == "WeightedAdjacencyGraph" and len(numbers) == 2 + vertices + 2 * slots
if path in ("graph.wsg", "graph.adj"):
    assert 1 <= lists[:, 1].min() <= lists[:, 1].max() <= 64
print("SSSP Tree reaches", vertices + {wrong}, "nodes")
for i in range(2):
    word = "External Trial Time:" if "int32" in name else "Trial Time:" if path.endswith("sg") else f"Round {{i}}:"
    print(word, (slots + i) / 1e6)
"""


def stands_for(folder: Path, *names: str, wrong: int = 0) -> None:
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(PROGRAM.format(python=sys.executable, wrong=wrong), encoding="utf-8")
        (folder / name).chmod(0o700)


@pytest.mark.skipif(os.name != "posix", reason="programs are scripts")
def test_beside_other_systems(tmp_path: Path) -> None:
    programs = {name.lower(): [*kind.programs.values()] for name, kind in built.BUILT.items()}
    stands_for(tmp_path, *(name for names in programs.values() for name in names))
    words = [word for name in programs for word in (f"--{name}", str(tmp_path))]
    words += ["--graphs", "karate", "no-such-graph", "--only", "bfs", "sssp", "louvain", "matching", "bridges"]
    path = tmp_path / "rows.json"
    more = ("--sources", "2", "--calls", "2", "--warm", "1", "--json", str(path))
    out = printed("benchmarks.cpu_systems", *words, *more)
    assert "left out: no-such-graph" in out
    assert "WRONG" not in out
    found = {row["call"]: row for row in table_of(path)}
    slots = graphs.load("karate").num_slots / 1000
    for name in ("GAP", "PASGAL", "Wasp"):
        assert found["SSSP, int64 with parents"][name] == pytest.approx(slots, abs=0.01)
    assert found["BFS"]["GAP"] == pytest.approx(slots, abs=0.01)
    assert found["BFS"]["Wasp"] is None
    assert found["Louvain, modularity"]["Frontier"] == pytest.approx(0.42, abs=0.01)
    assert found["BFS"][cpu_systems.RATIO] > 0


@pytest.mark.skipif(os.name != "posix", reason="programs are scripts")
def test_wrong_counts_of_another_system_are_said(tmp_path: Path) -> None:
    stands_for(tmp_path, "sssp-int32", wrong=1)
    words = ["--wasp", str(tmp_path), "--graphs", "karate", "--only", "sssp", "--sources", "1", "--warm", "0"]
    assert cpu_systems.main(words) == 1


def test_matchings_that_are_wrong() -> None:
    g = fr.karate()
    right = fr.maximal_matching(g)
    assert cpu_systems.maximal(g, right)
    assert not cpu_systems.maximal(g, replace(right, partner=np.full_like(right.partner, -1)))
