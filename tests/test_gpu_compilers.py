"""The compilers that make PTX: LLVM's own back end gives what numba-cuda gives, and needs no numba-cuda."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache

import pytest
from processes import ROOT, environment

from frontier.memory import detection, nvidia

pytestmark = pytest.mark.skipif(detection.simulated(), reason="nothing is compiled in the simulator")

#: Prints the PTX of one step, and which modules of numba-cuda were imported for it. It needs no GPU.
PROGRAM = """
import json, sys
import frontier as fr
import strict_cupy
from frontier.backends.cuda import launch
from frontier.backends.cuda.compiler import ptx_of

class Captured(Exception):
    pass

def capture(program, blame):
    raise Captured(program)

def shift(p, v):
    p.x[v] = p.x[v] << p.n[v]
    p.n[v] = p.n[v] >> p.x[v]

def remainder(p, v):
    p.a[v] %= p.b[v]

def visit(p, src, dst):
    return fr.atomic_cas(p.n, dst, -1, src) == -1

launch.kernel, launch.is_known = capture, lambda program: True
with strict_cupy.simulated():
    g = fr.grid(3, 3).to("cuda")
    p = fr.Problem(g, x=fr.vertex("int64"), n=fr.vertex("int64"), a=fr.vertex("float64"), b=fr.vertex("float64"))
    step = fr.Advance(visit) if {name!r} == "visit" else fr.Compute({name})
    try:
        step(p, fr.Frontier.all(g))
    except Captured as found:
        program = found.args[0]
    code = ptx_of(program, (9, 0), launch.bounds_of(program))
print(json.dumps([code, [name for name in sys.modules if name.startswith(("numba.cuda.", "numba_cuda"))]]))
"""


@cache
def made(name: str, compiler: str) -> tuple[str, list[str]]:
    """The PTX of a step, and modules of numba-cuda that were imported."""
    variables = environment(FRONTIER_GPU_COMPILER=compiler, PYTHONPATH=f"{ROOT}:{ROOT / 'tests'}", NUMBA_OPT="3")
    command = [sys.executable, "-c", PROGRAM.format(name=name)]
    done = subprocess.run(command, env=variables, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    code, modules = json.loads(done.stdout.splitlines()[-1])
    return code, modules


def test_llvm_needs_no_numba_cuda() -> None:
    code, modules = made("visit", "llvm")
    assert modules == []
    assert ".visible .entry frontier_loop(" in code
    assert "atom.relaxed.gpu.global.cas.b64" in code  # not among the threads of all GPUs
    assert "ld.global" in code


@pytest.mark.parametrize("instruction", [r"shl\.b64", r"shr\.s64"])
def test_shifts_look_at_all_bits_of_how_far(instruction: str) -> None:
    """LLVM 22 would write one instruction, which takes the lower half of the number alone."""
    code, _ = made("shift", "llvm")
    found = re.search(rf"{instruction} %rd\d+, %rd\d+, (%r\d+);", code)
    assert found is not None
    assert re.search(rf"min\.u64\s+(%rd\d+), %rd\d+, 255;\s+cvt\.u32\.u64\s+{found[1]}, \1;", code)


def test_remainders_are_those_of_libdevice() -> None:
    """LLVM would write x - trunc(x / y) * y, which is wrong for large quotients."""
    pytest.importorskip("nvidia.cuda_nvcc", reason="libdevice is not installed: pip install nvidia-cuda-nvcc-cu12")
    code, _ = made("remainder", "llvm")
    assert "cvt.rzi.f64.f64" not in code


def test_a_compiler_that_is_none_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRONTIER_GPU_COMPILER", "nvcc")
    with pytest.raises(Exception, match="FRONTIER_GPU_COMPILER='nvcc': choose numba-cuda or llvm"):
        nvidia.compiler()
