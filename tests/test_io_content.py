"""Files whose names do not say what they are: their content does, or a message says what reads them."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import frontier as fr
from frontier.cli import main

#: Each a graph with the edge 0 -> 1 of weight 5, or an edge without a weight.
TEXTS = {
    "Matrix Market": "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 5\n",
    "in other letters": "%%matrixmarket MATRIX coordinate integer general\n2 2 1\n1 2 5\n",
    "shortest paths": "c a road\nc\n\np sp 2 1\na 1 2 5\n",
    "maximum flow": "p max 2 1\nn 1 s\na 1 2 5\n",
    "colouring": "c x\np edge 2 1\ne 1 2\n",
    "blanks": "# comment\n0 1 5\n",
    "tabs": "0\t1\t5\n",
    "commas": "0,1,5\n",
    "columns": "source;target;weight\n0;1;5\n",
    "columns without known names": "here\tthere\tweight\n0\t1\t5\n",
    "KONECT": "% asym positive\n0 1\t5 1200000000\n",
    "with a mark": "\ufeff0 1 5\n",
}


def read(data: bytes, **options: Any) -> fr.Graph:
    return fr.read(io.BytesIO(data), **options)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("name", ["graph", "out.network", "graph.xyz", "graph.gz"])
def test_content_says_what_a_file_is(text: str, name: str, tmp_path: Path) -> None:
    data = gzip.compress(text.encode()) if name.endswith("gz") else text.encode()
    (tmp_path / name).write_bytes(data)
    for graph in (fr.read(tmp_path / name), read(data), fr.read(tmp_path / name, placement="ranks:2").to("cpu")):
        assert (graph.num_vertices, graph.num_edges) == (2, 1)
        assert graph.weights is None or set(graph.weights.tolist()) == {5}
        assert graph.directed is ("edge 2" not in text)
    if not name.endswith("gz") and "%" not in text[:1] and "n 1 s" not in text:
        fr.convert(tmp_path / name, tmp_path / "g.frontier")
        assert fr.open(tmp_path / "g.frontier").num_edges == 1


def test_archives_and_tables() -> None:
    out = io.BytesIO()
    np.savez(out, src=[0], dst=[1])
    assert read(out.getvalue()).num_edges == 1
    fr.write(fr.path(3), out := io.BytesIO(), "npz.gz")
    assert read(out.getvalue()).num_edges == 2
    pytest.importorskip("pyarrow", reason="no PyArrow: pip install .[tables]")
    fr.write(fr.path(3), out := io.BytesIO(), "parquet")
    assert read(out.getvalue()).num_edges == 2


def test_names_and_labels() -> None:
    assert read(b"from,to\nNew York,Boston\n").labels.tolist() == ["New York", "Boston"]
    assert read(b"New York\tBoston\n", labels=True).labels.tolist() == ["New York", "Boston"]
    with pytest.raises(fr.GraphError, match=r"<stream>:1: .*names need labels=True, or --labels"):
        read(b"alice bob\n")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x7fELF\0\1", r"ends in one of \.mtx.*no suffix; format= \(--format\) says what the file is"),
        (b"<html><body>not found</body></html>", r"format= \(--format\) says"),
        (b"[[0, 1]]", r"format= \(--format\) says"),
        (b"\x93NUMPY\1\0", r"found an array of NumPy: fr\.from_edges\(\*np\.load\(\.\.\.\)\.T\) takes"),
        (b"digraph G {\n a -> b;\n}\n", r"found a graph of Graphviz: fr\.from_networkx\(networkx\.nx_pydot"),
        (b"strict graph {a -- b}", "found a graph of Graphviz"),
    ],
)
def test_what_is_none_is_refused_with_a_way(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(data)
    for call in (lambda: read(data), lambda: fr.read(tmp_path / "file"), lambda: read(gzip.compress(data))):
        with pytest.raises(fr.GraphError, match=message) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out.network").write_text(TEXTS["Matrix Market"])
    assert main(["info", str(tmp_path / "out.network")]) == 0
    assert main(["convert", str(tmp_path / "out.network"), str(tmp_path / "g.frontier")]) == 0
    capsys.readouterr()
    assert main(["convert", str(tmp_path / "out.network"), str(tmp_path / "g.max")]) == 2
    assert "DIMACS files can be read, not written" in capsys.readouterr().err
