"""What happens at one edge on the GPU: conditions, the functor, and whether its end is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.registers import ALL, QUEUE
from frontier.operators.advance.edges import edge_lines
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
    parameters: dict[str, str],
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
        carries = b.mode(want) == "START"
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


def keep(step: Advance, b: CudaProgram, want: str, parameters: dict[str, str]) -> list[str]:
    """Lines that take the vertex ``x`` itself into the next queue."""
    how = way(step, b)
    take = ["ok = True", "item = x", *(["begun = I(degrees[x])"] if b.mode(want) == "START" else [])]
    return [*(["stamped = stamps[x]"] if how == "stamp" and b.narrow else []), *_once(how, b, "x", take, parameters)]


def _once(how: str, b: CudaProgram, item: str, take: list[str], parameters: dict[str, str]) -> list[str]:
    """Lines that take an item, unless it has been taken in this phase."""
    if how in ("stamp", "cull", "mark"):
        parameters["stamps"] = b.array("stamps", "stamps", "int32")
        parameters["epoch"] = f"np.int32({b.keep('epoch')})"
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
        parameters["history"] = f"empty_history({b.layout.ids}_shared(FREE + {offsets + 2 * ids + 4} * TILE))"
        return [f"if not culled(taken, history, stamps, epoch, {item}):", *indented(take)]
    return take


def converged(step: Advance, b: CudaProgram) -> list[str]:
    """Lines after an edge, where the lanes of a warp are together again: the last of the tests of a cull."""
    return ["ok = first_in_warp(ok, item)"] if way(step, b) == "cull" else []


def append(step: Advance, b: CudaProgram, want: str) -> list[str]:
    """Lines with which a warp appends what its lanes have taken."""
    if step.output is None or way(step, b) == "mark":
        return []
    if b.mode(want) == "START":
        return ["append_start(C, slot, out, out_scan, capacity, ok, item, begun)"]
    where = f"out, out_scan, {b.mode(want)}, degrees, capacity"
    strict = way(step, b) != "cull"
    return [*converged(step, b), f"append(C, slot, {b.big}, {where}, ok, item, {strict})"]


def finish(
    step: Advance, b: CudaProgram, made: str, source: Register, target: Register, want: str, seen: str, how: int
) -> None:
    """The phase itself, after what its tests need, then what it has produced. ``how`` is for the trace."""
    kept = way(step, b)
    if kept in ("stamp", "cull", "mark"):
        b.line("epoch += 1")
    n = b.capacity("vertex")
    if kept in ("bitmap", "cull"):
        b.phase(f"fill_bits(w, W, {b.array('taken', 'bits', 'uint32')}, {n})")
    after: tuple[str, ...] = (f"direction = {how}", f"seen = {seen}")
    if step.held is not None:
        after += (b.assign(step.held, b.counter("HELD" if b.holds else "PILE_COUNT")),)
    if kept == "mark":
        b.phase(made, after=after)
        large = f"{source.form} != {QUEUE} and {source.edges} > {n} >> 2"
        scan_marks(b, target, want, large if want and b.big == "False" else "")
        return
    if step.output is not None:
        after += b.produced(target, step.output, want)
    if kept != "cull":
        b.phase(made, after=after)
        return
    b.phase(made, after=after)
    m = b.capacity("edge")
    # More than there is room for: the stamps have the same set without duplicates.
    with b.when(f"{target.count} > {n} or {target.edges} > {m} or {target.edges} < 0"):
        scan_marks(b, target, want, "")


def scan_marks(b: CudaProgram, target: Register, want: str, large: str) -> None:
    """Make the next queue of the vertices that are stamped with the present epoch.

    Warps go over the stamps side by side, which leaves the queue out of order; where ``large`` holds, each block has a
    piece of them, so that it is in order, after a phase more that counts what each will find.
    """
    parameters: dict[str, str] = {}
    want = output(b, target, "vertex", want, parameters)
    queue = f"{parameters['out']}, {parameters['out_scan']}, {b.mode(want)}, {parameters['degrees']}"
    n, capacity = b.capacity("vertex"), parameters["capacity"]
    marks = f"{b.array('stamps', 'stamps', 'int32')}, np.int32(epoch), {n}"
    size = 8 if b.layout.ids == "int64" else 4
    held = f"{b.layout.ids}_shared(FREE + {size} * part_of_warp() * (thread_index() >> np.int32(5)))"
    end = b.label()
    if large:
        small = b.label()
        b.unless(large, small)
        before, found = b.variable("before"), b.variable("found")
        b.phase(
            f"count_marks(C, slot, {marks}, {parameters['degrees']})",
            after=(f"{before} = slot", f"{found} = combined_int(C, slot, SUM, 0)"),
        )
        after = b.produced(target, "vertex", want)
        counts = (f"{target.count} = {found} & 0xFFFFFFFF", f"{target.edges} = {found} >> 32")
        b.phase(f"write_marks(C, slot, {before}, {marks}, {queue}, {capacity})", after=(*after, *counts))
        b.goto(end)
        b.place(small)
    b.phase(
        f"queue_of_marks(C, slot, {b.big}, w, W, {marks}, {queue}, {capacity}, {held})",
        after=b.produced(target, "vertex", want),
    )
    b.place(end)


def unique(b: CudaProgram, register: Register) -> None:
    """Add the phase that removes the duplicates which a cull may have left in a queue of vertices."""
    if b.narrow or register.kinds != {"vertex"}:
        return
    after = b.want
    b.sparse(register)
    with b.when(f"{register.form} != {ALL}"):
        parameters = frontier(b, register, "vertex")
        want = output(b, register, "vertex", after, parameters)
        parameters["stamps"] = b.array("stamps", "stamps", "int32")
        parameters["epoch"] = f"np.int32({b.keep('epoch')})"
        body = [
            "first = w - (w & 31)",
            "while first < total:",
            "    ok = False",
            "    item = np.int64(0)",
            "    if first + (w & 31) < total:",
            "        item = np.int64(queue[first + (w & 31)])",
            "        ok = exchange(stamps, item, epoch) != epoch",
            f"    append(C, slot, {b.big}, out, out_scan, {b.mode(want)}, degrees, capacity, ok, item, True)",
            "    first += W",
        ]
        b.line("epoch += 1")
        b.phase(b.function("unique", parameters, body), after=b.produced(register, "vertex", want))
