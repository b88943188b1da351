"""Which NVIDIA GPUs there are, asked of the driver itself: no CUDA package is needed."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass

__all__ = ["Driver", "Gpu", "find"]

# From cuda.h: attributes of a device.
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76


@dataclass(frozen=True)
class Gpu:
    """One device: its name, bytes of memory and compute capability."""

    name: str
    memory: int
    capability: tuple[int, int]


@dataclass(frozen=True)
class Driver:
    """The driver: the newest CUDA it can run (None without one), its devices, what is wrong."""

    cuda: tuple[int, int] | None = None
    gpus: tuple[Gpu, ...] = ()
    problem: str = ""

    @property
    def extra(self) -> str:
        """The extra of Frontier's that fits this driver."""
        return "cuda13" if self.cuda is None or self.cuda >= (13, 0) else "cuda12"


def find() -> Driver:
    """Ask the driver what there is."""
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        library = ctypes.CDLL(name)
    except OSError:
        return Driver(problem=f"there is no NVIDIA driver ({name} is not found)")
    status = library.cuInit(0)
    if status:
        return Driver(problem=f"the NVIDIA driver does not start (cuInit gives {status})")
    version, count = ctypes.c_int(), ctypes.c_int()
    library.cuDriverGetVersion(ctypes.byref(version))
    library.cuDeviceGetCount(ctypes.byref(count))
    cuda = (version.value // 1000, version.value % 1000 // 10)
    gpus = tuple(_gpu(library, i) for i in range(count.value))
    return Driver(cuda, gpus, "" if gpus else "the NVIDIA driver shows no GPU to this process")


def _gpu(library: ctypes.CDLL, index: int) -> Gpu:
    device, size, value = ctypes.c_int(), ctypes.c_size_t(), ctypes.c_int()
    name = ctypes.create_string_buffer(256)
    library.cuDeviceGet(ctypes.byref(device), index)
    library.cuDeviceGetName(name, len(name), device)
    library.cuDeviceTotalMem_v2(ctypes.byref(size), device)
    capability = []
    for attribute in (_CAPABILITY_MAJOR, _CAPABILITY_MINOR):
        library.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        capability.append(value.value)
    return Gpu(name.value.decode(), size.value, (capability[0], capability[1]))
