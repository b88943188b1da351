"""The toolchain that makes kernels, as part of their cache key: Frontier's own sources, compilers, linkers.

Machine code on disk is used only if all of these are the same.
"""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from pathlib import Path

import numpy as np

from frontier.memory import nvidia
from frontier.native.jit import version_of

__all__ = ["environment", "sources"]

#: Folders with files that may affect machine code.
FOLDERS = ("backends", "compile", "distributed/devices", "functors", "memory", "system")

_COMPILERS = ("numba", "numba-cuda", "llvmlite", *nvidia.NVVM, *nvidia.NVJITLINK)


def sources() -> list[Path]:
    """All files that can affect machine code, and some that cannot, so that none is forgotten.

    Operators and the lowering are not among them: they affect only the text of a program, which is part of the key.
    """
    package = Path(__file__).parents[3]
    folders = (package / name for name in FOLDERS)
    return sorted([*package.glob("*.py"), *(path for each in folders for path in each.rglob("*.py"))])


@cache
def environment() -> str:
    """Return what machine code depends on in addition to its program and the device, as text."""
    import frontier

    made = hashlib.sha256()
    for path in sources():
        made.update(path.read_bytes())
    versions = [f"{name} {version_of(name)}" for name in _COMPILERS]
    numpy = np.__version__.split(".")[:2]
    driver = nvidia.find().cuda
    return " ".join(map(str, (
        frontier.__version__, nvidia.compiler(), sys.version_info[:2], numpy, versions, driver, _toolkits(),
        made.hexdigest()
    )))  # fmt: skip


def _toolkits() -> list[tuple[str, int]]:
    """CUDA toolkits that pip did not install: where each lies, and when its libdevice was last changed."""
    roots = (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), sys.prefix, "/usr/local/cuda")
    found = []
    for root in filter(None, roots):
        file = Path(root, "nvvm", "libdevice", "libdevice.10.bc")
        if file.exists():
            found.append((str(file.resolve()), file.stat().st_mtime_ns))
    return found
