"""Gather on the GPU, by in-degree class: a thread, a warp or a block processes a vertex, so no atomics are needed.

A warp takes 32 vertices. Its lanes process short lists individually; then the whole warp processes the longer ones, one
after another. The longest lists are put aside for a separate phase in which blocks process them, each taking the next
one when it has finished, so that no block is left with all the hubs. In a low-degree variant that processes few
vertices at a time, a few lanes share each list. A warp processes lists of medium length two at a time, see
:mod:`frontier.operators.gather.cuda_pairs`; for fields with several values see
:mod:`frontier.operators.gather.cuda_rows`. Where the edges lie in the host's memory and all vertices gather, or so many
that this takes less time, the lists are brought window by window, see :mod:`frontier.operators.shared.cuda_stream`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.compile.keys import LAST
from frontier.errors import FrontierError
from frontier.functors.functor import arguments
from frontier.lowering.frontier_state import PULL, PUSH_THREAD, STREAM
from frontier.lowering.inputs import Buffer, WorkerTable
from frontier.lowering.ir import Assign, Call, Choice, Counter, Expr, Node, Value, either, equal, expression
from frontier.lowering.kernels import Constant, Made
from frontier.lowering.variables import BROUGHT, SEEN
from frontier.operators.gather.cuda_kernels import BLOCK, by_blocks, by_lanes, by_lists, storing, walking
from frontier.operators.gather.cuda_mode import by_blocks as blocks_of_mode
from frontier.operators.gather.cuda_mode import by_warps, tallying, voting
from frontier.operators.gather.cuda_mode import storing as storing_mode
from frontier.operators.gather.cuda_pairs import pairing
from frontier.operators.gather.cuda_rows import rows_by_blocks, rows_by_lanes, storing_rows, walking_rows
from frontier.operators.gather.phases import gathering_edges
from frontier.operators.shared.cuda import operation
from frontier.operators.shared.cuda_far import nearly_ascending, prepare_stream
from frontier.operators.shared.cuda_stream import Stream, apart, copies
from frontier.operators.shared.phases import elements, join_of, nearer, walked
from frontier.operators.shared.reductions import ENDS, MODE
from frontier.program.effects import effects

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.gather import Gather

__all__ = ["lower"]


def lower(step: Gather, b: CudaProgram, current: FrontierState) -> None:
    """Add the phases; the values of a vertex are always combined in the same order."""
    if current.kinds != {"vertex"}:
        raise FrontierError("Gather runs over a frontier of vertices")
    b.frontiers.sparse(current)
    if step.edges == "in":
        b.needs_in = True
    how = _Rows(step, b) if step.rows else _Modes(step, b) if step.op == MODE else _Kernels(step, b)
    if isinstance(how, _Rows) or not b.build.streams:
        if b.build.streams:
            nearly_ascending(b, current, "out")
        _in_place(step, b, current, how)
        return
    stream = Stream(b, step.edges, **how.loads, current=current)
    chosen = prepare_stream(b, current, stream, step.edges)
    if current.whole:
        _streamed(step, b, stream, how)
        return
    with b.when(chosen) as branch:
        _streamed(step, b, stream, how)
    with b.otherwise(branch):  # in order, if the frontier is large
        _in_place(step, b, current, how)


class _Kernels:
    """The kernels of a gather, for lists wherever they are.

    Attributes
    ----------
    lists : Call
        The lists where the graph has them.
    loads : dict
        What is loaded of an edge: ``renumbered``, ``weighted``.
    """

    def __init__(self, step: Gather, b: CudaProgram) -> None:
        self.lists, edges = gathering_edges(step, b)
        self.loads = {name: bool(edges[name]) for name in ("renumbered", "weighted")}
        together: dict[str, Constant] = {"op": 0, "join": None}
        if step.reduction is not None:
            join = join_of(b, step.reduction, b.layout.dtype(step.into))
            together = {"op": operation(step.reduction), "join": join}
        self._walk, store, self._pairs = _parts(step, b, edges, together)
        self._parts: dict[str, Constant] = {"walk": self._walk, "store": store, "ends": step.op in ENDS, **together}
        self._b, self._name = b, step.fn.__name__
        b.low_occupancy = b.low_occupancy or (self._pairs is not None and not b.low_degree)

    def short(self, given: dict[str, Value], dealt: bool) -> Call:
        """Return the call that reduces short lists, and puts the longest aside, if there are any."""
        b, parts = self._b, self._parts
        if b.low_degree and not b.build.dense:
            return b.kernel(self._name, by_lanes, given, **parts, lanes=b.build.lanes)
        longer = not b.low_degree
        pairs = self._pairs if longer else None
        return b.kernel(self._name, by_lists, given, **parts, pairs=pairs, longer=longer, dealt=dealt and longer)

    def long(self, given: dict[str, Value]) -> Call:
        """Return the call that reduces the lists put aside."""
        real = bool(self._walk.constants["real"])
        return self._b.kernel(f"{self._name}_long", by_blocks, given, **self._parts, real=real)


class _Modes:
    """The kernels of a gather of the most frequent values, for lists wherever they are; see :class:`_Kernels`."""

    def __init__(self, step: Gather, b: CudaProgram) -> None:
        self.lists, edges = gathering_edges(step, b)
        self.loads = {name: bool(edges[name]) for name in ("renumbered", "weighted")}
        self._vote, self._store = Made(voting, edges), Made(storing_mode, {"unsigned": edges["unsigned"]})
        self._tables: dict[str, Value] = {
            "keys": b.array(f"table_keys_{step.edges}", WorkerTable("keys", step.edges), "int64"),
            "counts": b.array(f"table_counts_{step.edges}", WorkerTable("counts", step.edges), b.layout.offsets),
            "size": b.input(f"table_size_{step.edges}", WorkerTable("size", step.edges), "slots of a warp's table"),
        }
        self._b, self._name = b, step.fn.__name__

    def short(self, given: dict[str, Value], dealt: bool) -> Call:
        """Return the call that counts short lists, and puts the longest aside, if there are any."""
        tally = Made(tallying, {"vote": self._vote, "block": False})
        parts: dict[str, Constant] = {"vote": self._vote, "tally": tally, "store": self._store}
        longer = not self._b.low_degree
        given = given | self._tables
        return self._b.kernel(self._name, by_warps, given, **parts, longer=longer, dealt=dealt and longer)

    def long(self, given: dict[str, Value]) -> Call:
        """Return the call that counts the lists put aside."""
        tally = Made(tallying, {"vote": self._vote, "block": True})
        made = given | self._tables
        return self._b.kernel(f"{self._name}_long", blocks_of_mode, made, tally=tally, store=self._store)


class _Rows:
    """The kernels of a gather into a field with several values; see :class:`_Kernels`."""

    def __init__(self, step: Gather, b: CudaProgram) -> None:
        self.lists, edges = gathering_edges(step, b)
        self._add, self._real, self._width = edges["add"], bool(edges["real"]), b.width(step.into)
        self._store = Made(storing_rows, {"width": self._width, "flag": edges.pop("flag")})
        self._walk = Made(walking_rows, edges)
        self._b, self._name = b, step.fn.__name__

    def short(self, given: dict[str, Value], dealt: bool) -> Call:
        """Return the call that reduces short lists, and puts the longest aside, if there are any."""
        parts: dict[str, Constant] = {"walk": self._walk, "store": self._store, "width": self._width}
        return self._b.kernel(self._name, rows_by_lanes, given, **parts, longer=not self._b.low_degree)

    def long(self, given: dict[str, Value]) -> Call:
        """Return the call that reduces the lists put aside."""
        parts: dict[str, Constant] = {"walk": self._walk, "store": self._store, "width": self._width}
        self._b.scratch = True  # where the results of its groups meet
        made = rows_by_blocks
        return self._b.kernel(f"{self._name}_long", made, given, **parts, add=self._add, real=self._real)


def _in_place(step: Gather, b: CudaProgram, current: FrontierState, how: _Kernels | _Modes | _Rows) -> None:
    """Add the phases that read lists where the graph has them."""
    given = elements(b, current, "vertex") | {"lists": how.lists, "into": b.field(step.into)}
    title, functors, writes = _title(step), [step.fn, step.where], [step.into]
    after: list[Node] = walked(PULL if step.edges == "in" else PUSH_THREAD, Counter("EXAMINED"))
    if b.low_degree:
        b.phase(how.short(given, dealt=False), after, title, functors, writes)
        return
    held, aside, room = b.variable("held"), b.array("long_lists", Buffer("vertex_queue", BLOCK), b.layout.ids), _room(b)
    after.append(Assign(held, Call("min", Counter("PILE_COUNT"), room)))
    made = how.short(given | {"aside": aside, "room": room}, dealt=not b.build.bounded)
    b.phase(made, after, f"{title} over short lists", functors, writes)
    with b.when(held > 0):
        made = how.long({"lists": how.lists, "into": given["into"], "aside": aside, "held": held})
        b.phase(made, (), f"{title} over the long lists put aside", functors, writes)


def _streamed(step: Gather, b: CudaProgram, stream: Stream, how: _Kernels | _Modes) -> None:
    """Add the phases that bring lists window by window.

    In one phase the next window arrives, the short lists of this one are reduced, and the long ones of the one before.
    """
    into = b.field(step.into)
    title, functors, writes = _title(step), [step.fn, step.where], [step.into]
    room, held = _room(b), b.variable("held")
    asides = [b.array(f"long_lists{side}", Buffer("vertex_queue", BLOCK), b.layout.ids) for side in ("", "_too")]
    b.set(held, 0)
    b.add(*stream.begin(), *walked(STREAM, expression(0)))
    first, *others = stream.copies(alone=True)
    b.phase(first, title=f"{title}: the first window arrives").more = tuple(others)
    with b.loop(title):
        b.leave_loop(unless=either(stream.at < stream.number, held > 0))
        odd = equal(stream.turn & 1, 1)
        given: dict[str, Value] = {**stream.vertices(), "lists": stream.lists(), "into": into}
        examined = Counter("EXAMINED")
        after: list[Node] = [
            Assign(SEEN, SEEN + examined), Assign(BROUGHT, BROUGHT + stream.brought() - examined), *stream.go_on()
        ]  # fmt: skip
        calls = []
        if not b.low_degree:
            given |= {"aside": Choice(odd, asides[1], asides[0]), "room": room}
            before = {"aside": Choice(odd, asides[0], asides[1]), "held": Choice(copies(), 0, held)}
            calls.append(apart(how.long({"lists": stream.lists(behind=1), "into": into, **before})))
            after.append(Assign(held, Call("min", Counter("PILE_COUNT"), room)))
        first, *others = stream.copies()
        made = b.phase(first, after, f"{title} over a window, while the next arrives", functors, writes)
        made.more = (*others, apart(how.short(given, dealt=False)), *calls)


def _title(step: Gather) -> str:
    return f"gather along {step.edges}-edges: {step.op}"


def _room(b: CudaProgram) -> Expr:
    """How many lists may be put aside: no graph has more so long ones."""
    return b.capacity("edge") // BLOCK + 1


def _parts(
    step: Gather, b: CudaProgram, edges: dict[str, Constant], together: dict[str, Constant]
) -> tuple[Made, Made, Made | None]:
    """Return what reduces a list, what stores a result, and what reduces lists in pairs, if that pays."""
    ends = step.op in ENDS
    if ends:
        edges = edges | {"add": Made(nearer, {"op": edges["op"]}), "identity": LAST, "real": False, "flag": False}
        del edges["op"]
    flag = edges.pop("flag")
    # Where a few lanes share each list, and all are short, a lane has only one or two edges.
    walk = Made(walking, {**edges, "ends": ends, "several": not b.low_degree or b.build.dense})
    store = Made(storing, {"ends": ends, "flag": flag})
    found = effects(step.fn)
    harmless = step.where is None and found.exact and not found.writes and not found.atomics and not ends
    if not (harmless and b.build.dense):  # betweenness, whose kernel has no registers to spare, loses by pairs
        return walk, store, None
    given = {name: each for name, each in edges.items() if name != "where"}
    near = step.near in arguments(step.fn, "edge")
    return walk, store, Made(pairing, {**given, **together, "store": store, "near": near})
