"""Kernels that are no loops of programs: a function of numbers and addresses, which all threads of a grid call.

It is compiled, and kept on disk, as the kernels of programs are, and runs in the simulator as they do.
"""

from __future__ import annotations

import hashlib
import importlib
import threading
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.compile import ptx
from frontier.backends.cuda.compile.environment import package
from frontier.backends.cuda.compiler import machine_code
from frontier.backends.cuda.launch import address_of
from frontier.memory import detection
from frontier.native.uninterrupted import apart

if TYPE_CHECKING:
    from frontier.memory.base import Memory

__all__ = ["PlainKernel"]

#: Threads of a block, and blocks for which a multiprocessor must have registers.
BOUNDS = (256, 4)

#: Blocks of the grid for each multiprocessor; and in the simulator, where a thread is one of Python's.
_BLOCKS, _SIMULATED = 8, (2, 32)

_lock = threading.Lock()


class PlainKernel:
    """A kernel that is compiled when it is first called.

    Parameters
    ----------
    module, name : str
        The function, marked by ``frontier.backends.cuda.device.machine.device``; the module is imported only to compile
        it.
    kinds : sequence of str
        The dtypes of its parameters. Arrays are passed as addresses, ``"int64"``.
    """

    def __init__(self, module: str, name: str, kinds: Sequence[str]) -> None:
        self.module, self.name, self.kinds = module, name, tuple(kinds)

    def __call__(self, memory: Memory, *values: Any) -> None:
        """Run it on a GPU, which is current, without waiting for its end; values are numbers and arrays."""
        words = [address_of(each) if hasattr(each, "dtype") and each.ndim else int(each) for each in values]
        if detection.simulated():
            from frontier.backends.cuda.simulator.threads import launch as simulate

            simulate(getattr(importlib.import_module(self.module), self.name), *_SIMULATED, 0, words)
            return
        function, blocks = _loaded(self, int(getattr(memory, "index", 0)))
        given = tuple(np.dtype(kind).type(word) for kind, word in zip(self.kinds, words, strict=True))
        function((blocks,), BOUNDS[:1], given)

    def ptx(self, capability: tuple[int, int]) -> str:
        """Its PTX; needs no GPU."""
        written = getattr(importlib.import_module(self.module), self.name)
        return ptx.kernel(written.function, self.kinds, self.name, capability, BOUNDS)

    def binary(self, capability: tuple[int, int]) -> bytes:
        """Its machine code for the current device, from disk where it is kept there."""
        found = find_spec(self.module)
        assert found is not None
        assert found.origin is not None
        key = hashlib.sha256(Path(found.origin).read_bytes())
        key.update(str((package(), self.name, self.kinds, BOUNDS)).encode())
        name = f"plain_{self.name}_{key.hexdigest()[:32]}"
        with _lock:
            return machine_code(name, self.name.replace("_", " "), capability, lambda of: apart(lambda: self.ptx(of)))


@cache
def _loaded(kernel: PlainKernel, index: int) -> tuple[Any, int]:
    """The function on the current device, whose number this is, and the blocks of its grid."""
    from cupy.cuda import Device
    from cupy.cuda.function import Module

    here = Device()
    assert here.id == index
    module = Module()
    module.load(kernel.binary((int(here.compute_capability[:-1]), int(here.compute_capability[-1]))))
    return module.get_function(kernel.name), here.attributes["MultiProcessorCount"] * _BLOCKS
