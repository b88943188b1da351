"""Graphs from SciPy, NetworkX and pandas, and back."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frontier as fr

nx = pytest.importorskip("networkx", reason="NetworkX is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")
sparse = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")


def slots_of(graph: fr.Graph) -> list[Any]:
    columns = [graph.sources.tolist(), graph.targets.tolist()]
    columns += [] if graph.weights is None else [graph.weights.tolist()]
    return list(zip(*columns, strict=True))


# -- SciPy ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.lil_array, sparse.dok_array]
)
def test_any_sparse_format(make: Any) -> None:
    dense = np.array([[0, 2, 0], [0, 0, 3], [4, 0, 5]])
    graph = fr.from_scipy(make(dense))
    assert graph.directed
    assert slots_of(graph) == [(0, 1, 2), (1, 2, 3), (2, 0, 4), (2, 2, 5)]
    assert graph.weights.dtype == dense.dtype


def test_a_symmetric_matrix_is_an_undirected_graph() -> None:
    dense = np.array([[7.0, 2, 0], [2, 0, 3], [0, 3, 0]])
    graph = fr.from_scipy(sparse.csr_array(dense))
    assert not graph.directed
    assert np.array_equal(graph.to_scipy().toarray(), dense)
    assert fr.from_scipy(sparse.csr_array(dense), directed=True).directed
    dense[0, 1] = 9  # symmetric in shape, not in weights
    assert fr.from_scipy(sparse.csr_array(dense)).directed
    with pytest.raises(fr.GraphError, match=r"\(0, 1\) has 9.0 and \(1, 0\) has 2.0"):
        fr.from_scipy(sparse.csr_array(dense), directed=False)


def test_duplicate_entries_add_up_and_zeros_stay() -> None:
    matrix = sparse.coo_array(([1, 2, 0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert slots_of(fr.from_scipy(matrix)) == [(0, 1, 3), (1, 0, 0)]


def test_a_bool_matrix_has_no_weights() -> None:
    graph = fr.from_scipy(sparse.csr_array(np.array([[0, 1], [1, 0]], bool)), labels=["a", "b"])
    assert graph.weights is None
    assert graph.labels.tolist() == ["a", "b"]


def test_an_empty_matrix() -> None:
    graph = fr.from_scipy(sparse.csr_array((3, 3)))
    assert (graph.num_vertices, graph.num_slots, graph.directed) == (3, 0, False)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(2), "takes a SciPy sparse matrix, not numpy.ndarray"),
        (sparse.csr_array((2, 3)), r"is square, but this one has the shape \(2, 3\)"),
        (sparse.csr_array(np.array([[0, np.nan], [0, 0]])), "weight 0 is NaN"),
        (sparse.csr_array(np.array([[0, 1j], [0, 0]])), "must be real numbers, not complex128"),
    ],
)
def test_what_is_no_matrix_of_a_graph(matrix: Any, message: str) -> None:
    with pytest.raises(fr.GraphError, match=message):
        fr.from_scipy(matrix)


def test_to_scipy_is_a_copy() -> None:
    graph = fr.from_edges([0, 1], [1, 2], [2, 3], directed=True)
    matrix = graph.to_scipy()
    assert matrix.toarray().tolist() == [[0, 2, 0], [0, 0, 3], [0, 0, 0]]
    matrix.data[:] = 9
    assert graph.weights.tolist() == [2, 3]
    assert fr.to_scipy(fr.path(2)).toarray().tolist() == [[0, 1.0], [1.0, 0]]


# -- NetworkX -------------------------------------------------------------------------------


def test_networkx_karate() -> None:
    with pytest.warns(fr.FrontierWarning, match=r"leaves out attributes: of nodes 'club'; attributes=True"):
        graph = fr.from_networkx(nx.karate_club_graph())
    assert not graph.directed
    assert graph.labels is None
    assert np.array_equal(graph.targets, fr.karate().targets)
    assert graph.weights.max() == 7
    assert fr.from_networkx(nx.path_graph(3), weight=None).weights is None


def test_a_missing_weight_is_one() -> None:
    source = nx.DiGraph()
    source.add_edge("b", "a", cost=2.5)
    source.add_edge("a", "c")
    graph = fr.from_networkx(source, weight="cost")
    assert graph.labels.tolist() == ["b", "a", "c"]
    assert slots_of(graph) == [(0, 1, 2.5), (1, 2, 1.0)]
    assert fr.from_networkx(nx.path_graph(3)).weights.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
def test_a_multigraph_keeps_the_last_edge(kind: Any) -> None:
    source = kind()
    source.add_nodes_from(range(3))
    for s, d, w in ((0, 1, 5), (0, 1, 4), (1, 2, 3)):
        source.add_edge(s, d, weight=w)
    with pytest.warns(fr.FrontierWarning, match=r"the edge \(0, 1\).* the last is kept: duplicates='sum'"):
        graph = fr.from_networkx(source)
    assert slots_of(graph)[0] == (0, 1, 4)
    assert slots_of(fr.from_networkx(source, duplicates="sum"))[0] == (0, 1, 9)
    parallel = fr.from_networkx(source, duplicates="keep")
    assert graph.num_slots < parallel.num_slots
    assert type(parallel.to_networkx()) is kind
    assert sorted(parallel.to_networkx().edges(data="weight")) == sorted(source.edges(data="weight"))


@pytest.mark.parametrize("nodes", [[2, 0, 1], [10, 20], [(0, 0), (0, 1)], ["a", 1, 2.5], [frozenset([1])]])
def test_nodes_become_labels(nodes: list[Any]) -> None:
    source = nx.Graph()
    source.add_nodes_from(nodes)
    graph = fr.from_networkx(source)
    assert graph.labels.tolist() == nodes
    assert list(graph.to_networkx()) == nodes


def test_an_empty_networkx_graph() -> None:
    assert fr.from_networkx(nx.Graph()).num_vertices == 0


def test_what_is_no_networkx_graph() -> None:
    with pytest.raises(fr.GraphError, match=r"takes a NetworkX graph, not dict: fr\.from_edges"):
        fr.from_networkx({0: [1]})
    with pytest.raises(fr.GraphError, match=r"not pandas.DataFrame: fr.from_pandas\(table"):
        fr.from_networkx(pd.DataFrame({"src": [0]}))
    source = nx.Graph([(0, 1, {"weight": "heavy"}), (1, 2)])
    with pytest.raises(fr.GraphError, match="weight 0 is 'heavy'"):
        fr.from_networkx(source)


@given(st.integers(0, 30), st.booleans(), st.integers(0, 99))
def test_there_and_back(n: int, directed: bool, seed: int) -> None:
    source = nx.gnp_random_graph(n, 0.2, seed=seed, directed=directed)
    if n:
        source.add_edge(0, 0)
    for i, (_, _, data) in enumerate(source.edges(data=True)):
        data["weight"] = float(i)
    graph = fr.from_networkx(source)
    back = graph.to_networkx()
    assert type(back) is type(source)
    assert nx.utils.graphs_equal(back, source)
    # the matrix cannot say whether a graph without edges, say, was directed
    matrix = fr.from_scipy(graph.to_scipy(), directed=directed)
    assert slots_of(matrix) == slots_of(graph)
    table = fr.from_pandas(graph.to_pandas(), weight="weight", directed=directed, num_vertices=n)
    assert slots_of(table) == slots_of(graph)


def test_columns_become_attributes() -> None:
    graph = fr.from_edges(["a"], ["b"], vertices={"age": [3, 4]}, edges={"km": [1.5]})
    back = graph.to_networkx()
    assert back.nodes["b"] == {"age": 4}
    assert back.edges["a", "b"] == {"km": 1.5}


def test_attributes_become_columns_and_come_back() -> None:
    source = nx.DiGraph(name="towns")
    source.add_node("a", age=3, tag="x", tall=True)
    source.add_node("b", age=4, tag="y", tall=False)
    source.add_node("c", age=5)
    source.add_edge("a", "b", weight=2.5, since=1999)
    source.add_edge("b", "c", weight=1.0)
    with warnings.catch_warnings(action="error"):
        graph = fr.from_networkx(source, attributes=True)
        some = fr.from_networkx(source, attributes=["age", "weight"], weight=None)
    assert graph.vertices["age"].dtype == np.int64
    assert graph.vertices["tall"].tolist() == [True, False, None]
    assert graph.edges["since"].tolist() == [1999, None]
    source.graph.clear()
    assert nx.utils.graphs_equal(graph.to_networkx(), source)
    assert ([*some.vertices], [*some.edges]) == (["age"], ["weight"])
    assert some.edges["weight"].tolist() == [2.5, 1.0]
    for wrong, message in (("age", "names such as"), (["size"], "there is no attribute 'size': there is 'age', 'tag'")):
        with pytest.raises(fr.GraphError, match=message):
            fr.from_networkx(source, attributes=wrong)


KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


@given(st.integers(0, 12), st.integers(0, 40), st.sampled_from(KINDS), st.booleans(), st.integers(0, 99))
def test_attributes_of_random_graphs(n: int, m: int, kind: Any, names: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    source = kind()
    source.add_nodes_from((f"n{v}" if names else v, {"age": v}) for v in rng.permutation(n).tolist())
    nodes = [*source]
    for a, b in rng.integers(0, max(n, 1), (m if n else 0, 2)).tolist():
        source.add_edge(nodes[a], nodes[b], weight=int(rng.integers(9)), kind=str(rng.integers(3)))
    with warnings.catch_warnings(action="error"):
        back = fr.from_networkx(source, attributes=True, duplicates="keep").to_networkx()
    assert [*back.nodes(data=True)] == [*source.nodes(data=True)]

    def edges(graph: Any) -> list[str]:
        ends = (lambda a, b: (a, b)) if graph.is_directed() else (lambda a, b: tuple(sorted((a, b))))
        return sorted(f"{ends(a, b)} {data['weight']} {data['kind']}" for a, b, data in graph.edges(data=True))

    assert edges(back) == edges(source)


# -- pandas ---------------------------------------------------------------------------------


def test_a_table_of_names() -> None:
    table = pd.DataFrame({"from": ["x", "y"], "to": ["y", "z"], "cost": [1.5, 2.5], "k": ["a", "b"]})
    graph = fr.from_pandas(table, "from", "to", "cost", columns=["k"], directed=True)
    assert graph.labels.tolist() == ["x", "y", "z"]
    assert slots_of(graph) == [(0, 1, 1.5), (1, 2, 2.5)]
    back = graph.to_pandas()
    assert back.to_dict("list") == {
        "src": ["x", "y"],
        "dst": ["y", "z"],
        "weight": [1.5, 2.5],
        "k": ["a", "b"],
    }


@pytest.mark.parametrize("dtype", ["int32", "int64", "Int64", "object"])
def test_a_table_of_ids(dtype: str) -> None:
    table = pd.DataFrame({"src": [0, 4], "dst": [1, 2]}, dtype=dtype)
    graph = fr.from_pandas(table)
    assert graph.labels is None
    assert slots_of(graph) == [(0, 1), (1, 0), (2, 4), (4, 2)]


def test_a_table_of_sparse_ids() -> None:
    table = pd.DataFrame({"src": [10**10, 7], "dst": [7, 8]})
    assert fr.from_pandas(table, labels=True).labels.tolist() == [10**10, 7, 8]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("from",), "no column 'from', but src, dst, w"),
        (("src", "dst", "w"), "row 1 of the table has no 'w'"),
        (("src", "w"), "row 1 of the table has no 'w'"),
    ],
)
def test_a_table_that_is_not_right(arguments: Any, message: str) -> None:
    table = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "w": [1.0, None]})
    with pytest.raises(fr.GraphError, match=message):
        fr.from_pandas(table, *arguments, columns=[])
    with pytest.raises(fr.GraphError, match="takes a DataFrame of pandas, not list"):
        fr.from_pandas([1, 2])
    with pytest.raises(fr.GraphError, match="no column is called like a target: say source= and target=, of src, k"):
        fr.from_pandas(pd.DataFrame({"src": [0], "k": [1]}))
    with pytest.raises(fr.GraphError, match="several columns 'src'"):
        fr.from_pandas(pd.DataFrame([[0, 1, 2]], columns=["src", "src", "dst"]), "src")


def test_tables_of_others() -> None:
    made = type("DataFrame", (), {"columns": ["src"], "__module__": "polars.dataframe.frame"})()
    with pytest.raises(fr.GraphError, match=r"not polars.DataFrame: fr.from_polars\(table, 'src', 'dst'\)"):
        fr.from_pandas(made)
    for call in (fr.from_edges, fr.read):
        with pytest.raises(fr.GraphError, match=r"fr.from_polars\(table, 'src', 'dst'\)"):
            call(made)


@pytest.mark.parametrize(
    ("value", "way"),
    [
        (nx.path_graph(2), "fr.from_networkx"),
        (pd.DataFrame({"src": [0], "dst": [1]}), "fr.from_pandas"),
        (sparse.csr_array((2, 2)), "fr.from_scipy"),
    ],
)
def test_edges_say_what_takes_them(value: Any, way: str) -> None:
    for call in (fr.from_edges, fr.read):
        with pytest.raises(fr.GraphError, match=way):
            call(value)


def test_attributes_that_are_left_out() -> None:
    source = nx.Graph([(0, 1, {"weight": 2, "since": 1999})])
    with pytest.warns(fr.FrontierWarning, match=r"of edges 'since' \(weight='since'"):
        fr.from_networkx(source)
    with pytest.warns(fr.FrontierWarning, match="of edges 'weight'"):
        assert fr.from_networkx(source, weight="since").max_weight == 1999
    with warnings.catch_warnings(action="error"):
        fr.bfs(source, 0)  # of which no graph is left
        del source.edges[0, 1]["since"]
        fr.from_networkx(source)
        fr.from_networkx(source, weight=None)


def test_columns_that_are_left_out() -> None:
    table = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "weight": [5, 6], "k": [1, 2], "Unnamed: 0": [0, 1]})
    with pytest.warns(fr.FrontierWarning, match=r"leaves out the columns 'k': columns=\['k'\] keeps"):
        assert fr.from_pandas(table).max_weight == 6
    with pytest.warns(fr.FrontierWarning, match=r"leaves out the columns 'weight', 'k': columns=\['weight', 'k'\]"):
        assert fr.from_pandas(table, weight=False).weights is None
    with warnings.catch_warnings(action="error"):
        fr.from_pandas(table, columns=[])
        fr.from_pandas(table[["src", "dst", "weight", "Unnamed: 0"]], weight="weight")


def test_types_of_gephi() -> None:
    table = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "Type": ["Directed", "Directed"]})
    assert fr.from_pandas(table).directed
    assert not fr.from_pandas(table, directed=False, columns=[]).directed
    assert not fr.from_pandas(table.assign(Type="Undirected")).directed
    with pytest.raises(fr.GraphError, match="directed and undirected"):
        fr.from_pandas(table.assign(Type=["Directed", "Undirected"]))


@pytest.mark.parametrize(
    ("function", "module", "name"),
    [
        (fr.to_scipy, "scipy.sparse", "SciPy"),
        (fr.to_networkx, "networkx", "NetworkX"),
        (fr.to_pandas, "pandas", "pandas"),
    ],
)
def test_a_library_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, function: Any, module: str, name: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # makes its import fail
    with pytest.raises(fr.BackendUnavailableError, match=f"needs {name}, which is not installed"):
        function(fr.path(2))
