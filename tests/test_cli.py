"""The command line: what it prints, what it writes, and its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import ROOT, environment

import frontier as fr
from frontier import registry
from frontier.cli import main
from frontier.cli.common import print_table, shown
from frontier.native import threads

#: What a primitive is run with, where that is not the karate club.
GRAPHS: dict[str, str] = dict.fromkeys(("condensation", "topological_order"), "rmat:4:1:0:1:0 --directed")
PRIMITIVES = tuple(registry.primitives())
VERIFIED = tuple(name for name, entry in registry.primitives().items() if entry.verifier() is not None)


@dataclass(frozen=True)
class Said:
    """What one run of the command line gave."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Any:
    """``cli("bfs karate --json")`` runs the command line in this process."""

    def run(line: str, *more: object) -> Said:
        status = main([*line.split(), *map(str, more)])
        captured = capsys.readouterr()
        return Said(status, captured.out, captured.err)

    return run


def one_line(said: Said, status: int) -> str:
    """The one line of an error, after checking that it is one and nothing else was printed."""
    assert said.status == status
    assert said.err.startswith("frontier: ")
    assert said.err.count("\n") == 1
    return said.err


# -- primitives ----------------------------------------------------------------------------


def test_every_module_of_primitives_has_a_command() -> None:
    files = {path.stem for path in (ROOT / "primitives").glob("[a-z]*.py")}
    files -= {"link_prediction", "modularity"}  # which take pairs and labels, as no command line does
    assert files == {entry.function.__module__.rpartition(".")[2] for entry in registry.primitives().values()}
    assert {"bc", "bfs", "cc", "pagerank", "sssp"} <= set(VERIFIED)


@pytest.mark.parametrize("name", PRIMITIVES)
def test_primitives_run(cli: Any, name: str) -> None:
    said = cli(f"{name} {GRAPHS.get(name, 'karate')} --backend cpu --json")
    assert said.status == 0, said.err
    assert said.json["primitive"] == name
    assert said.json["result"]


@pytest.mark.parametrize("name", VERIFIED)
@pytest.mark.parametrize("backend", ["python", "cpu"])
def test_primitives_verified(cli: Any, name: str, backend: str) -> None:
    said = cli(f"{name} karate --backend {backend} --verify --json")
    assert said.status == 0, said.err
    assert said.json["primitive"] == name
    assert said.json["backend"] == backend
    assert said.json["verified"] is True
    assert said.json["checks"]
    graph = said.json["graph"]
    assert (graph["vertices"], graph["edges"], graph["slots"]) == (34, 78, 156)


def test_text(cli: Any) -> None:
    said = cli("bfs karate --source 0 --verify --trace")
    backend = fr.path(2).to("auto").backend
    assert said.status == 0, said.err
    words = {line.split()[0]: line for line in said.out.splitlines() if line}
    assert "34 vertices, 78 edges, undirected" in words["graph"]
    assert backend in words["backend"]
    assert "(auto)" in words["backend"]
    assert "source 0" in words["bfs"]
    assert "properties" in words["verified"]
    assert "pass" in words  # the header of the trace


def test_json_trace(cli: Any) -> None:
    said = cli("bfs karate --source 0 --trace --json")
    rows = said.json["trace"]["rows"]
    assert any(row["step"].startswith("Advance(visit") for row in rows)
    assert all(row["backend"] == said.json["backend"] for row in rows)


def test_source_is_the_vertex_with_most_edges(cli: Any) -> None:
    assert cli("bfs karate --json").json["result"]["source"] == 33


def test_options_reach_the_primitive(cli: Any, tmp_path: Path) -> None:
    name = tmp_path / "rank.npz"
    assert cli("pagerank karate --damping 0.5 --output", name).status == 0
    np.testing.assert_allclose(np.load(name)["rank"], fr.pagerank(fr.karate(), damping=0.5).rank)


def test_compressed_lists(cli: Any) -> None:
    plain, small = (cli(f"bfs rmat:8 --json {option}").json["result"] for option in ("", "--compressed"))
    assert plain == small


def test_threads(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_count", threads.num_threads())
    assert "1 thread" in cli("cc karate --backend cpu --threads 1").out


def test_seed_decides_the_graph(cli: Any) -> None:
    first, again, other = (cli(f"info rmat:8 --json --seed {seed}").json for seed in (1, 1, 2))
    assert first["edges"] == again["edges"]
    assert first["edges"] != other["edges"]


# -- results -------------------------------------------------------------------------------


@pytest.mark.parametrize(("suffix", "separator"), [(".csv", ","), (".tsv", "\t"), (".txt", " ")])
def test_output_as_text(cli: Any, tmp_path: Path, suffix: str, separator: str) -> None:
    name = tmp_path / f"out{suffix}"
    assert cli("bfs karate --source 0 --output", name).status == 0
    header, *lines = name.read_text("utf-8").splitlines()
    assert header.split(separator) == ["vertex", "level", "parent"]
    rows = np.array([line.split(separator) for line in lines], dtype=np.int64)
    np.testing.assert_array_equal(rows[:, 0], np.arange(34))
    np.testing.assert_array_equal(rows[:, 1], fr.bfs(fr.karate(), 0).level)


def test_output_as_arrays(cli: Any, tmp_path: Path) -> None:
    level = fr.bfs(fr.karate(), 0).level
    assert cli("bfs karate --source 0 --output", tmp_path / "out.npz").status == 0
    assert cli("bfs karate --source 0 --output", tmp_path / "out.json").status == 0
    np.testing.assert_array_equal(np.load(tmp_path / "out.npz")["level"], level)
    assert json.loads((tmp_path / "out.json").read_text("utf-8"))["level"] == level.tolist()


def test_labels(cli: Any, tmp_path: Path) -> None:
    g = fr.from_edges([0, 1], [1, 2], labels=["north pole", 'a "b", c', "x"])
    fr.write(g, tmp_path / "named.npz")
    out = tmp_path / "out.csv"
    said = cli(f"bfs {tmp_path / 'named.npz'} --source x --json --output", out)
    assert said.json["result"]["source"] == 2
    assert out.read_text("utf-8").splitlines()[1:3] == ['north pole,2,"a ""b"", c"', '"a ""b"", c",1,x']
    assert "no vertex 'y'" in one_line(cli(f"bfs {tmp_path / 'named.npz'} --source y"), 2)


def test_labels_that_are_numbers(cli: Any, tmp_path: Path) -> None:
    """A number names the vertex with that label, never the one with that id."""
    name = tmp_path / "numbers.el"
    name.write_text(f"1 0\n0 {2**63}\n")
    for source, reached in (("0", 2), ("1", 3), (2**63, 1)):
        said = cli(f"bfs {name} --labels --backend python --json --source {source}").json["result"]
        assert (said["source_label"], said["reached"]) == (int(source), reached)
    assert cli(f"bfs {name} --labels --backend python --json").json["result"]["source_label"] == 1


def test_ends_by_label(cli: Any, tmp_path: Path) -> None:
    name = tmp_path / "names.wel"
    name.write_text("a b 1\nb 0 1\n0 c 1\n")
    for line, found in (
        ("shortest_path --source a --target 0", ["a", "b", "0"]),
        ("shortest_path --source a", ["a", "b", "0", "c"]),
        ("max_flow --source a --sink b", 1),
        ("bfs --source a --target 0", ["a", "b", "0"]),
        ("sssp --source a --target 0 --cutoff 5", ["a", "b", "0"]),
        ("bfs --source a --max-depth 1", 2),
        ("predecessors --source a --weighted", 3),
    ):
        primitive, _, options = line.partition(" ")
        said = cli(f"{primitive} {name} --labels --backend python --json {options}").json["result"]
        assert found in said.values()


def test_the_column_of_weights(cli: Any, tmp_path: Path) -> None:
    name = tmp_path / "g.csv"
    name.write_text("source,target,year\n0,1,5\n")
    said = cli(f"info {name} --json --weight year")
    assert (said.json["weight_range"], said.err) == ([5, 5], "")
    assert "--weight names a column of a file" in one_line(cli("info karate --weight year"), 2)


# -- files ---------------------------------------------------------------------------------


def test_generate_convert_info(cli: Any, tmp_path: Path) -> None:
    first, second = tmp_path / "grid.mtx", tmp_path / "grid.npz"
    said = cli("generate grid 3x4 --weights 1:9", first)
    assert said.status == 0, said.err
    assert "12 vertices, 17 edges" in said.out
    assert cli(f"convert {first}", second).status == 0
    facts = cli(f"info {second} --json").json
    assert (facts["vertices"], facts["edges"], facts["slots"], facts["directed"]) == (12, 17, 34, False)
    assert facts["degree"]["max"] == 4
    low, high = facts["weight_range"]
    assert 1 <= low <= high <= 9


@pytest.mark.parametrize(
    ("spec", "vertices"),
    [
        ("karate", 34),
        ("rmat:5", 32),
        ("rmat:5:8:.45:.15:.15", 32),
        ("urand:5:4", 32),
        ("grid:3x4", 12),
        ("path:7", 7),
        ("star:7", 7),
        ("complete:5", 5),
        ("tree:2:3", 15),
        ("small_world:20:4:0.1", 20),
    ],
)
def test_kinds_of_graphs(cli: Any, spec: str, vertices: int) -> None:
    said = cli(f"info {spec}")
    assert said.status == 0, said.err
    assert ["vertices", str(vertices)] in [line.split() for line in said.out.splitlines()]


def test_generated_graph_may_be_directed(cli: Any) -> None:
    assert cli("info rmat:6 --directed --json").json["directed"] is True
    assert cli("info rmat:6 --json").json["directed"] is False


def test_graph_without_vertices(cli: Any, tmp_path: Path) -> None:
    fr.write(fr.from_edges([], []), tmp_path / "empty.npz")
    assert cli(f"info {tmp_path / 'empty.npz'}").status == 0
    assert cli(f"cc {tmp_path / 'empty.npz'} --verify").status == 0
    assert "no vertices" in one_line(cli(f"bfs {tmp_path / 'empty.npz'}"), 2)


# -- mistakes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "COMMAND"),
        ("bsf karate", "'bsf'"),
        ("bfs", "GRAPH"),
        ("bfs karate --sorce 3", "--sorce"),
        ("bc karate --source 0", "--source 0"),
        ("bfs karate --source 34", "0 to 33"),
        ("bfs karate --source -1", "0 to 33"),
        ("bfs karate --source north", "'north'"),
        ("bfs karate --backend gpu", "gpu"),
        ("bfs karate --backend cuda:x", "cuda:x"),
        ("bfs karate --threads 0", "--threads"),
        ("bfs karate --output out.xlsx", "out.xlsx"),
        ("triangles karate --backend python --no-per-vertex --output out.csv", "an option such as --per-vertex"),
        ("scc rmat:30 --verify", "scc has no verifier"),
        ("bfs karate --directed", "karate: it is undirected"),
        ("bfs karate --weights 3", "LOW:HIGH"),
        ("bfs rmatt:18", "rmatt:18"),
        ("bfs grid:3", "grid:ROWSxCOLUMNS"),
        ("bfs rmat:many", "rmat:SCALE"),
        ("bfs no-such-file.mtx", "no-such-file.mtx"),
        ("info karate --seed -1", "an integer from 0, not '-1'"),
        ("generate ring 8 out.npz", "ring"),
        ("generate karate", "a kind of graph and a file"),
        ("generate karate --sed 3 out.npz", "--sed"),
        ("generate karate out.docx", "out.docx"),
        ("convert karate out.docx", "out.docx"),
        ("bench dijkstra", "dijkstra"),
        ("bench bfs --runs 0", "--runs"),
    ],
)
def test_mistakes_are_one_line(cli: Any, line: str, message: str) -> None:
    assert message in one_line(cli(line), 2)


def test_weights_asked_of_a_file_without(cli: Any, tmp_path: Path) -> None:
    fr.write(fr.path(3), tmp_path / "path.npz")
    assert "weights" in one_line(cli(f"sssp {tmp_path / 'path.npz'}"), 2)


def test_file_that_cannot_be_written(cli: Any, tmp_path: Path) -> None:
    out = tmp_path / "no" / "such" / "out.csv"
    assert str(out) in one_line(cli("bfs karate --output", out), 2)


@pytest.fixture
def broken_bfs(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put something in place of ``fr.bfs`` on the command line, which does not tell that it compiles."""
    monkeypatch.setenv("FRONTIER_QUIET", "1")

    def replace_by(function: Any) -> None:
        entry = registry.primitives()["bfs"]
        monkeypatch.setitem(registry._entries, "bfs", replace(entry, function=function))

    return replace_by


def test_wrong_result(cli: Any, broken_bfs: Any, tmp_path: Path) -> None:
    def wrong(g: fr.Graph, source: int) -> Any:
        result = fr.bfs(g, source)
        return replace(result, level=np.where(result.level == 2, 5, result.level))

    broken_bfs(wrong)
    out = tmp_path / "out.csv"
    said = cli("bfs karate --source 0 --verify --output", out)
    assert "bfs" in one_line(said, 1)
    assert "FAILED" in said.out
    assert not out.exists()
    assert cli("bfs karate --source 0 --verify --json").json["verified"] is False


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (fr.NotConvergedError("not after 3 passes"), 1),
        (fr.FunctorError("visit: two\nlines"), 2),
        (MemoryError(), 2),
        (KeyboardInterrupt(), 130),
    ],
)
def test_errors_of_a_run(cli: Any, broken_bfs: Any, error: BaseException, status: int) -> None:
    def fails(g: fr.Graph, source: int) -> Any:
        raise error

    broken_bfs(fails)
    one_line(cli("bfs karate"), status)


# -- bench and doctor ----------------------------------------------------------------------


def test_bench(cli: Any) -> None:
    said = cli("bench bfs cc --graph karate --graph path:5 --runs 2 --json")
    assert said.status == 0, said.err
    rows = said.json["rows"]
    assert [(row["graph"], row["primitive"]) for row in rows] == [
        (graph, name) for graph in ("karate", "path:5") for name in ("bfs", "cc")
    ]
    assert all(row["verified"] for row in rows)
    assert "median ms" in cli("bench bfs --graph karate --runs 1").out


def test_doctor(cli: Any) -> None:
    said = cli("doctor --json")
    found = {row["what"]: row for row in said.json}
    assert said.status == 0, said.out
    assert found["backend python"]["state"] == "works"
    assert found["backend cpu"]["state"] == "works"
    assert found["numba"]["state"].count(".") >= 1


def test_doctor_says_what_is_broken(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Any:
        raise RuntimeError("no luck")

    monkeypatch.setattr(fr, "bfs", fails)
    said = cli("doctor")
    assert said.status == 1
    assert "RuntimeError: no luck" in said.out


# -- as a process --------------------------------------------------------------------------


def test_python_m_frontier(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "frontier", "bfs", "karate", "--backend", "python", "--verify"],
        cwd=tmp_path,
        env=environment(),
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "verified" in done.stdout


def test_reader_that_leaves(tmp_path: Path) -> None:
    """As in ``frontier info karate | head -1``: no traceback when nobody reads on."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "frontier", "info", "karate"],
        cwd=tmp_path,
        env=environment(),
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--help"])
    assert left.value.code == 0
    words = capsys.readouterr().out.split()
    assert {*PRIMITIVES, "info", "generate", "convert", "bench", "doctor"} <= set(words)


def test_numbers_as_people_read_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert [shown(x) for x in (1234567, 0.1234567, True, None)] == ["1,234,567", "0.123457", "yes", "-"]
    print_table(("name", "n"), [("a", 1), ("bcd", 1000)])
    assert capsys.readouterr().out == "name      n\na         1\nbcd   1,000\n"


@pytest.mark.filterwarnings("always::frontier.FrontierWarning")
def test_weights_that_are_given_and_not_used(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("src,dst,strength\n0,1,2\n0,1,3\n1,2,1\n")
    line = f"pagerank {tmp_path}/g.csv --weight strength --duplicates sum --json"
    said, used, unused = cli(line), cli(f"{line} --weighted"), cli(f"{line} --no-weighted")
    assert "pagerank does not use the weights: --weighted does" in said.err
    assert "does not use" not in used.err + unused.err
    assert json.loads(used.out)["graph"]["edges"] == 2


def test_lists_of_names_with_blanks_are_divided_by_commas(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("src,dst\nann lee,bob\nbob,cid\n")
    said = cli(f"shortest_path {tmp_path}/g.csv --labels --target cid --source", "ann lee")
    assert "path ann lee, bob, cid" in said.out
