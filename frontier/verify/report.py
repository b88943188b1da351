"""What a verifier returns, how it fails, and how it takes a result apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from frontier.errors import VerificationError

__all__ = [
    "Report",
    "fail",
    "host",
    "integer_field",
    "number_field",
    "optional_field",
    "source_vertex",
    "vertex_field",
]

_KINDS = {"iu": "integers", "iuf": "numbers"}


@dataclass(frozen=True)
class Report:
    """What a verifier found in order.

    Attributes
    ----------
    primitive : str
        Name of the primitive whose result was checked.
    checks : tuple of str
        The properties that were checked, in words; all of them hold.
    ok : bool
        Always True: a property that does not hold raises
        :class:`~frontier.errors.VerificationError` instead.
    """

    primitive: str
    checks: tuple[str, ...]
    ok: bool = True

    def __str__(self) -> str:
        lines = "".join(f"\n  {check}" for check in self.checks)
        return f"{self.primitive}: verified{lines}"


def fail(primitive: str, message: str) -> NoReturn:
    """Raise a VerificationError."""
    raise VerificationError(f"{primitive}: {message}")


def host(values: Any) -> NDArray[Any]:
    """Return values as a numpy array, copied from a device if need be."""
    if hasattr(values, "__cuda_array_interface__") and hasattr(values, "get"):
        values = values.get()
    return np.asarray(values)


def _attribute(primitive: str, result: Any, name: str) -> Any:
    if not hasattr(result, name):
        fail(primitive, f"the result has no attribute {name!r} ({type(result).__name__})")
    return getattr(result, name)


def vertex_field(
    primitive: str, result: Any, name: str, n: int, kinds: str = "iuf"
) -> NDArray[Any]:
    """Return ``result.name`` as an array of shape (n,) of a dtype kind in ``kinds``."""
    values = host(_attribute(primitive, result, name))
    if values.shape != (n,):
        fail(primitive, f"{name} has shape {values.shape}, expected ({n},): one entry per vertex")
    if values.dtype.kind not in kinds:
        fail(primitive, f"{name} has dtype {values.dtype}, expected {_KINDS[kinds]}")
    if values.dtype.kind == "f" and np.isnan(values).any():
        v = int(np.flatnonzero(np.isnan(values))[0])
        fail(primitive, f"{name}[{v}] is nan")
    return values


def integer_field(primitive: str, result: Any, name: str) -> int:
    """Return ``result.name`` as an int."""
    value = host(_attribute(primitive, result, name))
    if value.shape != () or value.dtype.kind not in "iu":
        fail(primitive, f"{name} is {value!r}, expected one integer")
    return int(value)


def number_field(primitive: str, result: Any, name: str) -> float:
    """Return ``result.name`` as a float."""
    value = host(_attribute(primitive, result, name))
    if value.shape != () or value.dtype.kind not in "iuf" or np.isnan(value):
        fail(primitive, f"{name} is {value!r}, expected one number")
    return float(value)


def optional_field(primitive: str, result: Any, name: str) -> Any:
    """Return ``result.name``, which may be None but must be there."""
    return _attribute(primitive, result, name)


def source_vertex(primitive: str, result: Any, n: int) -> int:
    """Return ``result.source``, a vertex id."""
    source = integer_field(primitive, result, "source")
    if not 0 <= source < n:
        valid = f"vertices are 0 to {n - 1}" if n else "the graph has no vertices"
        fail(primitive, f"source is {source}, but {valid}")
    return source
