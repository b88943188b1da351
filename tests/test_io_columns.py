"""Columns of ends that arguments name, and labels where a header says that the first row is an edge."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import frontier as fr
from frontier.cli import main
from frontier.io import external

TABLE = "id,follower,followee,strength\n7,3,4,0.5\n8,4,5,1.5\n"
NAMES = '"id","follower","followee","strength"\n7,"ann, b","bob",2\n8,bob,carol,3\n'


def read(text: str, suffix: str = "csv", **options: Any) -> fr.Graph:
    return fr.read(io.BytesIO(text.encode()), suffix, **options)


def edges(graph: fr.Graph) -> list[tuple[Any, ...]]:
    """Slots by label, or by id where there are none."""
    names = range(graph.num_vertices) if graph.labels is None else graph.labels.tolist()
    ends = [[names[v] for v in each.tolist()] for each in (graph.sources, graph.targets)]
    return sorted(zip(*ends, *([] if graph.weights is None else [graph.weights.tolist()]), strict=True))


@pytest.mark.parametrize(("suffix", "mark"), [("csv", ","), ("csv", ";"), ("tsv", "\t"), ("txt", " "), ("edges", ",")])
def test_columns_that_are_named(suffix: str, mark: str) -> None:
    graph = read(TABLE.replace(",", mark), suffix, source="follower", target="followee", weight="strength")
    assert edges(graph) == [(3, 4, 0.5), (4, 5, 1.5)]
    assert graph.edges["id"].tolist() == [7, 8]
    back = read(TABLE.replace(",", mark), suffix, source="followee", target="follower", weight="strength")
    assert edges(back) == [(4, 3, 0.5), (5, 4, 1.5)]


def test_one_end_is_named() -> None:
    assert edges(read(TABLE, source="follower", weight="strength")) == [(3, 4, 0.5), (4, 5, 1.5)]
    assert edges(read(TABLE, target="followee", weight="strength")) == [(3, 4, 0.5), (4, 5, 1.5)]
    assert edges(read("a,b,weight\n1,2,5\n", source="b")) == [(2, 1, 5)]
    assert edges(read("a,target,weight\n1,2,5\n", source="a")) == [(1, 2, 5)]
    assert edges(read("weight,a,b\n5,1,2\n", target="a")) == [(2, 1, 5)]


def test_numbers_name_columns() -> None:
    """The first line is the header even if it could be an edge."""
    assert edges(read("1,2,weight\n5,6,7\n", source="2", target="1")) == [(6, 5, 7)]


def test_names_in_a_table_with_a_header_are_labels() -> None:
    named = [("ann, b", "bob", 2), ("bob", "carol", 3)]
    assert edges(read(NAMES, source="follower", target="followee", weight="strength")) == named
    assert edges(read(NAMES.replace("followee", "to").replace("follower", "from"))) == named
    assert edges(read("person,friend,weight\nann,bob,1\n", header=True)) == [("ann", "bob", 1)]
    assert edges(read("source target weight\nann 7 1\n", "txt")) == [("ann", "7", 1)]
    graph = read("from,to,weight\neve,,\nann,bob,1\n")
    assert (graph.labels.tolist(), graph.num_edges) == (["eve", "ann", "bob"], 1)
    assert read("u,v\nann,bob\n").directed is False


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("ann,bob\nbob,carol\n", {}),  # no header, or one that is an edge
        ("0,1\nann,bob\n", {}),
        ("source,target\n0,1\nann,bob\n", {}),
        ("source,target\nann,bob\n", {"labels": False}),
        ("source,target\nann,bob\n", {"labels": ["x", "y"]}),
        ("source,target\n1.5,2\n", {}),
    ],
)
def test_names_elsewhere_need_labels(text: str, options: dict[str, Any]) -> None:
    with pytest.raises(fr.GraphError, match=r"names need labels=True, or --labels"):
        read(text, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": "x"}, "source='x': there is no such column, but 'id', 'follower', 'followee', 'strength'"),
        ({"target": "x"}, "target='x': there is no such column"),
        ({"source": "id", "target": "id"}, "source= and target= are two columns, and both are 'id'"),
        ({"source": "id", "weight": "id"}, "source= and weight= are two columns"),
        ({"source": "id", "header": False}, "leave out header=False"),
        ({"source": "id", "format": "gr"}, "source and target are for edge lists and Parquet"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    suffix = options.pop("format", "csv")
    with pytest.raises(fr.GraphError, match=message) as caught:
        read(TABLE, suffix, **options)
    assert "\n" not in str(caught.value)


def test_in_parts_and_pieces(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text("follower,followee,strength\n0,1,5\n1,2,6\n")
    asked = {"source": "follower", "target": "followee", "weight": "strength"}
    assert edges(fr.read(path, placement="ranks:2", **asked).to("cpu")) == [(0, 1, 5), (1, 2, 6)]
    path.write_text("source,target\nann,bob\nbob,carol\n")
    assert fr.read(path, placement="ranks:2").to("cpu").labels.tolist() == ["ann", "bob", "carol"]
    with pytest.raises(fr.GraphError, match="names need labels=True"):
        fr.read(path, placement="ranks:2", parts=True)
    with pytest.raises(fr.GraphError, match="has names or columns of vertices"):
        fr.convert(path, tmp_path / "g.frontier")


def test_columns_of_parquet() -> None:
    arrow = pytest.importorskip("pyarrow", reason="no PyArrow: pip install .[tables]")
    tables = pytest.importorskip("pyarrow.parquet")

    def table(**columns: Any) -> io.BytesIO:
        out = io.BytesIO()
        tables.write_table(arrow.table(columns), out)
        return io.BytesIO(out.getvalue())

    asked = {"source": "follower", "target": "followee", "weight": "strength"}
    columns = {"id": [7, 8], "strength": [5, 6], "followee": [1, 2], "follower": [0, 1]}
    assert edges(fr.read(table(**columns), "parquet", **asked)) == [(0, 1, 5), (1, 2, 6)]
    named = {**columns, "followee": ["bob", "carol"], "follower": ["ann", "bob"]}
    assert edges(fr.read(table(**named), "parquet", **asked)) == [("ann", "bob", 5), ("bob", "carol", 6)]
    assert fr.read(table(src=["a", "b"], dst=["b", "a"]), "parquet").labels.tolist() == ["a", "b"]
    with pytest.raises(fr.GraphError, match="source='x': there is no such column"):
        fr.read(table(**columns), "parquet", source="x")


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "g.csv", tmp_path / "g.frontier"
    path.write_text(NAMES)
    ends = ["--source-column", "follower", "--target-column", "followee"]
    assert main(["info", str(path), *ends, "--weight", "strength", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["vertices"], said["edges"], said["weight_range"]) == (3, 2, [2, 3])
    for words, message in (
        (["info", "karate", *ends], "--source-column and --target-column are for files"),
        (["convert", str(path), str(out), "--memory", "1MiB", "--labels", *ends], "--memory does not go with --labels"),
        (["convert", str(path), str(out), "--memory", "1MiB", *ends], "has names or columns of vertices"),
        (["info", str(path), "--source-column", "x"], "source='x': there is no such column"),
    ):
        assert main(words) == 2
        assert message in capsys.readouterr().err


TABLE_OF_IDS = "id,follower,followee,strength\n" + "".join(f"{i},{i % 7},{i * 3 % 11},{i / 2}\n" for i in range(60))


@pytest.mark.parametrize("weight", ["strength", False])
@pytest.mark.parametrize("mark", [",", "\t"])
def test_a_conversion_in_pieces_takes_columns_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str, weight: str | bool
) -> None:
    monkeypatch.setattr(external, "TEXT", 1 << 14)  # several pieces, of 4 KiB at least
    path, out = tmp_path / "g.csv", tmp_path / "g.frontier"
    path.write_text((TABLE_OF_IDS + TABLE_OF_IDS.partition("\n")[2] * 30).replace(",", mark))
    ends: dict[str, Any] = {"source": "follower", "target": "followee"}
    fr.convert(path, out, weight=weight, duplicates="min", memory="1MiB", **ends)
    expected = fr.read(path, weight=weight, duplicates="min", **ends)
    assert edges(fr.open(out)) == edges(expected)
    assert expected.directed
    assert (expected.weights is None) == (weight is False)
    with pytest.raises(fr.GraphError, match="columns"):  # which of them are the weights?
        fr.convert(path, tmp_path / "other.frontier", **ends)


def test_a_conversion_in_pieces_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    path, out = tmp_path / "g.csv", tmp_path / "g.frontier"
    path.write_text(TABLE + "9,7,,\n")
    with pytest.raises(fr.GraphError, match=r"a vertex id|one end only"):
        fr.convert(path, out, source="follower", target="followee", weight="strength")
    fr.write(fr.karate(), tmp_path / "karate.npz")
    with pytest.raises(fr.GraphError, match=r"karate\.npz: source and target are for edge lists"):
        fr.convert(tmp_path / "karate.npz", out, source="x")


def test_parquet_is_converted_by_names_of_columns(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"id": [7, 8], "strength": [5, 6], "followee": [1, 2], "follower": [0, 1]}
    parquet.write_table(arrow.table(columns), tmp_path / "g.parquet")
    fr.convert(
        tmp_path / "g.parquet", tmp_path / "g.frontier", source="follower", target="followee", weight="strength"
    )
    assert edges(fr.open(tmp_path / "g.frontier")) == [(0, 1, 5), (1, 2, 6)]


def test_a_line_above_numbers_names_columns(tmp_path: Path) -> None:
    """Whatever it calls them: where it has text, the next line has a number."""
    name = tmp_path / "follows.csv"
    name.write_text("follower,followee,strength\nann,bob,3\nbob,cid,1\n")
    for labels in (None, True):
        g = fr.read(name, labels=labels)
        assert (g.labels.tolist(), g.weights.tolist(), g.num_edges) == (["ann", "bob", "cid"], [3, 1], 2)
    name.write_text("a,b,5\nb,c,6\n")
    assert fr.read(name, labels=True).num_edges == 2
    name.write_text("a,b,x\nb,c,y\n")
    with pytest.raises(fr.GraphError, match="expected a number as weight"):
        fr.read(name, labels=True)
