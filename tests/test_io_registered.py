"""Formats from outside the package: registered, read, written, on the command line."""

from __future__ import annotations

import gzip
import io
import json

import numpy as np
import pytest

import frontier as fr
from frontier.cli import main
from frontier.io import formats


def read_arrows(file):
    pairs = [line.split(b">") for line in file.read().splitlines()]
    return fr.from_edges([(int(src), int(dst)) for src, dst in pairs], directed=True, duplicates="keep")


def write_arrows(graph, file):
    if graph.weights is not None:
        raise fr.GraphError("arrows have no weights")
    for pair in zip(graph.sources.tolist(), graph.targets.tolist(), strict=True):
        file.write(b"%d>%d\n" % pair)


@pytest.fixture(autouse=True)
def arrows():
    before = dict(formats.FORMATS)
    fr.register_format("arrows", suffixes=[".arrows", "arr"], read=read_arrows, write=write_arrows)
    yield
    formats.FORMATS.clear()
    formats.FORMATS.update(before)


G = fr.from_edges([(0, 1), (1, 2), (2, 0), (2, 2)], directed=True)


@pytest.mark.parametrize("name", ["g.arrows", "g.ARR", "g.arrows.gz"])
def test_by_suffix(tmp_path, name):
    fr.write(G, tmp_path / name)
    text = (tmp_path / name).read_bytes()
    assert (gzip.decompress(text) if name.endswith("gz") else text).splitlines()[0] == b"0>1"
    again = fr.read(tmp_path / name)
    assert (again.offsets.tolist(), again.targets.tolist()) == (G.offsets.tolist(), G.targets.tolist())
    assert again.directed


def test_by_name_and_as_a_stream(tmp_path):
    file = io.BytesIO()
    fr.write(G, file, format="arrows.gz")
    assert fr.read(io.BytesIO(file.getvalue()), format="arr.gz").num_edges == 4


@pytest.mark.parametrize("keeps", [False, True])
def test_labels_are_said_to_be_lost_unless_a_format_keeps_them(tmp_path, capsys, keeps):
    (tmp_path / "g.el").write_text("ann bob\nbob cid\n")
    fr.register_format("arrows", suffixes=["arrows"], write=write_arrows, keeps_labels=keeps)
    assert main(["convert", str(tmp_path / "g.el"), str(tmp_path / "g.arrows"), "--labels"]) == 0
    said = capsys.readouterr().err
    assert ("names are kept by" in said) != keeps


def test_options_are_applied():
    def read(**options):
        return fr.read(io.BytesIO(b"0>1\n1>0\n0>1\n2>2\n"), format="arrows", **options)

    assert read().num_edges == 4
    assert read(duplicates="first").num_edges == 3
    assert read(self_loops="drop").num_edges == 3
    assert not read(directed=False, duplicates="first").directed
    assert read(labels=["a", "b", "c"]).labels.tolist() == ["a", "b", "c"]
    with pytest.raises(fr.GraphError, match="num_vertices is for edge lists: arrows files"):
        read(num_vertices=9)


def test_on_the_command_line(tmp_path, capsys):
    plain, made = str(tmp_path / "plain"), str(tmp_path / "made")
    (tmp_path / "plain").write_text("0>1\n1>2\n")
    assert main(["info", plain, "--format", "arrows", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["edges"] == 2
    assert main(["convert", plain, made, "--format", "arrows", "--to", "arr"]) == 0
    assert (tmp_path / "made").read_text() == "0>1\n1>2\n"
    assert main(["info", plain, "--format", "arrow"]) == 2
    assert "choose one of .mtx, .el" in (said := capsys.readouterr().err)
    assert ".adjlist, .arrows, .arr" in said


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "bad.arrows"
    path.write_text("0>x\n")
    with pytest.raises(fr.GraphError, match=r"bad\.arrows: not a arrows file: .*'x'"):
        fr.read(path)
    weighted = fr.path(3, weights=(1, 2))
    path.write_text("old")
    with pytest.raises(fr.GraphError, match="arrows have no weights"):
        fr.write(weighted, path)
    assert path.read_text() == "old"


def test_one_way():
    fr.register_format("ins", suffixes=["ins"], read=lambda file: fr.path(3))
    fr.register_format("outs", suffixes=["outs"], write=write_arrows)
    assert fr.read(io.BytesIO(b"x"), format="ins").num_vertices == 3
    with pytest.raises(fr.GraphError, match="ins files can be read, not written"):
        fr.write(G, io.BytesIO(), format="ins")
    with pytest.raises(fr.GraphError, match="outs files can be written, not read"):
        fr.read(io.BytesIO(b"x"), format="outs")


@pytest.mark.parametrize("suffixes", ["arrows", [], ["gz"], ["a.b"], [""]])
def test_refused(suffixes):
    with pytest.raises(fr.FrontierError, match="suffixes"):
        fr.register_format("bad", suffixes=suffixes, read=read_arrows)
    with pytest.raises(fr.FrontierError, match="give read=, write= or both"):
        fr.register_format("bad", suffixes=["bad"])


def test_a_reader_gives_a_graph():
    fr.register_format("none", suffixes=["none"], read=lambda file: np.zeros(3))
    with pytest.raises(fr.GraphError, match="what reads none gave array"):
        fr.read(io.BytesIO(b"x"), format="none")
