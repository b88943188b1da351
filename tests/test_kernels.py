"""Functions of phases: closures that are compiled for what they have captured, and named by what they are made of."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import NumbaError
from processes import ROOT, environment

from frontier.backends.cpu.translate import translated
from frontier.compile.translation.texts import Written
from frontier.lowering.kernels import digest, parameters
from frontier.native import machine_code as _machine_code
from frontier.native.machine_code import OPTIONS

KERNELS = '''
"""A kernel whose names are its module's, its closure's, and the program's."""
from typing import NamedTuple

SCALE = 3

class Pair(NamedTuple):
    first: int
    rest: int

def clipping(low):
    def clip(x):
        if x < low:
            return low
        if x > 9:
            x = 9
        return x
    return clip

def swapped(pair, times):
    return Pair(pair.rest, pair.first), times + 1

def making(doubled, other=None, low=2):
    clip = clipping(low)
    calls = other is not None
    def phase(p, C, slot, w, W, total):
        pair, times = swapped(Pair(w, W), 0)
        nested, times = swapped(Pair(pair, 5), times)
        C[0] = nested.rest.first
        C[1] = times
        for i in range(total):
            x = clip(i * SCALE)
            if doubled:
                x *= 2
            else:
                x = nothing_of_this_name(x, "words")
            if calls and other(x):
                C[2 + i] = -1
            else:
                C[2 + i] = x if not doubled or calls else x + 1
    return phase

def over_pairs(most):
    def pairs(n):
        i = 0
        while i < n:
            if i == most:
                return
            yield i, i * SCALE
            i += 1
    return pairs

def over_odd(most):
    pairs = over_pairs(most)
    def odd(n):
        for i, scaled in pairs(n):
            if i & 1 == 1:
                yield scaled
    return odd

def walking(most, end=1000):
    odd = over_odd(most)
    def phase(p, C, slot, w, W, total):
        at, sum = 0, 0
        for x in odd(w):
            for y in odd(total):
                if y == 9:
                    continue
                if y > end:
                    break
                at += 1
                sum += x * y
            C[at & 7] += x
        C[0] = at
        C[1] = sum
    return phase
'''

HEAD = """
from collections import namedtuple
import numpy as np
from kernels_of_test import making, walking
from frontier.backends.cpu.intrinsics import *
from frontier.backends.cpu.runtime import *
from frontier.compile.translation.texts import gives, phase
int64_at = POINTERS["int64"]
made = phase({made}, "made")

@gives()
def run(address, w, W):
    C = int64_at(address)
    made(0, C, 0, w, W, {total})
"""


def imported(name: str, text: str, folder: Path) -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def kernels(tmp_path):
    yield imported("kernels_of_test", KERNELS, tmp_path)
    del sys.modules["kernels_of_test"]


def run_compiled(made: str, total: int, folder: Path, w: int, W: int) -> list[int]:
    """What the words are after a phase made by an expression."""
    run = imported("run_of_test", HEAD.format(made=made, total=total), folder).run
    assert isinstance(run, Written)
    leave = translated(run, "run_of_test")

    @njit(types.void(), **OPTIONS)
    def entry():
        leave()

    address = entry.overloads[()].library.get_pointer_to_function("run_of_test")
    found = np.zeros(8, np.int64)
    _machine_code.function("run_of_test", address)(found.ctypes.data, w, W)
    return found.tolist()


def test_a_closure_does_what_python_does(kernels, tmp_path):
    found, expected = run_compiled("making(doubled=True)", 5, tmp_path, 3, 5), np.zeros(8, np.int64)
    kernels.making(doubled=True)(0, expected, 0, 3, 5, 5)
    assert found == expected.tolist() == [5, 2, 5, 7, 13, 19, 19, 0]


@pytest.mark.parametrize("constants", ["most=100", "most=6", "most=100, end=20", "most=0"])
def test_generators_do_what_python_does(kernels, tmp_path, constants):
    """Nested ones, of which one returns; and their loops, which continue, break and change variables outside."""
    made = f"walking({constants})"
    found, expected = run_compiled(made, 12, tmp_path, 8, 1), np.zeros(8, np.int64)
    eval(made, vars(kernels))(0, expected, 0, 8, 1, 12)
    assert found == expected.tolist()
    assert any(found) == ("most=0" not in constants)


def test_what_a_constant_leaves_out_is_not_looked_at(kernels, tmp_path):
    """It was not with the other constant: there is no function of that name."""
    run = imported("run_of_test", HEAD.format(made="making(doubled=False)", total=5), tmp_path).run
    leave = translated(run, "run_of_test")
    with pytest.raises(NumbaError, match="nothing_of_this_name"):
        njit(types.void(), **OPTIONS)(lambda: leave())


def test_parameters_of_a_phase(kernels):
    assert parameters(kernels.making) == ("total",)


def test_a_digest_is_of_all_that_a_factory_reaches(kernels, tmp_path):
    before = digest(kernels.making)
    kernels.SCALE = 4
    digest.cache_clear()
    after = digest(kernels.making)
    helper = imported("helper_of_test", "def swapped(pair, times):\n    return pair, times\n", tmp_path)
    kernels.swapped = helper.swapped
    digest.cache_clear()
    assert len({before, after, digest(kernels.making)}) == 3


FILTER = """
import frontier as fr
def small(p, v):
    return v < 3
g = fr.grid(3, 3)
print(fr.filter(fr.Problem(g), fr.Frontier.all(g), small).ids.tolist())
"""


def test_code_of_an_edited_kernel_is_not_used_again(tmp_path):
    checkout = tmp_path / "checkout"
    for name in ("frontier", "operators", "primitives"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    env = {**environment(), "PYTHONPATH": str(checkout), "FRONTIER_CACHE_DIR": str(tmp_path / "cache")}

    def ids() -> str:
        run = subprocess.run([sys.executable, "-c", FILTER], env=env, cwd=tmp_path, capture_output=True, text=True)
        assert not run.returncode, run.stderr
        return run.stdout.strip()

    assert ids() == ids() == "[0, 1, 2]"
    path = checkout / "operators" / "elementwise" / "cpu.py"
    text = path.read_text()
    assert text.count("if truth(keep(p, C, slot, x, edges)):\n                fill, before") == 1  # that of Filter
    path.write_text(text.replace("if truth(keep(p,", "if not truth(keep(p,"))
    assert ids() == "[3, 4, 5, 6, 7, 8]"
