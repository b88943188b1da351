"""Graphs written to a file and read again, in every format, gzipped too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frontier as fr

pytestmark = pytest.mark.usefixtures("reading")

SUFFIXES = ["mtx", "el", "wel", "txt", "tsv", "csv", "edges", "gr", "graph", "metis", "npz"]
WEIGHTED_ONLY, UNWEIGHTED_ONLY = {"wel"}, {"el"}
UNDIRECTED_ONLY = {"graph", "metis"}


def check_same(got: fr.Graph, graph: fr.Graph) -> None:
    assert got.directed == graph.directed
    assert np.array_equal(got.offsets, graph.offsets)
    assert np.array_equal(got.targets, graph.targets)
    assert got.offsets.dtype == graph.offsets.dtype
    assert got.targets.dtype == graph.targets.dtype
    assert (got.weights is None) == (graph.weights is None)
    if got.weights is not None:
        assert np.array_equal(got.weights, graph.weights)
        # the sign of zero too
        assert np.array_equal(np.signbit(got.weights), np.signbit(graph.weights))


FLOATS = st.floats(allow_nan=False)
INTEGERS = st.integers(-(2**63), 2**63 - 1)


@st.composite
def graphs(draw: st.DrawFn) -> fr.Graph:
    n = draw(st.integers(0, 8))
    vertices = st.integers(0, max(n - 1, 0))
    edges = draw(st.lists(st.tuples(vertices, vertices), max_size=20 if n else 0))
    src, dst = [s for s, _ in edges], [d for _, d in edges]
    weights = None
    kind = draw(st.sampled_from(["none", "float64", "float32", "int64", "int32"]))
    if kind != "none":
        values = FLOATS if kind == "float64" else INTEGERS
        if kind == "float32":
            values = st.floats(width=32, allow_nan=False)
        elif kind == "int32":
            values = st.integers(-(2**31), 2**31 - 1)
        given = draw(st.lists(values, min_size=len(edges), max_size=len(edges)))
        weights = np.array(given, kind)
    return fr.from_edges(
        src,
        dst,
        weights,
        num_vertices=n,
        directed=draw(st.booleans()),
        duplicates=draw(st.sampled_from(["first", "keep"])),
        self_loops=draw(st.sampled_from(["keep", "drop"])),
    )


def holds(suffix: str, graph: fr.Graph) -> bool:
    """Whether the format can hold the graph."""
    if graph.weights is None:
        weights_fit = suffix not in WEIGHTED_ONLY
    else:
        integers_only = suffix in UNDIRECTED_ONLY and graph.weights.dtype.kind == "f"
        weights_fit = suffix not in UNWEIGHTED_ONLY and not integers_only
    loops = bool((graph.sources == graph.targets).any())
    return weights_fit and not (suffix in UNDIRECTED_ONLY and (graph.directed or loops))


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(graph=graphs(), zipped=st.booleans())
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, suffix, graph, zipped):
    name = f"graph.{suffix}.gz" if zipped else f"graph.{suffix}"
    path = tmp_path_factory.getbasetemp() / name
    path.unlink(missing_ok=True)
    if not holds(suffix, graph):
        with pytest.raises(fr.GraphError, match=suffix if suffix[-2:] == "el" else "METIS"):
            fr.write(graph, path)
        assert not path.exists()
        return
    fr.write(graph, path)
    assert path.read_bytes().startswith(b"\x1f\x8b") == zipped
    check_same(fr.read(path, duplicates="keep"), graph)


@pytest.mark.parametrize("suffix", ["mtx", "wel", "csv", "gr", "npz"])
def test_round_trip_in_many_pieces(tmp_path, suffix, monkeypatch):
    """Blocks smaller than the file, so that lines and types meet at their borders."""
    from frontier.io import _parse

    monkeypatch.setattr(_parse, "_PIECE", 1000)
    monkeypatch.setattr(_parse, "_WORTH_THREADS", 100)
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 300, (2, 3000))
    weights = rng.integers(1, 100, 3000).astype(float)
    weights[2500] = 0.1  # all others are whole numbers
    graph = fr.from_edges(src, dst, weights, num_vertices=400, directed=True, duplicates="first")
    fr.write(graph, tmp_path / f"graph.{suffix}")
    check_same(fr.read(tmp_path / f"graph.{suffix}"), graph)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_lines_longer_than_a_piece(tmp_path, monkeypatch, threads):
    from frontier.io import _parse

    monkeypatch.setattr(_parse, "_PIECE", 50)
    monkeypatch.setattr(_parse, "_WORTH_THREADS", 10)
    before = fr.num_threads()
    fr.set_num_threads(threads)
    lines = ["0 1", "1 2", "#" * 1000, "2 3", *["3 4"] * 50, "#" * 300]
    try:
        for count in range(1, len(lines) + 1):
            (tmp_path / "g.el").write_text("\n".join(lines[:count]))
            graph = fr.read(tmp_path / "g.el", duplicates="keep")
            expected = [int(line[0]) for line in lines[:count] if line[0] != "#"]
            assert graph.sources.tolist() == expected
    finally:
        fr.set_num_threads(before)


def test_metis_in_many_pieces(tmp_path, monkeypatch):
    from frontier.io import _parse

    monkeypatch.setattr(_parse, "_PIECE", 500)
    monkeypatch.setattr(_parse, "_WORTH_THREADS", 100)
    rng = np.random.default_rng(4)
    src, dst = rng.integers(0, 300, (2, 2000))
    graph = fr.from_edges(src, dst, rng.integers(1, 9, 2000), self_loops="drop", duplicates="first", num_vertices=400)
    fr.write(graph, tmp_path / "graph.metis")
    check_same(fr.read(tmp_path / "graph.metis"), graph)


def test_npz_keeps_everything(tmp_path):
    graph = fr.from_edges(
        ["a", "b", "a"],
        ["b", "c", "a"],
        np.array([1, 2, 3], np.int32),
        vertices={"x": np.array([1.5, 2.5, 3.5])},
        edges={"year": np.array([7, 8, 9], np.int16)},
    )
    fr.write(graph, tmp_path / "graph.npz")
    got = fr.read(tmp_path / "graph.npz")
    check_same(got, graph)
    assert got.weights.dtype == np.int32
    assert got.labels.tolist() == ["a", "b", "c"]
    assert got.vertices["x"].tolist() == [1.5, 2.5, 3.5]
    assert np.array_equal(got.edges["year"], graph.edges["year"])
    assert got.edges["year"].dtype == np.int16


def test_npz_labels_that_only_a_pickle_could_hold(tmp_path):
    graph = fr.from_edges([("a", 1)], [("b", 2)])
    with pytest.raises(fr.GraphError, match=r"labels cannot be stored"):
        fr.write(graph, tmp_path / "graph.npz")


@pytest.mark.parametrize(
    ("stored", "wanted", "edges"),
    [
        (True, False, {(0, 1), (1, 0), (1, 2), (2, 1)}),
        (False, True, {(0, 1), (1, 0), (1, 2), (2, 1)}),
        (True, None, {(0, 1), (1, 2)}),
    ],
)
@pytest.mark.parametrize("suffix", ["npz", "mtx", "txt", "gr"])
def test_directed_argument(tmp_path, suffix, stored, wanted, edges):
    graph = fr.from_edges([0, 1], [1, 2], directed=stored)
    fr.write(graph, tmp_path / f"g.{suffix}")
    got = fr.read(tmp_path / f"g.{suffix}", directed=wanted)
    assert set(zip(got.sources.tolist(), got.targets.tolist(), strict=True)) == edges
    assert got.directed == (stored if wanted is None else wanted)


@pytest.mark.parametrize("suffix", ["npz", "txt"])
def test_duplicates_and_self_loops(tmp_path, suffix):
    graph = fr.from_edges([0, 0, 1], [1, 1, 1], [2, 3, 5], duplicates="keep", directed=True)
    fr.write(graph, tmp_path / f"g.{suffix}")
    got = fr.read(tmp_path / f"g.{suffix}", duplicates="sum", self_loops="drop")
    assert (got.targets.tolist(), got.weights.tolist()) == ([1], [5])
    with pytest.raises(fr.GraphError, match=rf"g\.{suffix}: .*more than once"):
        fr.read(tmp_path / f"g.{suffix}", duplicates="error")


def test_format_argument(tmp_path):
    graph = fr.from_edges([0], [1])
    fr.write(graph, tmp_path / "graph.data", format="mtx")
    assert (tmp_path / "graph.data").read_bytes().startswith(b"%%MatrixMarket")
    check_same(fr.read(tmp_path / "graph.data", format=".mtx"), graph)
    check_same(fr.read(str(tmp_path / "graph.data"), "MTX"), graph)


def test_gzip_is_the_same_each_time(tmp_path):
    graph = fr.from_edges([0], [1])
    for name in ("a.el.gz", "b.el.gz"):
        fr.write(graph, tmp_path / name)
    assert (tmp_path / "a.el.gz").read_bytes() == (tmp_path / "b.el.gz").read_bytes()


def test_scipy_reads_what_is_written(tmp_path):
    scipy_io = pytest.importorskip("scipy.io", reason="SciPy is not installed")
    for directed in (True, False):
        graph = fr.from_edges([0, 1, 2], [1, 2, 2], [0.1, 1e300, -5], directed=directed)
        fr.write(graph, tmp_path / "g.mtx")
        matrix = scipy_io.mmread(tmp_path / "g.mtx").toarray()
        expected = np.zeros((3, 3))
        expected[graph.sources, graph.targets] = graph.weights
        assert np.array_equal(matrix, expected)


def test_what_scipy_writes_is_read(tmp_path):
    sparse = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
    from scipy.io import mmread, mmwrite

    rng = np.random.default_rng(0)
    matrix = sparse.random(30, 30, 0.2, rng=rng)
    for field, dense in (("real", matrix), ("integer", (matrix * 100).astype(np.int64))):
        for symmetry in ("general", "symmetric", "skew-symmetric"):
            made = {
                "general": dense,
                "symmetric": dense + dense.T,
                "skew-symmetric": dense - dense.T,
            }[symmetry]
            mmwrite(tmp_path / "g.mtx", made, field=field, symmetry=symmetry)
            written = mmread(tmp_path / "g.mtx")
            got = fr.read(tmp_path / "g.mtx")
            values = np.zeros((30, 30))
            values[got.sources, got.targets] = got.weights
            assert np.array_equal(values, written.toarray())
            assert got.directed == (symmetry != "symmetric")


def test_networkx_reads_edge_lists(tmp_path):
    networkx = pytest.importorskip("networkx", reason="NetworkX is not installed")
    fr.write(fr.from_edges([0, 1], [1, 2]), tmp_path / "g.el")
    assert networkx.read_edgelist(tmp_path / "g.el", nodetype=int).number_of_edges() == 2


def test_real_graphs(data_dir, real_graph, tmp_path):
    for name in ("nk-lesmis", "road-rome99", "mesh-igea"):
        graph = fr.read(data_dir / f"{name}.npz", duplicates="first")
        check_same(graph, real_graph(name))
        fr.write(graph, tmp_path / "g.mtx")
        check_same(fr.read(tmp_path / "g.mtx"), graph)


def test_import_needs_no_numba():
    code = "import sys, frontier.io; sys.exit('numba' in sys.modules)"
    root = Path(fr.__file__).parents[1]
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=root).returncode == 0


def test_progress_bar(tmp_path, capsys):
    (tmp_path / "g.el").write_text("0 1\n1 2\n")
    fr.read(tmp_path / "g.el", progress=True)
    shown = capsys.readouterr().err
    assert "g.el [" in shown
    assert "100%" in shown
    assert shown.endswith("\n")
    fr.read(tmp_path / "g.el")
    assert capsys.readouterr().err == ""


def test_path_may_be_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fr.write(fr.from_edges([0], [1]), Path("g.el"))
    assert fr.read("g.el").num_slots == 2


@pytest.mark.parametrize("suffix", ["mtx", "wel", "csv", "gr", "metis", "npz"])
def test_a_graph_on_any_backend(backend, tmp_path, suffix):
    graph = fr.from_edges([0, 1, 2], [1, 2, 3], [4, 5, 6])
    fr.write(backend(graph), tmp_path / f"g.{suffix}")
    check_same(fr.read(tmp_path / f"g.{suffix}"), graph)


def test_an_archive_without_its_self_loops_keeps_its_duplicates(tmp_path):
    g = fr.from_edges([0, 0, 1, 2], [1, 1, 0, 2], directed=True, duplicates="keep")
    fr.write(g, tmp_path / "g.npz")
    assert fr.read(tmp_path / "g.npz", self_loops="drop").targets.tolist() == [1, 1, 0]
    assert fr.read(tmp_path / "g.npz", directed=False).num_edges == 2
