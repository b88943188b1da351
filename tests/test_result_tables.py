"""Results in the names of their graph: as mappings, as tables of other libraries, as files of the command line."""

from __future__ import annotations

import csv
import importlib
import inspect
import json
import pickle
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Backend

import frontier as fr
import frontier.primitives
from frontier.cli import main
from frontier.memory.arrays import to_host
from frontier.primitives.bfs import BFS, bfs_problem
from frontier.program.taking import at_graph
from frontier.registry import primitives
from frontier.results.columns import ResultColumns

NAMES = ["ann", "bob", "cid", "dan", "eve", "lone, \"one\""]
EDGES = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]


def graph(directed: bool = False, labels: Any = NAMES) -> fr.Graph:
    src, dst = zip(*EDGES, strict=True)
    return fr.from_edges(src, dst, [2, 1, 4, 3, 5], num_vertices=6, labels=labels, directed=directed)


def test_a_mapping(backend: Backend) -> None:
    g = backend(graph())
    found = fr.bfs(g, "ann")
    assert (found["ann"], found["dan"], found['lone, "one"']) == (0, 2, -1)
    assert len(found) == 6
    assert list(found) == found.keys() == NAMES
    assert dict(found) == found.to_dict() == dict(found.items()) == dict(zip(NAMES, [0, 1, 1, 2, 3, -1], strict=True))
    assert found.values() == [0, 1, 1, 2, 3, -1]
    assert found.to_dict("parent")["eve"] == "dan"
    assert found.to_dict("parent")['lone, "one"'] is None
    assert "bob" in found
    assert "zoe" not in found
    with pytest.raises(fr.GraphError, match="no vertex 'zoe'"):
        found["zoe"]
    with pytest.raises(fr.FrontierError, match="no column 'depth', but vertex, level, parent"):
        found.to_dict("depth")


def test_values_that_are_vertices(backend: Backend) -> None:
    g = backend(graph())
    matching = fr.maximal_matching(g)
    for vertex, partner in matching.items():
        assert partner is None or matching[partner] == vertex
    assert fr.connected_components(g)["eve"] == "ann"
    assert fr.connected_components(backend(graph(labels=None)))[4] == 0


def test_top(backend: Backend) -> None:
    core = fr.core_numbers(backend(graph()))
    assert core.top(4) == [("ann", 2), ("bob", 2), ("cid", 2), ("dan", 1)]
    assert core.top(0) == []
    assert len(core.top(99)) == 6
    values = np.array([1.0, np.nan, 3.0, 3.0, -np.inf, 2.0])
    made = type(fr.harmonic(fr.path(6)))(values)
    assert [v for v, _ in made.top(6)] == [2, 3, 5, 0, 1, 4]
    with pytest.raises(fr.FrontierError, match="no column of numbers 'parent'"):
        fr.bfs(graph(), "ann").top(column="parent")


@pytest.mark.parametrize("kind", ["u1", "i8", "f4", "?"])
def test_top_is_sorted(kind: str) -> None:
    rng = np.random.default_rng(1)
    for size in (1, 2, 7, 100):
        values = rng.integers(0, 5, size).astype(kind)
        made = type(fr.harmonic(fr.path(1)))(values)
        for count in (1, 3, size):
            order = sorted(range(size), key=lambda v: (-float(values[v]), v))[:count]
            assert [v for v, _ in made.top(count)] == order


def test_groups_and_members(backend: Backend) -> None:
    g = backend(graph())
    assert fr.connected_components(g).components == [NAMES[:5], NAMES[5:]]
    assert sorted(map(len, fr.strongly_connected_components(backend(graph(directed=True))).components)) == [1, 1, 1, 3]
    for found in (fr.louvain(g), fr.leiden(g), fr.label_propagation(g)):
        assert sorted(v for each in found.communities for v in each) == sorted(NAMES)
        assert all(len({found[v] for v in each}) == 1 for each in found.communities)
    assert fr.articulation_points(g).members == ["cid", "dan"]
    chosen = fr.maximal_independent_set(g).members
    assert 'lone, "one"' in chosen
    assert not any({NAMES[s], NAMES[t]} <= set(chosen) for s, t in EDGES)
    assert fr.connected_components(fr.from_edges([], [], num_vertices=0)).components == []


def test_rows_that_are_edges(backend: Backend) -> None:
    g = backend(graph(directed=True))
    flow = fr.max_flow(g, "ann", "eve")
    assert flow["bob", "cid"] == 1
    assert flow.to_dict()["dan", "eve"] == 1
    table = flow.table()
    assert table["source"].tolist() == [NAMES[s] for s, _ in EDGES]
    assert dict(zip(table["source"], table["source_side"], strict=True))["ann"]
    assert set(fr.bridges(backend(graph())).to_pandas().itertuples(index=False, name=None)) == {
        ("cid", "dan"), ("dan", "eve")
    }  # fmt: skip
    forest = fr.minimum_spanning_forest(backend(graph()))
    assert sum(forest.table()["weight"]) == forest.weight == 11
    for wrong, words in ((("ann", "eve"), "no edge"), ("ann", "a pair"), (("ann", "zoe"), "no vertex 'zoe'")):
        with pytest.raises(fr.GraphError, match=words):
            flow[wrong]


def test_rows_that_are_pairs(backend: Backend) -> None:
    g = backend(graph())
    found = fr.bfs_many(g, ["dan", "ann"])
    assert (found["dan", "ann"], found["ann", "eve"]) == (2, 3)
    table = found.table()
    assert table["source"].tolist() == ["dan"] * 6 + ["ann"] * 6
    assert table["vertex"].tolist() == NAMES * 2
    assert found.table(7)["level"].tolist() == to_host(found.level).ravel()[:7].tolist()
    assert fr.sssp_many(g, ["eve"])["eve", "ann"] == 11
    with pytest.raises(fr.GraphError, match="'bob' is none of the sources"):
        found["bob", "ann"]


def test_other_rows(backend: Backend) -> None:
    g = backend(graph())
    walks = fr.random_walks(g, ["dan", 'lone, "one"'], length=3, seed=1).table()
    assert walks["vertex"].tolist()[0] == "dan"
    assert walks["walk"].tolist().count(1) == 1
    assert fr.shortest_path(g, "ann", "eve").table()["vertex"].tolist() == ["ann", "cid", "dan", "eve"]
    assert fr.subgraph_match(g, listed=True).table()["vertex_0"].tolist()[0] in NAMES[:3]
    closure = fr.transitive_closure(backend(graph(directed=True)), sources=["dan"])
    assert closure.table()["target"].tolist() == ["eve"]
    ordered = fr.topological_order(backend(fr.from_edges(["b", "c"], ["a", "b"], directed=True)))
    assert ordered.table()["vertex"].tolist() == ["c", "b", "a"]
    assert ordered["a"] == 2
    ranks = fr.personalized_pagerank(g, [["ann"], ["eve"]]).table()
    assert ranks["seeds"].tolist() == [0] * 6 + [1] * 6


def call(name: str, g: fr.Graph) -> Any:
    entry = primitives()[name]
    given = ["ann"] if entry.takes_source else []
    more = {"sink": "eve"} if name == "max_flow" else {"target": "eve"} if name == "shortest_path" else {}
    seed = {"seed": 1} if "seed" in inspect.signature(entry.function).parameters else {}  # the command line's
    return entry.function(g, *given, **{**entry.to_write, **more, **seed})


#: Primitives for directed graphs only.
DIRECTED = ("condensation", "topological_order")


@pytest.mark.parametrize("name", sorted(primitives()))
def test_every_result_as_tables(name: str) -> None:
    """pandas, Polars and Arrow hold what the table holds, vertices by name, and so does a pickle."""
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    arrow = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    g = acyclic() if name in DIRECTED else graph()
    result = call(name, g.to("python"))
    assert isinstance(result, fr.Result)
    expected = {column: values.tolist() for column, values in result.table().items()}
    assert expected
    size = len(next(iter(expected.values())))
    ends = [values for column, values in expected.items() if re.match("vertex|source$|target$|parent", column)]
    assert ends or name == "degree_assortativity"  # which is one number
    assert {name for values in ends for name in values} <= {*NAMES, None}
    pandas = result.to_pandas()
    assert {column: [None if x != x else x for x in pandas[column]] for column in pandas} == expected
    assert result.to_polars().to_dict(as_series=False) == expected
    assert result.to_arrow().to_pydict() == expected
    assert arrow.table(result).to_pydict() == expected
    assert polars.DataFrame(result).to_dict(as_series=False) == expected
    assert {column: values.tolist() for column, values in result.table(2).items()} == {
        column: values[:2] for column, values in expected.items()
    }
    shown = result._repr_html_()
    assert shown.count("<tr>") == 1 + min(size, 10)
    assert "lone, \"one\"" not in shown
    assert len(repr(result)) < 400
    if result.row_kind == "vertex":
        assert pickle.loads(pickle.dumps(result)).to_dict() == result.to_dict()


def shipped_results(base: type = fr.Result) -> Iterator[type]:
    """All classes of results that primitives return."""
    for each in base.__subclasses__():
        if each.__module__.startswith("frontier.primitives."):
            yield each
        yield from shipped_results(each)


def test_no_result_has_something_else_under_a_name_of_the_base() -> None:
    for module in pkgutil.iter_modules(frontier.primitives.__path__, "frontier.primitives."):
        importlib.import_module(module.name)
    names = {name for name in vars(ResultColumns) if not name.startswith("_")}
    assert {"host_array", "input_graph", "table_columns"} <= names
    results = set(shipped_results())
    assert len(results) > 40
    for each in results:
        own = {*vars(each), *getattr(each, "__dataclass_fields__", ())}
        assert own & names <= {"id_columns", "row_kind", "table_columns"}, each
        assert list(inspect.signature(each.table_columns).parameters) == ["self", "rows"]


@dataclass(frozen=True, eq=False, repr=False)
class Found(fr.Result, columns=("degree", "half", "none"), ids=("half",), keeps_graph=True):
    degree: Any
    half: Any
    none: Any = None


@at_graph
def found_in(g: fr.Graph) -> Found:
    return Found(g.out_degree, g.out_degree // 2)


def test_what_methods_of_a_result_of_your_own_use(backend: Backend) -> None:
    g = backend(graph())
    made = found_in(g)
    assert (made.present_columns(), made.first_column()) == (["degree", "half"], "degree")
    assert (made.row_kind, made.id_columns) == ("vertex", ("half",))
    assert type(made.host_array("degree")) is np.ndarray
    assert made.host_array("degree") is made.host_array("degree")
    assert made.vertices_where("half") == NAMES[:4]
    assert made.groups_by("degree") == [["ann", "bob", "dan"], [NAMES[5]], ["eve"], ["cid"]]
    assert made.input_graph is g
    again = pickle.loads(pickle.dumps(made))
    assert (again.knows_names, again.knows_graph) == (True, False)
    with pytest.raises(fr.GraphError, match="does not know its graph any more"):
        again.input_graph  # noqa: B018
    assert not Found(g.out_degree, g.out_degree).knows_names


def acyclic() -> fr.Graph:
    return fr.from_edges([0, 1, 2], [1, 2, 3], num_vertices=6, labels=NAMES, directed=True)


@pytest.mark.parametrize("suffix", ["csv", "json", "npz", "parquet"])
@pytest.mark.parametrize("name", sorted(primitives()))
def test_every_result_is_written_and_read_back(name: str, suffix: str, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow.parquet", reason="PyArrow is not installed") if suffix == "parquet" else None
    g = acyclic() if name in DIRECTED else graph()
    fr.write(g, tmp_path / "g.npz")
    out = tmp_path / f"out.{suffix}"
    more = {"max_flow": ["--sink", "eve"], "shortest_path": ["--target", "eve"]}.get(name, [])
    source = ["--source", "ann"] if primitives()[name].takes_source else []
    line = [name, str(tmp_path / "g.npz"), "--backend", "python", "--output", str(out), *source, *more]
    assert main(line) == 0
    expected = {column: values.tolist() for column, values in call(name, g.to("python")).table().items()}
    found: Any
    if suffix == "csv":
        with out.open(newline="", encoding="utf-8") as file:
            found = list(csv.reader(file))
        assert found[0] == list(expected)
        texts = [["" if x is None else str(x) for x in row] for row in zip(*expected.values(), strict=True)]
        assert found[1:] == texts
    elif suffix == "json":
        found = json.loads(out.read_text("utf-8"), parse_constant=pytest.fail)
        far = (float("inf"), 2**63 - 1)
        assert found == {column: [None if x in far else x for x in each] for column, each in expected.items()}
    elif suffix == "npz":
        with np.load(out) as archive:
            found = {column: archive[column].tolist() for column in archive}
        assert found == {column: ["" if x is None else x for x in each] for column, each in expected.items()}
    else:
        assert arrow.read_table(out).to_pydict() == expected


def test_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["core_numbers", "karate", "--backend", "python", "--output", "-"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[:2] == ["vertex,core", "0,4"]
    assert len(said.out.splitlines()) == 35
    assert "core_numbers" in said.err


def test_top_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pagerank", "karate", "--backend", "python", "--top", "2", "--json"]) == 0
    top = json.loads(capsys.readouterr().out)["top"]
    assert [each["of"] for each in top] == [33, 0]
    assert main(["jaccard", "path:4", "--backend", "python", "--top", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["0", "1", "0"]
    assert main(["pagerank", "karate", "--top", "0"]) == 2
    assert "--top must be at least 1" in capsys.readouterr().err


def test_equal_results(backend: Backend) -> None:
    g = backend(graph())
    found = fr.bfs(g, "ann")
    assert found == fr.bfs(g, "ann")
    assert found != fr.bfs(g, "bob")
    assert found != fr.sssp(g, "ann")
    assert fr.triangles(g) == fr.triangles(g)
    assert fr.triangles(g) != fr.triangles(g, per_vertex=True)
    assert fr.katz(g, max_iterations=3, tolerance=0) == fr.katz(g, max_iterations=3, tolerance=0)


def test_a_result_that_somebody_has_made() -> None:
    made = type(fr.bfs(fr.path(2), 0))(0, np.array([0, 1]), np.array([0, 0]))
    assert made[1] == 1
    assert made.table()["vertex"].tolist() == [0, 1]
    with pytest.raises(fr.GraphError, match="does not know its graph"):
        type(fr.bridges(fr.path(2)))(np.array([[0, 1]]), 1).table()


def test_html_of_everything_else() -> None:
    g = graph()
    p = fr.Problem(g, level=fr.vertex("int32", -1), depth=fr.scalar("int32"))
    with fr.trace() as trace:
        found = fr.bfs(g.to("python"), "ann")
    for shown, words in (
        (g, ["6", "undirected", "ann, bob", "int64"]),
        (p, ["level", "int32", "scalar"]),
        (fr.Frontier(g, [1, 2]), ["bob", "cid"]),
        (fr.Frontier(g, [1, 2], kind="edge"), ["source", "target", "ann"]),
        (trace, ["pass", "Advance"]),
        (fr.verify.bfs(g, found), ["passed", "property"]),
    ):
        html = shown._repr_html_()
        assert html.startswith("<div>")
        assert html.count("<tr>") <= 11
        for word in words:
            assert word in html, (word, html)
    explained = BFS(bfs_problem(g, 0))._repr_html_()
    assert explained.startswith("<pre>")
    assert "Advance" in explained
