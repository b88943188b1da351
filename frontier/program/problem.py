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
from frontier.memory import spread
from frontier.memory.arrays import is_device, matching
from frontier.memory.reuse import kept_by
from frontier.program.frontiers import KINDS, Frontier
from frontier.program.pairs import apart, pairs_of, side_by_side
from frontier.program.values import fits, holds, plain, read

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from frontier.graph.graph import Graph
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
    made = _dtype(dtype)
    return Field("scalar", made, init, plain=holds(init, made))


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
        store["_shown"] = graph.placement.backend.shown()  # before the arrays, so that copies are made of whole ones
        store["arrays"] = {}  # vertex and edge fields and arrays, by name
        store["scalars"] = {}  # arrays of one element, so that compiled code has an address
        store["piles"] = {}
        store["workspace"] = {}  # what a backend keeps for this problem between calls
        store["_spread"] = set()  # vertex fields of which each of several GPUs has a part
        store["_fresh"] = set()  # those of them that have one value, which nobody has seen since they were made
        store["_unfilled"] = set()  # those of them whose memory does not have that value yet
        lengths = {"vertex": graph.num_vertices, "edge": graph.num_slots}
        for name, made in fields.items():
            if not isinstance(made, Field):
                raise FrontierError(f"{name}: make fields with fr.vertex, fr.edge, fr.scalar, fr.array, fr.pile")
            if not _can_be_called(name):
                raise FrontierError(f"a field cannot be called {name!r}")
        _check_companions(fields)
        store["_pairs"] = pairs_of(fields)
        self._check_room(fields, lengths)
        with graph.placement.memory.using("the fields of a problem"):
            for name, made in fields.items():
                self._make(name, made, lengths)
            if store["_pairs"]:
                self._lay_pairs()
        if kept is not None:
            kept.keep(self, graph, dict(fields))

    def _lay_pairs(self) -> None:
        """Where functors are compiled: lay the two arrays of each pair side by side, unless they are already."""
        placement = self.graph.placement
        if not placement.backend.keeps_pairs:
            return
        for pair in self._pairs:
            if not pair.word:
                continue
            before = self.arrays[pair.key], self.arrays[pair.other]
            if apart(*before):
                shown = self._shown
                made = side_by_side(placement.memory, before) if shown is None else shown.side_by_side(before)
                self.arrays.update(zip(pair[:2], made, strict=True))

    def _check_room(self, fields: dict[str, Field], lengths: dict[str, int]) -> None:
        if self.graph._topology.divided is not None:
            return  # a part of them only is there
        if self.graph._topology.spread is not None:
            lengths = {"vertex": lengths["vertex"]}  # of edges, several memories have parts
        sizes = [
            made.dtype.itemsize * lengths[made.kind] * (made.width or 1)
            for name, made in fields.items()
            if made.dtype is not None and made.kind in lengths and not self._is_spread(name, made)
        ]
        needed, memory = sum(sizes), self.graph.placement.memory
        if needed >= memory.small:
            memory.check_room(needed, f"the {len(sizes)} vertex and edge fields of a problem", "use narrower dtypes")

    def _is_spread(self, name: str, made: Field) -> bool:
        """Whether each of several GPUs has the elements of its own vertices, and not the first one the whole field."""
        how, backend = self.graph._topology.spread, self.graph.placement.backend
        if how is None or not backend.divides or made.kind != "vertex" or made.width:
            return False
        in_a_word = any(pair.word and name in pair[:2] for pair in self._pairs)
        return bool(how.takes(self.graph.num_vertices, made.dtype)) and not in_a_word

    def _add(self, fields: dict[str, Field]) -> None:
        """Add hidden fields of a program; what backends keep for the problem is discarded."""
        with self.graph.placement.memory.using("what an ordered loop needs"):
            for name, made in fields.items():
                self._make(name, made, {"vertex": self.graph.num_vertices, "edge": self.graph.num_slots})
        self.fields.update(fields)
        self.workspace.clear()

    def _make(self, name: str, made: Field, lengths: dict[str, int]) -> None:
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
        memory, divided = self.graph.placement.memory, self.graph._topology.divided
        if not made.copy:
            self.arrays[name] = self._adopted(name, made, lengths[made.kind])
            return
        if made.width:
            self._make_wide(name, made, lengths[made.kind])
            return
        if divided is not None and made.kind == "edge":
            self.arrays[name] = self._edges_of(divided, name, made)
            return
        if made.kind == "edge" and self.graph._topology.spread is not None:
            if not made.plain:
                fits(made.init, made.dtype, name, lengths["edge"], "edges")
            self.arrays[name] = self.graph._topology.spread.full(made.init, made.dtype)
            return
        if self._is_spread(name, made):
            self._make_spread(name, made, lengths["vertex"])
            return
        if made.plain and made.kind == "vertex" and self._shown is not None:
            self.arrays[name] = self._shown.begun(self.graph, name, made)
            return
        if made.plain:
            self.arrays[name] = memory.full(lengths[made.kind], made.init, made.dtype)
            return
        if made.kind == "array":
            self.arrays[name] = memory.moved(made.init, copy=True)
            return
        length = lengths[made.kind]
        fits(made.init, made.dtype, name, length, "vertices" if made.kind == "vertex" else "edges")
        if np.ndim(made.init) == 0:
            self.arrays[name] = memory.full(length, plain(made.init), made.dtype)
        elif is_device(made.init):
            self.arrays[name] = memory.moved(made.init).astype(made.dtype, order="C")
        else:
            self.arrays[name] = memory.moved(np.array(read(made.init, name), made.dtype))

    def _adopted(self, name: str, made: Field, length: int) -> NDArray[Any]:
        """The array of a user that is a field."""
        g = self.graph
        if g._topology.divided is not None or g._topology.spread is not None:
            raise FrontierError(f"field {name!r}: copy=False is for graphs in one memory, and this one is in parts")
        if any(name in pair[:2] and pair.word for pair in self._pairs):
            raise FrontierError(f"field {name!r}: copy=False does not go with with_=: both fields lie in one array")
        values, shape = read(made.init, f"field {name!r}"), (length, made.width) if made.width else (length,)
        here = isinstance(values, g.placement.memory.xp.ndarray)
        wrong = (
            f"of shape {values.shape}, not {shape}" if values.shape != shape
            else f"of {values.dtype}, not {made.dtype}" if values.dtype != made.dtype
            else f"not where the graph lies, {g.backend}" if not here
            else "not contiguous" if not values.flags.c_contiguous
            else "read-only" if here and not getattr(values.flags, "writeable", True)
            else ""
        )  # fmt: skip
        if wrong:
            raise FrontierError(f"field {name!r}: copy=False takes the array as it is, but it is {wrong}")
        return values

    def _make_wide(self, name: str, made: Field, length: int) -> None:
        """A field of several values: a contiguous array of two dimensions."""
        assert made.dtype is not None
        if not made.plain:
            fits(made.init, made.dtype, name, length, "vertices" if made.kind == "vertex" else "edges", made.width)
        divided = self.graph._topology.divided
        if divided is not None and made.kind == "edge":
            self.arrays[name] = divided.full(made.init, made.dtype, made.width)
            return
        flat = self.graph.placement.memory.full(length * made.width, 0, made.dtype)
        self.arrays[name] = array = flat.reshape(length, made.width)
        array[...] = matching(made.init, array)

    def _make_spread(self, name: str, made: Field, length: int) -> None:
        """A field of vertices of which each of several GPUs has those that it owns."""
        assert made.dtype is not None
        if not made.plain:
            fits(made.init, made.dtype, name, length, "vertices")
        given = made.init if is_device(made.init) or not np.ndim(made.init) else np.array(made.init, made.dtype)
        given = plain(given) if np.ndim(given) == 0 else given
        how = self.graph._topology.spread
        self.arrays[name] = how.vertices(given, made.dtype)
        self._spread.add(name)
        if isinstance(given, int | float | np.generic):
            self._fresh.add(name)
            self._unfilled.add(name)
        elif np.ndim(given) == 0:  # an array, which what looks at fresh fields does not expect
            how.fill([(self.arrays[name], given)])

    def _edges_of(self, divided: Any, name: str, made: Field) -> NDArray[Any]:
        """A field of edges of a graph in parts: as long as all edge slots, but only a rank's own are there."""
        if not made.plain and len(np.shape(made.init)) and not hasattr(made.init, "gather"):
            fits(made.init, made.dtype, name, self.graph.num_slots, "edges")  # type: ignore[arg-type]
        own: NDArray[Any] = divided.full(made.init, made.dtype)
        return own

    if TYPE_CHECKING:
        graph: Graph
        fields: dict[str, Field]
        arrays: dict[str, NDArray[Any]]
        scalars: dict[str, NDArray[Any]]
        piles: dict[str, Frontier]
        workspace: dict[Any, Any]
        _pairs: tuple[Pair, ...]
        _spread: set[str]
        _fresh: set[str]
        _unfilled: set[str]
        _shown: Any

    def __getattr__(self, name: str) -> Any:
        store = self.__dict__
        if name in store.get("arrays", ()):
            if name in store["_fresh"]:
                self._look_at({name})
            shown = store["_shown"]
            return store["arrays"][name] if shown is None else shown.of(self, name)
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
                if self._shown is None:
                    array[...] = matching(value, array)
                else:
                    self._shown.assign(array, matching(value, array))
        elif name in self.scalars:
            fits(value, self.scalars[name].dtype, name, None)
            self.scalars[name][0] = plain(value)
        elif name in self.piles:
            self._set_pile(name, value)
        else:
            raise AttributeError(f"the problem has no field {name!r}; it has {', '.join(self._seen())}")

    def _look_at(self, names: Collection[str]) -> None:
        """Somebody looks at fields that GPUs have not filled, or are still filling, and may write to them."""
        seen = self._fresh.intersection(names)
        if seen:
            values = [(self.arrays[name], plain(self.fields[name].init)) for name in seen & self._unfilled]
            self.graph._topology.spread.fill(values)
            self._known(seen)

    def _known(self, names: Collection[str]) -> None:
        """Fields may have any values from now on, which are in their memory."""
        self._unfilled.difference_update(names)  # first: what is unfilled is fresh, also if Ctrl-C comes in between
        self._fresh.difference_update(names)

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
        self._look_at(self.arrays)
        return {**self.__dict__, "workspace": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # Copies of arrays lie on one GPU.
        self.__dict__["_spread"] = {name for name in self._spread if spread.is_spread(self.arrays[name])}
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
