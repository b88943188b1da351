"""Formats that NetworkX reads: GraphML, GML, GEXF, Pajek, graph6, sparse6, node-link JSON and adjacency lists."""

from __future__ import annotations

import gzip
import io
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import frontier as fr
from frontier.io import by_networkx

nx = pytest.importorskip("networkx", reason="reads the formats")

WRITTEN = ["graphml", "gml", "gexf", "json"]
READ = [*WRITTEN, "net", "g6", "s6", "adjlist"]


def named(graph: fr.Graph) -> list[tuple[Any, ...]]:
    """Slots by label, with weights if there are any."""
    names = range(graph.num_vertices) if graph.labels is None else graph.labels.tolist()
    columns: list[list[Any]] = [[names[v] for v in ends.tolist()] for ends in (graph.sources, graph.targets)]
    if graph.weights is not None:
        columns.append(graph.weights.tolist())
    return sorted(zip(*columns, strict=True))


def by_others(graph: Any, suffix: str) -> bytes:
    """What NetworkX writes."""
    out = io.BytesIO()
    if suffix == "json":
        return json.dumps(nx.node_link_data(graph)).encode()
    names = {"net": "pajek", "g6": "graph6", "s6": "sparse6"}
    getattr(nx, f"write_{names.get(suffix, suffix)}")(graph, out)
    return out.getvalue()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("suffix", READ)
def test_graphs_of_networkx(suffix: str, directed: bool, tmp_path: Path) -> None:
    """With weights and labels, where the format has them; by its suffix, packed, and by content."""
    if suffix in ("g6", "s6") and directed:
        pytest.skip("the format has no directed graphs")
    graph = (nx.DiGraph if directed else nx.Graph)()
    plain = suffix in ("g6", "s6", "adjlist")
    graph.add_nodes_from([0, 1, 2, 3] if suffix in ("g6", "s6") else ["ann", "bob", "carol", "d"])
    nodes = list(graph)
    graph.add_edge(nodes[0], nodes[1], **({} if plain else {"weight": 2.5}))
    graph.add_edge(nodes[2], nodes[1], **({} if plain else {"weight": 0.5}))
    expected = [(0, 1), (2, 1)] if suffix in ("g6", "s6") else [("ann", "bob"), ("carol", "bob")]
    expected = expected if plain else [(*ends, weight) for ends, weight in zip(expected, (2.5, 0.5), strict=True)]
    if not directed:
        expected += [(edge[1], edge[0], *edge[2:]) for edge in expected]
    data = by_others(graph, suffix)
    (tmp_path / f"g.{suffix}").write_bytes(data)
    (tmp_path / f"g.{suffix}.gz").write_bytes(gzip.compress(data))
    (tmp_path / "g").write_bytes(data)
    options = {"directed": True} if suffix == "adjlist" and directed else {}
    for name in (f"g.{suffix}", f"g.{suffix}.gz", *([] if suffix == "adjlist" else ["g"])):
        made = fr.read(tmp_path / name, **options)
        assert made.directed is directed
        assert made.num_vertices == 4
        assert named(made) == sorted(expected)
    assert fr.read(tmp_path / f"g.{suffix}", placement="ranks:2", **options).num_edges == 2


@pytest.mark.parametrize("labels", [None, ["a", "b, c", "d"], [7, 5, 9]])
@pytest.mark.parametrize("weights", [None, [3, 2**40], [0.5, 1e300]])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("suffix", WRITTEN)
def test_what_is_written_is_read_again(suffix: str, directed: bool, weights: Any, labels: Any, tmp_path: Path) -> None:
    graph = fr.from_edges([0, 2], [1, 1], weights, directed=directed, labels=labels, edges={"year": [1999, 2007]})
    graph = graph.with_columns(vertices={"age": [1.5, 2, 3], "kind": ["x", "Zürich", "z"]})
    path = tmp_path / f"g.{suffix}"
    fr.write(graph, path)
    again = fr.read(path)
    assert (again.directed, again.num_vertices) == (directed, 3)
    assert named(again) == named(graph)
    assert (again.labels is None) == (labels is None)
    assert again.edges["year"].tolist() == graph.edges["year"].tolist()
    assert again.vertices["age"].tolist() == [1.5, 2, 3]
    assert again.vertices["kind"].tolist() == ["x", "Zürich", "z"]
    if weights is not None and suffix != "gexf":  # which has floats only
        assert again.weights.dtype == graph.weights.dtype
    others = {"json": lambda name: nx.node_link_graph(json.loads(name.read_bytes()), edges="links")}
    assert others.get(suffix, getattr(nx, f"read_{suffix}", None))(path).number_of_edges() == 2


def test_what_a_format_cannot_hold(tmp_path: Path) -> None:
    graph = fr.path(2).with_columns(vertices={"two words": [1, 2]})
    with pytest.raises(fr.GraphError, match=r"g\.gml: GML cannot hold the graph: .*; \.npz can"):
        fr.write(graph, tmp_path / "g.gml")
    assert not (tmp_path / "g.gml").exists()
    with pytest.raises(fr.GraphError, match="Pajek files can be read, not written"):
        fr.write(graph, tmp_path / "g.net")


def read(text: str, suffix: str, **options: Any) -> fr.Graph:
    return fr.read(io.BytesIO(text.encode()), suffix, **options)


def test_attributes() -> None:
    nodes = [{"id": "a", "age": 7}, {"id": "b", "kind": "x"}, {"id": "c", "flag": [1]}]
    links = [
        {"source": "a", "target": "b", "cost": 2, "weight": "3"},
        {"source": "b", "target": "c", "cost": 4, "odd": None},
    ]
    text = json.dumps({"directed": True, "nodes": nodes, "links": links})
    with pytest.warns(fr.FrontierWarning, match="neither numbers nor texts are left out: 'flag'") as said:
        graph = read(text, "json")
    assert len(said) == 1
    assert named(graph) == [("a", "b", 3), ("b", "c", 1)]
    np.testing.assert_array_equal(graph.vertices["age"], [7, np.nan, np.nan])
    assert graph.vertices["kind"].tolist() == ["", "x", ""]
    assert graph.edges["cost"].tolist() == [2, 4]
    text = text.replace("[1]", "1")
    assert named(read(text, "json", weight="cost")) == [("a", "b", 2), ("b", "c", 4)]
    assert read(text, "json", weight=False).edges["weight"].tolist() == ["3", ""]
    assert read(text, "json", labels=["x", "y", "z"]).labels.tolist() == ["x", "y", "z"]
    with pytest.raises(fr.GraphError, match="weight='x': edges have no such attribute, but 'cost', 'weight', 'odd'"):
        read(text, "json", weight="x")
    with pytest.raises(fr.GraphError, match="labels=True is for edge lists"):
        read(text, "json", labels=True)


def test_parallel_edges_and_names_that_repeat() -> None:
    links = [{"source": 0, "target": 1, "weight": w} for w in (2, 3)]
    text = json.dumps({"multigraph": True, "directed": False, "nodes": [{"id": 0}, {"id": 1}], "links": links})
    with pytest.warns(fr.FrontierWarning, match="the first is kept"):
        assert named(read(text, "json")) == [(0, 1, 2), (1, 0, 2)]
    assert named(read(text, "json", duplicates="sum")) == [(0, 1, 5), (1, 0, 5)]
    gml = 'graph [ node [ id 5 label "x" ] node [ id 7 label "x" ] edge [ source 5 target 7 ] ]'
    assert read(gml, "gml").labels.tolist() == [5, 7]
    assert read("graph [ node [ id 5 ] node [ id 7 ] edge [ source 5 target 7 ] ]", "gml").labels.tolist() == [5, 7]


# -- what is refused -----------------------------------------------------------------------

LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;">]>
<{0}><x>&b;</x></{0}>"""
ELSEWHERE = """<!DOCTYPE g SYSTEM "file:///etc/passwd"><{0}/>"""


@pytest.mark.parametrize("suffix", ["graphml", "gexf"])
@pytest.mark.parametrize("text", [LAUGHS, ELSEWHERE, "<!DOCTYPE {0}><{0}/>"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_document_types_are_refused(suffix: str, text: str, encoding: str) -> None:
    data = text.format(suffix).encode(encoding)
    with pytest.raises(fr.GraphError, match=r"it has a document type \(<!DOCTYPE \.\.\.>\), which is not read"):
        fr.read(io.BytesIO(data), suffix)
    if encoding == "utf-8":
        with pytest.raises(fr.GraphError, match="it has a document type"):
            fr.read(io.BytesIO(data))


@pytest.mark.parametrize(
    ("suffix", "text", "message"),
    [
        ("graphml", "hello", "expected a GraphML file, found something else"),
        ("graphml", "<graphml></graph>", "expected a GraphML file, found something else"),
        ("gexf", "<gexf/>", "expected a GEXF file, found something else"),
        ("gml", "graph [ node [ id ] ]", "expected a GML file, found something else"),
        ("net", "*Vertices x", "expected a Pajek file, found something else"),
        ("net", "*Vertices 9000000000\n1 a", "expected a Pajek file, found something else"),
        ("json", "{", "expected a node-link JSON file, found something else"),
        ("json", "[1]", "expected an object with lists of 'nodes' and 'links', found other JSON"),
        ("json", '{"a": 1}', "expected an object with lists"),
        ("json", '{"nodes": [1], "links": []}', "expected a node-link JSON file"),
        ("json", "[" * 100_000, "expected a node-link JSON file"),
        ("json", '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 1, "weight": [2]}]}', "numbers as weights"),
        ("json", '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 1, "weight": "x"}]}', "something else"),
        ("g6", "DQc\nDQc\n", "expected one line with a graph, found 2"),
        ("g6", "D", "expected a graph6 file, found something else"),
        ("s6", "x", "expected a sparse6 file, found something else"),
    ],
)  # fmt: skip
def test_what_is_no_such_file(suffix: str, text: str, message: str) -> None:
    with pytest.raises(fr.GraphError, match=message) as caught:
        read(text, suffix)
    assert "\n" not in str(caught.value)


def test_graphs_that_claim() -> None:
    with pytest.raises(fr.FrontierMemoryError, match=r"68719476735 nodes of NetworkX"):
        read(":~~~~~~~~", "s6")
    assert by_networkx._claimed(b"~~?????A") == 2
    assert by_networkx._claimed(b"~?A?") == by_networkx._claimed(nx.to_sparse6_bytes(nx.empty_graph(128))[12:]) == 128
    assert read(":DaYn", "s6").num_vertices == 5


def test_networkx_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def nothing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(by_networkx, "importlib", type("", (), {"import_module": staticmethod(nothing)}))
    with pytest.raises(fr.GraphError, match="GML files need NetworkX: pip install networkx"):
        read("graph [ ]", "gml")
    with pytest.raises(fr.GraphError, match="GraphML files need NetworkX: pip install networkx"):
        fr.write(fr.path(2), tmp_path / "g.graphml")


@pytest.mark.parametrize("begin", ["\n", " \n", "<!---->", "c\n", "%\n", "# \n", "<?x?>"])
def test_looking_at_content_takes_no_time(begin: str) -> None:
    start = time.perf_counter()
    with pytest.raises(fr.GraphError):
        fr.read(io.BytesIO((begin * (8000 // len(begin)) + "\0").encode()))
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        ("graphml", '<?xml version="1.0"?>\n<!-- by hand -->\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
         '<graph edgedefault="directed"><node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>'),
        ("gml", 'Creator "me"\nVersion 1\ngraph\n[\n directed 1 node [ id 1 label "a" ] node [ id 2 label "b" ] '
         "edge [ source 1 target 2 ] ]"),
        ("net", '% x\n*Network me\n*Vertices 2\n1 "a"\n2 "b"\n*Arcs\n1 2\n'),
        ("json", '{"graph": {}, "directed": true, "nodes": [{"id": "a"}, {"id": "b"}], '
         '"edges": [{"source": "a", "target": "b"}]}'),
    ],
)  # fmt: skip
def test_content_says_what_it_is(suffix: str, text: str) -> None:
    for graph in (read(text, suffix), fr.read(io.BytesIO(text.encode()))):
        assert graph.directed
        assert graph.labels.tolist() == ["a", "b"]
        assert graph.weights is None or graph.weights.tolist() == [1]
