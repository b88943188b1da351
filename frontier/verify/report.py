"""What a verifier returns, how it records properties, and how it takes a result apart.

A verifier is a function ``properties(g, result, checks)`` that calls ``checks.begin(...)`` before each
property and :func:`fail` where one does not hold; :func:`examine` makes the :class:`Report` of it. Graphs and results
that lie on a GPU are copied to the host.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from frontier.display import html
from frontier.errors import VerificationError
from frontier.graph.moving import on_host
from frontier.memory.arrays import to_host
from frontier.memory.shortage import telling
from frontier.program.taking import graph_of

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = [
    "Check",
    "Checks",
    "Report",
    "examine",
    "fail",
    "field",
    "flag_field",
    "integer_field",
    "number_field",
    "source_vertex",
    "vertex_field",
    "vertex_list",
]

_KINDS = {"iu": "integers", "iuf": "numbers"}


@dataclass(frozen=True)
class Check:
    """One property of a result.

    Attributes
    ----------
    name : str
        The property, in words.
    ok : bool
        Whether it holds.
    detail : str
        Where it does not hold: a vertex or an edge, and the values there.

    Examples
    --------
    >>> g = fr.path(3)
    >>> fr.verify.bfs(g, fr.bfs(g, 0)).checks[1].ok
    True
    """

    name: str
    ok: bool
    detail: str = ""

    def __str__(self) -> str:
        mark = "ok    " if self.ok else "FAILED"
        return f"{mark}  {self.name}" + (f": {self.detail}" if self.detail else "")


@dataclass(frozen=True)
class Report:
    """What a verifier found; true in a condition if the result passed.

    Attributes
    ----------
    primitive : str
        Name of the primitive whose result was checked.
    checks : tuple of Check
        The properties in the order in which they were checked. Each takes those before it for
        granted, so the first that does not hold is the last one here.

    Examples
    --------
    >>> g = fr.path(3)
    >>> bool(fr.verify.bfs(g, fr.bfs(g, 0)))
    True
    """

    primitive: str
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every property holds."""
        return all(check.ok for check in self.checks)

    def raise_if_failed(self) -> None:
        """Raise an error if a property does not hold.

        Raises
        ------
        VerificationError
            Naming the property, the vertex or edge, and the values.
        """
        for check in self.checks:
            if not check.ok:
                raise VerificationError(f"{self.primitive}: {check.detail} (checked: {check.name})")

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        lines = "".join(f"\n  {check}" for check in self.checks)
        return f"{self.primitive}: {'passed' if self.passed else 'FAILED'}{lines}"

    def _repr_html_(self) -> str:
        """The checks, for notebooks."""
        lines = [("ok" if check.ok else "FAILED", check.name, check.detail) for check in self.checks]
        about = f"{self.primitive}: {'passed' if self.passed else 'FAILED'}"
        return html.rows(("", "property", "where it does not hold"), lines, html.text(about))


class Checks:
    """The properties of one result while they are being checked."""

    def __init__(self) -> None:
        self._held: list[Check] = []
        self._name = ""

    def begin(self, name: str) -> None:
        """Turn to the property ``name``; the one before it holds."""
        self._close()
        self._name = name

    def _close(self) -> None:
        if self._name:
            self._held.append(Check(self._name, True))

    def finished(self) -> tuple[Check, ...]:
        """Return all properties; the current one holds too."""
        self._close()
        return tuple(self._held)

    def failed(self, detail: str) -> tuple[Check, ...]:
        """Return all properties; the current one does not hold."""
        return (*self._held, Check(self._name, False, detail))


@telling("verifying a result")
def examine(
    primitive: str, properties: Callable[[Graph, Any, Checks], None], g: Graph, result: Any, fields: Sequence[str]
) -> Report:
    """Check the properties of a result, which are of some of its fields, up to the first that does not hold."""
    g = graph_of(g, f"verify.{primitive}")
    divided = g._topology.divided
    g = on_host(g)
    checks = Checks()
    checks.begin("the result has its fields, of the right shapes and dtypes")
    try:
        if divided is not None:
            _check_alike(divided, result, fields)
        with g._topology.reading():
            properties(g, result, checks)
    except VerificationError as error:
        return Report(primitive, checks.failed(str(error)))
    return Report(primitive, checks.finished())


def fail(detail: str) -> NoReturn:
    """End an examination: the current property does not hold."""
    raise VerificationError(detail)


def _check_alike(divided: Any, result: Any, fields: Sequence[str]) -> None:
    """Compare what ranks have of a result: to read the edges of all together, they must come to the same report."""
    told = divided.told("verifies a result", [_summary(result, name) for name in fields])
    for name, *sums in zip(fields, *told, strict=True):
        other = next((rank for rank, each in enumerate(sums) if each != sums[0]), 0)
        if other:
            fail(f"{name} of rank {other} is not that of rank 0")


def _summary(result: Any, name: str) -> Any:
    """What is equal on two ranks if they have the same in a field."""
    if getattr(result, name, None) is None:
        return hasattr(result, name)
    try:
        array = to_host(getattr(result, name))
    except (ValueError, TypeError):
        return "not an array"
    if array.dtype.hasobject:
        return repr(array.tolist())
    return array.dtype.str, array.shape, zlib.crc32(np.ascontiguousarray(array).data)


# -- the fields of a result ------------------------------------------------------------------------


def field(result: Any, name: str) -> Any:
    """Return ``result.name``, which may be None but must be there."""
    if not hasattr(result, name):
        fail(f"the result has no attribute {name!r} ({type(result).__name__})")
    return getattr(result, name)


def _host(name: str, values: Any) -> NDArray[Any]:
    """Return values as a numpy array, copied from a device if need be."""
    try:
        array: NDArray[Any] = to_host(values)
        return array
    except (ValueError, TypeError) as error:
        fail(f"{name} cannot be read as an array: {error}")


def vertex_field(result: Any, name: str, n: int, kinds: str = "iuf", of: str = "vertex") -> NDArray[Any]:
    """Return ``result.name`` as an array of shape (n,) of a dtype kind in ``kinds``; ``of`` says what it has n of."""
    values = _host(name, field(result, name))
    if values.shape != (n,):
        fail(f"{name} has shape {values.shape}, expected ({n},): one entry for each {of}")
    if values.dtype.kind not in kinds:
        fail(f"{name} has dtype {values.dtype}, expected {_KINDS[kinds]}")
    if values.dtype.kind == "f" and np.isnan(values).any():
        v = int(np.argmax(np.isnan(values)))
        fail(f"{name}[{v}] is nan")
    return values


def matrix_field(result: Any, name: str, shape: tuple[int, int], kinds: str = "iuf") -> NDArray[Any]:
    """Return ``result.name`` as an array of two dimensions, of a dtype kind in ``kinds``."""
    values = _host(name, field(result, name))
    if values.shape != shape:
        fail(f"{name} has shape {values.shape}, expected {shape}: a row for each source, an entry for each vertex")
    if values.dtype.kind not in kinds:
        fail(f"{name} has dtype {values.dtype}, expected {_KINDS[kinds]}")
    if values.dtype.kind == "f" and np.isnan(values).any():
        fail(f"{name} has a nan in row {int(np.argmax(np.isnan(values).any(axis=1)))}")
    return values


def vertex_list(result: Any, name: str, n: int) -> NDArray[np.int64]:
    """Return ``result.name``, some vertex ids or None for all, as an array of shape (k,)."""
    given = field(result, name)
    if given is None:
        return np.arange(n)
    ids = _host(name, given)
    if ids.shape == (0,):
        return np.zeros(0, dtype=np.int64)
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        fail(f"{name} has shape {ids.shape} and dtype {ids.dtype}, expected a list of vertex ids")
    wrong = (ids < 0) | (ids >= n)
    if wrong.any():
        fail(f"{name} has {ids[np.argmax(wrong)]}, which is not a vertex: {_valid(n)}")
    return ids.astype(np.int64)


def integer_field(result: Any, name: str) -> int:
    """Return ``result.name`` as an int."""
    value = _host(name, field(result, name))
    if value.shape != () or value.dtype.kind not in "iu":
        fail(f"{name} is {_short(value)}, expected one integer")
    return int(value)


def number_field(result: Any, name: str) -> float:
    """Return ``result.name`` as a float."""
    value = _host(name, field(result, name))
    if value.shape != () or value.dtype.kind not in "iuf" or np.isnan(value):
        fail(f"{name} is {_short(value)}, expected one number")
    return float(value)


def flag_field(result: Any, name: str) -> bool:
    """Return ``result.name`` as a bool."""
    value = _host(name, field(result, name))
    if value.shape != () or value.dtype.kind != "b":
        fail(f"{name} is {_short(value)}, expected True or False")
    return bool(value)


def source_vertex(result: Any, n: int) -> int:
    """Return ``result.source``, a vertex id."""
    source = integer_field(result, "source")
    if not 0 <= source < n:
        fail(f"source is {source}, which is not a vertex: {_valid(n)}")
    return source


def source_vertices(result: Any, n: int) -> NDArray[np.int64]:
    """Return ``result.source``, a vertex id or a list of them, as an array of shape (k,)."""
    if np.ndim(field(result, "source")) == 0:
        return np.array([source_vertex(result, n)])
    sources = vertex_list(result, "source", n)
    if not len(sources):
        fail("source holds no vertex")
    return sources


def _valid(n: int) -> str:
    return f"vertices are 0 to {n - 1}" if n else "the graph has no vertices"


def _short(value: NDArray[Any]) -> str:
    """Show a value that should have been a single one."""
    return repr(value.item()) if value.shape == () else f"an array of shape {value.shape}"
