"""The GPU as the host side sees it: whether it can be used, arrays on it, its memory. Little else here knows CuPy.

A backend is called ``"cuda"`` on the first GPU and ``"cuda:1"`` on the second. With ``NUMBA_ENABLE_CUDASIM=1`` NumPy
stands in for CuPy, and everything else goes the same way.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable
from functools import cache, wraps
from types import ModuleType, TracebackType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from frontier import lost, memory
from frontier.errors import BackendUnavailableError, FrontierMemoryError, GraphError

__all__ = [
    "at_graph",
    "available",
    "device_name",
    "free_memory",
    "full",
    "index_of",
    "is_cuda",
    "is_device",
    "matching",
    "missing",
    "moved",
    "named",
    "namespace",
    "namespace_of",
    "place_of",
    "require",
    "resolved",
    "simulated",
    "synchronize",
    "to_host",
    "using",
]

HINT = (
    "a smaller graph, narrower dtypes or fewer arrays in use on this GPU would help (Graph.memory_estimate() tells "
    "what a graph takes), and Graph.to('cpu') computes in the host's memory"
)

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_CUDA_DLPACK = (2, 13)  # device types of DLPack: memory of a GPU, managed memory

_OF_HOST = (np.ndarray, list, tuple, int, float)  # what is never on a GPU

_ready = False  # once nothing was missing, nothing is


# -- what is there ----------------------------------------------------------------------------------


def simulated() -> bool:
    """Whether kernels run in numba's simulator, and NumPy stands in for CuPy."""
    # Asking the environment takes a microsecond, and a run asks some ten times.
    return not _ready and os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"


def available() -> bool:
    """Whether the backend cuda is there."""
    return not missing()


def require() -> None:
    """Raise BackendUnavailableError, which says what is missing, unless the backend cuda is there."""
    problem = missing()
    if problem:
        raise BackendUnavailableError(f"the backend 'cuda' is not there: {problem}")


def missing() -> str:
    """What the backend cuda lacks here, and how to get it; empty if nothing."""
    global _ready
    if _ready or simulated():
        return ""
    from frontier import gpus

    problem = gpus.missing()
    _ready = not problem
    return problem


# -- backends by name -------------------------------------------------------------------------------


def is_cuda(backend: str) -> bool:
    """Whether a graph of this backend lies on a GPU."""
    return backend.startswith("cuda")


def named(index: int) -> str:
    """Give the backend of a GPU."""
    return "cuda" if index == 0 else f"cuda:{index}"


@cache
def index_of(backend: str) -> int:
    """Give the GPU of a backend."""
    return int(backend[5:] or 0)


def resolved(name: Any) -> str:
    """Give the backend that a name means: ``"auto"`` the fastest there is, ``"cuda"`` CuPy's current GPU.

    Raises
    ------
    BackendUnavailableError
        It is not there; the message says what is missing.
    GraphError
        There is no such name.
    """
    if name in ("cpu", "python"):
        return str(name)
    if name == "auto":
        return _fastest()
    found = re.fullmatch(r"cuda(:\d+)?", name) if isinstance(name, str) else None
    if found is None:
        raise GraphError(f"there is no backend {name!r}: choose 'cpu', 'python', 'cuda', 'cuda:1' or 'auto'")
    require()
    if lost.some():
        lost.check(int((found[1] or ":0")[1:]))
    index, count = int(found[1][1:]) if found[1] else _current(), _count()
    if index >= count:
        seen = "one GPU, 'cuda'" if count == 1 else f"{count} GPUs, 'cuda' to {named(count - 1)!r}"
        raise BackendUnavailableError(f"there is no backend {name!r}: this process sees {seen}")
    problem = _too_old(index)
    if problem:
        able = ", ".join(repr(named(i)) for i in range(count) if not _too_old(i))
        raise BackendUnavailableError(f"{named(index)!r} cannot be used: {problem}; choose {able}")
    return named(index)


def _fastest() -> str:
    """Give the backend of a GPU that can be used, CuPy's current one if possible, or that of the host."""
    if not available() or lost.some():
        return "cpu"
    return named(next(index for index in (_current(), *range(_count())) if not _too_old(index)))


def _current() -> int:
    """CuPy's current GPU."""
    return 0 if simulated() else int(_runtime().getDevice())


def _count() -> int:
    """GPUs that this process sees."""
    return 1 if simulated() else int(_runtime().getDeviceCount())


def _too_old(index: int) -> str:
    """What a GPU lacks for kernels, while others may lack nothing; empty if nothing."""
    if simulated():
        return ""
    from frontier import gpus

    major, minor = (int(_runtime().deviceGetAttribute(number, index)) for number in gpus.CAPABILITY)
    if (major, minor) >= gpus.LEAST_CAPABILITY:
        return ""
    return gpus.too_old(gpus.Gpu(device_name(named(index)), 0, (major, minor)))


def device_name(backend: str) -> str:
    """Give the name of the GPU of a backend, as NVIDIA calls it."""
    if simulated():
        return "simulated"
    name: bytes = _runtime().getDeviceProperties(index_of(backend))["name"]
    return name.decode()


# -- arrays -----------------------------------------------------------------------------------------


@cache
def _cupy() -> ModuleType:
    import cupy

    return cupy  # type: ignore[no-any-return]


def _runtime() -> Any:
    return _cupy().cuda.runtime


def namespace(backend: str) -> Any:
    """Give the module that makes the arrays of a backend: NumPy or CuPy."""
    return _cupy() if backend.startswith("cuda") and not simulated() else np


def namespace_of(array: Any) -> Any:
    """Give the module that an array is of: NumPy or CuPy."""
    return np if isinstance(array, np.ndarray) else _cupy()


def is_device(values: Any) -> bool:
    """Whether values lie on a GPU: an array of CuPy, or of another library that shares what it has there."""
    if isinstance(values, _OF_HOST):
        return False
    if hasattr(values, "__cuda_array_interface__"):
        return True
    ask = getattr(values, "__dlpack_device__", None)
    return ask is not None and not isinstance(values, type) and ask()[0] in _CUDA_DLPACK


def adopt(values: Any, what: str = "an array") -> Any:
    """Give values on a GPU as a CuPy array, without a copy."""
    problem = missing()
    if problem:
        raise BackendUnavailableError(f"{what} lies on a GPU, and the backend 'cuda' is not there: {problem}")
    if simulated():
        return np.asarray(values)
    cupy = _cupy()
    if isinstance(values, cupy.ndarray):
        return values
    try:
        if hasattr(values, "__cuda_array_interface__"):
            return cupy.asarray(values)
        return cupy.from_dlpack(values)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        from frontier import gpus

        raise GraphError(f"{what} lies on a GPU, but cannot be read there: {gpus.last_line(error)}") from None


def place_of(*values: Any) -> str:
    """Give the backend of the first of some values that lies on a GPU; ``"cpu"`` if none does."""
    for each in values:
        if is_device(each):
            return resolved(named(adopt(each).device.id))
    return "cpu"


def to_host(values: Any) -> Any:
    """Give values as a NumPy array: copied from a GPU, as they are from the host."""
    if isinstance(values, np.ndarray):
        return values
    return adopt(values).get() if is_device(values) else np.asarray(values)


def moved(values: Any, backend: str, copy: bool = False) -> Any:
    """Give an array where a backend has its own: copied there only if it is elsewhere, unless ``copy``.

    What is no number stays on the host.
    """
    xp = namespace(backend)
    if xp is np:
        values = to_host(values)
        return values.copy() if copy else values
    if is_device(values):
        return xp.array(adopt(values)) if copy else xp.asarray(adopt(values))  # copied from another GPU in any case
    values = np.asarray(values)
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
        return values.copy() if copy else values
    made = xp.empty(values.shape, values.dtype.newbyteorder("="))
    if values.size:
        # not xp.array, which pins as much of the host's memory
        made.set(np.ascontiguousarray(values, made.dtype))
    return made


def matching(value: Any, array: Any) -> Any:
    """Give a value, or values, as they can be assigned to elements of ``array``."""
    if isinstance(array, np.ndarray):
        return to_host(value) if is_device(value) else value
    if is_device(value):
        return _cupy().asarray(adopt(value))
    return value if np.ndim(value) == 0 else _cupy().asarray(np.asarray(value))


def full(backend: str, length: int, value: Any, dtype: Any) -> Any:
    """Give an array of one value."""
    made = namespace(backend).empty(length, dtype)
    if isinstance(made, np.ndarray):
        made.fill(value)
        return made
    if type(value) is int and -1 <= value <= 0 and made.dtype.kind == "i":
        pattern = b"\xff" if value else b"\0"  # as nearly always; to ask NumPy takes a microsecond
    else:
        pattern = np.asarray(value, dtype).tobytes()
    if length and pattern == pattern[:1] * len(pattern):  # 0 and -1: no kernel is needed
        made.data.memset_async(pattern[0], made.nbytes)
    elif length:
        made.fill(value)
    return made


# -- memory and the current GPU ---------------------------------------------------------------------


def free_memory(backend: str, enough: int | None = None) -> int:
    """Bytes that can still be had on the GPU of a backend, of the driver and of CuPy's pool.

    Where the pool has ``enough`` the driver is not asked, which takes it a millisecond.
    """
    if simulated():
        return memory.free_memory()
    cupy = _cupy()
    with cupy.cuda.Device(index_of(backend)):
        pool = cupy.get_default_memory_pool()
        kept = int(pool.free_bytes())
        if enough is not None and kept > enough:
            return kept
        free = cupy.cuda.runtime.memGetInfo()[0] + kept
        limit = pool.get_limit()
        return int(min(free, limit - pool.used_bytes()) if limit else free)


def synchronize(backend: str) -> None:
    """Wait until the GPU of a backend has nothing to do."""
    if is_cuda(backend) and not simulated():
        with using(backend):
            _cupy().cuda.runtime.deviceSynchronize()


class using:
    """Make the GPU of a backend current, and say it in our words if its memory, or the host's, is used up.

    CuPy itself frees the unused blocks of its pool and tries once more before it gives up. Here they are freed again,
    with what the failed computation has left, so that the GPU can be used afterwards.

    Parameters
    ----------
    backend : str
        Any; only those on a GPU matter.
    what : str
        What is done there, for the message.
    """

    __slots__ = ("_backend", "_device", "_what")

    def __init__(self, backend: str, what: str = "an array") -> None:
        self._backend, self._what = backend, what
        self._device: Any = None

    def __enter__(self) -> None:
        if self._backend.startswith("cuda") and not simulated():
            index = index_of(self._backend)
            lost.check(index)
            if _runtime().getDevice() != index:
                self._device = _cupy().cuda.Device(index)
                self._device.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._device is not None:
            self._device.__exit__(kind, error, trace)
        if isinstance(error, RuntimeError) and is_cuda(self._backend):  # CuPy's, of the driver
            known = lost.noted(error, index_of(self._backend))
            if known is not None:
                raise known from None
        if isinstance(error, MemoryError) and not isinstance(error, FrontierMemoryError):
            if not is_cuda(self._backend):
                raise memory.explained(error, self._what) from None
            self._explain(error)

    def _explain(self, error: MemoryError) -> None:
        traceback.clear_frames(error.__traceback__)  # whose variables hold memory of the GPU
        needed = int(getattr(error, "_size", 0))
        if not simulated():
            with _cupy().cuda.Device(index_of(self._backend)):
                _cupy().get_default_memory_pool().free_all_blocks()
        free = free_memory(self._backend)
        raise memory.lacking(needed, free, self._what, HINT, f" on {self._backend}") from None


def at_graph(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let a function of a graph take what graphs are made of, and run with the graph's GPU current: a decorator."""

    @wraps(function)
    def call(*given: Parameters.args, **named: Parameters.kwargs) -> Result:
        graph: Any = given[0] if given else named.get("g")
        if type(getattr(graph, "num_slots", None)) is not int and (given or "g" in named):
            from frontier.taking import graph_of

            graph = graph_of(graph, function.__name__)
            if given:
                given = (graph, *given[1:])  # type: ignore[assignment]
            else:
                named["g"] = graph
        with using(getattr(graph, "backend", "cpu"), function.__name__):
            return function(*given, **named)

    return call
