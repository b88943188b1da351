"""Edges on a disk: Frontier graphs, files of this process, and the external sort that makes graphs of files."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import equal
from strategies import random_graphs

import frontier as fr
from frontier.cli import graphs, main
from frontier.io import _unfinished, external, stored
from frontier.memory.disk import DISK, lies_on_disk


def alike(found: fr.Graph, expected: fr.Graph) -> None:
    """Compare everything that a graph has."""
    assert (found.directed, found.num_vertices, found.num_slots) == (
        expected.directed, expected.num_vertices, expected.num_slots
    )  # fmt: skip
    for name in ("offsets", "targets", "weights", "labels", "in_offsets", "in_sources", "in_edges"):
        mine, its = getattr(found, name), getattr(expected, name)
        assert (mine is None) == (its is None)
        if its is not None:
            assert mine.dtype == its.dtype
            equal(mine, its)
    for kind in ("vertices", "edges"):
        mine, its = getattr(found, kind), getattr(expected, kind)
        assert list(mine) == list(its)
        for name in its:
            equal(mine[name], its[name])


@pytest.fixture(params=["cpu", "python"])
def name(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


# ---- residence -------------------------------------------------------------------------------------------


RESULTS: dict[str, Callable[[fr.Graph], Any]] = {
    "bfs": lambda g: fr.bfs(g, 0).level,
    "components": lambda g: fr.connected_components(g).label,
    "pagerank": lambda g: fr.pagerank(g).rank,
    "betweenness": lambda g: fr.betweenness(g, [0, 1]).centrality,
    "triangles": lambda g: fr.triangles(g, per_vertex=True).per_vertex,
    "cores": lambda g: fr.core_numbers(g).core,
}


@pytest.mark.parametrize("what", RESULTS)
def test_the_same_results(name: str, what: str) -> None:
    for g in random_graphs(6, seed=31, min_vertices=2, max_vertices=40, parallel=True):
        there = g.to(name, edges="disk")
        assert g.num_slots == 0 or lies_on_disk(there.targets)
        np.testing.assert_allclose(RESULTS[what](there), RESULTS[what](g.to(name)), rtol=1e-12)


def test_frontiers_of_a_graph_elsewhere_do_not_mix() -> None:
    g = fr.karate()
    with pytest.raises(fr.FrontierError, match="one lies on 'cpu', the other on \"cpu, edges='disk'\""):
        fr.Frontier(g, [0]).check(g.to("cpu", edges="disk"))
    fr.Frontier(g, [0]).check(g.to("python"))


def test_what_is_derived_lies_there_too() -> None:
    g = fr.rmat(8, 4, directed=True, weights=(1, 9), seed=3)
    there = g.to("cpu", edges="disk")
    assert there.placement.residence == {"offsets": "host", "edges": "disk", "fields": "host"}
    assert "edges in disk memory" in repr(there)
    for array in (there.targets, there.weights, there.in_sources, there.in_edges, there.sources):
        assert lies_on_disk(array)
    assert not lies_on_disk(there.offsets)
    alike(there, g)
    again = there.to("cpu", edges="host")
    assert not lies_on_disk(again.targets)
    alike(again, g)
    assert there.to("python", edges="disk").targets is there.targets
    alike(pickle.loads(pickle.dumps(there)), g)


def test_files_of_a_process_leave_no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRONTIER_SPILL_DIR", str(tmp_path))
    made = DISK.full(5, 7, np.int32)
    equal(made, [7] * 5)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("FRONTIER_SPILL_DIR", str(tmp_path / "none"))
    with pytest.raises(fr.GraphError, match="is not a folder"):
        DISK.moved(np.arange(3))


# ---- Frontier graphs -------------------------------------------------------------------------------------


def test_written_and_opened(tmp_path: Path) -> None:
    path = tmp_path / "g.frontier"
    for g in random_graphs(25, seed=32, max_vertices=30, parallel=True):
        fr.write(g, path)
        found = fr.open(path, check=True)
        alike(found, g)
        assert g.num_slots == 0 or lies_on_disk(found.targets)
        read = fr.read(path)
        assert not lies_on_disk(read.targets)
        alike(read, g)
    assert [each.name for each in tmp_path.iterdir()] == ["g.frontier"]


def test_labels_and_columns(tmp_path: Path) -> None:
    g = fr.from_edges(
        [0, 1], [1, 2], [0.5, 1.5], labels=["a", "bc", "d"], directed=True,
        vertices={"age": [1, 2, 3]}, edges={"since last": [2001, 2002]},
    )  # fmt: skip
    fr.write(g, tmp_path / "g.frontier")
    alike(fr.open(tmp_path / "g.frontier", check=True), g)


def test_what_is_open_stays_when_it_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "g.frontier"
    fr.write(fr.path(5), path)
    before = fr.open(path)
    fr.write(fr.star(7), path)
    alike(before, fr.path(5))
    alike(fr.open(path), fr.star(7))


def test_an_error_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "g.frontier"
    fr.write(fr.path(5), path)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(stored, "_checksums", full)
        with pytest.raises(fr.GraphError, match="cannot be written: No space left"):
            fr.write(fr.star(7), path)
    assert [each.name for each in tmp_path.iterdir()] == ["g.frontier"]
    alike(fr.open(path), fr.path(5))


def change(path: Path, **facts: Any) -> None:
    head = json.loads((path / "graph.json").read_text())
    (path / "graph.json").write_text(json.dumps({**head, **facts}))


def test_damage_is_found(tmp_path: Path) -> None:
    path = tmp_path / "g.frontier"

    def refused(words: str) -> None:
        with pytest.raises(fr.GraphError, match=words):
            fr.open(path)
        fr.write(fr.karate(), path)

    fr.write(fr.karate(), path)
    data = bytearray((path / "targets.bin").read_bytes())
    data[77] ^= 1
    (path / "targets.bin").write_bytes(data)
    fr.open(path, check=False)
    refused("the checksum is wrong")
    (path / "targets.bin").write_bytes(data[:-4])
    refused("has 620 bytes, expected 624")
    (path / "targets.bin").unlink()
    refused("cannot be read: No such file")
    change(path, version=9)
    refused("of version 9")
    change(path, format="else")
    refused("does not say so")
    change(path, slots=7)
    refused("has 156 entries")
    change(path, arrays={})
    refused("lacks or misstates")
    (path / "graph.json").write_text("{")
    refused("cannot be read")
    (path / "graph.json").unlink()
    with pytest.raises(fr.GraphError, match=r"there is no graph\.json"):
        fr.open(path)
    with pytest.raises(fr.GraphError, match="something else"):
        fr.write(fr.karate(), path)
    with pytest.raises(fr.GraphError, match="read as it is"):
        fr.read(path, directed=True)


# ---- from files, part by part ----------------------------------------------------------------------------


@pytest.mark.parametrize("memory", [1 << 14, "1GiB"])
@pytest.mark.parametrize("duplicates", ["first", "last", "min", "sum", "keep"])
def test_converted_as_read(tmp_path: Path, memory: Any, duplicates: str) -> None:
    for i, g in enumerate(
        random_graphs(4, seed=33, max_vertices=300, parallel=True, weights=("int32",), directed=True)
    ):
        for directed in (True, False):
            suffix = (".wel", ".mtx", ".npz", ".gr")[i]
            fr.write(g, tmp_path / f"g{suffix}")
            options: dict[str, Any] = {"duplicates": duplicates, "directed": directed}
            fr.convert(tmp_path / f"g{suffix}", tmp_path / "g.frontier", memory=memory, **options)
            alike(fr.open(tmp_path / "g.frontier", check=True), fr.read(tmp_path / f"g{suffix}", **options))


@pytest.mark.parametrize("suffix", [".npz", ".gr"])
def test_undirected_files_with_both_ends(tmp_path: Path, suffix: str) -> None:
    out, options = tmp_path / "g.frontier", {"duplicates": "keep", "self_loops": "keep"}
    for g in random_graphs(5, seed=34, max_vertices=200, parallel=True, directed=False):
        fr.write(g, tmp_path / f"g{suffix}")
        for directed in (None, False, True):
            for change in ({}, {"duplicates": "sum"}, {"self_loops": "drop"}):
                chosen: Any = {**options, "directed": directed, **change}
                fr.convert(tmp_path / f"g{suffix}", out, memory=1 << 14, **chosen)
                alike(fr.open(out, check=True), fr.read(tmp_path / f"g{suffix}", **chosen))


def test_undirected_files_with_one_end(tmp_path: Path) -> None:
    """It is noticed that an edge, or its weight, is there from one end only, in whatever piece the other were."""
    out = tmp_path / "g.frontier"
    arcs = [(1, 2, 5), (2, 1, 5), (3, 3, 1), (2, 3, 7), (3, 2, 7)]
    for kept in ([*arcs[:1], *arcs[2:]], [*arcs[:4], (3, 2, 8)], [*arcs[:4], (2, 3, 7)]):
        lines = ["c frontier: directed=no", f"p sp 3 {len(kept)}", *(f"a {s} {d} {w}" for s, d, w in kept)]
        (tmp_path / "g.gr").write_text("\n".join(lines) + "\n")
        with pytest.raises(fr.GraphError, match=r"g\.gr: an undirected graph has every edge from both ends"):
            fr.convert(tmp_path / "g.gr", out)
    fr.convert(tmp_path / "g.gr", out, directed=True)
    alike(fr.open(out), fr.read(tmp_path / "g.gr", directed=True))
    fr.write(fr.path(3), tmp_path / "g.el")
    with pytest.raises(fr.GraphError, match=r"g\.el: holds undirected edges"):
        fr.convert(tmp_path / "g.el", out, directed=True)


def test_a_file_without_edges_keeps_its_weights(tmp_path: Path) -> None:
    nothing = np.empty(0, np.int32)
    g = fr.from_edges(nothing, nothing, nothing, num_vertices=3, directed=True)
    fr.write(g, tmp_path / "g.npz")
    fr.convert(tmp_path / "g.npz", tmp_path / "g.frontier")
    alike(fr.open(tmp_path / "g.frontier"), g)


def test_loops_that_are_left_out_are_counted(tmp_path: Path) -> None:
    """What a file says of its length is of all that is in it."""
    (tmp_path / "g.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 1\n1 2\n")
    fr.convert(tmp_path / "g.mtx", tmp_path / "g.frontier", self_loops="drop")
    alike(fr.open(tmp_path / "g.frontier"), fr.read(tmp_path / "g.mtx", self_loops="drop"))


def test_several_files(tmp_path: Path) -> None:
    """Their edges are those of one file, whatever piece they are in."""
    g = fr.rmat(8, 8, seed=5, directed=True, weights=(1, 9))
    g = g.with_weights(g.weights.astype(np.int64))
    edges = np.stack([g.sources, g.targets, g.weights], axis=1)
    names = [tmp_path / name for name in ("a.wel", "b.wel", "c.wel")]
    for name, part in zip(names, np.split(edges, [700, 701]), strict=True):
        np.savetxt(name, part, "%d")
    for memory in (1 << 14, "1GiB"):
        fr.convert(names, tmp_path / "g.frontier", directed=True, memory=memory)
        alike(fr.open(tmp_path / "g.frontier", check=True), g)
    np.savetxt(tmp_path / "plain.el", edges[:3, :2], "%d")
    fr.write(g, tmp_path / "g.mtx")
    out = tmp_path / "h.frontier"
    for others, words in (("plain.el", "weights"), ("g.mtx", "cannot be one of several")):
        with pytest.raises(fr.GraphError, match=words):
            fr.convert([*names, tmp_path / others], out, directed=True)
    with pytest.raises(fr.GraphError, match="is no file"):
        fr.convert([], out)


def test_self_loops_and_sizes(tmp_path: Path) -> None:
    (tmp_path / "g.el").write_text("0 1\n1 1\n5 2\n")
    out = tmp_path / "g.frontier"
    for options in ({"self_loops": "drop"}, {"num_vertices": 9}):
        fr.convert(tmp_path / "g.el", out, **options)  # type: ignore[arg-type]
        alike(fr.open(out), fr.read(tmp_path / "g.el", **options))  # type: ignore[arg-type]
    (tmp_path / "loop.el").write_text("1 1\n")
    fr.convert(tmp_path / "loop.el", out, self_loops="drop")
    alike(fr.open(out), fr.read(tmp_path / "loop.el", self_loops="drop"))


def test_num_vertices_as_read(tmp_path: Path) -> None:
    """It goes before what the file says, and is refused where a format says it itself."""
    out = tmp_path / "g.frontier"
    fr.write(fr.path(64), tmp_path / "g.el")
    (tmp_path / "g.csv").write_text("u,v\n9,\n0,1\n")
    for name, count in (("g.el", 100), ("g.el", 64), ("g.csv", 12), ("g.csv", 3), ("g.csv", None)):
        fr.convert(tmp_path / name, out, num_vertices=count)
        alike(fr.open(out), fr.read(tmp_path / name, num_vertices=count))
    with pytest.raises(fr.GraphError, match="vertex 63 is not below num_vertices=3"):
        fr.convert(tmp_path / "g.el", out, num_vertices=3)
    for suffix in ("npz", "mtx", "gr"):
        fr.write(fr.path(5), tmp_path / f"g.{suffix}")
        for function in (fr.read, lambda name, **given: fr.convert(name, out, **given)):
            with pytest.raises(fr.GraphError, match="num_vertices is for edge lists"):
                function(tmp_path / f"g.{suffix}", num_vertices=9)


def test_an_interrupted_conversion_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it stops, all pieces that were noted are not done again, and the graph is the same."""
    source, out = tmp_path / "g.wel", tmp_path / "g.frontier"
    fr.write(fr.rmat(7, 8, seed=5, directed=True, weights=(1, 9)), source)
    expected = fr.read(source, directed=True)
    append, note = external.Unfinished.append, external.Unfinished.note
    done: set[tuple[int, int]] = set()
    count, most = 0, 0

    def failing(self: Any, file: str, values: Any) -> None:
        nonlocal count
        append(self, file, values)
        count += 1
        if count > most:
            raise KeyboardInterrupt

    def noted(self: Any, stage: int, piece: int) -> None:
        assert (stage, piece) not in done
        done.add((stage, piece))
        note(self, stage, piece)

    monkeypatch.setattr(_unfinished, "EVERY", 0)
    monkeypatch.setattr(external.Unfinished, "append", failing)
    monkeypatch.setattr(external.Unfinished, "note", noted)
    stops = 0
    for most in (3, 11, 40, 90, 150, 10**9):  # noqa: B007
        count = 0
        try:
            fr.convert(source, out, memory=1 << 14, directed=True)
            break
        except KeyboardInterrupt:
            stops += 1
    assert stops >= 3
    alike(fr.open(out, check=True), expected)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["g.frontier", "g.wel"]


@pytest.mark.parametrize("directed", [True, False])
def test_progress_is_shown_for_every_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str], directed: bool) -> None:
    """A line each, which ends with all pieces."""
    fr.write(fr.rmat(7, 8, seed=5, directed=True), tmp_path / "g.el")
    fr.convert(tmp_path / "g.el", tmp_path / "g.frontier", directed=directed, memory=1 << 15, progress=True)
    shown = [line.rpartition("\r")[2] for line in capsys.readouterr().err.split("\n") if line]
    passes = [line.partition(", ")[2].partition(" [")[0] for line in shown]
    edges = ["counting edges", "dealing edges", "sorting edges"]
    both = [*edges, "counting in-edges", "dealing in-edges", "sorting in-edges"]
    assert passes == ["reading", *(both if directed else edges), "checksums"]
    assert all("] 100% " in line for line in shown)
    assert int(shown[3].partition(" of ")[2].split()[0]) > 1  # there are several parts to sort
    fr.convert(tmp_path / "g.el", tmp_path / "g.frontier", directed=directed)
    assert capsys.readouterr().err == ""


def test_what_cannot_be_converted(tmp_path: Path) -> None:
    out = tmp_path / "g.frontier"

    def refused(file: str, text: str, words: str, **options: Any) -> None:
        (tmp_path / file).write_text(text)
        with pytest.raises(fr.GraphError, match=words):
            fr.convert(tmp_path / file, out, **options)

    refused("a.el", "0 1\n", "vertex 1 is not below", num_vertices=1)
    refused("b.el", "0 0\n", "self-loop of vertex 0", self_loops="error")
    refused("c.el", "0 1\n0 1\n", "more than once", duplicates="error")
    refused("d.el", "0 x\n", "found 'x'")
    refused("e.csv", "source,target,weight,since\n0,1,2,3\n", "columns")
    refused("f.graph", "2 1\n2\n1\n", "METIS files cannot be read in pieces")
    refused("g.el", "0 1\n", "choose one of", duplicates="maybe")
    refused("h.el", "0 1\n", "choose 'keep'", self_loops="maybe")
    refused("i.el", "0 1\n", "memory=0: edges need some", memory=0)
    refused("j.el", "0 1\n", "memory='lots': expected a number of bytes", memory="lots")
    refused("k.el", "0 1\n", "num_vertices must be an integer, not 'a'", num_vertices="a")
    refused("l.el", "0 1\n", "num_vertices must not be negative", num_vertices=-1)
    refused("m.el", "0 99999999999\n", "ids up to 99999999999 mean .* number the vertices that occur first")
    assert not out.exists()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fr.write(fr.karate(), "karate.el")
    for more in ([], ["--memory", "64KiB"]):
        assert main(["convert", "karate.el", "karate.frontier", "--no-directed", *more]) == 0
        assert "karate.frontier: 34 vertices, 78 edges" in capsys.readouterr().out
        alike(fr.open("karate.frontier"), fr.karate())
    assert main(["bfs", "karate.frontier", "--backend", "cpu", "--edges", "disk", "--verify"]) == 0
    assert "edges in disk memory" in capsys.readouterr().out
    assert main(["info", "karate.frontier"]) == 0
    assert main(["convert", "karate:1", "karate.npz", "--memory", "1GiB"]) == 2


@pytest.mark.parametrize("suffix", [".wel", ".npz", ".mtx", ".gr", ".csv.gz"])
def test_the_command_converts_in_parts_by_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """What would take more than half of the free memory, if it can be read in pieces; the graph is the same."""
    monkeypatch.chdir(tmp_path)
    g = next(iter(random_graphs(1, seed=3, min_vertices=90, max_vertices=99, parallel=True, weights=("int32",))))
    name = f"g{suffix}"
    fr.write(g, name)
    count = fr.read(name).num_slots if suffix == ".npz" else (tmp_path / name).stat().st_size
    needed = count * (external.OF_EDGE if suffix == ".npz" else external.OF_TEXT)
    loaded = []
    load = graphs.load
    monkeypatch.setattr(graphs, "load", lambda arguments: loaded.append(name) or load(arguments))
    for free, parts in ((4 * needed, False), (needed, suffix != ".csv.gz")):
        monkeypatch.setattr(external.limits, "free", lambda free=free: (free, ""))
        loaded.clear()
        assert main(["convert", name, "g.frontier"]) == 0
        assert bool(loaded) != parts
        assert f"g.frontier: {g.num_vertices:,} vertices" in capsys.readouterr().out
        alike(fr.open("g.frontier"), fr.read(name))


def test_the_command_converts_at_once_what_cannot_be_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Undirected edges as a directed graph, which has more edges than the file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(external.limits, "free", lambda: (1, ""))
    fr.write(fr.path(5), "g.el")
    assert main(["convert", "g.el", "g.frontier", "--directed"]) == 0
    alike(fr.open("g.frontier"), fr.read("g.el", directed=True))


@pytest.mark.parametrize("suffix", [".npz", ".wel"])
@pytest.mark.filterwarnings("ignore:the edge")
def test_duplicates_as_read(tmp_path: Path, suffix: str) -> None:
    """By default an archive keeps them, and other files the first."""
    for g in random_graphs(3, seed=5, min_vertices=20, max_vertices=30, parallel=True, weights=("int32",)):
        name = tmp_path / f"g{suffix}"
        fr.write(g, name)
        for directed in (None, False, True):
            fr.convert(name, tmp_path / "g.frontier", directed=directed)
            alike(fr.open(tmp_path / "g.frontier"), fr.read(name, directed=directed))
