"""What machine code for the CPU depends on besides its source: the compilers, their settings, the processor."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from frontier.native import address_space

__all__ = ["LEVEL", "digest", "host", "is_usual", "numba_version"]

#: The processors for which a wheel brings code: as LLVM calls them, and what they have beyond the first of their kind.
LEVEL = (
    "x86-64-v3",
    ("avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf", "sse4.2"),
)

#: Settings of numba's that do not concern code for the CPU.
_ELSEWHERE = ("NUMBA_CUDA", "NUMBA_ENABLE_CUDASIM", "NUMBA_CACHE", "NUMBA_NUM_THREADS", "NUMBA_THREADING")


@cache
def host() -> str:
    """The compilers and the processor, as text."""
    address_space.linking()
    import llvmlite
    from llvmlite import binding

    versions = sys.version_info[:2], np.__version__, numba_version(), llvmlite.__version__, binding.llvm_version_info
    features = binding.get_host_cpu_features().flatten()
    return repr((versions, binding.get_process_triple(), binding.get_host_cpu_name(), features, _settings()))


@cache
def digest() -> str:
    """The same in eight digits, for names of files."""
    return hashlib.sha256(host().encode()).hexdigest()[:8]


@cache
def is_usual() -> bool:
    """Whether code for Linux on :data:`LEVEL` suits: the processor has all of it, and nothing else is set."""
    address_space.linking()
    from llvmlite import binding

    has = binding.get_host_cpu_features()
    usual = binding.get_process_triple().startswith("x86_64") and sys.platform == "linux"
    return usual and not _settings() and all(has.get(each, False) for each in LEVEL[1])


def numba_version() -> str:
    """Numba's version, without importing it, or asking for what is installed, which takes longer than all else here."""
    spec = find_spec("numba")
    with suppress(OSError):
        file = Path((spec and spec.origin) or os.devnull).with_name("_version.py")
        found = re.search(r'"version": "([^"]+)"', file.read_text(encoding="utf-8"))
        if found:
            return found[1]
    import numba

    return str(numba.__version__)


def _settings() -> list[tuple[str, str]]:
    """Return numba's settings from its environment variables and its file in the current folder."""
    given = [(name, value) for name, value in os.environ.items() if name.startswith("NUMBA_")]
    found = sorted((name, value) for name, value in given if not name.startswith(_ELSEWHERE))
    file = Path(".numba_config.yaml")
    if file.is_file():
        found.append((file.name, file.read_text(encoding="utf-8", errors="replace")))
    return found
