"""What clumsy hands do to the command line: one line on standard error and a code that is not 0, never a traceback."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import environment

import frontier as fr
from frontier.cli import main
from frontier.memory import detection


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of files that are not what they should be, and two that are."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.csv").touch()
    (tmp_path / "junk.bin").write_bytes(np.random.default_rng(1).bytes(3000))
    for suffix in ("mtx", "npz", "gr", "graph", "csv", "el.gz"):
        (tmp_path / f"junk.{suffix}").write_bytes((tmp_path / "junk.bin").read_bytes())
    (tmp_path / "cut.el.gz").write_bytes(gzip.compress(b"0 1\n" * 10000)[:40])
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir.csv").mkdir()
    (tmp_path / "ok.csv").write_text("source,target,weight\n0,1,2\n1,2,3\n")
    (tmp_path / "names.csv").write_text("source,target,weight\nalice,bob,2\nbob,carol,3\nlone,,\n")
    (tmp_path / "rows.csv").write_text("alice,bob,2\nbob,carol,3\n")
    return tmp_path


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling, which comes when it comes, is not said."""
    monkeypatch.setenv("FRONTIER_QUIET", "1")


def refused(capsys: pytest.CaptureFixture[str], *words: str, status: int = 2) -> str:
    assert main(words) == status
    said = capsys.readouterr()
    assert said.err.startswith("frontier: ")
    assert said.err.count("\n") == 1
    return said.err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bfs nowhere.csv", "nowhere.csv: there is no such file"),
        ("bfs nowhere", "neither a file nor a kind of graph"),
        ("bfs dir", "dir: expected a file, found a folder"),
        ("bfs dir.csv", "dir.csv: expected a file, found a folder"),
        ("bfs .", "expected a file, found a folder"),
        ("info empty.csv", "empty.csv:1: expected a graph, found an empty file"),
        ("info junk.bin", "found the suffix '.bin'; format= (--format) says"),
        ("info junk.bin --format csv", "junk.bin:"),
        ("info junk.mtx", "junk.mtx:1: expected"),
        ("info junk.npz", "junk.npz: expected an archive"),
        ("info junk.gr", "junk.gr:"),
        ("info junk.graph", "junk.graph:"),
        ("info junk.csv", "junk.csv:"),
        ("info junk.csv --labels", "junk.csv:"),
        ("info junk.el.gz", "expected gzip data"),
        ("info cut.el.gz", "it is cut off"),
        ("info ok.csv --format xml", "no format 'xml'"),
        ("info ok.csv --format gr", "expected 'p sp VERTICES ARCS'"),
        ("bfs ok.csv --source 99", "no vertex 99: vertices are 0 to 2"),
        ("bfs rows.csv", "--labels"),
        ("bfs names.csv --source 0", "no vertex '0': the labels are strings"),
        ("bfs names.csv --labels --source eve", "no vertex 'eve'"),
        ("bfs names.csv --labels --source 0", "no vertex '0': the labels are strings"),
        ("shortest_path names.csv --labels --target 1", "no vertex '1'"),
        ("shortest_path ok.csv --target bob", "no vertex 'bob': vertices are 0 to 2"),
        ("max_flow names.csv --labels --sink 1", "no vertex '1'"),
        ("bfs ok.csv --seed -3", "--seed: expected an integer from 0, not '-3'"),
        ("bfs rmat:5 --seed x", "--seed: expected an integer from 0, not 'x'"),
        ("info karate --labels", "--labels and --header are for files, and karate is made"),
        ("bfs ok.csv --threads many", "--threads"),
        ("bfs ok.csv --output nodir/x.csv", "there is no folder nodir"),
        ("bfs ok.csv --output dir.csv", "dir.csv: cannot be written: it is a folder"),
        ("convert ok.csv nodir/x.npz", "there is no folder nodir"),
        ("convert ok.csv dir.csv", "it is a folder"),
        ("convert ok.csv -", "add --to"),
        ("convert ok.csv x.bin", "found the suffix '.bin'"),
        ("generate rmat 5 -", "add --to"),
        ("sssp ok.csv --delta nan", "delta=nan"),
        ("sssp rmat:5 --weights 9:1", "low <= high"),
        ("info rmat:40", "bytes are needed"),
        ("info grid:99999999999999999999x2", "bytes are needed"),
        ("bench bfs --graph nowhere.csv", "nowhere.csv: there is no such file"),
    ],
)
def test_refused(capsys: pytest.CaptureFixture[str], line: str, message: str) -> None:
    assert message in refused(capsys, *line.split())


@pytest.mark.skipif(detection.available(), reason="there is a GPU")
@pytest.mark.usefixtures("folder")
def test_no_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    assert "'cuda' is not there" in refused(capsys, "bfs", "ok.csv", "--backend", "cuda")


def test_nothing_is_run_for_what_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontier.cli.graphs.load", lambda *_, **__: pytest.fail("it was read"))
    assert main(["bfs", "ok.csv", "--output", "nodir/x.csv"]) == 2
    assert main(["convert", "ok.csv", "x.bin"]) == 2


# -- names, formats, standard input -----------------------------------------------------------


def test_labels(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "sssp names.csv --labels --source alice --json --backend python --output out.json"
    assert main(line.split()) == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert (result["source"], result["source_label"], result["reached"]) == (0, "alice", 3)
    columns = json.loads((folder / "out.json").read_text(), parse_constant=pytest.fail)
    assert columns["vertex"] == ["alice", "bob", "carol", "lone"]
    assert columns["parent"] == ["alice", "alice", "bob", None]
    assert columns["distance"] == [0, 2, 5, None]
    assert main(["info", "names.csv", "--labels", "--header", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["vertices"] == 4
    assert ":1: expected a number as weight" in refused(capsys, *["info", "names.csv", "--labels", "--no-header"])


def test_components_are_named_after_a_vertex(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cc", "names.csv", "--labels", "--backend", "python", "--output", "out.csv"]) == 0
    assert (folder / "out.csv").read_text().splitlines() == [
        "vertex,label", "alice,alice", "bob,alice", "carol,alice", "lone,lone"
    ]  # fmt: skip
    assert main(["cc", "ok.csv", "--backend", "python", "--output", "out.json"]) == 0
    assert list(json.loads((folder / "out.json").read_text())) == ["vertex", "label"]


@pytest.mark.usefixtures("folder")
def test_names_that_are_not_kept_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "names.csv", "out.csv", "--labels"]) == 0
    kept = "their names are kept by .npz, .graphml, .gml, .gexf, .json only"
    assert f"out.csv has the vertices' numbers: {kept}" in capsys.readouterr().err
    assert main(["convert", "names.csv", "out.npz", "--labels"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", ["bc", "pagerank"])
@pytest.mark.usefixtures("folder")
def test_a_vertex_by_its_name(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert main([command, "names.csv", "--labels", "--json", "--backend", "python"]) == 0
    name = "vertex 1 (bob)" if command == "bc" else "vertex 2 (carol)"
    assert json.loads(capsys.readouterr().out)["result"]["highest"].endswith(name)
    assert main([command, "ok.csv", "--json", "--backend", "python"]) == 0
    assert json.loads(capsys.readouterr().out)["result"]["highest"].endswith(name.split(" (")[0])


def test_floats_that_json_does_not_know(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "g.csv").write_text("source,target,weight\n0,1,.5\n1,2,inf\n3,3,1\n")
    line = "sssp g.csv --source 0 --json --verify --backend python --output out.json"
    assert main(line.split()) == 0
    for text in (capsys.readouterr().out, (folder / "out.json").read_text()):
        made = json.loads(text, parse_constant=pytest.fail)
    assert made["distance"] == [0, 0.5, None, None]
    assert main(["info", "g.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["weight_range"] == [0.5, None]


def test_integers_that_stand_for_infinity_are_null(folder: Path) -> None:
    assert main(["sssp", "ok.csv", "--source", "1", "--backend", "python", "--output", "out.json"]) == 0
    made = json.loads((folder / "out.json").read_text())
    assert (made["distance"], made["parent"]) == ([None, 0, 3], [-1, 1, 1])


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"0,1\n1,2\n")))
    assert main(["bfs", "-", "--format", "csv", "--source", "0", "--json", "--backend", "python"]) == 0
    assert json.loads(capsys.readouterr().out)["result"]["depth"] == 2
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"0,1\n1,x\n")))
    assert ":2: expected a vertex id" in refused(capsys, "info", "-", "--format", "csv")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"p sp 3 1\na 1 3 7\n")))
    assert main(["info", "-", "--json"]) == 0  # DIMACS, as it shows
    assert json.loads(capsys.readouterr().out)["weight_range"] == [7, 7]
    monkeypatch.setattr(sys, "stdin", None)
    assert "it is closed" in refused(capsys, "info", "-", "--format", "csv")


def test_drawn_weights_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sssp", "karate", "--json", "--backend", "python", "--seed", "5"]) == 0
    said = capsys.readouterr()
    assert said.err == (
        "frontier: karate has no weights of its own: they are drawn, integers from 1 to 64, seed 5 "
        "(--weights LOW:HIGH and --seed N choose others)\n"
    )
    assert json.loads(said.out)["graph"]["drawn_weights"] == {"low": 1, "high": 64, "seed": 5}
    assert main(["sssp", "karate", "--json", "--backend", "python", "--weights", "2:3"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert json.loads(said.out)["graph"]["drawn_weights"] == {"low": 2, "high": 3, "seed": 1}
    assert main(["bfs", "karate", "--json", "--backend", "python"]) == 0
    assert json.loads(capsys.readouterr().out)["graph"]["drawn_weights"] is None


def test_a_file_that_is_called_like_a_kind(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "karate").write_text("0,1\n")
    assert main(["info", "karate", "--format", "csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["vertices"] == 2


# -- as a process -----------------------------------------------------------------------------


def shell(line: str, folder: Path, **more: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash in which ``$frontier`` is the command line."""
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, check=False, capture_output=True, timeout=300,
        env=environment(FRONTIER_QUIET="1", frontier=f"{sys.executable} -m frontier"), **more,
    )  # fmt: skip


needs_bash = pytest.mark.skipif(os.name != "posix" or not Path("/bin/bash").exists(), reason="bash is not there")


@needs_bash
def test_pipes(folder: Path) -> None:
    (folder / "zipped").write_bytes(gzip.compress((folder / "ok.csv").read_bytes()))
    for line, expected in (
        ("$frontier convert ok.csv - --to csv", b"source,target,weight\n0,1,2\n1,2,3\n"),
        ("$frontier convert ok.csv - --to npz | $frontier convert - - --format npz --to csv", b"source,target,"),
        ("cat ok.csv | $frontier info - --format csv --json", b'"vertices": 3'),
        ("$frontier info <(cat zipped) --format csv.gz --json", b'"vertices": 3'),
        ("$frontier info /dev/stdin --format csv --json < ok.csv", b'"vertices": 3'),
        ("$frontier generate path 2 /dev/stdout --to csv", b"u,v\n0,1\n"),
    ):
        done = shell(line, folder)
        assert expected in done.stdout, (line, done)
        assert done.stdout == expected or "--to" not in line or "npz" in line
        assert b"Traceback" not in done.stderr, done.stderr


@needs_bash
@pytest.mark.parametrize("line", ["info karate --json", "convert rmat:13 - --to csv", "bfs karate --trace"])
def test_readers_that_leave(tmp_path: Path, line: str) -> None:
    done = shell(f"$frontier {line} | true; echo ${{PIPESTATUS[0]}}", tmp_path)
    assert (done.stdout, done.stderr) == (b"0\n", b"")


@needs_bash
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_standard_output_that_is_full_or_closed(folder: Path) -> None:
    done = shell("$frontier info ok.csv > /dev/full; echo $?", folder)
    assert (done.stdout, done.stderr) == (b"2\n", b"frontier: standard output: No space left on device\n")
    done = shell("$frontier convert ok.csv - --to csv > /dev/full; echo $?", folder)
    assert done.stdout == b"2\n"
    assert done.stderr == b"frontier: <stdout>: cannot be written: No space left on device\n"
    assert shell("$frontier info ok.csv >&-; echo $? >&2", folder).stderr == b"0\n"
    assert shell("$frontier info - --format csv <&-; echo $?", folder).stdout == b"2\n"


@needs_bash
def test_names_that_are_no_text(folder: Path) -> None:
    (folder / os.fsdecode(b"\xff.csv")).write_text("0,1\n")
    done = shell("PYTHONUTF8=1 $frontier info $'\\xff.csv'", folder)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\udcff.csv" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_interrupted_while_it_reads(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "frontier", "info", "-", "--format", "csv"],
        cwd=tmp_path, env=environment(FRONTIER_QUIET="1"),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(b"0,1\n" * 100_000)  # more than the pipe holds: it has been reading when this returns
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (130, b"", b"frontier: interrupted\n")


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="permissions are those of POSIX")
def test_file_without_permission(folder: Path) -> None:
    (folder / "ok.csv").chmod(0)
    (folder / "dir").chmod(0o555)
    folder.chmod(0o777)
    for parent in folder.parents[:2]:  # of pytest's own folders
        parent.chmod(0o755)
    code = (
        "import os, sys\nimport frontier.io, frontier.generators, frontier.cli.files, frontier.cli.run\n"
        "os.setuid(65534) if os.geteuid() == 0 else None\n"
        "sys.exit(frontier.cli.main(sys.argv[1:]))"
    )
    for line, message in (
        ("info ok.csv", "ok.csv: cannot be read: Permission denied"),
        ("convert karate dir/x.csv", "dir/x.csv: cannot be written: Permission denied"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *line.split()], cwd=folder, text=True, capture_output=True, check=False,
            env=environment(FRONTIER_QUIET="1"), timeout=300,
        )  # fmt: skip
        assert done.returncode == 2
        assert done.stderr == f"frontier: {message}\n"


def test_convert_onto_itself(folder: Path) -> None:
    before = (folder / "ok.csv").read_text()
    assert main(["convert", "ok.csv", "ok.csv"]) == 0
    assert (folder / "ok.csv").read_text() == before
    assert fr.read("ok.csv").num_edges == 2
