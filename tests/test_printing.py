"""``print`` in functors: on python, and in compiled code on any number of threads.

What prints runs in a process of its own, for with a wrong handling of the GIL it does not end.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from functor_problem import G, problem
from processes import environment

import frontier as fr

NAME = "name"

VALUES = """
import numpy as np
import frontier as fr

NAME = "name"


def empty(p, v):
    return None if v > 0 else v


def say(p, v):
    print("h\u00e9 %d", v, p.x[v], p.b[v], p.i[v], p.u[v], p.s, NAME, v > 2, None, ((v, True), 1.5), empty(p, v))
    print()


g = fr.path(5)
p = fr.Problem(g, x=fr.vertex("float64", 1.5), b=fr.vertex("bool", True), i=fr.vertex("int8", -3),
               u=fr.vertex("uint64", 2**64 - 1), s=fr.scalar("int32", 7))
fr.compute(p, fr.Frontier(g, [1]), say)
print("done")
"""

EDGES = """
import frontier as fr


def say(p, src, dst):
    if dst % 9 == 0:
        print("edge", src, dst, p.x[dst])
    return True


g = fr.grid(200, 200)
p = fr.Problem(g, x=fr.vertex("float64", 1.5))
for _ in range(3):
    fr.advance(p, fr.Frontier.all(g), say)
print("done")
"""


def lines_of(program: str, folder: Path, threads: int = 1) -> list[str]:
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    given = environment(FRONTIER_NUM_THREADS=str(threads), FRONTIER_QUIET="1", PYTHONIOENCODING="utf-8")
    done = subprocess.run(
        [sys.executable, path], env=given, encoding="utf-8", capture_output=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.deep
def test_what_is_printed(tmp_path):
    line = "hé %d 1 1.5 True -3 18446744073709551615 7 name False None ((1, True), 1.5) None"
    assert lines_of(VALUES, tmp_path) == [line, "", "done"]


@pytest.mark.deep
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_every_thread_prints_whole_lines(tmp_path, threads):
    found = Counter(lines_of(EDGES, tmp_path, threads))
    assert found.pop("done") == 1
    g = fr.grid(200, 200)
    assert sum(found.values()) == 3 * int((g.targets % 9 == 0).sum())
    assert set(found.values()) == {3}
    assert all(re.fullmatch(r"edge \d+ \d+ 1\.5", line) for line in found)


def field(p, v):
    print(p.f_int64)


def ended(p, v):
    print(v, end="")


def text(p, v):
    name = "a" if v > 2 else "b"
    print(name)


@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (field, "print takes numbers, strings that are constants, and tuples of these, not a field of int64"),
        (ended, "print takes no keywords"),
        (text, "print takes numbers, strings that are constants, and tuples of these, not a str"),
    ],
)
def test_what_compiled_code_cannot_print(fn, message):
    p = problem(G)
    with pytest.raises(fr.FunctorError, match=rf"{fn.__name__} \(.*test_printing\.py:\d+\).*{message} \["):
        fr.compute(p, fr.Frontier.all(p.graph), fn)


def say(p, v):
    print("vertex", v, NAME)


def test_python_prints(capsys):
    p = problem(G.to("python"))
    fr.compute(p, fr.Frontier(p.graph, [2]), say)
    assert capsys.readouterr().out == "vertex 2 name\n"
