"""Graphs from tables and graphs of other libraries, with the packages themselves, and back."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from conftest import Backend

import frontier as fr
from frontier.graph.kinds import kind_of

SRC = ["ann", "bob", "ann", "dan"]
DST = ["bob", "cid", "cid", "ann"]
WEIGHT = [2.5, 1.0, 4.0, 3.0]


def rows(g: fr.Graph) -> set[tuple[Any, ...]]:
    ends = g.names.of(g.sources), g.names.of(g.targets)
    return set(zip(*ends, g.weights.tolist() if g.weights is not None else [1] * g.num_slots, strict=True))


EXPECTED = set(zip(SRC, DST, WEIGHT, strict=True))


def columns(kind: str) -> dict[str, Any]:
    if kind == "names":
        return {"follower": SRC, "followee": DST, "strength": WEIGHT}
    number = {name: i for i, name in enumerate(("ann", "bob", "cid", "dan"))}
    return {"follower": [number[x] for x in SRC], "followee": [number[x] for x in DST], "strength": WEIGHT}


def pandas_of(made: dict[str, Any], how: str) -> Any:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.DataFrame(made)
    if how == "category":
        return frame.astype({"follower": "category", "followee": "category"})
    if how == "object":
        return frame.astype({"follower": object, "followee": object})
    if how == "arrow":
        pytest.importorskip("pyarrow", reason="PyArrow is not installed")
        return frame.convert_dtypes(dtype_backend="pyarrow")
    return frame


def polars_of(made: dict[str, Any], how: str) -> Any:
    pl = pytest.importorskip("polars", reason="Polars is not installed")
    frame = pl.DataFrame(made)
    if how == "lazy":
        return frame.lazy()
    if how == "plain" or isinstance(made["follower"][0], int):
        return frame
    dtype = pl.Categorical if how == "category" else pl.Enum(["zoe", "dan", "cid", "bob", "ann"])
    return frame.with_columns(pl.col("follower", "followee").cast(dtype))


def arrow_of(made: dict[str, Any], how: str) -> Any:
    pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    table = pa.table(made)
    if how == "batch":
        return table.to_batches()[0]
    if how == "chunks":
        return pa.concat_tables([table.slice(0, 1), table.slice(1)])
    if how == "dictionary":
        return pa.table({name: column.dictionary_encode() if name != "strength" else column
                         for name, column in zip(table.column_names, table.columns, strict=True)})  # fmt: skip
    if how == "large":
        return table.cast(pa.schema([("follower", pa.large_string()), ("followee", pa.large_string()),
                                     ("strength", pa.float32())]))  # fmt: skip
    if how == "reader":
        return table.to_reader()
    if how == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
        return duckdb.from_arrow(table).filter("strength > 0")
    if how == "protocol":
        return pytest.importorskip("pandas", reason="pandas is not installed").DataFrame(made).__dataframe__()
    if how == "polars":
        return polars_of(made, "plain")
    return table


DOORS = [
    *(("from_pandas", pandas_of, how) for how in ("plain", "category", "object", "arrow")),
    *(("from_polars", polars_of, how) for how in ("plain", "category", "enum", "lazy")),
    *(("from_arrow", arrow_of, how)
      for how in ("plain", "batch", "chunks", "dictionary", "reader", "duckdb", "protocol", "polars")),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["names", "ids"])
@pytest.mark.parametrize(("function", "make", "how"), DOORS, ids=[f"{f}-{how}" for f, _, how in DOORS])
def test_tables(function: str, make: Any, how: str, kind: str) -> None:
    made = make(columns(kind), how)
    g = getattr(fr, function)(made, "follower", "followee", weight="strength", directed=True)
    if kind == "names":
        assert g.labels.tolist() == ["ann", "bob", "cid", "dan"]
        assert rows(g) == EXPECTED
    else:
        assert g.labels is None
        assert rows(g) == rows(fr.from_edges(*columns(kind).values(), directed=True))
    assert g.directed


def test_large_strings_and_floats() -> None:
    g = fr.from_arrow(arrow_of(columns("names"), "large"), "follower", "followee", "strength", directed=True)
    assert rows(g) == EXPECTED
    assert g.weights.dtype == np.float32


@pytest.mark.parametrize(("function", "make"), [("from_pandas", pandas_of), ("from_polars", polars_of),
                                                ("from_arrow", arrow_of)])  # fmt: skip
def test_one_meaning_of_columns(function: str, make: Any) -> None:
    """Ends and weights by their names, others left out with a warning, types of Gephi, missing cells."""
    take = getattr(fr, function)
    g = take(make({"target": [1, 2], "source": [0, 1], "weight": [5, 7]}, "plain"), directed=True)
    assert rows(g) == {(0, 1, 5), (1, 2, 7)}
    assert take(make({"target": [1, 2], "source": [0, 1], "weight": [5, 7]}, "plain"), weight=False,
                columns=[]).weights is None  # fmt: skip
    table = make({"from": ["a"], "to": ["b"], "year": [1999], "Type": ["Directed"]}, "plain")
    with pytest.warns(fr.FrontierWarning, match=rf"{function} leaves out the columns 'year': .*weight='year' takes"):
        assert take(table).directed
    kept = take(table, columns=["year"])
    assert kept.edges["year"].tolist() == [1999]
    for named, message in (({"src": "x"}, "no column is called like a target"), ({"a": 1, "b": 2}, "like a source")):
        with pytest.raises(fr.GraphError, match=message):
            take(make({name: [value] for name, value in named.items()}, "plain"))
    with pytest.raises(fr.GraphError, match="no column 'who', but from, to, year, Type"):
        take(table, "who", "to")
    with pytest.raises(fr.GraphError, match="row 1 of the table has no 'to'"):
        take(make({"from": ["a", "b"], "to": ["b", None]}, "plain"))
    with pytest.raises(fr.GraphError, match="row 0 of the table has no 'weight'"):
        take(make({"from": ["a", "b"], "to": ["b", "c"], "weight": [None, 1.5]}, "plain"))
    assert take(make({"src": [10**12, 7], "dst": [7, 8]}, "plain"), labels=True).labels.tolist() == [10**12, 7, 8]
    empty = make({"src": np.array([], np.int64), "dst": np.array([], np.int64)}, "plain")
    assert take(empty).num_vertices == 0


def test_categories_that_do_not_occur() -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    kind = pd.CategoricalDtype(["z", "b", "y", "a"])
    g = fr.from_pandas(pd.DataFrame({"src": pd.Series(["a", "b"], dtype=kind), "dst": pd.Series(["b", "c"])}))
    assert g.labels.tolist() == ["a", "b", "c"]
    numbers = pd.DataFrame({"src": [30, 10], "dst": [10, 20]}).astype("category")
    assert fr.from_pandas(numbers, labels=True).labels.tolist() == [30, 10, 20]
    assert fr.from_pandas(numbers).num_vertices == 31
    given = fr.from_pandas(pd.DataFrame({"src": ["b"], "dst": ["a"]}, dtype="category"), labels=["a", "b", "c"])
    assert (given.sources.tolist(), given.labels.tolist()) == ([0, 1], ["a", "b", "c"])
    with pytest.raises(fr.GraphError, match="names the vertex 'b', which is not among the labels"):
        fr.from_pandas(pd.DataFrame({"src": ["b"], "dst": ["a"]}), labels=["a"])


def test_columns_that_are_coded_differently() -> None:
    """Equal names are one vertex, however each column has numbered them."""
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    src, dst = pd.Categorical(["a", "b"], ["a", "b", "c"]), pd.Categorical(["b", "c"], ["c", "b", "a"])
    assert src.dtype == dst.dtype
    expected = {("a", "b", 1), ("b", "c", 1)}
    assert rows(fr.from_pandas(pd.DataFrame({"src": src, "dst": dst}), directed=True)) == expected
    pl = pytest.importorskip("polars", reason="Polars is not installed")
    some = (pl.String, pl.Categorical), (pl.Enum(["a", "b"]), pl.Enum(["c", "b"])), (pl.Enum(["b", "a"]), pl.String)
    for first, second in some:
        table = pl.DataFrame({"src": pl.Series(["a", "b"], dtype=first), "dst": pl.Series(["b", "c"], dtype=second)})
        assert rows(fr.from_polars(table, directed=True)) == expected
    pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    coded = {kind: pa.array(["b", "c"]).dictionary_encode().cast(pa.dictionary(kind, pa.string()))
             for kind in (pa.int8(), pa.int32())}  # fmt: skip
    for target in (*coded.values(), pa.array(["b", "c"]), pa.array(["b", "c"], pa.large_string())):
        for source in (pa.array(["a", "b"]), pa.array(["a", "b"]).dictionary_encode()):
            assert rows(fr.from_arrow(pa.table({"src": source, "dst": target}), directed=True)) == expected
    small, large = (pa.dictionary(kind, pa.int64()) for kind in (pa.int8(), pa.int32()))
    ids = [pa.array([0, 3]).dictionary_encode().cast(kind) for kind in (small, large)]
    g = fr.from_arrow(pa.table({"src": ids[0], "dst": ids[1]}), directed=True)
    assert (g.labels, rows(g)) == (None, {(0, 0, 1), (3, 3, 1)})
    holed = pa.DictionaryArray.from_arrays([0, 1], pa.array(["a", None]))
    with pytest.raises(fr.GraphError, match="row 1 of the table has no 'dst'"):
        fr.from_arrow(pa.table({"src": pa.array(["a", "b"]).dictionary_encode(), "dst": holed}))


def test_dask() -> None:
    dask = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    table = dask.from_pandas(pandas_of(columns("names"), "plain"), npartitions=2)
    with pytest.raises(fr.GraphError, match=r"fr\.from_pandas"):
        fr.from_edges(table)
    assert rows(fr.from_pandas(table, "follower", "followee", "strength", directed=True)) == EXPECTED


# -- graphs of other libraries --------------------------------------------------------------------------


def test_igraph() -> None:
    ig = pytest.importorskip("igraph", reason="igraph is not installed")
    other = ig.Graph.TupleList(zip(SRC, DST, WEIGHT, strict=True), directed=True, weights=True)
    g = fr.from_igraph(other)
    assert (g.directed, rows(g)) == (True, EXPECTED)
    plain = ig.Graph([(0, 1), (1, 2)])
    assert rows(fr.from_igraph(plain)) == {(0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1)}
    assert fr.bfs(plain, 0).level.tolist() == [0, 1, 2]


def test_rustworkx() -> None:
    rx = pytest.importorskip("rustworkx", reason="rustworkx is not installed")
    other = rx.PyDiGraph()
    number = {name: other.add_node(name) for name in ("gone", "ann", "bob", "cid", "dan")}
    other.add_edges_from([(number[s], number[t], w) for s, t, w in zip(SRC, DST, WEIGHT, strict=True)])
    other.remove_node(number["gone"])
    g = fr.from_rustworkx(other)
    assert (g.directed, rows(g)) == (True, EXPECTED)
    plain = rx.generators.path_graph(3)
    assert fr.from_rustworkx(plain).labels is None
    assert fr.bfs(plain, 0).level.tolist() == [0, 1, 2]
    plain.add_edge(0, 2, "text")
    with pytest.warns(fr.FrontierWarning, match="leaves out the data of edges"):
        assert fr.from_rustworkx(plain).weights is None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_networkit(directed: bool, weighted: bool) -> None:
    nk = pytest.importorskip("networkit", reason="networkit is not installed")
    other = nk.Graph(4, weighted=weighted, directed=directed)
    for u, v, w in ((0, 1, 2.0), (1, 2, 3.0), (3, 0, 1.0)):
        other.addEdge(u, v, w)
    g = fr.from_networkit(other)
    expected = fr.from_edges([0, 1, 3], [1, 2, 0], [2.0, 3.0, 1.0] if weighted else None, directed=directed)
    assert (g.directed, rows(g)) == (directed, rows(expected))
    assert fr.bfs(other, 3).level.tolist() == [1, 2, 3, 0]


def test_graphblas() -> None:
    gb = pytest.importorskip("graphblas", reason="python-graphblas is not installed")
    other = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [2.0, 3.0, 1.0], nrows=3, ncols=3)
    g = fr.from_graphblas(other)
    assert (g.directed, rows(g)) == (True, {(0, 1, 2.0), (1, 2, 3.0), (2, 0, 1.0)})
    both = gb.Matrix.from_coo([0, 1], [1, 0], True, nrows=2, ncols=2)
    assert (fr.from_graphblas(both).directed, fr.from_graphblas(both).weights) == (False, None)
    with pytest.raises(fr.GraphError, match="is square"):
        fr.from_graphblas(gb.Matrix.from_coo([0], [1], [1], nrows=1, ncols=2))
    with pytest.raises(fr.GraphError, match="has no reverse"):
        fr.from_graphblas(other, directed=False)


def test_pyg_and_back() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    pyg = pytest.importorskip("torch_geometric.data", reason="PyTorch Geometric is not installed")
    index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    g = fr.from_pyg(pyg.Data(edge_index=index, edge_attr=torch.tensor([2.0, 2.0, 3.0, 3.0]), num_nodes=4))
    assert (g.directed, g.num_vertices) == (False, 4)
    assert rows(g) == {(0, 1, 2.0), (1, 0, 2.0), (1, 2, 3.0), (2, 1, 3.0)}
    assert fr.from_pyg(pyg.Data(edge_index=index[:, :3], num_nodes=3)).directed
    back = fr.to_pyg(g.with_columns(vertices={"y": [0, 1, 0, 1]}))
    assert back.edge_index.tolist() == index.tolist()
    assert (back.edge_weight.tolist(), back.y.tolist()) == ([2.0, 2.0, 3.0, 3.0], [0, 1, 0, 1])
    assert rows(fr.from_pyg(back)) == rows(g)
    with pytest.raises(fr.GraphError, match="no such attribute"):
        fr.from_pyg(back, weight="cost")


def test_an_edge_index() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    for index in (torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]), np.array([[0, 1, 2, 3], [1, 2, 3, 0]])):
        assert rows(fr.from_edges(index, directed=True)) == {(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 0, 1)}
    two = torch.tensor([[0, 1], [2, 3]])
    assert rows(fr.from_edges(two, directed=True)) == {(0, 2, 1), (1, 3, 1)}
    with pytest.warns(fr.FrontierWarning, match=r"shape \(2, 2\) is read as two edges, one in each row"):
        assert rows(fr.from_edges(two.numpy(), directed=True)) == {(0, 1, 1), (2, 3, 1)}
    with pytest.warns(fr.FrontierWarning, match="two edges with weights"):
        assert rows(fr.from_edges(np.array([[0, 1, 5], [1, 2, 6]]), directed=True)) == {(0, 1, 5), (1, 2, 6)}
    assert rows(fr.from_edges(np.array([[0, 1], [1, 2], [2, 0]]), directed=True)) == {(0, 1, 1), (1, 2, 1), (2, 0, 1)}


# -- no copies ------------------------------------------------------------------------------------------


def test_scipy_shares_arrays_both_ways() -> None:
    sparse = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
    matrix = sparse.random_array((50, 50), density=0.1, format="csr", rng=np.random.default_rng(1))
    g = fr.from_scipy(matrix, directed=True)
    for ours, theirs in ((g.offsets, matrix.indptr), (g.targets, matrix.indices), (g.weights, matrix.data)):
        assert ours.ctypes.data == theirs.ctypes.data
    back = g.to_scipy(copy=False)
    for ours, theirs in ((g.offsets, back.indptr), (g.targets, back.indices), (g.weights, back.data)):
        assert ours.ctypes.data == theirs.ctypes.data
    assert g.to_scipy().indices.ctypes.data != g.targets.ctypes.data


def test_arrow_in_and_out() -> None:
    pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    pl = pytest.importorskip("polars", reason="Polars is not installed")
    g = fr.from_edges(SRC, DST, WEIGHT, directed=True, edges={"year": [1, 2, 3, 4]})
    for table in (pa.table(g), g.to_arrow(), pl.DataFrame(g), g.to_polars()):
        assert rows(fr.from_arrow(table, directed=True, columns=["year"])) == EXPECTED
    out = g.to_arrow().column("weight").chunk(0)
    assert out.buffers()[1].address == out.to_numpy().ctypes.data  # numbers are where NumPy has them


def test_kinds_are_told_apart() -> None:
    for value in (np.zeros((2, 2)), [1], {}, "g.mtx", object(), fr.path(2), fr.Frontier(fr.path(2), [0])):
        kind = kind_of(value)
        assert kind is None or isinstance(value, fr.Graph), kind
    assert "torch" not in sys.modules or kind_of(sys.modules["torch"].tensor([1])) is None


@pytest.mark.parametrize("kind", ["vertex", "edge"])
def test_tensors_are_fields(kind: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    g = fr.karate()
    made = torch.zeros(34 if kind == "vertex" else 156, dtype=torch.float32)
    p = fr.Problem(g, x=getattr(fr, kind)("float32", made, copy=False), y=fr.vertex("float32", torch.ones(34)))
    assert p.x.ctypes.data == made.data_ptr()
    fr.compute(p, fr.Frontier.all(g, kind=kind), _add_one if kind == "vertex" else _add_one_to_edge)
    assert made.tolist() == [1.0] * len(made)
    back = torch.from_dlpack(p.x)
    assert back.data_ptr() == made.data_ptr()
    p.y = torch.full((34,), 2.0)
    assert p.y.sum() == 68


def _add_one(p, v):
    p.x[v] += 1


def _add_one_to_edge(p, edge):
    p.x[edge] += 1


def test_what_cannot_be_a_field_as_it_is(backend: Backend) -> None:
    g = backend(fr.path(4))
    xp = g.placement.memory.xp
    wrong = [
        (xp.zeros(3), r"of shape \(3,\), not \(4,\)"), (xp.zeros(4, "i4"), "of int32, not float64"),
        (xp.zeros(8)[::2], "not contiguous"),
    ]  # fmt: skip
    if xp is np:
        fixed = np.zeros(4)
        fixed.flags.writeable = False
        wrong.append((fixed, "read-only"))
    else:
        wrong.append((np.zeros(4), "not where the graph lies, cuda"))
    for values, message in wrong:
        with pytest.raises(fr.FrontierError, match=message):
            fr.Problem(g, x=fr.vertex("float64", values, copy=False))
    made = xp.zeros((4, 2))
    assert fr.Problem(g, x=fr.vertex("float64", made, shape=2, copy=False)).x is made
