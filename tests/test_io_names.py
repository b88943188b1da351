"""Edge lists with names: of vertices, and of columns in the first line."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import frontier as fr


def read(folder: Path, name: str, text: str, **options: Any) -> fr.Graph:
    (folder / name).write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    return fr.read(folder / name, **options)


def named_edges(graph: fr.Graph) -> list[tuple[Any, ...]]:
    """Edge slots by label."""
    names = graph.labels.tolist()
    columns: list[list[Any]] = [[names[v] for v in ends.tolist()] for ends in (graph.sources, graph.targets)]
    if graph.weights is not None:
        columns.append(graph.weights.tolist())
    return sorted(zip(*columns, strict=True))


# -- names of vertices ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.txt", "alice bob\nbob carol\n"),
        ("g.el", "# who knows whom\nalice\tbob\n\nbob   carol"),
        ("g.edges", "alice;bob\r\nbob;carol\r\n"),
        ("g.csv", "alice,bob\nbob,carol\n"),
        ("g.csv", "\ufeffsource,target\nalice,bob\n# x\nbob,carol\n"),
        ("g.csv", '"alice", "bob"\n"bob","carol"\n'),
        ("g.tsv", "from\tto\nalice\tbob\nbob\tcarol\n"),
        ("g.csv.gz", "target;source\nbob;alice\ncarol;bob\n"),
    ],
)
def test_names(tmp_path: Path, name: str, text: str) -> None:
    graph = read(tmp_path, name, text, labels=True)
    assert graph.directed
    assert named_edges(graph) == [("alice", "bob"), ("bob", "carol")]
    assert graph.labels.dtype.kind == "U"
    assert graph.by_label(fr.bfs(graph.to("python"), "alice").level) == {"alice": 0, "bob": 1, "carol": 2}
    assert sorted(graph.labels.tolist()) == ["alice", "bob", "carol"]


def test_labels_that_are_not_wanted(tmp_path: Path) -> None:
    assert read(tmp_path, "g.csv", "0,1\n1,2\n", labels=False).labels is None
    assert fr.from_edges([0, 1], [1, 2], labels=False).labels is None


def test_names_are_numbered_as_they_come(tmp_path: Path) -> None:
    graph = read(tmp_path, "g.txt", "c a\nb c\n", labels=True)
    assert graph.labels.tolist() == ["c", "a", "b"]


@pytest.mark.parametrize("text", ["New York,Boston\nBoston,Sankt Gallen am Rhein\n", '"a, b",c\nc,"d, e, f"\n'])
def test_names_of_several_words(tmp_path: Path, text: str) -> None:
    graph = read(tmp_path, "g.csv", text, labels=True)
    assert (graph.num_vertices, graph.num_edges, graph.weights) == (3, 2, None)
    graph = read(tmp_path, "g.csv", "New York,Boston,3\n", labels=True)
    assert named_edges(graph) == [("New York", "Boston", 3)]


def test_names_with_weights(tmp_path: Path) -> None:
    graph = read(tmp_path, "g.wel", "a b 2\nb a 3\n", labels=True)
    assert named_edges(graph) == [("a", "b", 2), ("b", "a", 3)]
    assert graph.weights.dtype == np.int64
    graph = read(tmp_path, "g.csv", "a,b,2\nb,a,.5\nb,c,inf\n", labels=True)
    assert named_edges(graph) == [("a", "b", 2.0), ("b", "a", 0.5), ("b", "c", np.inf)]
    assert read(tmp_path, "g.csv", f"a,b,{2**63}\n", labels=True).weights.tolist() == [2.0**63]


def test_names_that_hold_everything(tmp_path: Path) -> None:
    names = ["north pole", "a, b", 'say "x"', "Zürich", "7", "0x1", "a;b", "two\nlines"]
    out = io.StringIO()
    csv.writer(out).writerows([("source", "target"), *itertools.pairwise(names)])
    assert read(tmp_path, "g.csv", out.getvalue(), labels=True).labels.tolist() == names


def test_numbers_as_names(tmp_path: Path) -> None:
    graph = read(tmp_path, "g.el", "7 007\n999999999999 -5\n", labels=True)
    assert graph.labels.dtype == np.int64
    assert named_edges(graph) == [(7, 7), (999999999999, -5)]
    mixed = read(tmp_path, "g.el", "7 007\n7 x\n", labels=True)
    assert mixed.labels.tolist() == ["7", "007", "x"]
    large = read(tmp_path, "g.el", f"1 {2**63}\n{2**63} 01\n", labels=True)
    assert large.labels.dtype == np.uint64
    assert named_edges(large) == [(1, 2**63), (2**63, 1)]
    assert read(tmp_path, "g.el", f"-1 {2**70}\n", labels=True).labels.tolist() == [-1, 2**70]


def test_vertices_without_edges(tmp_path: Path) -> None:
    graph = read(tmp_path, "g.csv", "alice,bob\neve,\nbob,carol\n", labels=True)
    assert graph.labels.tolist() == ["alice", "bob", "eve", "carol"]
    assert graph.out_degree.tolist() == [1, 1, 0, 0]


def test_names_in_many_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from frontier.io import _table

    monkeypatch.setattr(_table, "_BLOCK", 50)
    lines = [f"vertex {i},vertex {i * 7 % 1000},{i}" for i in range(1000)]
    graph = read(tmp_path, "g.csv", "\n".join(lines), labels=True)
    assert named_edges(graph) == sorted((f"vertex {i}", f"vertex {i * 7 % 1000}", i) for i in range(1000))
    with pytest.raises(fr.GraphError, match=r"g\.csv:1002: expected a number as weight, found 'heavy'"):
        read(tmp_path, "g.csv", "\n".join([*lines, "", "a,b,heavy"]), labels=True)


def test_undirected_and_duplicates(tmp_path: Path) -> None:
    graph = read(tmp_path, "g.txt", "a b 1\nb a 2\n", labels=True, directed=False, duplicates="max")
    assert named_edges(graph) == [("a", "b", 2), ("b", "a", 2)]


@pytest.mark.parametrize(
    ("name", "text", "line", "message"),
    [
        ("g.txt", "a b\na\n", 2, "expected 2 cells, found 1"),
        ("g.txt", "a b\n\na b c\n", 3, "expected the line to end after 2 cells, found 'c'"),
        ("g.csv", "a,b\n,b\n", 2, "expected the name of a vertex, found an empty cell"),
        ("g.csv", "a,b,1\na,,1\n", 2, "expected the name of a vertex, found an empty cell"),
        ("g.csv", "a,b,1\na,b,\n", 2, "expected a number as weight, found an empty cell"),
        ("g.csv", "a,b,1\na,b,nan\n", 2, "expected a number as weight, found 'nan'"),
        ("g.csv", "a,b,1_0\n", 1, "expected a number as weight, found '1_0'"),
        ("g.csv", "source,target,source\na,b,c\n", 1, "found two that are called 'source'"),
        ("g.csv", "source\n1,2\n", 1, "names of two columns or more"),
    ],
)
def test_faults(tmp_path: Path, name: str, text: str, line: int, message: str) -> None:
    with pytest.raises(fr.GraphError, match=rf"{name}:{line}: .*{message}"):
        read(tmp_path, name, text, labels=True, header=None if line > 1 or "source" not in text else True)


def test_other_letters(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_bytes("a b\nZürich b\n".encode("latin-1"))
    with pytest.raises(fr.GraphError, match=r"g\.txt:2: expected text in UTF-8, found other bytes"):
        fr.read(tmp_path / "g.txt", labels=True)


def test_names_without_labels_say_what_to_do(tmp_path: Path) -> None:
    for name in ("g.txt", "g.csv"):
        with pytest.raises(fr.GraphError, match=r"names need labels=True, or --labels.*found 'carol'"):
            read(tmp_path, name, "0 1\ncarol dave\n")


def test_a_line_of_names_that_is_not_seen_as_such(tmp_path: Path) -> None:
    text = "person,friend,weight\n0,1,5\n"
    with pytest.raises(fr.GraphError, match=r"g.txt:1: expected .*header=True"):
        read(tmp_path, "g.txt", text)
    for name, options in (("g.txt", {"header": True}), ("g.csv", {"labels": True}), ("g.csv", {})):
        assert read(tmp_path, name, text, **options).weights.tolist()[:1] == [5]


# -- names of columns -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("source,target,weight", "3,4,0.5"),
        ("Src,Dst,Weight", "3,4,0.5"),
        ("from,to,weight", "3,4,0.5"),
        ("target,source,weight", "4,3,0.5"),
        ("weight,start,end", "0.5,3,4"),
        ("a,b,weight", "3,4,0.5"),
        ("u_id,v_id,W", "3,4,0.5"),
        ("SourceNode,Destination,Capacity", "3,4,0.5"),
        (",source,target,weight", "0,3,4,0.5"),
        ("Unnamed: 0,a,b,length", "0,3,4,0.5"),
        ("id,source,friend,strength", "7,3,4,0.5"),
        ("source,target,cost", "3,4,0.5"),
        ("dst;weight;src", "4;0.5;3"),
    ],
)
def test_columns_by_name(tmp_path: Path, head: str, row: str) -> None:
    graph = read(tmp_path, "g.csv", f"{head}\n{row}\n")
    assert (graph.sources.tolist(), graph.targets.tolist(), graph.weights.tolist()) == ([3], [4], [0.5])
    assert graph.directed
    assert set(graph.edges) <= {"column0", "Unnamed: 0", "id"}


@pytest.mark.parametrize(
    ("head", "row", "name"),
    [
        (",source,target", "0,3,4", "column0"),
        (",a,b", "0,3,4", "column0"),
        ("Unnamed: 0,source,target", "0,3,4", "Unnamed: 0"),
        ("id,src,dst", "0,3,4", "id"),
        ("source,target,year", "3,4,0", "year"),
        ("a,b,c", "3,4,0", "c"),
    ],
)
@pytest.mark.parametrize("labels", [None, True])
def test_a_third_column_is_a_weight_only_by_its_name(
    tmp_path: Path, head: str, row: str, name: str, labels: bool | None
) -> None:
    text = f"{head}\n{row}\n"
    with pytest.warns(fr.FrontierWarning, match=f"g.csv: the column .*not taken for weights: weight='{name}'") as said:
        graph = read(tmp_path, "g.csv", text, labels=labels, header=True)
    assert len(said) == 1
    assert graph.weights is None
    assert graph.edges[name].tolist() == [0]
    ends = [graph.sources[0], graph.targets[0]]
    assert (ends if labels is None else graph.labels[ends].tolist()) == [3, 4]
    with warnings.catch_warnings(action="error"):
        asked = read(tmp_path, "g.csv", text, labels=labels, header=True, weight=name)
        none = read(tmp_path, "g.csv", text, labels=labels, header=True, weight=False)
    assert (asked.weights.tolist(), dict(asked.edges)) == ([0], {})
    assert (none.weights, none.edges[name].tolist()) == (None, [0])


def test_which_column_is_the_weight(tmp_path: Path) -> None:
    text = "source,target,length,capacity\n0,1,2,3\n"
    with pytest.warns(fr.FrontierWarning, match="'length', 'capacity' may all be weights, and none is"):
        assert read(tmp_path, "g.csv", text).weights is None
    assert read(tmp_path, "g.csv", text, weight="capacity").weights.tolist() == [3]
    assert read(tmp_path, "g.csv", "u,v,weight\n0,1,2\n", weight=False).edges["weight"].tolist() == [2, 2]
    assert read(tmp_path, "g.txt", "0 1 5\n", weight=False).weights is None
    for name, content, message in (
        ("g.csv", text, "weight='cost': there is no such column, but 'source', 'target', 'length', 'capacity'"),
        ("g.txt", "0 1 5\n", "expected a line of names of columns, one of them weight='cost', found '0 1 5'"),
        ("g.gr", "p sp 1 0\n", "weight is for edge lists"),
    ):
        with pytest.raises(fr.GraphError, match=message):
            read(tmp_path, name, content, weight="cost")


def test_converting_without_memory_says_the_same(tmp_path: Path) -> None:
    source, made = tmp_path / "g.csv", tmp_path / "g.frontier"
    source.write_text("source,target,year\n0,1,5\n")
    with pytest.warns(fr.FrontierWarning, match="not taken for weights"), pytest.raises(fr.GraphError, match="weight="):
        fr.convert(source, made)
    for weight, expected in (("year", [5]), (False, None)):
        fr.convert(source, tmp_path / f"{weight}.frontier", weight=weight)
        weights = fr.open(tmp_path / f"{weight}.frontier").weights
        assert (None if weights is None else weights.tolist()) == expected
    source.write_text("u,v,weight\n0,1,5\n3,4,1\n4,3,2\n")
    with pytest.warns(fr.FrontierWarning, match=r"the edge \(3, 4\).* the first is kept") as said:
        fr.convert(source, tmp_path / "first.frontier")
    assert len(said) == 1
    fr.convert(source, tmp_path / "last.frontier", duplicates="last")


# -- what files say of edges ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "directed"),
    [
        ("g.txt", "# Undirected graph (each unordered pair of nodes is saved once): a.txt\n1 2\n", False),
        ("g.txt", "# Directed graph: a.txt\n1 2\n", True),
        ("g.txt", "# this is no undirected graph\n1 2\n", True),
        ("g.txt", "# undirected: no\n1 2\n", True),
        ("g.edges", "% sym unweighted\n% 1 2 2\n1 2\n", False),
        ("g.edges", "% asym positive\n1 2 3\n", True),
        ("g.edges", "%%MatrixMarket matrix coordinate pattern symmetric\n1 2\n", False),
        ("g.edges", "%MatrixMarket matrix coordinate real general\n1 2 3\n", True),
        ("g.csv", "Source,Target,Type,Id\n1,2,Undirected,0\n", False),
        ("g.csv", "Source,Target,Type\n1,2,directed\n", True),
        ("g.csv", "Source,Target,Type\n1,2,friend\n", True),
        ("g.csv", "# Undirected graph\nSource,Target,Type\n1,2,Directed\n", True),
    ],
)
def test_whether_edges_are_directed(tmp_path: Path, name: str, text: str, directed: bool) -> None:
    assert read(tmp_path, name, text).directed is directed
    for wanted in (False, True):
        graph = read(tmp_path, name, text, directed=wanted)
        assert (graph.directed, graph.num_edges) == (wanted, 1)


def test_edges_of_both_kinds(tmp_path: Path) -> None:
    text = "Source,Target,Type\n0,1,Directed\n1,2,Undirected\n"
    with pytest.raises(fr.GraphError, match="the column of types has directed and undirected edges: directed="):
        read(tmp_path, "g.csv", text)
    assert read(tmp_path, "g.csv", text, directed=True).num_edges == 2


def test_bipartite_graphs_of_konect(tmp_path: Path) -> None:
    with pytest.warns(fr.FrontierWarning, match="the two sides of a bipartite graph"):
        read(tmp_path, "g.edges", "% bip unweighted\n1 1\n")


def test_ids_that_are_no_numbering(tmp_path: Path) -> None:
    with pytest.warns(fr.FrontierWarning, match="2 of them occur: the other 9,002 .* labels=True"):
        read(tmp_path, "g.txt", "9001 9003\n")
    with pytest.warns(fr.FrontierWarning, match="tells of 3 vertices, and ids go up to 7: labels=True") as said:
        assert read(tmp_path, "g.txt", "# Nodes: 3 Edges: 2\n0 1\n1 7\n").num_vertices == 8
    assert len(said) == 1
    with warnings.catch_warnings(action="error"):
        read(tmp_path, "g.txt", "# Nodes: 8 Edges: 2\n0 1\n1 7\n")
        read(tmp_path, "g.txt", "# of these nodes 3 are new\n0 1\n1 7\n")
        read(tmp_path, "g.txt", "# Nodes: 3 Edges: 2\n0 1\n1 7\n", labels=True)
        read(tmp_path, "g.txt", "9001 9003\n", labels=True)
        read(tmp_path, "g.txt", "9001 9003\n", num_vertices=9004)


def test_other_columns(tmp_path: Path) -> None:
    text = "id,source,target,since,weight,kind\n7,0,1,1999.5,2,friend\n8,1,2,,3,foe\n"
    graph = read(tmp_path, "g.csv", text)
    assert graph.weights.tolist() == [2, 3]
    assert graph.edges["id"].tolist() == [7, 8]
    np.testing.assert_array_equal(graph.edges["since"], [1999.5, np.nan])
    assert graph.edges["kind"].tolist() == ["friend", "foe"]
    undirected = read(tmp_path, "g.csv", text, directed=False)
    assert undirected.edges["id"].tolist() == [7, 7, 8, 8]
    alone = read(tmp_path, "g.csv", "source,target,kind\n0,1,friend\n")
    assert alone.weights is None
    assert alone.edges["kind"].tolist() == ["friend"]


def test_names_of_ends_that_go_both_ways(tmp_path: Path) -> None:
    graph = read(tmp_path, "g.csv", "u,v,since\n0,1,x\n")
    assert not graph.directed
    assert (graph.num_edges, graph.num_slots) == (1, 2)
    there = read(tmp_path, "g.csv", "u,v,since\n0,1,x\n1,2,y\n", directed=True)
    assert there.directed
    assert there.edges["since"].tolist() == ["x", "x", "y", "y"]


def test_first_row_is_never_lost(tmp_path: Path) -> None:
    assert read(tmp_path, "g.csv", "3,4\n4,5\n").num_edges == 2
    assert read(tmp_path, "g.csv", "alice,bob\nbob,carol\n", labels=True).num_edges == 2
    assert read(tmp_path, "g.csv", "person,other\nbob,carol\n", labels=True, header=True).num_edges == 1
    assert read(tmp_path, "g.csv", "source,target\nbob,carol\n", labels=True, header=False).num_edges == 2
    assert read(tmp_path, "g.csv", "source,target\nbob,carol\n", labels=True).num_edges == 1
    assert read(tmp_path, "g.txt", "source target\n0 1\n").num_edges == 1
    with pytest.raises(fr.GraphError, match=r"g\.csv:1: expected an edge"):
        read(tmp_path, "g.csv", "alice,bob\n")
    with pytest.raises(fr.GraphError, match=r"g\.csv:1: expected a vertex id.*found 'source'"):
        read(tmp_path, "g.csv", "source,target\n0,1\n", header=False)
    with pytest.raises(fr.GraphError, match="header is for edge lists"):
        read(tmp_path, "g.gr", "p sp 1 0\n", header=True)


# -- what is written ------------------------------------------------------------------------


@pytest.mark.parametrize(("suffix", "mark"), [("csv", ","), ("tsv", "\t")])
def test_written_tables(tmp_path: Path, suffix: str, mark: str) -> None:
    name = tmp_path / f"g.{suffix}"

    def lines(graph: fr.Graph) -> list[str]:
        fr.write(graph, name)
        again = fr.read(name)
        assert (again.num_vertices, again.directed) == (graph.num_vertices, graph.directed)
        assert again.targets.tolist() == graph.targets.tolist()
        return name.read_text().replace(mark, ",").splitlines()

    assert lines(fr.path(3)) == ["u,v", "0,1", "1,2"]
    assert lines(fr.from_edges([0], [1], [0.5], directed=True)) == ["source,target,weight", "0,1,0.5"]
    assert lines(fr.from_edges([0], [1], [3], num_vertices=9)) == ["u,v,weight", "8,,", "0,1,3"]
    assert lines(fr.from_edges([], [], num_vertices=2)) == ["u,v", "1,"]
    assert lines(fr.from_edges([], [])) == ["u,v"]


def test_others_read_what_is_written(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="reads what Frontier wrote")
    fr.write(fr.karate(weights=(1, 9), seed=1), tmp_path / "karate.csv")
    table = pandas.read_csv(tmp_path / "karate.csv")
    assert list(table.columns) == ["u", "v", "weight"]
    assert len(table) == 78
    assert all(kind.kind == "i" for kind in table.dtypes)
    graph = fr.from_pandas(table, source="u", target="v", weight="weight")
    assert graph.targets.tolist() == fr.karate().targets.tolist()


def test_tables_written_before_are_read(tmp_path: Path) -> None:
    text = "# frontier: vertices=5 directed=no weighted=yes\nsource,target,weight\n0,1,7\n"
    graph = read(tmp_path, "g.csv", text)
    assert (graph.num_vertices, graph.directed, graph.weights.tolist()) == (5, False, [7, 7])


# -- whatever stands in it ------------------------------------------------------------------

WORDS = (
    "0", "1", "2", "7", "-1", "1.5", "nan", "inf", "1e9", "alice", "bob", "source", "target", "u", "v", "weight",
    '"a b"', '"a', '""', "#", "%", "", "1_0", "\u00b2", "\u0660", "\x00", "\r", "9" * 21, "+3", "00", "\u00e9",
)  # fmt: skip


def table(rng: np.random.Generator) -> str:
    separators = [",", ";", "\t", " ", ", ", ",,"]
    mark = rng.choice(separators)
    lines = [
        (mark if rng.random() < 0.9 else rng.choice(separators)).join(
            rng.choice(WORDS[:12] if rng.random() < 0.7 else WORDS) for _ in range(rng.integers(5))
        )
        for _ in range(rng.integers(6))
    ]
    return str(rng.choice(["\n", "\r\n"]).join(lines) + rng.choice(["\n", ""]))


@pytest.mark.filterwarnings("ignore::frontier.FrontierWarning")
def test_any_table_is_read_or_refused() -> None:
    """What is read is written and read again as it is; what is not is an error of ours, in one line."""
    rng, good, messages = np.random.default_rng(1), 0, []
    for _ in range(3000):
        data, suffix = table(rng).encode(), str(rng.choice(["csv", "tsv", "txt", "el", "wel", "edges"]))
        labels, header = (True if rng.random() < 0.5 else None), (None, None, True, False)[rng.integers(4)]
        try:
            graph = fr.read(io.BytesIO(data), suffix, labels=labels, header=header)
        except fr.GraphError as error:
            messages.append(str(error))
            continue
        good += 1
        for again in ("csv", "tsv", "txt") if graph.num_vertices < 1000 else ():
            out = io.BytesIO()
            fr.write(graph, out, again)
            same = fr.read(io.BytesIO(out.getvalue()), again, duplicates="keep")
            assert (same.num_vertices, same.directed) == (graph.num_vertices, graph.directed), data
            assert same.targets.tolist() == graph.targets.tolist(), data
            assert (same.weights is None) == (graph.weights is None), data
    assert good > 30
    assert not any("\n" in message for message in messages)


def test_ends_that_are_taken_because_they_come_first(tmp_path: Path) -> None:
    text = "when,follower,followee,strength\n1,ann,bob,2\n2,bob,cid,1\n"
    with pytest.warns(fr.FrontierWarning, match="the columns 'when' and 'follower' are taken as sources and targets"):
        assert read(tmp_path, "g.csv", text).labels.tolist() == ["1", "ann", "2", "bob"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g = read(tmp_path, "g.csv", text, source="follower", target="followee")
        assert read(tmp_path, "g.csv", "a,b,c\n1,2,x\n").num_edges == 1
    assert g.labels.tolist() == ["ann", "bob", "cid"]
