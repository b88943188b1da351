"""Files as other programs write them: of LDBC, DIMACS, KONECT, SciPy and graph neural networks; dense matrices."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import frontier as fr
from frontier.cli import main

pytestmark = pytest.mark.usefixtures("reading")


def read(text: str, suffix: str, **options: Any) -> fr.Graph:
    return fr.read(io.BytesIO(text.encode()), suffix, **options)


def edges(graph: fr.Graph) -> list[tuple[Any, ...]]:
    columns = [graph.sources.tolist(), graph.targets.tolist()]
    if graph.weights is not None:
        columns.append(graph.weights.tolist())
    return list(zip(*columns, strict=True))


# -- LDBC ----------------------------------------------------------------------------------


def ldbc(folder: Path, edges: str, vertices: str = "2\n9000000000\n4\n7\n", properties: str = "") -> Path:
    (folder / "x.v").write_text(vertices)
    (folder / "x.e").write_text(edges)
    if properties:
        (folder / "x.properties").write_text(properties)
    return folder / "x.e"


def test_ldbc(tmp_path: Path) -> None:
    graph = fr.read(ldbc(tmp_path, "2 4 0.5\n4 9000000000 1.5\n"))
    assert (graph.directed, graph.num_vertices) == (True, 4)
    assert graph.labels.tolist() == [2, 9000000000, 4, 7]
    assert edges(graph) == [(0, 2, 0.5), (2, 1, 1.5)]
    says = "# of x\ngraph.x.vertex-file = x.v\ngraph.x.directed = false\n"
    graph = fr.read(ldbc(tmp_path, "2 4\n7 4\n", properties=says))
    assert (graph.directed, graph.weights) == (False, None)
    assert edges(graph) == [(0, 2), (2, 0), (2, 3), (3, 2)]
    assert fr.read(tmp_path / "x.e", directed=True).directed
    assert fr.read(tmp_path / "x.e", labels=[*"abcd"]).labels.tolist() == [*"abcd"]
    assert fr.read(tmp_path / "x.e", placement="ranks:2").num_edges == 2
    for name in ("x.e", "x.v"):
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
        (tmp_path / name).unlink()
    assert fr.read(tmp_path / "x.e.gz").num_edges == 2


@pytest.mark.parametrize(
    ("text", "vertices", "message"),
    [
        ("2 4\n2 5\n", "2\n4\n", r"x\.e:2: expected vertices of the file beside, found '5' at the edge 2"),
        ("2 4\n", "# none\n", r"x\.e:1: expected vertices of the file beside, found '2' at the edge 1"),
        ("2 4\n", "2\n4 5\n", r"x\.v:2: expected one vertex on each line, found 2 numbers"),
        ("2 4\n", "2\n-4\n", r"x\.v:1: expected vertices that are integers from 0, found other numbers"),
        ("2 4\n", "2\nx\n", r"x\.v:2: expected a number, found 'x'"),
        ("2 4\n", "2\n2\n4\n", "labels must be unique"),
        ("2 4 x\n", "2\n4\n", r"x\.e:1: expected a number as weight, found 'x'"),
    ],
)
def test_ldbc_that_is_refused(tmp_path: Path, text: str, vertices: str, message: str) -> None:
    with pytest.raises(fr.GraphError, match=message):
        fr.read(ldbc(tmp_path, text, vertices))


def test_ldbc_without_vertices(tmp_path: Path) -> None:
    (tmp_path / "y.e").write_text("2 4\n")
    with pytest.raises(fr.GraphError, match=r"y\.e: expected the vertices beside it, in y\.v: format='txt'"):
        fr.read(tmp_path / "y.e")
    assert fr.read(tmp_path / "y.e", format="txt", labels=True).labels.tolist() == [2, 4]
    with pytest.raises(fr.GraphError, match=r"LDBC files can be read, not written"):
        fr.write(fr.path(3), tmp_path / "z.e")


# -- DIMACS --------------------------------------------------------------------------------

FLOW = "c a network\np max 4 3\nc ends\nn 1 s\nn 4 t\na 1 2 5\na 2 3 4\nc x\na 3 4 3\n"


@pytest.mark.parametrize("suffix", ["max", "gr"])
def test_maximum_flow(suffix: str, tmp_path: Path) -> None:
    graph = read(FLOW, suffix)
    assert graph.directed
    assert edges(graph) == [(0, 1, 5), (1, 2, 4), (2, 3, 3)]
    assert graph.vertices["terminal"].tolist() == ["s", "", "", "t"]
    assert not read("p max 2 1\na 1 2 3\n", suffix).vertices
    (tmp_path / f"g.{suffix}").write_text(FLOW)
    parts = fr.read(tmp_path / f"g.{suffix}", placement="ranks:2").to("cpu")
    assert (edges(parts), parts.vertices["terminal"].tolist()) == (edges(graph), ["s", "", "", "t"])


@pytest.mark.parametrize("suffix", ["col", "clq", "gr"])
@pytest.mark.parametrize("problem", ["edge", "col"])
def test_undirected_graphs_of_dimacs(suffix: str, problem: str) -> None:
    graph = read(f"c x\np {problem} 3 2\nd 2 1 1\nn 2 7\ne 1 2\nc y\ne 3 2\n", suffix)
    assert (graph.directed, graph.weights) == (False, None)
    assert edges(graph) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert graph.vertices["weight"].tolist() == [0, 7, 0]
    both = read(f"p {problem} 3 4\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n", suffix)
    halves = read(f"p {problem} 3 4\ne 1 2\ne 2 3\n", suffix)  # each edge counts twice
    assert edges(both) == edges(halves) == edges(graph)


def test_large_edges_of_dimacs_in_pieces(tmp_path: Path) -> None:
    (tmp_path / "g.col").write_text("p edge 3 2\ne 1 2\ne 2 3\n")
    fr.convert(tmp_path / "g.col", tmp_path / "g.frontier")
    assert edges(fr.open(tmp_path / "g.frontier")) == [(0, 1), (1, 0), (1, 2), (2, 1)]


# -- Matrix Market -------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["integer", "real"])
def test_dense_matrices(field: str) -> None:
    head = f"%%MatrixMarket matrix array {field}"
    graph = read(f"{head} general\n% by columns\n2 2\n0\n7\n-3\n1\n", "mtx")
    assert graph.directed
    assert edges(graph) == [(0, 1, -3), (1, 0, 7), (1, 1, 1)]
    assert graph.weights.dtype == (np.int64 if field == "integer" else np.float64)
    graph = read(f"{head} symmetric\n3 3\n1\n0\n2\n0\n5\n0\n", "mtx")
    assert not graph.directed
    assert edges(graph) == [(0, 0, 1), (0, 2, 2), (1, 2, 5), (2, 0, 2), (2, 1, 5)]
    graph = read(f"{head} skew-symmetric\n3 3\n4\n0\n5\n", "mtx")
    assert edges(graph) == [(0, 1, -4), (1, 0, 4), (1, 2, -5), (2, 1, 5)]


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
def test_dense_matrices_of_scipy(symmetry: str) -> None:
    scipy_io = pytest.importorskip("scipy.io", reason="writes dense matrices")
    matrix = np.random.default_rng(1).integers(-2, 3, (7, 7))
    matrix = {"general": matrix, "symmetric": matrix + matrix.T}.get(symmetry, matrix - matrix.T)
    out = io.BytesIO()
    scipy_io.mmwrite(out, matrix, symmetry=symmetry)
    graph = fr.read(io.BytesIO(out.getvalue()), "mtx")
    made = np.zeros((7, 7), np.int64)
    made[graph.sources, graph.targets] = graph.weights
    assert (made == matrix).all()


@pytest.mark.parametrize("text", [
    "%%MatrixMarket matrix coordinate integer general\n2 3 3\n1 1 5\n2 1 6\n2 3 7\n",
    "%%MatrixMarket matrix array integer general\n2 3\n5\n6\n0\n0\n0\n7\n",
])  # fmt: skip
def test_matrices_that_are_not_square(text: str) -> None:
    with pytest.warns(fr.FrontierWarning, match="2 rows and 3 columns make an undirected bipartite graph") as said:
        graph = read(text, "mtx")
    assert len(said) == 1
    assert (graph.directed, graph.vertices["side"].tolist()) == (False, [0, 0, 1, 1, 1])
    assert [edge for edge in edges(graph) if edge[0] < edge[1]] == [(0, 2, 5), (1, 2, 6), (1, 4, 7)]


def test_complex_matrices_have_a_way(tmp_path: Path) -> None:
    path = tmp_path / "g.mtx"
    path.write_text("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 3 -4\n")
    with pytest.raises(fr.GraphError, match=r"fr\.from_scipy\(abs\(scipy\.io\.mmread\('.*g\.mtx'\)\)\) takes") as said:
        fr.read(path)
    assert "\n" not in str(said.value)
    scipy_io = pytest.importorskip("scipy.io", reason="reads complex matrices")
    assert edges(fr.from_scipy(abs(scipy_io.mmread(path)))) == [(0, 1, 5.0)]


# -- NumPy archives ------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "dia"])
def test_matrices_of_scipy(format: str, tmp_path: Path) -> None:
    sparse = pytest.importorskip("scipy.sparse", reason="writes matrices")
    dense = np.array([[0, 5, 0], [0, 0, 0.5], [2, 0, 0]])
    path = tmp_path / "g.npz"
    for matrix, directed in ((dense, True), (dense + dense.T, False)):
        sparse.save_npz(path, sparse.csr_array(matrix).asformat(format))
        graph = fr.read(path)
        made = np.zeros((3, 3))
        made[graph.sources, graph.targets] = graph.weights
        assert graph.directed is directed
        assert (made == matrix).all()
        assert fr.read(path, directed=True, placement="ranks:2").num_slots == graph.num_slots
    sparse.save_npz(path, sparse.csr_matrix(dense > 0))
    assert fr.read(path).weights is None


def test_edge_index(tmp_path: Path) -> None:
    path, index = tmp_path / "g.npz", np.array([[0, 1], [1, 3]])
    np.savez(path, edge_index=index)
    assert edges(fr.read(path)) == [(0, 1), (1, 3)]
    np.savez(path, edge_index=index, edge_weight=[0.5, 2], num_nodes=9)
    graph = fr.read(path)
    assert (graph.directed, graph.num_vertices, edges(graph)) == (True, 9, [(0, 1, 0.5), (1, 3, 2.0)])
    assert fr.read(path, directed=False).num_slots == 4


# -- KONECT --------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["txt", "tsv", "edges"])
def test_times_of_konect(suffix: str, tmp_path: Path) -> None:
    text = "% asym positive\n% 3 4 4\n1 2\t1 1200000000\n2 3\t2\t1200000007\n"
    graph = read(text, suffix)
    assert edges(graph) == [(1, 2, 1), (2, 3, 2)]
    assert graph.edges["time"].tolist() == [1200000000, 1200000007]
    undirected = read(text.replace("asym", "sym"), suffix)
    assert undirected.edges["time"].tolist() == [1200000000, 1200000000, 1200000007, 1200000007]
    assert read(text, suffix, weight=False).weights is None
    assert read(text, suffix, labels=True).labels.tolist() == [1, 2, 3]
    (tmp_path / f"g.{suffix}").write_text(text)
    assert fr.read(tmp_path / f"g.{suffix}", placement="ranks:2").to("cpu").edges["time"].tolist()[1] == 1200000007
    with pytest.raises(fr.GraphError, match=r"expected the line to end after . numbers"):
        read(text.replace("asym", "x"), suffix)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "g.max").write_text(FLOW)
    assert main(["convert", str(tmp_path / "g.max"), str(tmp_path / "g.npz")]) == 0
    assert "4 vertices, 3 edges" in capsys.readouterr().out
    assert fr.read(tmp_path / "g.npz").vertices["terminal"].tolist() == ["s", "", "", "t"]
