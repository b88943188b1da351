"""The mathematical library of GPUs, which lies beside NVIDIA's compilers: where it is, and the names in it."""

from __future__ import annotations

import os
import sys
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from frontier.errors import BackendUnavailableError
from frontier.memory import nvidia

__all__ = ["NAMES", "path"]

#: Functions of float32 and float64 that LLVM or the C library has by one name, and libdevice by another.
_SAME = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs floor fmod hypot "
    "ldexp lgamma log log10 log1p log2 nextafter pow rint round sin sinh sqrt tan tanh trunc"
)

#: Name in modules of LLVM -> name in libdevice.
NAMES = {name + letter: f"__nv_{name}{letter}" for name in _SAME.split() for letter in ("", "f")}
NAMES |= {
    f"llvm.{name}.f{bits}": f"__nv_{name}{'f' * (bits == 32)}"
    for name in ["cos", "exp", "exp2", "log", "log10", "log2", "pow", "sin", "tan"]
    for bits in (32, 64)
}
NAMES |= {f"numba_{name}": wanted for name, wanted in NAMES.items() if "." not in name}  # where C's differ by system
NAMES |= {"numba_gamma": "__nv_tgamma", "numba_gammaf": "__nv_tgammaf"}

_FILE = Path("nvvm", "libdevice", "libdevice.10.bc")


def path() -> Path:
    """Return where libdevice lies.

    Raises
    ------
    BackendUnavailableError
        No toolkit is installed that has it.
    """
    for package in nvidia.NVVM:
        try:
            found = [Path(each.locate()) for each in files(package) or () if each.name == _FILE.name]
        except PackageNotFoundError:
            continue
        if found:
            return found[0]
    for root in filter(None, (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), sys.prefix, "/usr/local/cuda")):
        if (Path(root) / _FILE).exists():
            return Path(root) / _FILE
    newer, older = nvidia.NVVM
    raise BackendUnavailableError(
        f"mathematical functions need CUDA's {_FILE.name}, which is not there: pip install {newer} "
        f"(for CUDA 12: {older}), or set CUDA_HOME"
    )
