"""Which GPUs can be used, and CuPy, which is imported when first needed.

With ``NUMBA_ENABLE_CUDASIM=1`` there is one simulated GPU, for which nothing needs to be installed. Otherwise
:mod:`frontier.memory.nvidia`, which is imported then, queries the driver.
"""

from __future__ import annotations

import os
import platform
from functools import cache
from types import ModuleType
from typing import Any, cast

from frontier.errors import BackendUnavailableError
from frontier.memory import lost

__all__ = [
    "available", "cupy", "device_name", "every", "fastest", "identity", "missing", "named", "of_process", "runtime",
    "simulated", "usable",
]  # fmt: skip

_ready = False  # once nothing was missing, nothing is


# -- whether it can be used -------------------------------------------------------------------------


def simulated() -> bool:
    """Whether kernels run in numba's simulator, and NumPy stands in for CuPy."""
    # Asking the environment takes a microsecond, and a run asks some ten times.
    return not _ready and os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"


def missing() -> str:
    """What GPUs lack here to be used, and how to get it; empty if nothing."""
    global _ready
    if _ready or simulated():
        return ""
    from frontier.memory import nvidia

    problem = nvidia.missing()
    _ready = not problem
    return problem


def available() -> bool:
    """Whether a GPU can be used."""
    return not missing()


def usable(index: int | None = None) -> int:
    """Return the number of a GPU, CuPy's current one by default, if it can be used.

    Raises
    ------
    BackendUnavailableError
        It cannot; the message says what is missing.
    DeviceLostError
        It cannot any more.
    """
    problem = missing()
    if problem:
        raise BackendUnavailableError(f"the backend 'cuda' is not there: {problem}")
    if lost.some():
        lost.check(index or 0)
    asked, count = index, _count()
    index = _current() if asked is None else asked
    if index >= count:
        seen = "one GPU, 'cuda'" if count == 1 else f"{count} GPUs, 'cuda' to {named(count - 1)!r}"
        raise BackendUnavailableError(f"there is no backend {named(index)!r}: this process sees {seen}")
    problem = _too_old(index)
    if problem:
        able = ", ".join(repr(named(i)) for i in range(count) if not _too_old(i))
        raise BackendUnavailableError(f"{named(index)!r} cannot be used: {problem}; choose {able}")
    return index


def fastest() -> int | None:
    """Return the number of a GPU that can be used, CuPy's current one if possible; None if there is none."""
    if not available() or lost.some():
        return None
    able: int = next(index for index in (_current(), *range(_count())) if not _too_old(index))
    return able


def every() -> tuple[int, ...]:
    """Return the numbers of all GPUs that can be used."""
    return tuple(index for index in range(_count()) if not _too_old(index))


def of_process(local: int) -> int:
    """Return the number of the GPU of one of several processes of this host, which take turns; errors as above."""
    usable()
    return usable(local % _count())


def named(index: int) -> str:
    """Return the name by which users know a GPU: ``"cuda"`` is the first, ``"cuda:1"`` the second."""
    return f"cuda:{index}" if index else "cuda"


def device_name(index: int) -> str:
    """Return the name of a GPU, as NVIDIA calls it."""
    if simulated():
        return "simulated"
    name: bytes = runtime().getDeviceProperties(index)["name"]
    return name.decode()


def identity(index: int) -> str:
    """Return what tells a GPU from those of all hosts; empty for the simulated one, which is none."""
    if simulated():
        return ""
    return f"{platform.node()} {bytes(runtime().getDeviceProperties(index)['uuid']).hex()}"


# -- CuPy -------------------------------------------------------------------------------------------


@cache
def cupy() -> ModuleType:
    """Return CuPy, imported when first asked for."""
    import cupy

    return cast(ModuleType, cupy)


def runtime() -> Any:
    """Return CUDA's runtime, as CuPy knows it."""
    return cupy().cuda.runtime


def _current() -> int:
    """CuPy's current GPU."""
    return 0 if simulated() else int(runtime().getDevice())


def _count() -> int:
    """GPUs that this process sees."""
    return 1 if simulated() else int(runtime().getDeviceCount())


def _too_old(index: int) -> str:
    """What a GPU lacks for kernels, while others may lack nothing; empty if nothing."""
    if simulated():
        return ""
    from frontier.memory import nvidia

    major, minor = (int(runtime().deviceGetAttribute(number, index)) for number in nvidia.CAPABILITY)
    if (major, minor) >= nvidia.LEAST_CAPABILITY:
        return ""
    return nvidia.too_old(nvidia.Gpu(device_name(index), 0, (major, minor)))
