"""Functions on arrays in any memory: whether they lie on a GPU, and moving them to the host or to another memory."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from frontier.errors import BackendUnavailableError, GraphError
from frontier.memory import detection

__all__ = ["HOST_BLOCKS", "adopt", "is_device", "matching", "namespace_of", "to_host"]

_CUDA_DLPACK = (2, 13)  # device types of DLPack: memory of a GPU, managed memory

#: Memory that is not, or not all, a GPU's own and that arrays of CuPy lie in, by its address, as what its module makes.
#: ``block.array(values)`` is such an array on the host.
HOST_BLOCKS: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

_OF_HOST = (np.ndarray, list, tuple, int, float)  # what is never on a GPU


def namespace_of(array: Any) -> Any:
    """Return the module that an array is of: NumPy or CuPy."""
    return detection.cupy() if is_device(array) else np


def is_device(values: Any) -> bool:
    """Whether values lie on a GPU: an array of CuPy, or of another library that shares what it has there."""
    if isinstance(values, _OF_HOST):
        return False
    if hasattr(values, "__cuda_array_interface__"):
        return True
    ask = getattr(values, "__dlpack_device__", None)
    return ask is not None and not isinstance(values, type) and ask()[0] in _CUDA_DLPACK


def adopt(values: Any, what: str = "an array") -> Any:
    """Return values on a GPU as a CuPy array, without a copy."""
    problem = detection.missing()
    if problem:
        raise BackendUnavailableError(f"{what} lies on a GPU, and the backend 'cuda' is not there: {problem}")
    if detection.simulated():
        return np.asarray(values)
    cupy = detection.cupy()
    if isinstance(values, cupy.ndarray):
        return values
    try:
        if hasattr(values, "__cuda_array_interface__"):
            return cupy.asarray(values)
        return cupy.from_dlpack(values)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        from frontier.memory import nvidia

        reason = nvidia.last_line(error)
        raise GraphError(f"{what} lies on a GPU, but cannot be read there: {reason}") from None


def to_host(values: Any) -> Any:
    """Return values as a NumPy array: copied from a GPU, as they are from the host."""
    if isinstance(values, np.ndarray):
        return values
    if not is_device(values):
        return np.asarray(values)
    values = adopt(values)
    block = HOST_BLOCKS.get(int(values.data.mem.ptr)) if HOST_BLOCKS else None
    if block is None:
        return values.get()
    return block.array(values)


def matching(value: Any, array: Any) -> Any:
    """Return a value, or values, as they can be assigned to elements of ``array``."""
    if isinstance(array, np.ndarray):
        return to_host(value) if is_device(value) else value
    if is_device(value):
        return detection.cupy().asarray(adopt(value))
    return value if np.ndim(value) == 0 else detection.cupy().asarray(np.asarray(value))
