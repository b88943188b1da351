"""Queries to the NVIDIA driver: which GPUs there are, its CUDA version, and what else kernels need."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from importlib.util import find_spec

from frontier.system.environment import one_of

__all__ = [
    "CAPABILITY", "COMPILERS", "LEAST_CAPABILITY", "NVJITLINK", "NVVM",
    "Driver", "Gpu", "compiler", "find", "last_line", "missing", "too_new", "too_old",
]  # fmt: skip

#: What makes kernels; see :mod:`frontier.backends.cuda.compile`.
COMPILERS = ("numba-cuda", "llvm")

#: What kernels need: cooperative launches, and atomics on 64 bits.
LEAST_CUDA, LEAST_CAPABILITY = (12, 0), (7, 0)

#: pip's packages of the CUDA toolkit, for CUDA 13 and 12: with the compiler that writes PTX, and with its linker.
NVVM, NVJITLINK = ("nvidia-nvvm", "nvidia-cuda-nvcc-cu12"), ("nvidia-nvjitlink", "nvidia-nvjitlink-cu12")

#: From cuda.h: the attributes of a device that are its compute capability, major and minor.
CAPABILITY = (75, 76)


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
    def install(self) -> str:
        """What to type for the packages that fit this driver: those of the extra cuda12 or cuda13."""
        major = 13 if self.cuda is None or self.cuda >= (13, 0) else 12
        return f'pip install "cupy-cuda{major}x>=13.6" "numba-cuda[cu{major}]>=0.30" "numpy<2.5"'


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
    for attribute in CAPABILITY:
        library.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        capability.append(value.value)
    return Gpu(name.value.decode(), size.value, (capability[0], capability[1]))


def missing() -> str:
    """What is missing for kernels of CUDA, and how to get it; empty if nothing."""
    driver = find()
    if driver.problem or driver.cuda is None:
        return driver.problem
    runs = "{}.{}".format(*driver.cuda)
    if driver.cuda < LEAST_CUDA:
        return f"the NVIDIA driver runs CUDA {runs}, and 12.0 is needed: update the driver"
    if all(map(too_old, driver.gpus)):  # where only some are, that matters when one of them is asked for
        return too_old(driver.gpus[0])
    install = driver.install
    if find_spec("cupy") is None:
        return f"CuPy is not installed: {install}"
    try:
        import cupy
    except ImportError as error:
        return f"CuPy cannot be imported ({last_line(error)}): {install}"
    built = cupy.cuda.runtime.runtimeGetVersion() // 1000
    if built > driver.cuda[0]:
        return (
            f"CuPy is built for CUDA {built}, and the NVIDIA driver runs CUDA {runs}: "
            f"pip uninstall cupy-cuda{built}x, then {install}"
        )
    if compiler() == COMPILERS[0] and find_spec("numba_cuda") is None:
        return f"numba-cuda is not installed: {install}"
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"CuPy does not reach the GPU ({last_line(error)})"
    return ""


def compiler() -> str:
    """Which compiler makes kernels in this process: numba-cuda, or the LLVM that comes with numba."""
    return one_of("FRONTIER_GPU_COMPILER", COMPILERS)


def too_old(gpu: Gpu) -> str:
    """What a GPU lacks for kernels; empty if nothing."""
    if gpu.capability >= LEAST_CAPABILITY:
        return ""
    return "{} has compute capability {}.{}, and {}.{} is needed".format(gpu.name, *gpu.capability, *LEAST_CAPABILITY)


def too_new(driver: Driver, what: str, reason: str) -> str:
    """What to say where the toolkit is newer than the driver, and nvJitLink, for a reason, does not help."""
    assert driver.cuda is not None  # it has refused
    major, minor = driver.cuda
    return (
        f"the NVIDIA driver runs CUDA {major}.{minor} and does not read {what}, which the installed CUDA toolkit "
        f'writes; nvJitLink does not help ({reason}): {driver.install} '
        f'"cuda-toolkit<{major}.{minor + 1}", or update the driver'
    )


def last_line(error: Exception) -> str:
    """The last line of a message: of CuPy's long ones, the one that says what it was."""
    return str(error).strip().rpartition("\n")[2].strip()
