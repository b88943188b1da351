"""The compilers that make PTX: LLVM's own back end gives what numba-cuda gives, and needs no numba-cuda."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from processes import ROOT, environment

import frontier as fr
from frontier.backends.cuda import compiler
from frontier.backends.cuda.compile import libdevice, nvptx_codegen
from frontier.memory import detection, nvidia

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram

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

def say(p, v):
    print("h %d", v, p.a[v], p.n[v] > 2, ((v, True), 1.5), None)

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
    code = ptx_of(program, {capability}, launch.bounds_of(program))
print(json.dumps([code, [name for name in sys.modules if name.startswith(("numba.cuda.", "numba_cuda"))]]))
"""


@cache
def made(name: str, compiler: str, capability: tuple[int, int] = (9, 0)) -> tuple[str, list[str]]:
    """The PTX of a step, and modules of numba-cuda that were imported."""
    variables = environment(FRONTIER_GPU_COMPILER=compiler, PYTHONPATH=f"{ROOT}:{ROOT / 'tests'}", NUMBA_OPT="3")
    command = [sys.executable, "-c", PROGRAM.format(name=name, capability=capability)]
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


def test_print_is_one_call_of_the_driver() -> None:
    code, _ = made("say", "llvm")
    line = ", ".join(map(str, b"%s %lld %f %s ((%lld, %s), %f) %s\n"))
    assert re.search(rf"= \{{{line}(, 0)?\}};", code)
    assert len(re.findall(r"call\.uni \(retval0\), vprintf", code)) == 1


@pytest.mark.parametrize("capability", [(7, 0), (10, 0), (10, 3), (11, 0), (12, 0), (12, 1)])
def test_every_gpu_gets_ptx_that_is_new_enough(capability: tuple[int, int]) -> None:
    """LLVM would end the process."""
    code, _ = made("shift", "llvm", capability)
    assert f".target sm_{capability[0]}{capability[1]}\n" in code


def test_no_functor_is_blamed_for_a_toolkit_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> str:
        raise fr.BackendUnavailableError("there is none")

    def blame() -> None:
        raise AssertionError

    monkeypatch.setattr(compiler, "ptx_of", missing)
    monkeypatch.setattr(compiler, "name_of", lambda *_: "kernel_of_nothing")
    program = SimpleNamespace(steps={"Compute(f)": None}, title="Compute(f)")
    with pytest.raises(fr.BackendUnavailableError, match="there is none"):
        compiler.binary(cast("CudaProgram", program), (9, 0), (1024, 1), blame)


def test_libdevice_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(libdevice, "_FILE", tmp_path / "none.bc")
    message = r"mathematical functions need CUDA's none\.bc, which is not there: pip install nvidia-nvvm \(for CUDA 12"
    with pytest.raises(fr.BackendUnavailableError, match=message):
        libdevice.path()


def test_an_llvm_without_nvidias_back_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(triple: str) -> None:
        raise RuntimeError("No available targets are compatible with triple")

    monkeypatch.setattr("llvmlite.binding.Target.from_triple", none)
    with pytest.raises(fr.BackendUnavailableError, match="no back end for NVIDIA's GPUs"):
        nvptx_codegen._machine((9, 9))


def test_a_compiler_that_is_none_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRONTIER_GPU_COMPILER", "nvcc")
    with pytest.raises(Exception, match="FRONTIER_GPU_COMPILER='nvcc': choose numba-cuda or llvm"):
        nvidia.compiler()
