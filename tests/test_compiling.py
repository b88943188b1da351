"""Compiling: how much of it there is, that it is said, and that it is counted apart."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from processes import environment

import frontier as fr
from frontier.cli import main
from frontier.native import notice

README = Path(__file__).parents[1] / "README.md"

#: Runs a program, and prints the names of the functions that numba has compiled, one a line.
WATCHED = """
from numba.core import event

class Listener(event.Listener):
    def on_start(self, event):
        if "native_lowering" in event.data["name"]:
            print("#", event.data["qualname"])
    def on_end(self, event):
        pass

event.register("numba:run_pass", Listener())
"""

WHERE = """
import frontier as fr
def visit(p, src, dst):
    return fr.atomic_cas(p.parent, dst, -1, src) == -1
def unvisited(p, dst):
    return p.parent[dst] == -1
g = fr.karate().to("cpu")
p = fr.Problem(g, parent=fr.vertex("int32", -1))
fr.advance(p, fr.Frontier(g, [0]), visit, where=unvisited)
"""


def example() -> str:
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[-1]


def run(words: list[str], cache: Path, **settings: str) -> subprocess.CompletedProcess:
    """Run Python in a process of its own, with its own cache of compiled code."""
    env = {**environment(NUMBA_OPT="3"), "FRONTIER_CACHE_DIR": str(cache), **settings}
    env.pop("NUMBA_CACHE_DIR", None)
    return subprocess.run([sys.executable, *words], env=env, text=True, capture_output=True, check=True)


@pytest.mark.parametrize("program", [pytest.param(example(), id="README"), pytest.param(WHERE, id="where")])
def test_few_functions_are_compiled_by_numba(program, tmp_path):
    done = run(["-c", WATCHED + program], tmp_path)
    names = [line for line in done.stdout.splitlines() if line.startswith("#")]
    # The two functors; what an atomic, reading and writing are for the fields; and the function that Python calls.
    assert 2 <= len(names) <= 6, names


def test_compiling_is_said_once(tmp_path):
    words = ["-c", example()]
    line = "frontier: compiling Advance(visit, unvisited) (once, kept on disk)\n"
    assert run(words, tmp_path / "a").stderr == line
    assert run(words, tmp_path / "a").stderr == ""
    assert run(words, tmp_path / "b", FRONTIER_QUIET="1").stderr == ""


def test_reading_and_generating_say_it_too(tmp_path):
    program = "import frontier as fr; print(fr.rmat(16).num_vertices)"
    assert "compiling generators (once, kept on disk)\n" in run(["-c", program], tmp_path).stderr
    assert "compiling" not in run(["-c", program], tmp_path).stderr


def test_long_names_are_cut(capsys, monkeypatch):
    monkeypatch.delenv("FRONTIER_QUIET", raising=False)
    notice.announce("Advance(visit, unvisited) " * 9)
    said = capsys.readouterr().err
    assert said == "frontier: compiling Advance(visit, unvisited) Advance(visit, unvisited) ... (once, kept on disk)\n"


def test_seconds_are_counted_once():
    before = notice.seconds()
    notice.begin()
    notice.begin()
    inner = notice.end()
    assert notice.seconds() == before
    outer = notice.end()
    assert outer >= inner >= 0
    assert notice.seconds() == pytest.approx(before + outer)


def test_the_command_line_counts_compiling_apart(tmp_path):
    words = ["-m", "frontier", "bfs", "karate", "--backend", "cpu"]
    cold = run([*words, "--json"], tmp_path)
    found = json.loads(cold.stdout)
    assert found["compile_seconds"] > found["seconds"] > 0
    assert found["graph"]["compile_seconds"] >= 0
    assert cold.stderr.count("compiling") == 1
    warm = run(words, tmp_path)
    assert re.search(r"; \d\.\d{3} s and \d\.\d{3} s of compiling\n", warm.stdout)
    assert warm.stderr == ""


def test_python_compiles_nothing(capsys):
    assert main(["bfs", "karate", "--backend", "python"]) == 0
    assert "compiling" not in "".join(capsys.readouterr())


def test_a_trace_counts_compiling_apart():
    g = fr.karate().to("cpu")
    with fr.trace() as t:
        fr.bfs(g, 0)
    last = str(t).splitlines()[-1]
    assert last.endswith(" s of compiling") == bool(t.compile_seconds)


def test_a_short_file_is_read_without_numba(tmp_path):
    (tmp_path / "two.txt").write_text("0 1 0.5\n1 2 3\n")
    (tmp_path / "two.graph").write_text("3 2\n2\n1 3\n2\n")
    program = f"""
import os, sys
import frontier as fr
os.chdir({str(tmp_path)!r})
print(fr.read("two.txt").weights.tolist(), fr.read("two.graph").num_slots)
print("numba" in sys.modules)
"""
    assert run(["-c", program], tmp_path / "cache").stdout.splitlines() == ["[0.5, 3.0] 4", "False"]


def test_loops_on_equal_problems_share_their_functors(tmp_path):
    declared = """
class Search(fr.Enactor):
    loop = fr.Loop(fr.Advance(visit, where=unvisited))
Search(p).run(fr.Frontier(g, [0]))
"""
    done = run(["-c", WATCHED + WHERE + declared], tmp_path)
    found = [line.rpartition(".")[2].split()[-1] for line in done.stdout.splitlines() if line.startswith("#")]
    names = [name.split("_")[0] for name in found]
    assert (names.count("entry"), names.count("visit"), names.count("unvisited")) == (2, 1, 1)
