"""The toolchain that makes kernels, for names of files: Frontier's own sources, compilers, linkers.

Machine code on disk is used only if all of these are the same, PTX that a wheel brings along if the sources are.
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

__all__ = ["package", "sources", "toolchain"]

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
def package() -> str:
    """Return what PTX depends on besides its program: Frontier itself, and Python, whose bytecode functors are."""
    import frontier

    made = hashlib.sha256()
    for path in sources():
        made.update(path.read_bytes())
    return f"{frontier.__version__} {nvidia.compiler()} {sys.version_info[:2]} {made.hexdigest()}"


@cache
def toolchain() -> str:
    """Return what makes machine code of it, in eight digits, for names of files."""
    versions = [f"{name} {version_of(name)}" for name in _COMPILERS]
    numpy = np.__version__.split(".")[:2]
    text = " ".join(map(str, (numpy, versions, nvidia.find().cuda, _toolkits())))
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _toolkits() -> list[tuple[str, int]]:
    """CUDA toolkits that pip did not install: where each lies, and when its libdevice was last changed."""
    roots = (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), sys.prefix, "/usr/local/cuda")
    found = []
    for root in filter(None, roots):
        file = Path(root, "nvvm", "libdevice", "libdevice.10.bc")
        if file.exists():
            found.append((str(file.resolve()), file.stat().st_mtime_ns))
    return found
