"""Queries to the NVIDIA driver and to NVML: which GPUs reach each other's memory, and by what."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from itertools import combinations

__all__ = ["Pair", "links", "pairs"]

#: From cuda.h and nvml.h.
_ATOMICS, _BY_NVLINK, _MOST_LINKS = 3, 2, 18

#: nvmlGpuTopologyLevel: what lies between two GPUs.
_BETWEEN = {
    0: "PCIe, one board", 10: "PCIe, one switch", 20: "PCIe, several switches", 30: "PCIe, one host bridge",
    40: "PCIe, one processor", 50: "PCIe, two processors",
}  # fmt: skip


@dataclass(frozen=True)
class Pair:
    """Two GPUs of a host.

    Attributes
    ----------
    first, second : int
        Their numbers, as CUDA counts.
    access : bool
        Whether kernels of each reach the other's memory.
    atomics : bool
        Whether their atomics do, too.
    by : str
        NVLink, or what of PCIe lies between; empty if it is not known.
    """

    first: int
    second: int
    access: bool
    atomics: bool
    by: str = ""


def pairs(count: int) -> list[Pair]:
    """All pairs of this many GPUs."""
    cuda = _loaded("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    if count < 2 or cuda is None or cuda.cuInit(0):
        return []
    nvml = _Nvml(cuda)
    return [
        Pair(a, b, _both(cuda.cuDeviceCanAccessPeer, a, b), _both(cuda.cuDeviceGetP2PAttribute, _ATOMICS, a, b),
             nvml.between(a, b))
        for a, b in combinations(range(count), 2)
    ]  # fmt: skip


def links(index: int) -> int:
    """Return how many NVLinks of a GPU are up; 0 if it has none, or they are not known."""
    cuda = _loaded("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    return 0 if cuda is None or cuda.cuInit(0) else _Nvml(cuda).links(index)


def _loaded(name: str) -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None


def _both(ask: object, *given: int) -> bool:
    """Ask about two GPUs, the last two numbers, in both directions."""
    *more, a, b = given
    return all(_number(ask, *more, *ends) for ends in ((a, b), (b, a)))


def _number(ask: object, *given: object) -> int:
    """What a query of the driver's answers; 0 if it fails."""
    value = ctypes.c_int()
    status = ask(ctypes.byref(value), *given)  # type: ignore[operator]
    return 0 if status else value.value


class _Nvml:
    """NVML, which knows GPUs by their places on the bus."""

    def __init__(self, cuda: ctypes.CDLL) -> None:
        self._cuda = cuda
        self._library = _loaded("nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1")
        if self._library is not None and self._library.nvmlInit_v2():
            self._library = None

    def _handle(self, index: int) -> ctypes.c_void_p | None:
        place, handle = ctypes.create_string_buffer(32), ctypes.c_void_p()
        if self._library is None or self._cuda.cuDeviceGetPCIBusId(place, len(place), index):
            return None
        return None if self._library.nvmlDeviceGetHandleByPciBusId_v2(place, ctypes.byref(handle)) else handle

    def between(self, a: int, b: int) -> str:
        """NVLink, or what of PCIe lies between two GPUs; empty if it is not known."""
        ends = self._handle(a), self._handle(b)
        if self._library is None or None in ends:
            return ""
        status = ctypes.c_int()
        if not self._library.nvmlDeviceGetP2PStatus(*ends, _BY_NVLINK, ctypes.byref(status)) and status.value == 0:
            return "NVLink"
        if self._library.nvmlDeviceGetTopologyCommonAncestor(*ends, ctypes.byref(status)):
            return ""
        return _BETWEEN.get(status.value, "PCIe")

    def links(self, index: int) -> int:
        """NVLinks of a GPU that are up."""
        handle, up = self._handle(index), ctypes.c_int()
        if self._library is None or handle is None:
            return 0
        states = (
            up.value if not self._library.nvmlDeviceGetNvLinkState(handle, link, ctypes.byref(up)) else 0
            for link in range(_MOST_LINKS)
        )
        return sum(state == 1 for state in states)
