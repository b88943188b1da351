"""The code for one edge on the GPU: the condition, the functor, and whether the far end is accepted.

A balance consists of a kernel of its own, which visits edges by ``visit``, and of what all have in common:
``Edge.of(...)``, which makes ``visit`` and says what the kernel is given, and ``finish(...)``, which adds the phase.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frontier.compile.codes import BLOCK_BITS
from frontier.functors.functor import arguments
from frontier.lowering.frontier_state import ALL, HOW
from frontier.lowering.inputs import Buffer
from frontier.lowering.ir import Call, Counter, Expr, Value, cast
from frontier.lowering.kernels import Callee, Constant, Made
from frontier.lowering.variables import EPOCH
from frontier.operators.elementwise.cuda import appending, queue_of
from frontier.operators.shared.phases import frontier, slot_of_edge, visited, walked, weight_of_edge

if TYPE_CHECKING:
    from frontier.backends.cuda.device.appends import append
    from frontier.backends.cuda.device.machine import exchange, prefetch, truth
    from frontier.backends.cuda.device.names import I
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["DEDUPS", "Dedup", "Edge", "deduplication", "finish", "next_epoch", "stamps", "unique"]


# ---- kernels ---------------------------------------------------------------------------------------------


def is_hit(bits, v):
    """Whether the bitmap has a vertex."""
    return np.uint32(np.uint32(bits[v >> 5] >> np.uint32(v & 31)) & np.uint32(1)) != np.uint32(0)


def visiting(
    visit: Callee,
    where: Callee,
    take: Callee,
    renumbered: bool,
    weighted: bool,
    placed: bool,
    edge: bool,
    carries: bool,
    early: bool,
    claimed: bool,
    beside: bool,
) -> Callable[..., Any]:
    """Return a function that visits the edge at place ``k`` in the list of ``x``.

    A thread calls it for each of its edges, ``ok, item, begun = visit(p, C, slot, lists, out, x, k, far)``. It returns
    whether an item is accepted, the item, which the kernel is to append, and where the item's own list begins.

    Parameters
    ----------
    visit, where : function
        The functors, called with all that is known of an edge; ``where`` is None if there is no condition.
    take : function or None
        Tells whether an accepted item is to be appended or is a duplicate: see :func:`taking`. None if the step has no
        output.
    renumbered : bool
        Whether edges are in-edges, whose slots are looked up by their places.
    weighted, placed : bool
        Whether weights are read, and whether by the edge's place, as lists sorted by weight have them.
    edge : bool
        Whether the items are edges.
    carries, early : bool
        ``carries``: whether queues carry first slots, as they do only in programs for short lists. Then the first slot
        of the far end is read while the condition is evaluated, and its list is prefetched. ``early``: whether its
        stamp is read at that time, too.
    claimed, beside : bool
        ``claimed``: whether vertices whose bits are set in ``out.claimed`` are passed over: these bits stay in a cache
        where fields do not. ``beside``: whether the condition is evaluated at the same time, which takes less time
        where there are few edges.

    Notes
    -----
    The kernel passes on what it was given: ``p``, the problem as functors see it; ``C`` and ``slot``, the counters and
    where this phase's begin; ``lists``, the graph's adjacency lists (``offsets``, and by place ``ends``, ``in_edges``
    and ``weights``); and ``out``, the next queue with what removes duplicates from it
    (:class:`frontier.compile.argument_tuples.Queue`). Arrays that nothing reads are 0.
    """
    every, appends = where is None, take is not None
    slot_at, weight_at = slot_of_edge(renumbered), weight_of_edge(weighted)

    def visit_edge(p, C, slot, lists, out, x, k, far):
        # These loads are under way while the functor waits for its own.
        stamped = out.stamps[far] if early else np.int32(0)
        begun = I(out.degrees[far]) if carries else I(0)
        e = slot_at(lists, k)
        ok = False
        wanted = True
        if claimed:
            wanted = not is_hit(out.claimed, far)
        if beside:
            wanted = truth(where(p, C, slot, far)) and wanted
        elif not every:
            wanted = wanted and truth(where(p, C, slot, far))
        if wanted:
            weight = weight_at(lists, k if placed else e)
            if appends:
                if truth(visit(p, C, slot, x, far, e, weight)) and take(out, e if edge else far, stamped):
                    if carries:
                        prefetch(out.following, begun)
                    ok = True
            else:
                visit(p, C, slot, x, far, e, weight)
        return ok, e if edge else far, begun

    return visit_edge


def taking(how: str, early: bool) -> Callable[..., Any]:
    """Return the test that removes duplicates in the way ``how``, one of those of :func:`deduplication`.

    It tells whether an item is to be appended. If ``early``, it is given the item's stamp, which has been read already.
    """
    stamps, share, told = how == "stamp", how == "share", how == "told"

    def take(out, item, stamped):
        ok = True
        if stamps:
            held = stamped if early else out.stamps[item]
            ok = held != out.epoch and exchange(out.stamps, item, out.epoch) != out.epoch
        if share:
            out.taken[item] = np.uint8(1)
            out.blocks[item >> BLOCK_BITS] = np.uint8(1)
            ok = False
        if told:
            ok = False
        return ok

    return take


def removing_duplicates(big: bool, mode: int) -> Callable[..., Any]:
    """Appends the vertices of a queue, each once."""

    def phase(p, C, slot, w, W, queue, total, out):
        first = w - (w & 31)
        while first < total:
            ok = False
            item = np.int64(0)
            if first + (w & 31) < total:
                item = np.int64(queue[first + (w & 31)])
                ok = exchange(out.stamps, item, out.epoch) != out.epoch
            append(C, slot, big, out.queue, out.scan, mode, out.degrees, out.capacity, ok, item, True)
            first += W

    return phase


# ---- lowering --------------------------------------------------------------------------------------------


class Dedup(NamedTuple):
    """A way to remove duplicates that a schedule or a step asks for.

    A step takes it where it is ``chosen``. Then ``out`` has what is ``given``, besides the queue; ``taking`` returns
    ``take(out, item, stamped)``, which tells whether an accepted item is to be appended; ``before`` and ``after`` add
    what comes before and after the phase. ``appends`` and ``culls`` are those of :class:`Edge`.
    """

    chosen: Callable[[Advance, CudaProgram], bool]
    taking: Callable[[], Callable[..., Any]]
    given: Callable[[CudaProgram], dict[str, Value]]
    before: Callable[[CudaProgram], None]
    after: Callable[[CudaProgram, FrontierState, FrontierState, str], None] | None = None
    appends: bool = True
    culls: bool = False


#: By name; a step takes the first that is chosen. Filled by the folder's ``__init__.py``.
DEDUPS: dict[str, Dedup] = {}


class Edge(NamedTuple):
    """The parts that all phases of a push share, for one step.

    Attributes
    ----------
    visit : Made
        What visits an edge, a constant for the balance's factory: the function that :func:`visiting` returns.
    take : Made or None
        Tells whether an item is to be appended. ``visit`` contains it already; it is for kernels with items that are no
        far ends, such as vertices that are held back.
    lists, out : Call
        The kernel's arguments of these names: the adjacency lists, and the queue to append to.
    next_scan : str
        Which prefix sum of degrees appends write beside the ids: ``"out"``, ``"in"`` or ``""``, for :func:`finish`.
    appends : dict
        Further constants for the factory. ``appends``: whether the phase appends anything. ``culls``: whether a warp's
        items need the last test of a cull, ``first_in_warp``. ``big`` and ``mode``: how appends count, and what they
        write beside the ids (arguments of the functions in ``backends/cuda/appends.py``).
    """

    visit: Made
    take: Made | None
    lists: Call
    out: Value
    next_scan: str
    appends: dict[str, Constant]

    @classmethod
    def of(cls, step: Advance, b: CudaProgram, target: FrontierState, after: str) -> Edge:
        """Make the parts for one step that writes to ``target``; ``after`` is the scan that the next step wants."""
        near = "src" if step.far == "dst" else "dst"
        # loads: the constants renumbered and weighted of visiting, which depend on the functors' arguments.
        names = arguments(step.fn, "edge")
        lists, loads = visited(b, step.edges, names, step.output == "edge", step.stop is not None)
        how, next_scan, take = deduplication(step, b), "", None
        dedup = DEDUPS.get(how)
        early = how == "stamp" and b.low_degree
        # Where lists are short, few edges lead to vertices of other GPUs, and a level takes as long as its loads.
        passes_over = how == "told" or (how == "direct" and not b.build.short)
        out: Value = 0
        if step.output is not None:
            # Queues of edges get no scan.
            out, next_scan = queue_of(b, target, step.output, after)
            more = dedup.given(b) if dedup is not None else stamps(b) if how == "stamp" else {}
            if b.acceptance is not None:
                more |= b.acceptance.tests(step, target, passes_over)
            if b.carries(next_scan):
                more["following"] = b.lists(next_scan)[1]
            out, next_scan = queue_of(b, target, step.output, after, **more)
            take = Made(dedup.taking, {}) if dedup is not None else Made(taking, {"how": how, "early": early})
        visit: dict[str, Constant] = {
            "visit": b.calling(step.fn, "edge", (near, step.far, "edge", "weight")),
            "where": b.calling(step.where, step.far, (step.far,)) if step.where is not None else None,
            "take": take,
            **loads,
            "edge": step.output == "edge",
            "carries": b.carries(next_scan),
            "early": early,
            "claimed": passes_over,
            "beside": passes_over and how == "direct" and step.where is not None,
        }
        culls = dedup is not None and dedup.culls
        appends = {"appends": step.output is not None and _appends(how), "culls": culls, **appending(b, next_scan)}
        return cls(Made(visiting, visit), take, lists, out, next_scan, appends)


def deduplication(step: Advance, b: CudaProgram) -> str:
    """Choose how duplicates are removed from the next queue: in one of the ways in ``DEDUPS``, or in one of these.

    ``""``: the functor accepts no vertex twice. ``stamp``: an atomic exchange of the vertex's stamp. ``share``:
    accepted vertices are marked, and owners look at what all GPUs have marked. ``told``: the functor's own changes mark
    them. ``direct``: they are appended to their owners' queues.
    """
    if step.output != "vertex":
        return ""
    if b.acceptance is not None:
        return b.acceptance.how(step)
    chosen = (name for name, dedup in DEDUPS.items() if not b.low_degree and dedup.chosen(step, b))
    return next(chosen, "" if step.unique == "claimed" else "stamp")


def stamps(b: CudaProgram) -> dict[str, Value]:
    """The stamps of vertices, and that of the present step, as parts of a queue."""
    return {"stamps": b.array("stamps", Buffer("vertex_stamps"), "int32"), "epoch": cast("int32", EPOCH)}


def next_epoch(b: CudaProgram) -> None:
    """Begin a step with a stamp of its own."""
    b.set(EPOCH, EPOCH + 1)


def finish(
    step: Advance,
    b: CudaProgram,
    made: Call,
    source: FrontierState,
    target: FrontierState,
    next_scan: str,
    seen: Expr,
    how: int,
) -> None:
    """Add the phase itself: before it, what the tests for duplicates need; after it, what becomes of its results.

    Parameters
    ----------
    made : Call
        The kernel's call, as ``b.kernel`` returns it.
    source, target : FrontierState
        The frontier that was read, and the one to which the phase appended: after the barrier, the variables of the
        latter (queue, count, number of edges, form) are set from the phase's counters.
    next_scan : str
        As in :class:`Edge`.
    seen, how
        For rows of a trace only: the number of edges visited, and the balance, one of the constants ``PUSH...`` of
        :mod:`frontier.lowering.frontier_state`, or ``pushed_by(name)`` of that module for a registered one.
    """
    kept = deduplication(step, b)
    dedup = DEDUPS.get(kept)
    if kept == "stamp":
        next_epoch(b)
    if dedup is not None:
        dedup.before(b)
    after = walked(how, seen)
    if step.held is not None:
        after.append(b.assign(step.held, Counter("HELD" if b.holds else "PILE_COUNT")))
    if step.output is not None and _appends(kept):
        after += b.frontiers.produced(target, step.output, next_scan)
    b.phase(made, after, f"push along {step.edges}-edges ({HOW[how][1]})", [step.fn, step.where, step.hold, step.stop])
    if dedup is not None and dedup.after is not None:
        dedup.after(b, source, target, next_scan)


def _appends(how: str) -> bool:
    """Whether the phase of a push appends what is accepted, where duplicates are removed in the way ``how``."""
    return DEDUPS[how].appends if how in DEDUPS else how not in ("share", "told", "direct")


def unique(b: CudaProgram, current: FrontierState) -> None:
    """Add the phase that removes the duplicates which a cull may have left in a queue of vertices."""
    if b.low_degree or current.kinds != {"vertex"}:
        return
    after = b.next_scan
    b.frontiers.sparse(current)
    with b.when(b.frontiers.other_than(current, ALL)):
        given = frontier(b, current, "vertex")
        del given["everything"]
        given["out"], next_scan = queue_of(b, current, "vertex", after, **stamps(b))
        next_epoch(b)
        made = b.kernel("unique", removing_duplicates, given, **appending(b, next_scan))
        b.phase(made, b.frontiers.produced(current, "vertex", next_scan), "remove duplicates")
