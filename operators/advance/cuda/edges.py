"""What happens at one edge on the GPU: conditions, the functor, and whether its end is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.ir import Assign, Call, Counter, Expr, Node, Together, Value, Var, both, cast, either
from frontier.lowering.registers import ALL, QUEUE
from frontier.lowering.variables import EPOCH, SLOT, WORDS, WORKER, WORKERS
from frontier.operators.advance.edges import edge_lines, pushing, walked
from frontier.operators.cuda.elementwise import output
from frontier.operators.phases import frontier, indented

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.registers import Register
    from frontier.operators.advance import Advance

__all__ = ["accept", "append", "converged", "finish", "keep", "scan_marks", "unique", "way"]


def way(step: Advance, b: CudaProgram) -> str:
    """How an element gets into the next queue at most once.

    ``""``: the functor sees to it. ``stamp``: an exchange. ``bitmap``: an atomic on a bit. ``cull``: cheap tests that
    let some through twice, where only queues of the loop hold the frontier. ``mark``: the queue is made of marks.
    """
    if step.output != "vertex":
        return ""
    if b.narrow:
        return "" if step.unique == "claimed" else "stamp"
    if b.schedule.queue == "scan":
        return "mark"
    if step.unique == "claimed":
        return ""
    only_queues = len(b.loops) > 1 and not b.records and not b.layout.of_kind("pile")
    if step.unique == "cull" and step.hold is None and only_queues:
        return "cull"
    return "bitmap" if b.schedule.dedup == "bitmap" else "stamp"


def accept(
    step: Advance,
    b: CudaProgram,
    target: Register,
    after: str,
    parameters: dict[str, Value],
    end: str = "np.int64(ends[k])",
) -> tuple[list[str], str]:
    """Lines for one edge ``k`` of ``x`` that set ``ok`` and ``item``; which scan the next queue gets.

    Where queues carry first slots, that of the far end is read beside the condition, and its list is fetched ahead.
    """
    lines, call, where = edge_lines(step, b, parameters, end)
    want = ""
    if step.output is None:
        take = [call]
    else:
        want = output(b, target, step.output, after, parameters)
        edge = "e" if "in_edges" in parameters else "k"
        item = step.far if step.output == "vertex" else f"np.int64({edge})"
        take = ["ok = True", f"item = {item}"]
        carries = b.carries(want)
        if carries:
            lines.insert(1, f"begun = I(degrees[{step.far}])")
            take.insert(1, "prefetch(following, begun)")
        how = way(step, b)
        take = [f"if truth({call}):", *indented(_once(how, b, item, take, parameters))]
        if how == "stamp" and b.narrow:
            lines.insert(1, f"stamped = stamps[{step.far}]")  # on its way while the functor waits for its own loads
        if carries:
            parameters["following"] = b.lists(want)[1]
    if where is not None:
        take = [f"if truth({where}):", *indented(take)]
    return [*lines, *take], want


def keep(step: Advance, b: CudaProgram, want: str, parameters: dict[str, Value]) -> list[str]:
    """Lines that take the vertex ``x`` itself into the next queue."""
    how = way(step, b)
    take = ["ok = True", "item = x", *(["begun = I(degrees[x])"] if b.carries(want) else [])]
    return [*(["stamped = stamps[x]"] if how == "stamp" and b.narrow else []), *_once(how, b, "x", take, parameters)]


def _once(how: str, b: CudaProgram, item: str, take: list[str], parameters: dict[str, Value]) -> list[str]:
    """Lines that take an item, unless it has been taken in this phase."""
    if how in ("stamp", "cull", "mark"):
        parameters["stamps"] = b.array("stamps", "stamps", "int32")
        parameters["epoch"] = cast("int32", EPOCH)
    if how in ("bitmap", "cull"):
        parameters["taken"] = b.array("taken", "bits", "uint32")
    if how == "mark":
        return [f"stamps[{item}] = epoch"]
    if how == "stamp":
        held = "stamped" if b.narrow else f"stamps[{item}]"
        return [f"if {held} != epoch and exchange(stamps, {item}, epoch) != epoch:", *indented(take)]
    if how == "bitmap":
        return [f"if take_bit(taken, {item}):", *indented(take)]
    if how == "cull":
        ids, offsets = (8 if name == "int64" else 4 for name in (b.layout.ids, b.layout.offsets))
        # The call's argument is evaluated by all threads before the phase: it empties the history.
        b.scratch = True
        place = Var("FREE") + (offsets + 2 * ids + 4) * Var("TILE")
        parameters["history"] = Call("empty_history", Call(f"{b.layout.ids}_shared", place))
        return [f"if not culled(taken, history, stamps, epoch, {item}):", *indented(take)]
    return take


def converged(step: Advance, b: CudaProgram) -> list[str]:
    """Lines after an edge, where the lanes of a warp are together again: the last of the tests of a cull."""
    return ["ok = first_in_warp(ok, item)"] if way(step, b) == "cull" else []


def append(step: Advance, b: CudaProgram, want: str) -> list[str]:
    """Lines with which a warp appends what its lanes have taken."""
    if step.output is None or way(step, b) == "mark":
        return []
    if b.carries(want):
        return ["append_start(C, slot, out, out_scan, capacity, ok, item, begun)"]
    where = f"out, out_scan, {b.mode(want).name}, degrees, capacity"
    strict = way(step, b) != "cull"
    return [*converged(step, b), f"append(C, slot, {b.big}, {where}, ok, item, {strict})"]


def finish(
    step: Advance, b: CudaProgram, made: Call, source: Register, target: Register, want: str, seen: Expr, how: int
) -> None:
    """The phase itself, after what its tests need, then what it has produced. ``how`` is for the trace."""
    kept = way(step, b)
    if kept in ("stamp", "cull", "mark"):
        b.set(EPOCH, EPOCH + 1)
    n = b.capacity("vertex")
    if kept in ("bitmap", "cull"):
        b.phase(b.divided("fill_bits", b.array("taken", "bits", "uint32"), n), title="clear the marks")
    after = walked(how, seen)
    if step.held is not None:
        after.append(b.assign(step.held, Counter("HELD" if b.holds else "PILE_COUNT")))
    if step.output is not None and kept != "mark":
        after += b.produced(target, step.output, want)
    b.phase(made, after, pushing(step, how), [step.fn, step.where, step.hold])
    if kept == "mark":
        large = both(b.other_than(source, QUEUE), source.edges > (n >> 2))
        scan_marks(b, target, want, large if want and not b.big else None)
    elif kept == "cull":
        # More than there is room for: the stamps have the same set without duplicates.
        with b.when(either(target.count > n, target.edges > b.capacity("edge"), target.edges < 0)):
            scan_marks(b, target, want, None)


def scan_marks(b: CudaProgram, target: Register, want: str, large: Expr | None) -> None:
    """Make the next queue of the vertices that are stamped with the present epoch.

    Warps go over the stamps side by side, which leaves the queue out of order; where ``large`` holds, each block has a
    piece of them, so that it is in order, after a phase more that counts what each will find.
    """
    parameters: dict[str, Value] = {}
    want = output(b, target, "vertex", want, parameters)
    if large is None:
        _marks_by_warps(b, target, want, parameters)
        return
    with b.when(large) as branch:
        _marks_by_blocks(b, target, want, parameters)
    with b.otherwise(branch):
        _marks_by_warps(b, target, want, parameters)


def _stamps(b: CudaProgram) -> tuple[Value, Value, Value]:
    """The stamps, the present epoch, and how many stamps there are."""
    return b.array("stamps", "stamps", "int32"), cast("int32", EPOCH), b.capacity("vertex")


def _marks_by_blocks(b: CudaProgram, target: Register, want: str, parameters: dict[str, Value]) -> None:
    before, found = b.variable("before"), b.variable("found")
    degrees = parameters["degrees"]
    counted = [
        Assign(before, SLOT),
        Together(found, Call("combined_int", WORDS, SLOT, Var("SUM"), 0)),
    ]
    b.phase(Call("count_marks", WORDS, SLOT, *_stamps(b), degrees), counted, "count the marks")
    after: list[Node] = [
        *b.produced(target, "vertex", want),
        Assign(target.count, found & 0xFFFFFFFF),
        Assign(target.edges, found >> 32),
    ]
    out = (parameters["out"], parameters["out_scan"], b.mode(want), degrees, parameters["capacity"])
    b.phase(Call("write_marks", WORDS, SLOT, before, *_stamps(b), *out), after, "list the marked vertices in order")


def _marks_by_warps(b: CudaProgram, target: Register, want: str, parameters: dict[str, Value]) -> None:
    b.scratch = True
    size = 8 if b.layout.ids == "int64" else 4
    warp = Call("thread_index") >> cast("int32", 5)
    held = Call(f"{b.layout.ids}_shared", Var("FREE") + size * Call("part_of_warp") * warp)
    out = (parameters["out"], parameters["out_scan"], b.mode(want), parameters["degrees"], parameters["capacity"])
    call = Call("queue_of_marks", WORDS, SLOT, b.big, WORKER, WORKERS, *_stamps(b), *out, held)
    b.phase(call, b.produced(target, "vertex", want), "list the marked vertices")


def unique(b: CudaProgram, register: Register) -> None:
    """Add the phase that removes the duplicates which a cull may have left in a queue of vertices."""
    if b.narrow or register.kinds != {"vertex"}:
        return
    after = b.want
    b.sparse(register)
    with b.when(b.other_than(register, ALL)):
        parameters = frontier(b, register, "vertex")
        want = output(b, register, "vertex", after, parameters)
        parameters["stamps"] = b.array("stamps", "stamps", "int32")
        parameters["epoch"] = cast("int32", EPOCH)
        body = [
            "first = w - (w & 31)",
            "while first < total:",
            "    ok = False",
            "    item = np.int64(0)",
            "    if first + (w & 31) < total:",
            "        item = np.int64(queue[first + (w & 31)])",
            "        ok = exchange(stamps, item, epoch) != epoch",
            f"    append(C, slot, {b.big}, out, out_scan, {b.mode(want).name}, degrees, capacity, ok, item, True)",
            "    first += W",
        ]
        b.set(EPOCH, EPOCH + 1)
        b.phase(b.function("unique", parameters, body), b.produced(register, "vertex", want), "remove duplicates")
