"""The class Problem: a graph together with the fields of an algorithm.

Fields are kept as a structure of arrays. Functors see them as attributes of their first argument. The host sees NumPy
arrays (CuPy arrays if the graph is on a GPU), scalars and frontiers under the same names. Scalars are always on the
host.
"""

from __future__ import annotations

import keyword
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.display import html
from frontier.errors import FrontierError
from frontier.memory.arrays import is_device
from frontier.memory.reuse import kept_by
from frontier.program.frontiers import KINDS, Frontier
from frontier.program.pairs import apart, pairs_of
from frontier.program.values import fits, holds, plain, read

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from frontier.graph.graph import Graph
    from frontier.program.field_store import FieldStore
    from frontier.program.pairs import Pair

__all__ = ["SIZES", "Field", "Problem", "array", "edge", "pile", "replace_array", "scalar", "vertex"]

COMBINES = ("min", "max", "sum", "or", "and", "claim")


@dataclass(frozen=True, eq=False)
class Field:
    """The description of a field of a problem; made by :func:`vertex`, :func:`edge`, :func:`scalar`, ..."""

    kind: str
    dtype: np.dtype[Any] | None
    init: Any
    combine: str | None = None
    with_: str | None = None
    #: Whether the initial value is a Python number that fits the dtype; computed once, as every call makes a problem.
    plain: bool = False
    #: Values of a vertex or edge; 0: one, and the array has one dimension.
    width: int = 0
    #: Whether the array of initial values is copied; if not, it is the field.
    copy: bool = True


def _dtype(dtype: DTypeLike) -> np.dtype[Any]:
    try:
        made = np.dtype(dtype).newbyteorder("=")  # compiled code knows the machine's own order of bytes only
    except TypeError:
        raise FrontierError(f"{dtype!r} is not a dtype: fields hold integers, floats and bools") from None
    if made.kind not in "iufb" or made.itemsize > 8:
        raise FrontierError(f"fields hold integers, floats and bools of at most 8 bytes, not {made}")
    if made == np.float16:
        raise FrontierError("fields of float16 are not supported: use float32")
    return made


def _each(
    kind: str, dtype: DTypeLike, init: Any, combine: str | None, with_: str | None, shape: int | tuple[int] | None,
    copy: bool = True,
) -> Field:  # fmt: skip
    if type(init) is int:
        try:
            return _of_number(kind, dtype, init, combine, with_, shape, copy)  # type: ignore[arg-type]
        except TypeError:  # of arguments that are not hashable, which is said below
            pass
    return _field(kind, dtype, init, combine, with_, shape, copy)


@lru_cache(maxsize=1024, typed=True)
def _of_number(kind: str, dtype: Any, init: int, *how: Any) -> Field:
    """Return a declaration, the same object for the same arguments: a primitive makes some ten in every call."""
    return _field(kind, dtype, init, *how)


def _field(
    kind: str, dtype: DTypeLike, init: Any, combine: str | None, with_: str | None, shape: int | tuple[int] | None,
    copy: bool,
) -> Field:  # fmt: skip
    if combine is not None and combine not in COMBINES:
        raise FrontierError(f"combine={combine!r}: choose from {', '.join(COMBINES)}")
    made = _dtype(dtype)
    if combine in ("or", "and") and made.kind == "f":
        raise FrontierError(f"combine={combine!r} is for integers and bools, and the field holds {made}")
    width = 0 if shape is None else _width(shape)
    if width and (combine is not None or with_ is not None):
        raise FrontierError(f"shape={shape!r}: fields of several values take no combine= and no with_=")
    return Field(kind, made, init, combine, with_, holds(init, made), width, copy)


def _width(shape: Any) -> int:
    (width,) = shape if isinstance(shape, tuple) and len(shape) == 1 else (shape,)
    if isinstance(width, bool) or not isinstance(width, (int, np.integer)) or width < 1:
        raise FrontierError(f"shape={shape!r}: the number of values of each vertex or edge, 1 or more")
    return int(width)


def vertex(
    dtype: DTypeLike, init: ArrayLike = 0, combine: str | None = None, with_: str | None = None,
    shape: int | tuple[int] | None = None, copy: bool = True,
) -> Field:  # fmt: skip
    """Declare a field with one value for every vertex.

    Parameters
    ----------
    dtype : dtype
        Integers, floats (32, 64 bits) or bool.
    init : scalar or array of shape (n,)
        Initial value, or values.
    combine : {"min", "max", "sum", "or", "and", "claim"}, optional
        How to merge copies of a value, on a backend that keeps several (such as one copy per device). ``"or"`` and
        ``"and"`` are for integers and bools.
    with_ : str, optional
        Name of another field: when copies are merged, take this value from the copy whose other field was chosen. If
        that field has ``combine="min"`` or ``"max"``, functors set both at the same time,
        ``fr.atomic_min(p.distance, dst, new, src)``. If both have 32 bits, backends that compile interleave them.
    shape : int, optional
        Number of values of each vertex, k: the array has shape (n, k), and functors read ``p.name[v, i]``. Initial
        values may also have shape (n, k) or (k,).
    copy : bool
        False: the array of initial values is the field, and programs write to it. It lies where the graph lies, in this
        dtype, contiguous and writable: an array of NumPy or CuPy, or a tensor of PyTorch, which sees what is written.

    Examples
    --------
    >>> mine = np.zeros(34)
    >>> p = fr.Problem(fr.karate(), x=fr.vertex("float64", mine, copy=False))
    >>> p.x[3] = 5
    >>> mine[3].item()
    5.0
    """
    return _each("vertex", dtype, init, combine, with_, shape, copy)


def edge(
    dtype: DTypeLike, init: ArrayLike = 0, combine: str | None = None, with_: str | None = None,
    shape: int | tuple[int] | None = None, copy: bool = True,
) -> Field:  # fmt: skip
    """Declare a field with one value for every edge slot of the graph; arguments as for :func:`vertex`.

    Examples
    --------
    >>> p = fr.Problem(fr.path(3), flow=fr.edge("float64", 0.5))
    >>> p.flow
    array([0.5, 0.5, 0.5, 0.5])
    """
    return _each("edge", dtype, init, combine, with_, shape, copy)


def scalar(dtype: DTypeLike, init: Any = 0) -> Field:
    """Declare a single value that functors read. It is written by Set, Reduce, ``count=``, or the host between runs.

    Examples
    --------
    >>> p = fr.Problem(fr.path(2), depth=fr.scalar("int64", 3))
    >>> int(p.depth)
    3
    """
    return _each("scalar", dtype, init, None, None, None)


def array(values: ArrayLike) -> Field:
    """Declare a one-dimensional array of any length.

    Examples
    --------
    >>> p = fr.Problem(fr.path(2), histogram=fr.array([0, 0, 0]))
    >>> p.histogram
    array([0, 0, 0])
    """
    made = read(values, "fr.array")
    if not is_device(made):
        made = np.ascontiguousarray(made)
    if made.ndim != 1:
        raise FrontierError(f"fr.array is one-dimensional, not {made.ndim}-dimensional")
    dtype = _dtype(made.dtype)
    return Field("array", dtype, made.astype(dtype, copy=False))


def pile(kind: str = "vertex") -> Field:
    """Declare a named set of vertices or edges that is kept between steps, such as the far pile of delta-stepping.

    Examples
    --------
    >>> p = fr.Problem(fr.path(3), far=fr.pile())
    >>> f = fr.put(p, fr.Frontier(p.graph, [2]), "far")
    >>> sorted(fr.take(p, "far"))
    [2]
    """
    if kind not in KINDS:
        raise FrontierError(f"a pile holds 'vertex' or 'edge', not {kind!r}")
    return Field("pile", None, kind)


def _check_companions(fields: dict[str, Field]) -> None:
    """Raise FrontierError for ``with_=`` that names no other field; an atomic on both may ask for more."""
    for name, made in fields.items():
        if made.with_ is None:
            continue
        if made.with_ == name or made.with_ not in fields:
            there = ", ".join(each for each in fields if each != name and fields[each].kind == made.kind) or "none"
            raise FrontierError(
                f"field {name!r}: with_={made.with_!r}: the name of another {made.kind} field; there is {there}"
            )
    for name in fields:
        passed, here = [name], fields[name].with_
        while here is not None and here not in passed:
            passed.append(here)
            here = fields[here].with_
        if here == name:
            raise FrontierError(f"with_= goes round: {' with '.join([*passed, name])}; one field of them comes first")


class Problem:
    """A graph with the fields of an algorithm.

    ``p.name`` is the value of a field: an array for vertex fields, edge fields and arrays, a number for scalars, a
    Frontier for piles. You can write elements of an array, or assign a whole array, which copies it.

    Parameters
    ----------
    graph : Graph
        Or an object to convert: a NetworkX graph, a SciPy sparse matrix, a list of edges. ``p.graph`` is the graph.
    **fields : Field
        Made by ``fr.vertex``, ``fr.edge``, ``fr.scalar``, ``fr.array``, ``fr.pile``.

    Raises
    ------
    FrontierError
        If an argument is not a field, or an initial value does not fit its dtype or has the wrong length.

    Examples
    --------
    >>> p = fr.Problem(fr.path(3), level=fr.vertex("int32", -1), depth=fr.scalar("int64"))
    >>> p.level[0] = 7
    >>> p.level, int(p.depth)
    (array([ 7, -1, -1], dtype=int32), 0)
    """

    def __init__(self, graph: Graph, /, **fields: Field) -> None:
        if type(getattr(graph, "num_slots", None)) is not int:
            from frontier.program.taking import graph_of

            graph = graph_of(graph, "Problem")
        kept = kept_by()
        if kept is not None and kept.take(self, graph, fields):
            return
        store = self.__dict__
        store["graph"] = graph
        store["fields"] = fields
        # Before the arrays, so that copies are made of whole ones.
        store["_store"] = graph.placement.backend.field_store(graph)
        store["arrays"] = {}  # vertex and edge fields and arrays, by name
        store["scalars"] = {}  # arrays of one element, so that compiled code has an address
        store["piles"] = {}
        store["workspace"] = {}  # what a backend keeps for this problem between calls
        for name, made in fields.items():
            if not isinstance(made, Field):
                raise FrontierError(f"{name}: make fields with fr.vertex, fr.edge, fr.scalar, fr.array, fr.pile")
            if not _can_be_called(name):
                raise FrontierError(f"a field cannot be called {name!r}")
        _check_companions(fields)
        store["_pairs"] = pairs_of(fields)
        self._check_room(fields)
        with graph.placement.memory.using("the fields of a problem"):
            for name, made in fields.items():
                self._make(name, made)
            if store["_pairs"]:
                self._lay_pairs()
        if kept is not None:
            kept.keep(self, graph, dict(fields))

    def _lay_pairs(self) -> None:
        """Where functors are compiled: lay the two arrays of each pair side by side, unless they are already."""
        if not self.graph.placement.backend.keeps_pairs:
            return
        for pair in self._pairs:
            if not pair.word:
                continue
            before = self.arrays[pair.key], self.arrays[pair.other]
            if apart(*before):
                self.arrays.update(zip(pair[:2], self._store.side_by_side(self.graph, before), strict=True))

    def _check_room(self, fields: dict[str, Field]) -> None:
        sizes = self._store.bytes_in_memory(self.graph, fields, self._pairs)
        needed, memory = sum(sizes), self.graph.placement.memory
        if needed >= memory.small:
            memory.check_room(needed, f"the {len(sizes)} vertex and edge fields of a problem", "use narrower dtypes")

    def _add(self, fields: dict[str, Field]) -> None:
        """Add hidden fields of a program; what backends keep for the problem is discarded."""
        with self.graph.placement.memory.using("what an ordered loop needs"):
            for name, made in fields.items():
                self._make(name, made)
        self.fields.update(fields)
        self.workspace.clear()

    def _make(self, name: str, made: Field) -> None:
        if made.kind == "pile":
            self.piles[name] = Frontier(self.graph, (), made.init)
            return
        assert made.dtype is not None
        if made.kind == "scalar":
            if not made.plain:
                fits(made.init, made.dtype, name, None)
            self.scalars[name] = value = np.empty(1, made.dtype)
            value[0] = plain(made.init)
            return
        self.arrays[name] = self._store.make(self.graph, name, made, self._pairs)

    if TYPE_CHECKING:
        graph: Graph
        fields: dict[str, Field]
        arrays: dict[str, NDArray[Any]]
        scalars: dict[str, NDArray[Any]]
        piles: dict[str, Frontier]
        workspace: dict[Any, Any]
        _pairs: tuple[Pair, ...]
        _store: FieldStore

    def __getattr__(self, name: str) -> Any:
        store = self.__dict__
        if name in store.get("arrays", ()):
            return store["_store"].seen(self, name)
        if name in store.get("scalars", ()):
            return store["scalars"][name][0]
        if name in store.get("piles", ()):
            return store["piles"][name]
        if name in SIZES and "graph" in store:
            return getattr(store["graph"], name)
        raise AttributeError(f"the problem has no field {name!r}; it has {', '.join(self._seen())}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.arrays:
            array = self.arrays[name]
            if value is getattr(self, name):  # as after p.rank *= 2, which has changed it
                return
            with self.graph.placement.memory.using(f"the field {name!r}"):
                fits(value, array.dtype, name, len(array), width=self.fields[name].width)
                self._store.assign(self, name, value)
        elif name in self.scalars:
            fits(value, self.scalars[name].dtype, name, None)
            self.scalars[name][0] = plain(value)
        elif name in self.piles:
            self._set_pile(name, value)
        else:
            raise AttributeError(f"the problem has no field {name!r}; it has {', '.join(self._seen())}")

    def _set_pile(self, name: str, value: Any) -> None:
        kind = self.fields[name].init
        if not isinstance(value, Frontier):
            value = Frontier(self.graph, value, kind)
        value.check(self.graph)
        if value.kind != kind:
            raise FrontierError(f"pile {name!r} holds {kind} ids, not {value.kind} ids")
        self.piles[name] = value

    def _seen(self) -> list[str]:
        """Names of the fields that are the user's."""
        return [name for name in self.__dict__.get("fields", ()) if not name.endswith("__")]

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy: without what backends have cached for this problem, such as compiled code."""
        self._store.look_at(self, self.arrays)
        return {**self.__dict__, "workspace": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._store.copied(self)
        self._lay_pairs()  # copies of arrays lie apart

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self._seen()})

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={self.fields[name].kind}" for name in self._seen())
        return f"Problem({self.graph!r}, {inner})"

    def _repr_html_(self) -> str:
        """The fields, for notebooks."""
        lines = [(name, self.fields[name].kind, getattr(self.fields[name], "dtype", "")) for name in self._seen()]
        return html.rows(("field", "of each", "dtype"), lines, html.text(f"Problem on {self.graph!r}"))


#: Sizes of the graph that functors, too, read like scalars: ``p.num_vertices``.
SIZES = ("num_vertices", "num_edges")

#: Attributes of a problem besides its fields.
_OWN = ("graph", "fields", "arrays", "scalars", "piles", "workspace")


@lru_cache(maxsize=4096)
def _can_be_called(name: str) -> bool:
    """Whether ``p.name`` can be a field."""
    plain = name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")
    plain = plain and not name.endswith("__")  # as the graph's arrays are called, see frontier.functors.adjacency
    return plain and name not in _OWN and not hasattr(Problem, name)


def replace_array(problem: Problem, name: str, values: NDArray[Any]) -> None:
    """Let an array of any length be a field that was made by :func:`array`, without a copy.

    Parameters
    ----------
    problem : Problem
    name : str
        The field.
    values : ndarray, shape (k,)
        It has the field's dtype, is contiguous, and lies where the graph's arrays do.

    Examples
    --------
    >>> p = fr.Problem(fr.path(3), found=fr.array(np.zeros(2)))
    >>> replace_array(p, "found", np.ones(3))
    >>> p.found
    array([1., 1., 1.])
    """
    held = problem.arrays[name]
    assert problem.fields[name].kind == "array"
    assert values.ndim == 1
    assert values.dtype == held.dtype
    assert values.flags.c_contiguous
    assert isinstance(values, type(held))
    problem.arrays[name] = values
    problem.__dict__["_replaced"] = True  # see frontier.program.kept_problems
