"""A process that finds compiled code on disk does without numba, and computes the same."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from processes import environment

import frontier as fr
from frontier.native import cache, host, machine_code
from frontier.native import jit as _jit

#: What each process does; the first compiles, the second says which modules it needed.
PROGRAM = """
import sys
from pathlib import Path
import numpy as np
import frontier as fr
from frontier.native import jit as _jit

_jit.FEW = _jit.ENOUGH = 0  # small arrays too are handled by compiled kernels
folder = Path(sys.argv[1])


def value(result):
    return [np.asarray(array).tolist() for array in vars(result).values() if hasattr(array, "dtype")]


def hop(p, src, dst):
    p.seen[dst] = p.seen[src] + 1
    fr.atomic_add(p.count, 0, 1)
    return True


def say(p, i):
    print("said", i, p.out[i], (i, 2.5), False)


class Hops(fr.Enactor):
    loop = fr.Loop(fr.Advance(hop, where=lambda p, dst: p.seen[dst] < 0, unique="exact"))


g = fr.rmat(15, 4, seed=3, weights=(1, 9))
print("rmat", int(g.targets.sum()), "numba" in sys.modules)
print("bfs", value(fr.bfs(fr.karate(), 0)), "numba" in sys.modules)
print("bfs", sum(value(fr.bfs(g, 0))[0]), "numba" in sys.modules)
print("sssp", sum(value(fr.sssp(g, 0))[0]), "numba" in sys.modules)
print("pagerank", round(sum(value(fr.pagerank(g))[0]), 9), "numba" in sys.modules)
random = np.random.default_rng(0)
ends, weights = random.integers(0, 1000, (2, 40000)), random.integers(1, 9, 40000)
for duplicates in ("keep", "first", "sum"):
    built = fr.from_edges(*ends, weights=weights, duplicates=duplicates)
    print("built", built.num_edges, int(built.weights.sum()), "numba" in sys.modules)
fr.write(built, folder / "edges.txt")
again = fr.read(folder / "edges.txt")
print("read", again.num_edges, int(again.weights.sum()), "numba" in sys.modules)
p = fr.Problem(fr.karate(), seen=fr.vertex("int32", -1), count=fr.array([0]))
p.seen[0] = 0
Hops(p).run(fr.Frontier(p.graph, [0]))
print("own", p.seen.tolist(), "numba" in sys.modules)
q = fr.Problem(fr.path(2), out=fr.array([0, 0, 0]))
fr.Compute(say, over=3)(q)
"""

RAISING = """
import sys
import frontier as fr

def outside(p, i):
    p.out[i] = (1, 2, 3)[p.out[i] + 7]

p = fr.Problem(fr.path(2), out=fr.array([0, 0, 0]))
try:
    fr.Compute(outside, over=3)(p)
except fr.FunctorError as error:
    print(error)
print(sys.modules.get("numba") is None)
"""


def run(program: str, folder: Path, threads: int) -> list[str]:
    path = folder / "program.py"
    path.write_text(program)
    given = {"FRONTIER_CACHE_DIR": str(folder / "cache"), "FRONTIER_NUM_THREADS": str(threads), "FRONTIER_QUIET": "1"}
    given["NUMBA_OPT"] = "3"  # only optimized code does without numba
    done = subprocess.run(
        [sys.executable, path, str(folder)],
        env=environment(**given), text=True, capture_output=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_warm_process_does_without_numba(tmp_path: Path) -> None:
    cold = run(PROGRAM, tmp_path, 2)
    assert cold[-3:] == [f"said {i} 0 ({i}, 2.5) False" for i in range(3)]
    assert cold[0].endswith("True")
    for threads in (1, 2):
        warm = run(PROGRAM, tmp_path, threads)
        assert [line.rpartition(" ")[2] for line in warm] == ["False"] * len(cold)
        assert [line.rpartition(" ")[0] for line in warm] == [line.rpartition(" ")[0] for line in cold]


def test_a_functor_that_raises_in_a_warm_process(tmp_path: Path) -> None:
    cold, warm = run(RAISING, tmp_path, 2), run(RAISING, tmp_path, 2)
    assert "outside" in cold[0]
    assert "IndexError" in cold[0]
    assert warm == [cold[0], "True"]


# -- what is kept ------------------------------------------------------------------------------------------


def test_code_that_needs_what_numba_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told to the linker then; what nobody has is an error, and the file is made again."""
    import numba

    def made() -> tuple[object, str, str]:
        @numba.njit("int64(float64)", **machine_code.OPTIONS)
        def bits(x):  # type: ignore[no-untyped-def]
            return math.frexp(x)[1]

        (found,) = bits.overloads.values()
        return found.library, found.fndesc.llvm_func_name, "int64"

    monkeypatch.setattr(machine_code, "cache_folder", lambda: tmp_path)
    machine_code.linked("bits", made)
    (path,) = tmp_path.glob("bits.*.code")
    content = cache.kept(path)
    assert content is not None
    assert "numba_frexp" in json.loads(content.partition(b"\n")[0])["needs"]
    machine_code.linked("bits", lambda: pytest.fail("it is there"))
    assert cache.keep(path, content.replace(b"numba_frexp", b"nobody_does"))
    machine_code.linked("bits", made)
    assert b"nobody_does" not in (cache.kept(path) or b"nobody_does")


# -- kernels -----------------------------------------------------------------------------------------------


def test_a_kernel_takes_arrays_and_numbers() -> None:
    @_jit.jit
    def poured(a, b, flag, pair, real, word):  # type: ignore[no-untyped-def]
        for i in range(len(a)):
            b[i, 1] = a[i] * pair[0] + pair[1] + flag
        b[0, 0] = np.int64(real) + np.int64(word >> np.uint64(60))
        return np.int64(len(a))

    for dtype in ("int32", "uint64", "float32"):
        a, b = np.arange(5).astype(dtype)[::2], np.zeros((3, 2), np.int64)
        assert poured(a, b, True, (10, np.int32(3)), 2.5, np.uint64(2**63)) == 3
        assert b.tolist() == [[10, 4], [0, 24], [0, 44]]
    with pytest.raises(TypeError, match="takes arrays and numbers"):
        poured("text")


# -- what it depends on ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["NUMBA_OPT", "NUMBA_CPU_NAME", "NUMBA_SLP_VECTORIZE"])
def test_settings_of_numba_are_in_the_key(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = host.host.__wrapped__()
    monkeypatch.setenv(name, "1")
    assert host.host.__wrapped__() != before


def test_numbas_file_of_settings_is_in_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = host.host.__wrapped__()
    (tmp_path / ".numba_config.yaml").write_text("opt: 1\n")
    assert host.host.__wrapped__() != before


def test_the_version_of_numba_is_found_without_it() -> None:
    import numba

    assert host.numba_version() == numba.__version__
    assert fr.__version__
