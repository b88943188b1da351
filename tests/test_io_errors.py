"""Files that are not what they should be: one clear message that names file and line."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

import frontier as fr

pytestmark = pytest.mark.usefixtures("reading")

MTX, ARRAY = "%%MatrixMarket matrix coordinate", "%%MatrixMarket matrix array"

# name, text, line, what was expected, what was found
BAD_TEXT = [
    ("empty.mtx", "", 1, "a graph", "an empty file"),
    ("empty.el", "", 1, "a graph", "an empty file"),
    ("comments.txt", "# nothing\n", 1, "an edge", "the end of the file"),
    ("header.csv", "alice,bob\n", 1, "an edge", "the end of the file"),
    # Matrix Market: header
    ("g.mtx", "hello\n", 1, "'%%MatrixMarket matrix coordinate FIELD SYMMETRY'", "'hello'"),
    ("g.mtx", "\n", 1, "'%%MatrixMarket matrix coordinate FIELD SYMMETRY'", "the end of the line"),
    ("g.mtx", "%%MatrixMarket matrix sparse real general\n2 2\n", 1, "coordinate or array", "'sparse'"),
    ("g.mtx", f"{MTX} complex general\n1 1 1\n1 1 1 1\n", 1, "pattern, integer or real", "'complex'"),
    ("g.mtx", f"{MTX} real hermitian\n1 1 1\n1 1 1\n", 1, "the symmetry", "'hermitian'"),
    ("g.mtx", f"{MTX} pattern skew-symmetric\n1 1 0\n", 1, "integer or real", "'pattern'"),
    ("g.mtx", f"{MTX} real general\n", 1, "rows, columns and entries", "the end of the file"),
    ("g.mtx", f"{MTX} real general\n%\n2 2\n", 3, "rows, columns and entries", "'2 2'"),
    ("g.mtx", f"{MTX} real general\n2 2 -1\n", 2, "rows, columns and entries", "'2 2 -1'"),
    ("g.mtx", f"{MTX} real symmetric\n2 3 0\n", 2, "a square matrix", "2 rows and 3 columns"),
    ("g.mtx", f"{MTX} real general\n2 3 1\n3 1 1\n", 2, "a row from 1 to 2", "3 at entry 1"),
    ("g.mtx", f"{MTX} real general\n3 2 1\n3 3 1\n", 2, "a column from 1 to 2", "3 at entry 1"),
    ("g.mtx", f"{ARRAY} pattern general\n2 2\n", 1, "integer or real field with array", "'pattern'"),
    ("g.mtx", f"{ARRAY} real general\n2 2 4\n", 2, "the numbers of rows and columns", "'2 2 4'"),
    ("g.mtx", f"{ARRAY} real general\n2 2\n1\n0\n1\n", 5, "4 entries, as line 2 says", "after 3"),
    ("g.mtx", f"{ARRAY} real symmetric\n2 2\n1\n0\n1\n0\n", 2, "3 entries, as this line says", "more"),
    ("g.mtx", f"{ARRAY} integer general\n1 1\n0.5\n", 2, "integers, as line 1 says", "other numbers"),
    ("g.mtx", f"{ARRAY} real general\n1 1\nx\n", 3, "a number", "'x'"),
    # Matrix Market: entries
    ("g.mtx", f"{MTX} pattern general\n2 2 2\n1 2\n", 3, "2 entries, as line 2 says", "after 1"),
    ("g.mtx", f"{MTX} pattern general\n2 2 1\n1 2\n2 1\n", 2, "1 entries", "more"),
    ("g.mtx", f"{MTX} pattern general\n2 2 1\n0 2\n", 3, "an integer from 1 to 2", "'0'"),
    ("g.mtx", f"{MTX} pattern general\n2 2 1\n1 3\n", 3, "an integer from 1 to 2", "'3'"),
    ("g.mtx", f"{MTX} pattern general\n2 2 1\n1 -3\n", 3, "an integer from 1 to 2", "'-3'"),
    ("g.mtx", f"{MTX} pattern general\n0 0 1\n1 1\n", 3, "no edge", "'1'"),
    ("g.mtx", f"{MTX} pattern general\n2 2 1\n1\n", 3, "2 numbers", "the end of the line"),
    ("g.mtx", f"{MTX} pattern general\n2 2 1\n1 2 3\n", 3, "after 2 numbers", "'3'"),
    ("g.mtx", f"{MTX} real general\n2 2 2\n1 2 1\n2 1 nan\n", 4, "a number as weight", "'nan'"),
    ("g.mtx", f"{MTX} real general\n2 2 1\n1 2 1..5\n", 3, "a number as weight", "'1..5'"),
    ("g.mtx", f"{MTX} real general\n2 2 1\n1 2 1e\n", 3, "a number as weight", "'1e'"),
    ("g.mtx", f"{MTX} real general\n2 2 1\n1 2 inside\n", 3, "a number as weight", "'inside'"),
    ("g.mtx", f"{MTX} real general\n2 2 1\n1 2 1 0\n", 3, "after 3 numbers", "'0'"),
    ("g.mtx", f"{MTX} real general\n2 2 1\n1 2\n", 3, "3 numbers", "the end of the line"),
    ("g.mtx", f"{MTX} integer general\n2 2 1\n1 2 0.5\n", 3, "an integer weight", "'0.5'"),
    ("g.mtx", f"{MTX} integer general\n2 2 1\n1 2 {2**63}\n", 3, "within int64", f"'{2**63}'"),
    ("g.mtx", f"{MTX} real skew-symmetric\n2 2 1\n2 2 1\n", 1, "no entry on the diagonal", "(2, 2)"),
    # edge lists
    ("g.el", "0 1\nalice bob\n", 2, "an integer from 0", "'alice'"),
    ("g.txt", "alice bob\n", 1, "an integer from 0", "'alice'"),
    ("g.txt", "this is a letter, not a graph\n", 1, "an integer from 0", "'this'"),
    ("g.csv", "source,target\n0,1\nalice,bob\n", 3, "an integer from 0", "'alice'"),
    ("g.csv", "source,target\n1.5,2\n", 2, "an integer from 0", "'1.5'"),
    ("g.csv", "0,1\nsource,target\n", 2, "an integer from 0", "'source'"),
    ("g.el", "0 1\n\n# x\n1 -2\n", 4, "an integer from 0", "'-2'"),
    ("g.el", "0 1.0\n", 1, "an integer from 0", "'1.0'"),
    ("g.el", "0 12x\n", 1, "an integer from 0", "'12x'"),
    ("g.el", "0 1 2\n", 1, "the line to end after 2 numbers, as .el has no weights", "'2'"),
    ("g.wel", "0 1\n", 1, "3 numbers", "the end of the line"),
    ("g.txt", "0 1\n1 2 3\n", 2, "the line to end after 2 numbers", "'3'"),
    ("g.txt", "0 1 1\n1 2\n", 2, "3 numbers", "the end of the line"),
    ("g.txt", "0 1 1 1\n", 1, "the line to end after 3 numbers", "'1'"),
    ("g.txt", "0\n", 1, "2 numbers", "the end of the line"),
    ("g.csv", "0,1,\n", 1, "the line to end after 2 numbers", "','"),
    ("g.csv", "0,,1\n", 1, "an integer from 0", "','"),
    ("g.txt", "0 1 NaN\n", 1, "a number as weight", "'NaN'"),
    ("g.txt", f"0 {10**18}\n", 1, "an integer from 0", f"'{10**18}'"),
    ("g.txt", "# frontier: vertices=2 directed=no\n0 2\n", 2, "an integer from 0 to 1", "'2'"),
    # DIMACS
    ("g.gr", "hello\n", 1, "'p sp VERTICES ARCS'", "'hello'"),
    ("g.gr", "c only\n", 1, "'p sp VERTICES ARCS'", "the end of the file"),
    ("g.gr", "p sp 2\n", 1, "'p sp VERTICES ARCS'", "'p sp 2'"),
    ("g.gr", "p min 2 1\n", 1, "'p sp VERTICES ARCS' (or p max, p edge, p col)", "'p min 2 1'"),
    ("g.max", "p max 2 1\nn 1 x\n", 2, "s or t", "'x'"),
    ("g.max", "p max 2 1\nn 3 s\n", 2, "'n ID VALUE', ID from 1 to 2", "'n 3 s'"),
    ("g.max", "p max 2 1\nn 1 s\ne 1 2\n", 3, "a line that begins with 'a' or 'c'", "'e'"),
    ("g.max", "p max 2 2\nn 1 s\nn 2 t\na 1 2 3\n", 4, "2 arcs, as line 1 says", "after 1"),
    ("g.col", "p edge 2 3\ne 1 2\n", 2, "3 edges, as line 1 says", "after 1"),
    ("g.col", "p edge 2 1\nn 1 x\n", 2, "an integer as weight of the vertex", "'x'"),
    ("g.clq", "p col 2 1\ne 1 3\n", 2, "an integer from 1 to 2", "'3'"),
    ("g.gr", "p sp 2 2\na 1 2 3\n", 2, "2 arcs, as line 1 says", "after 1"),
    ("g.gr", "p sp 2 1\na 1 2 3\na 2 1 3\n", 1, "1 arcs", "more"),
    ("g.gr", "p sp 2 1\n1 2 3\n", 2, "a line that begins with 'a' or 'c'", "'1'"),
    ("g.gr", "p sp 2 1\np sp 2 1\n", 2, "a line that begins with 'a' or 'c'", "'p'"),
    ("g.gr", "p sp 2 1\na 1 3 3\n", 2, "an integer from 1 to 2", "'3'"),
    ("g.gr", "p sp 2 1\na 1 2\n", 2, "3 numbers", "the end of the line"),
    ("g.gr", "p sp 2 1\na 1 2 x\n", 2, "a number as weight", "'x'"),
    # METIS
    ("g.graph", "% only\n", 1, "'VERTICES EDGES", "the end of the file"),
    ("g.graph", "hello world\n", 1, "'VERTICES EDGES", "'hello world'"),
    ("g.graph", "2 1 5\n2\n1\n", 1, "digits 0 and 1", "'5'"),
    ("g.graph", "2 1 11 1000\n2\n1\n", 1, "at most 999 weights", "1000"),
    ("g.graph", "3 1\n2\n1\n", 3, "3 lines of neighbours, as line 1 says", "after 2"),
    ("g.graph", "2 1\n2\n1\n\n1\n", 5, "nothing after 2 lines", "more"),
    ("g.graph", "2 2\n2\n1\n", 1, "number of edges", "2"),
    ("g.graph", "2 1\n2\n3\n", 3, "a neighbour from 1 to 2", "'3'"),
    ("g.graph", "2 1\n2\n0\n", 3, "a neighbour from 1 to 2", "'0'"),
    ("g.graph", "2 1\n2\nx\n", 3, "a number", "'x'"),
    ("g.graph", "2 1\n2,\n1\n", 2, "a blank between numbers", "','"),
    ("g.graph", "2 1 1\n2 5\n1\n", 3, "pairs of neighbour and weight", "1 numbers"),
    ("g.graph", "2 1 10\n\n5 1\n", 2, "1 numbers of the vertex and neighbours", "0 numbers"),
    ("g.graph", "% x\n3 2\n2 3\n1\n2\n", 3, "vertex 1 among the neighbours of 3", "vertex 3 among"),
    ("g.graph", "2 1 1\n2 5\n1 6\n", 2, "vertex 1 among the neighbours of 2 with the weight 5", "only"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "line", "expected", "found"), BAD_TEXT)
@pytest.mark.parametrize("zipped", [False, True])
def test_bad_text(tmp_path, name, text, line, expected, found, zipped):
    path = tmp_path / name
    path.write_text(text)
    if zipped and text:
        path = tmp_path / f"{name}.gz"
        path.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(fr.GraphError) as caught:
        fr.read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: expected "), message
    before, after = message.removeprefix(f"{path}:{line}: ").split(", found ")
    assert expected in before
    assert found in after
    assert "\n" not in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_line_number_far_into_a_file(tmp_path, monkeypatch):
    from frontier.io import _parse

    monkeypatch.setattr(_parse, "_PIECE", 1000)
    monkeypatch.setattr(_parse, "_WORTH_THREADS", 100)
    lines = ["# comment", *["0 1 inf"] * 3000, "", "0 1 infant", "0 1 worse"]
    path = tmp_path / "g.wel"
    path.write_text("\n".join(lines))
    with pytest.raises(fr.GraphError, match=r"g\.wel:3003: .*found 'infant'"):
        fr.read(path)


@pytest.mark.parametrize("name", ["graph", "graph.xyz", "graph.gz", "graph.xyz.gz", ".mtx"])
def test_unknown_suffix(tmp_path, name):
    path = tmp_path / name
    with pytest.raises(fr.GraphError, match=r"ends in one of \.mtx, .*suffix.*format="):
        fr.write(fr.from_edges([0], [1]), path)
    assert not path.exists()
    with pytest.raises(fr.GraphError, match="there is no such file"):
        fr.read(path)
    path.write_bytes(b"\0\1\2")
    with pytest.raises(fr.GraphError, match=r"ends in one of \.mtx, .*suffix.*format=|expected gzip data"):
        fr.read(path)


def test_unknown_format(tmp_path):
    with pytest.raises(fr.GraphError, match=r"no format 'xml': choose one of \.mtx"):
        fr.read(tmp_path / "g.mtx", format="xml")


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(fr.GraphError, match=r"g\.mtx: there is no such file"):
        fr.read(tmp_path / "g.mtx")
    (tmp_path / "folder.mtx").mkdir()
    with pytest.raises(fr.GraphError, match=r"expected a file, found a folder"):
        fr.read(tmp_path / "folder.mtx")


def test_file_that_cannot_be_written(tmp_path):
    graph = fr.from_edges([0], [1])
    for name in ("nowhere/g.mtx", "nowhere/g.mtx.gz"):
        with pytest.raises(fr.GraphError, match=r"cannot be written: No such file"):
            fr.write(graph, tmp_path / name)


def test_refused_graph_leaves_the_old_file(tmp_path):
    path = tmp_path / "g.metis"
    path.write_text("old")
    with pytest.raises(fr.GraphError, match="directed"):
        fr.write(fr.from_edges([0], [1], directed=True), path)
    with pytest.raises(fr.GraphError, match="vertex 1 has one"):
        fr.write(fr.from_edges([1], [1]), path)
    with pytest.raises(fr.GraphError, match="float64"):
        fr.write(fr.from_edges([0], [1], [0.5]), path)
    assert path.read_text() == "old"


def test_weights_beyond_int64(tmp_path):
    graph = fr.from_edges([0], [1], np.array([2**64 - 1], np.uint64))
    for suffix in ("mtx", "wel", "gr", "graph"):
        with pytest.raises(fr.GraphError, match=rf"{2**64 - 1} is beyond int64"):
            fr.write(graph, tmp_path / f"g.{suffix}")
    fr.write(graph, tmp_path / "g.npz")
    assert fr.read(tmp_path / "g.npz").weights.tolist() == [2**64 - 1] * 2


def test_truncated_gzip(tmp_path):
    text = "".join(f"{i} {i * 7919 % 10007}\n" for i in range(10000))
    packed = gzip.compress(text.encode())
    path = tmp_path / "g.el.gz"
    for size in (len(packed) // 2, len(packed) - 4, 12, 3):
        path.write_bytes(packed[:size])
        with pytest.raises(fr.GraphError, match=r"g\.el\.gz:\d+: expected more gzip data, found the end"):
            fr.read(path)


def test_damaged_gzip(tmp_path):
    packed = bytearray(gzip.compress(b"0 1\n" * 1000))
    path = tmp_path / "g.el.gz"
    packed[-6] ^= 1  # the checksum
    path.write_bytes(packed)
    with pytest.raises(fr.GraphError, match=r"expected gzip data, found something else \(CRC"):
        fr.read(path)
    path.write_bytes(b"0 1\n1 2\n")
    with pytest.raises(fr.GraphError, match=r"g\.el\.gz:1: expected gzip data, found something else"):
        fr.read(path)


NOISY = [
    "mtx", "el", "csv", "gr", "graph", "npz", "npz.gz", "el.gz", "max", "col", "el.bz2", "el.xz", "el.zip", "graphml",
    "gml", "gexf", "json", "net", "g6", "s6", "adjlist",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::frontier.FrontierWarning")
@pytest.mark.parametrize("suffix", NOISY)
def test_noise(tmp_path, suffix):
    path = tmp_path / f"noise.{suffix}"
    for seed in range(20):
        path.write_bytes(np.random.default_rng(seed).bytes(1000))
        with pytest.raises(fr.GraphError, match=rf"noise\.{suffix}.*expected .*, found "):
            fr.read(path)


def npz(**arrays):
    memory = io.BytesIO()
    np.savez(memory, **arrays)
    return memory.getvalue()


GOOD_NPZ = {"offsets": [0, 1, 1], "targets": [1], "directed": True}

BAD_NPZ = [
    (b"\x93NUMPY noise", "expected an archive written by numpy.savez"),
    (npz(**GOOD_NPZ)[:200], "expected a whole .npz archive, found damage"),
    (npz(x=[1], y=[2]), "expected the arrays offsets and targets, src and dst, edge_index, or those of"),
    (npz(edge_index=[0, 1]), "expected two rows of integers as edge_index, found int64 of shape (2,)"),
    (npz(edge_index=[[0], [1]], edge_weight=[1, 2]), "expected 1 numbers as edge_weight, found int64 of shape (2,)"),
    (npz(edge_index=[[0], [1]], num_nodes=[2]), "expected one integer as num_nodes"),
    (npz(edge_index=[[0], [5]], num_nodes=2), "dst[0] is 5"),
    (npz(format=b"lil", data=[1], shape=[1, 1]), "found the format 'lil', data, format, shape"),
    (npz(format=b"csr", data=[1], shape=[1, 1]), "found the format 'csr', data, format, shape"),
    (npz(format=b"csr", data=[1], indices=[7], indptr=[0, 1], shape=[1, 1]), "found damage: "),
    (npz(format=b"csc", data=[1], indices=[-1], indptr=[0, 1], shape=[1, 1]), "found damage: "),
    (npz(format=b"csr", data=[1], indices=[0], indptr=[0, 9], shape=[1, 1]), "found damage: "),
    (npz(format=b"coo", data=[1], row=[7], col=[0], shape=[1, 1]), "found damage: "),
    (npz(format=b"csr", data=[1], indices=[0], indptr=[0, 1], shape=[1, 2]), "is square"),
    (npz(), "found nothing"),
    (npz(src=[0], dst=[1], n=[2, 3]), "expected one integer as n, found int64 of shape (2,)"),
    (npz(src=[0], dst=[1], directed=0.5), "expected True or False as directed, found float64"),
    (npz(src=[0], dst=[1, 2]), "the same length, not 1 and 2"),
    (npz(src=[0], dst=[-1]), "is -1"),
    (npz(src=[0.5], dst=[1]), "must be integers"),
    (npz(src=[0], dst=[5], n=2), "dst[0] is 5"),
    (npz(src=[0], dst=[1], weights=[1, 2]), "2 weights for 1 edges"),
    (npz(src=[0], dst=[1], weights=[np.nan]), "NaN"),
    (npz(src=np.array([None]), dst=[1]), "expected a whole .npz archive"),
    (npz(**{**GOOD_NPZ, "offsets": [0, 2, 1]}), "offsets must not fall"),
    (npz(**{**GOOD_NPZ, "offsets": [0, 5]}), "offsets must go from 0"),
    (npz(**{**GOOD_NPZ, "targets": [7]}), "7"),
    (npz(**{**GOOD_NPZ, "directed": False}), "undirected"),
    (npz(**{**GOOD_NPZ, "labels": ["a", "a"]}), "labels must be unique"),
    (npz(**{**GOOD_NPZ, "edges/x": [1, 2, 3]}), "the edge column 'x' has 3 entries"),
]


@pytest.mark.parametrize(("data", "message"), BAD_NPZ)
@pytest.mark.parametrize("zipped", [False, True])
def test_bad_npz(tmp_path, data, message, zipped):
    path = tmp_path / ("g.npz.gz" if zipped else "g.npz")
    path.write_bytes(gzip.compress(data) if zipped else data)
    with pytest.raises(fr.GraphError) as caught:
        fr.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_damaged_npz(tmp_path):
    """Whatever byte is wrong, it is our error, or the graph is the right one."""
    data = npz(**GOOD_NPZ)
    path = tmp_path / "g.npz"
    refused = 0
    for at in range(0, len(data), 3):
        damaged = bytearray(data)
        damaged[at] ^= 0x55
        path.write_bytes(damaged)
        try:
            graph = fr.read(path)
        except fr.GraphError:
            refused += 1
            continue
        assert graph.targets.tolist() == [1]
    assert refused > 50


def test_archive_of_other_files(tmp_path):
    path = tmp_path / "g.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(fr.GraphError, match="expected arrays only"):
        fr.read(path)


def test_options_that_do_not_fit(tmp_path):
    path = tmp_path / "g.mtx"
    path.write_text(f"{MTX} pattern general\n2 2 1\n1 2\n")
    with pytest.raises(fr.GraphError, match="num_vertices is for edge lists"):
        fr.read(path, num_vertices=3)
    with pytest.raises(fr.GraphError, match="labels=True is for edge lists"):
        fr.read(path, labels=True)
    with pytest.raises(fr.GraphError, match=r"g\.mtx: duplicates must be one of"):
        fr.read(path, duplicates="merge")


def test_huge_ids_say_how_to_read_them(tmp_path):
    path = tmp_path / "g.el"
    path.write_text("0 999999999999999\n")
    with pytest.raises(fr.GraphError, match=r"g\.el: .*labels=True"):
        fr.read(path)


def test_gzip_by_content(tmp_path):
    for name, text in (("g.txt", b"0 1\n1 2\n"), ("g.mtx", f"{MTX} pattern general\n2 2 1\n1 2\n".encode())):
        (tmp_path / name).write_bytes(gzip.compress(text))
        assert fr.read(tmp_path / name).num_vertices in (2, 3)
    with pytest.raises(fr.GraphError, match="gzipped files cannot be read in pieces"):
        fr.convert(tmp_path / "g.txt", tmp_path / "g.frontier")


def test_a_directed_graph_in_a_metis_file(tmp_path):
    (tmp_path / "g.graph").write_text("3 3\n2\n3\n1\n")
    with pytest.raises(fr.GraphError, match=r"found 3, and as many neighbours: a directed graph, perhaps, which METIS"):
        fr.read(tmp_path / "g.graph")


@pytest.mark.filterwarnings("default::frontier.FrontierWarning")
def test_names_of_files_and_cells_do_nothing_to_a_terminal(tmp_path, capsys):
    from frontier.cli import main

    name = tmp_path / "\x1b[31mred\x9b.csv"
    name.write_text("0,\x1b[1m1\n")
    for call in (lambda: fr.read(name), lambda: fr.read(tmp_path / "\x1b.el"), lambda: fr.read("\x1b]0;x\x07")):
        with pytest.raises(fr.GraphError) as caught:
            call()
        assert str(caught.value).isprintable()
        assert "\\x1b" in str(caught.value)
    with pytest.raises(fr.GraphError) as caught:
        fr.read(name)
    assert str(caught.value).count("red") == 1  # the file is named once
    name.write_text("0,1\n1,9001\n")
    assert main(["info", str(name)]) == 0
    out = capsys.readouterr()
    assert "\\x1b[31mred" in out.out
    assert "frontier: warning: ids go up to 9,001" in out.err
    assert main(["bfs", str(tmp_path / "\x1b.el")]) == 2
    assert (out.out + out.err + capsys.readouterr().err).replace("\n", "").isprintable()


def test_weights_that_are_no_real_numbers():
    for weights in ([1j], ["x"], [10**400], [None], [[1]]):
        with pytest.raises(fr.GraphError, match=r"weights must (be real numbers|have one dimension)"):
            fr.from_edges([0], [1], weights)
    for weights in ("x", 1j, True):
        with pytest.raises(fr.GraphError, match="weights must be real numbers, not"):
            fr.Graph(np.array([0, 1, 1]), np.array([1]), np.array([weights]), directed=True)
    for given in ({0: 1j}, {0: 10**400}, [1j, 0]):
        with pytest.raises(fr.GraphError, match="personalization holds numbers"):
            fr.pagerank(fr.path(2).to("python"), personalization=given)


def test_what_is_to_be_installed_can_be_found():
    """The distribution itself is on no registry."""
    root = Path(fr.__file__).parent
    files = [*root.rglob("*.py"), *(root.parent / "docs").rglob("*.md")]
    texts = {path: path.read_text("utf-8") for path in files}
    assert [str(path) for path, text in texts.items() if re.search(r"pip install [^\n]*frontier-gpu", text)] == []
