"""What fields can hold: values of a dtype are refused that do not fit it, or would silently change."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import FrontierError
from frontier.memory.arrays import adopt, is_device, to_host

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["fits", "holds", "plain", "read"]


def read(value: Any, what: str) -> NDArray[Any]:
    """Return a number, or numbers, as an array of NumPy or CuPy."""
    try:
        return adopt(value, what) if is_device(value) else np.asarray(value)
    except (ValueError, TypeError, RuntimeError):  # the last of a tensor that is differentiated
        raise FrontierError(f"{what}: {value!r} is neither a number nor an array of numbers") from None


@lru_cache(maxsize=64)
def _limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Return the range of integers that a field can hold; for floats and bools, that of int64."""
    info = np.iinfo(dtype if dtype.kind in "iu" else np.int64)
    return int(info.min), int(info.max)


def holds(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a value is one of Python's numbers, and a field of the dtype can hold it."""
    if type(value) is int:
        low, high = _limits(dtype)
        return low <= value <= high
    if type(value) is float:
        return dtype.kind == "b" or (dtype.kind == "f" and (dtype.itemsize == 8 or not _overflows(value, dtype)))
    return type(value) is bool


def _overflows(value: float, dtype: np.dtype[Any]) -> bool:
    """Whether a finite number is infinite in a dtype of floats."""
    return math.isfinite(value) and abs(value) > float(np.finfo(dtype).max)


def fits(value: Any, dtype: np.dtype[Any], name: str, many: int | None, noun: str = "entries", width: int = 0) -> None:
    """Refuse what a field of ``many`` values (None: a scalar) cannot hold, or would silently change."""
    if holds(value, dtype):
        return
    low, high = _limits(dtype)
    values = read(value, f"field {name!r}")
    shapes = [(), (many, width), (width,)] if width else [(), () if many is None else (many,)]
    if values.shape not in shapes:
        there = "it is a scalar" if many is None else f"there are {many} {noun}"
        there += f" of {width} values each" if width else ""
        raise FrontierError(f"field {name!r}: values of shape {values.shape}, but {there}")
    if values.size == 0 or values.dtype.kind == "b":
        return
    if values.dtype.kind not in "iuf":
        raise FrontierError(f"field {name!r} holds {dtype}, not {value!r}")
    if dtype.kind == "f" and values.ndim == 0 and _overflows(float(values), dtype):
        most = float(np.finfo(dtype).max)
        raise FrontierError(f"field {name!r} of {dtype} holds numbers up to {most}: {value!r} does not fit")
    # looking at values on a GPU means to wait for it
    if dtype.kind not in "iu" or np.can_cast(values.dtype, dtype):
        return
    if values.dtype.kind == "f" and not (values == np.floor(values)).all():
        wrong = to_host(values[values != np.floor(values)]).flat[0]
        raise FrontierError(f"field {name!r} holds {dtype}: {wrong.item()!r} is not a whole number")
    if values.min() < low or values.max() > high:
        raise FrontierError(f"field {name!r} of {dtype} holds {low}..{high}: {value!r} does not fit")


def plain(value: Any) -> Any:
    """A number that may lie on a GPU, on the host."""
    return to_host(value) if is_device(value) else value
