"""How many bytes a graph, and a primitive on it, take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from frontier import _host
from frontier.errors import DeviceMemoryError, FrontierMemoryError, GraphError

if TYPE_CHECKING:
    from frontier.graph import Graph

__all__ = [
    "MemoryEstimate",
    "check_room",
    "estimate",
    "explained",
    "free_memory",
    "lacking",
    "register_memory",
    "telling",
]


#: Less than this is not worth asking the system for, which takes it 60 microseconds; a GPU takes longer.
SMALL, SMALL_GPU = 1 << 24, 1 << 28

#: What would help where the host's memory is too small.
HINT = "a smaller graph, narrower dtypes or fewer arrays in use would help (see Graph.memory_estimate)"

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def free_memory() -> int:
    """Bytes of memory that this process could still have; what no machine has where that cannot be told."""
    return _host.free()[0]


def check_room(needed: int, what: str, hint: str, backend: str = "cpu") -> None:
    """Refuse what has no chance to fit into memory, before any is taken: the system kills a process for it.

    Parameters
    ----------
    needed : int
        Bytes.
    what, hint : str
        What needs them, and what would help.
    backend : str
        Whose memory: the host's, or that of a GPU.

    Raises
    ------
    FrontierMemoryError
        With the bytes needed and free, and what would help.
    """
    if backend.startswith("cuda"):
        if needed >= SMALL_GPU:
            from frontier import device

            free = device.free_memory(backend, needed)
            if needed > free:
                raise lacking(needed, free, what, hint, f" on {backend}")
    elif needed >= SMALL:
        free, where = _host.free()
        if needed > free:
            raise _error(FrontierMemoryError, needed, free, what, hint, where)


def lacking(needed: int, free: int, what: str, hint: str, where: str) -> DeviceMemoryError:
    """The error for something that does not fit into the memory of a GPU."""
    return _error(DeviceMemoryError, needed, free, what, hint, where)


def explained(error: Exception, what: str) -> FrontierMemoryError:
    """The error for what has not found its memory, where nobody had asked first; one of our own stays."""
    if isinstance(error, FrontierMemoryError):
        return error
    needed = getattr(error, "_total_size", 0)  # NumPy says how much it was
    free, where = _host.free()
    if needed:
        return _error(FrontierMemoryError, needed, free, what, HINT, where, "more ")
    return FrontierMemoryError(f"{what}: memory ran out, {free:,} bytes are free{where}; {HINT}")


def telling(what: str) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Let a function that runs out of memory raise an error of ours that says what was being done: a decorator."""

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @wraps(function)
        def call(*given: Parameters.args, **named: Parameters.kwargs) -> Result:
            try:
                return function(*given, **named)
            except MemoryError as error:
                raise explained(error, what) from None

        return call

    return decorate


Kind = TypeVar("Kind", bound=FrontierMemoryError)


def _error(
    kind: type[Kind], needed: int, free: int, what: str, hint: str, where: str, more: str = ""
) -> Kind:
    return kind(
        f"{what}: at least {needed:,} {more}bytes are needed ({needed / 2**30:,.1f} GiB), {free:,} are free{where} "
        f"({free / 2**30:,.1f} GiB); {hint}"
    )


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes that a graph, and a program on it, take; ``int`` of it is the total.

    Attributes
    ----------
    csr : int
        Offsets, targets and weights.
    in_edges : int
        In-edges, where they are built or needed and not shared with the out-edges.
    columns : int
        Columns, labels (of objects: the references), and other arrays already derived.
    fields : int
        The fields of the primitive or program, and its frontiers.
    making : int
        What making the in-edges takes for a while, beside what they keep; not in the total.
    """

    csr: int
    in_edges: int
    columns: int
    fields: int
    making: int = 0

    @property
    def total(self) -> int:
        """All that stays."""
        return self.csr + self.in_edges + self.columns + self.fields

    def __int__(self) -> int:
        return self.total

    def __str__(self) -> str:
        rows = [("graph", self.csr), ("in-edges", self.in_edges), ("columns", self.columns)]
        rows += [("fields", self.fields), ("total", self.total)]
        rows += [("for a while", self.making)] if self.making else []
        return "\n".join(f"{name:11}{size / 2**20:12,.1f} MiB" for name, size in rows)


@dataclass(frozen=True)
class _Needs:
    bytes_per_vertex: int = 0
    in_edges: bool = False
    edge_ids: bool = False
    pulls: bool = False
    slots: int = 0


_primitives: dict[str, _Needs] = {}


def register_memory(
    primitive: str,
    bytes_per_vertex: int,
    *,
    in_edges: bool = False,
    edge_ids: bool = False,
    pulls: bool = False,
    slots: int = 0,
) -> None:
    """Tell ``Graph.memory_estimate`` what a primitive needs beside the graph.

    Parameters
    ----------
    primitive : str
        Its name.
    bytes_per_vertex : int
        Bytes of its fields and frontiers for each vertex.
    in_edges : bool
        Whether it walks in-edges.
    edge_ids : bool
        Whether it also needs the edge slot of each in-edge (weights, edge fields).
    pulls : bool
        Whether its searches may turn to a pull, which walks in-edges.
    slots : int
        How many of the numbers for each vertex count edge slots: with more than 2**31 of these they are twice as wide.
    """
    _primitives[primitive] = _Needs(bytes_per_vertex, in_edges, edge_ids, pulls, slots)


def estimate(graph: Graph, primitive: str | None, in_edges: bool, bytes_per_vertex: int) -> MemoryEstimate:
    """Do the work of ``Graph.memory_estimate``."""
    needs = _Needs() if primitive is None else _needs_of(primitive)
    topology, built = graph._topology, graph._topology.built()
    walked = needs.in_edges or (needs.pulls and _may_pull(graph))
    in_lists = in_edges or walked or "in_lists" in built
    permutation = (walked and needs.edge_ids) or "in_edges" in built
    csr = [topology.offsets, topology.targets, topology.weights]
    columns = [topology.labels, *topology.vertices.values(), *topology.edges.values()]
    columns += [built.get(name) for name in ("sources", "out_degree", "in_degree")]
    shared = making = 0
    if in_lists and not graph.symmetric:
        shared = topology.offsets.nbytes + topology.targets.nbytes
        ready = ("in_edges" if permutation else "in_lists") in built
        making = 0 if ready else _making(graph, permutation)
    wide = needs.slots * (topology.offsets.itemsize - 4)
    return MemoryEstimate(
        csr=sum(array.nbytes for array in csr if array is not None),
        in_edges=shared + (graph.num_slots * topology.offsets.itemsize if permutation else 0),
        columns=sum(array.nbytes for array in columns if array is not None),
        fields=graph.num_vertices * (bytes_per_vertex + needs.bytes_per_vertex + wide),
        making=making,
    )


def _may_pull(graph: Graph) -> bool:
    """Whether a search with ``direction="auto"`` may; on a GPU it does not where all lists are short."""
    from frontier._derived import short_lists

    return not (graph.backend.startswith("cuda") and short_lists(graph))


def _making(graph: Graph, permutation: bool) -> int:
    """Bytes that sorting edges takes, less those of the sources and slots that stay."""
    from frontier._build_arrays import bytes_for

    targets, offsets = graph._topology.targets.itemsize, graph._topology.offsets.itemsize
    kept = targets + (offsets if permutation else 0)
    return bytes_for(graph.num_slots, both=False, carry=permutation) - graph.num_slots * kept


def _needs_of(primitive: str) -> _Needs:
    if primitive not in _primitives:
        from frontier.registry import primitives

        primitives()  # importing them registers them
    try:
        return _primitives[primitive]
    except KeyError:
        known = ", ".join(sorted(_primitives)) or "none is registered"
        raise GraphError(f"nothing is known of the memory of {primitive!r}: {known}") from None
