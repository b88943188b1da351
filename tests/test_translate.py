"""The texts of loop functions: translated, they do what Python does."""

from __future__ import annotations

import importlib.util
import sys
import textwrap
from types import ModuleType

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import NumbaError

from frontier.backends.cpu.translate import translated
from frontier.native import machine_code as _machine_code
from frontier.native.machine_code import OPTIONS

HEAD = """
from collections import namedtuple
import numpy as np
from frontier.backends.cpu.intrinsics import *
from frontier.backends.cpu.runtime import *
from frontier.backends.cpu.atomics import truth
from frontier.compile.translation.texts import gives
int64_at, int32_at, bool_at, float64_at = (POINTERS[name] for name in ("int64", "int32", "bool", "float64"))
P = namedtuple("P", ("a", "b"))
LIMIT = 7

@gives("int64", "int64")
def both(a, b):
    if a < b:
        return a, b
    return b, a

@gives("int64")
def clipped(x, low, high):
    return min(max(x, low), high)

@gives()
def fill(p, T, at):
    if at < 0:
        return
    T[at] = at
"""

#: Statements over the array T of integers, w = 3 and W = 5.
TEXTS = [
    "T[0] = w + W * 2 - (w - W) // 2 + (-w) % W + (W << 3 >> 1 & 0xff | 64 ^ 5)",
    "a, b = both(W, w)\nT[0] = a\nT[1] = b\na, b = b, a\nT[2] = a\nT[3] = -1",
    "T[0] = clipped(w, 0, 2)\nT[1] = clipped(-W, 0, 2)\nT[2] = max(w, W)",
    "for i in range(W):\n    if i == w:\n        continue\n    T[i] = i * i\nT[9] = i",
    "for i in range(2, 50):\n    T[1] += i\n    if i > LIMIT:\n        break\nT[0] = i",
    "for i in range(4):\n    T[i] = i\n    i = 100\nT[8] = i",
    "i = 9\nfor i in range(3, 1):\n    T[0] = 1\nT[1] = i",
    "i = 0\nwhile True:\n    i += 1\n    if i == W:\n        break\n    elif i == 2:\n        T[0] = 8\n    T[i] = -i",
    "i = 10\nwhile i > 0 and T[i - 1] == 0 or i == 10:\n    i -= 1\n    T[11] += 1",
    "T[0] = 4 if w < W else 5\nT[1] = (W if not w else w) if W != 5 or w <= 3 else 6",
    "fill(P(w, W), T, 4)\nfill(P(w, 2), T, -1)",
    "x = 1.5 * w / 2\nT[0] = np.int64(x * 100)\nx = W\nT[1] = np.int64(x < 5.5)\nT[2] = np.int64(-np.inf < x)",
    "word = np.uint64(1) << np.uint64(63)\nT[0] = np.int64(trailing_zeros(word))\nword &= ~word\nT[1] = np.int64(word)",
    "n = np.int32(w)\nn = np.int32(n + 1)\nT[0] = n\nT[1] = np.int64(n) << 40",
    "n = np.int32(w)\nT[0] = n\nn = np.int64(n) << 40\nT[1] = n\nn = 1.5 * w\nT[2] = np.int64(n * 4)",
    "for d in (8, 4, 2):\n    if d == W - 1:\n        continue\n    T[d] = d + w",
    "for d in (1, W, 2):\n    T[d] += d\n    if d == W:\n        break\nT[9] = d",
    "T[2] |= 6\nT[2] -= 1\nfetch_add(T, 2, 10)\nT[3] = exchange(T, 2, 1)",
    "ok = truth(w) and not truth(0)\nif ok:\n    T[0] = 1\nok = w > W\nif ok or truth(0.5):\n    T[1] = 1",
    "if w:\n    if W:\n        T[0] = 1\n    else:\n        T[0] = 2\nelif W:\n    T[0] = 3",
    'pass\n"words"\nT[1] = 4',
]  # fmt: skip


def module(text: str, folder) -> ModuleType:
    """A module with a function ``run`` of the text."""
    path = folder / f"text_{abs(hash(text))}.py"
    body = textwrap.indent(text, "    ")
    path.write_text(f"{HEAD}\n@gives()\ndef run(address, w, W):\n    T = int64_at(address)\n{body}\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = made
    spec.loader.exec_module(made)
    return made


def compiled(made: ModuleType):
    leave = translated(made.run, made.__name__)

    @njit(types.void(), **OPTIONS)
    def entry():
        leave()

    address = entry.overloads[()].library.get_pointer_to_function(made.__name__)
    return _machine_code.function(made.__name__, address)


def interpreted(made: ModuleType, T: np.ndarray) -> None:
    """What Python does: the marked functions as they are, and arrays for memory."""

    def exchange(array, at, value):
        old, array[at] = array[at], value
        return old

    def fetch_add(array, at, value):
        return exchange(array, at, array[at] + value)

    names = {**vars(made), "int64_at": lambda address: T, "exchange": exchange, "fetch_add": fetch_add}
    names["trailing_zeros"] = lambda word: (int(word) & -int(word)).bit_length() - 1
    for name in ("both", "clipped", "fill", "run"):
        function = vars(made)[name].function
        names[name] = type(function)(function.__code__, names)
    names["run"](0, 3, 5)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_does_what_python_does(text, tmp_path):
    made = module(text, tmp_path)
    found, expected = np.zeros(16, np.int64), np.zeros(16, np.int64)
    compiled(made)(found.ctypes.data, 3, 5)
    with np.errstate(all="ignore"):
        interpreted(made, expected)
    assert found.tolist() == expected.tolist()
    assert found.any()


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\nif w:\n    x = 1.5",  # a variable has the type of its first value, but where all paths lead past both
        "n = np.int32(w)\nwhile n < 9:\n    n = w",
        "x = [w]",
        "T[0] = 1 < w < 3",
        "x = 'word'",
    ],
)
def test_a_text_that_no_backend_makes_is_refused(text, tmp_path):
    with pytest.raises(NumbaError):
        compiled(module(text, tmp_path))
