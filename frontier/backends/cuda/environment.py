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

_COMPILERS = ("numba", "numba-cuda", "llvmlite", *nvidia.NVVM, *nvidia.NVJITLINK)


def sources() -> list[Path]:
    """Files that kernels, or what makes them, may be written in: more than there are, so that none is forgotten.

    What lies in other folders, as operators and the lowering, makes the text of programs, which is looked at itself.
    """
    package = Path(__file__).parents[2]
    folders = (path for name in ("backends", "functors") for path in (package / name).rglob("*.py"))
    return sorted([*package.glob("*.py"), *folders])


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
        frontier.__version__, sys.version_info[:2], numpy, versions, driver, _toolkits(), made.hexdigest()
    )))  # fmt: skip


def _toolkits() -> list[tuple[str, int]]:
    """Toolkits that pip knows nothing of: where each lies, and how old its part for NVVM is."""
    roots = (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), sys.prefix, "/usr/local/cuda")
    found = []
    for root in filter(None, roots):
        file = Path(root, "nvvm", "libdevice", "libdevice.10.bc")
        if file.exists():
            found.append((str(file.resolve()), file.stat().st_mtime_ns))
    return found
