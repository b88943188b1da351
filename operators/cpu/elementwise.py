"""Lowering of the steps that call a functor once for every element: Filter, Split, Compute, Reduce."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.text import VALUE
from frontier.operators.phases import accumulate, element, frontier, indented, start

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.registers import Register
    from frontier.operators.compute import Compute
    from frontier.operators.filter import Filter
    from frontier.operators.reduce import Reduce
    from frontier.operators.split import Split

__all__ = ["collect", "lower_compute", "lower_filter", "lower_reduce", "lower_split"]


def collect(item: str, scanned: bool) -> list[str]:
    """Lines that add an item to the worker's own array, and append that when it is full."""
    if not scanned:
        return [
            f"ids[fill] = {item}",
            "fill += 1",
            "if fill == LOCAL:",
            "    flush(C, slot, out, capacity, ids, fill)",
            "    fill = 0",
        ]
    return [
        f"ids[fill] = {item}",
        "prefix[fill] = edges",
        f"edges += np.int64(degrees[{item} + 1]) - np.int64(degrees[{item}])",
        "fill += 1",
        "if fill == LOCAL:",
        "    flush_scanned(C, slot, out, out_scan, capacity, ids, prefix, fill, edges)",
        "    fill = 0",
        "    edges = 0",
    ]


def last_flush(scanned: bool) -> str:
    """The line that appends what is left."""
    if scanned:
        return "flush_scanned(C, slot, out, out_scan, capacity, ids, prefix, fill, edges)"
    return "flush(C, slot, out, capacity, ids, fill)"


def output(b: Builder, register: Register, kind: str, want: str, parameters: dict[str, str]) -> bool:
    """Add the parameters for a phase's next queue; whether it makes the scan too."""
    queue, scan = b.target(register, kind)
    parameters["out"] = f"{b.layout.element(kind)}_at({queue})"
    parameters["capacity"] = b.room_left(register, kind)
    parameters["ids"] = b.local("local_ids")
    scanned = kind == "vertex" and want != ""
    if scanned:
        parameters["out_scan"] = f"{b.layout.offsets}_at({scan})"
        parameters["prefix"] = b.local("local_prefix")
        parameters["degrees"] = b.lists(want)[0]
    return scanned


def pieces(body: list[str]) -> list[str]:
    """A loop over elements ``x``: worker w begins with piece w, then whoever is free takes the next.

    So a short frontier stays with one worker, whose cache holds what it needs.
    """
    return [
        f"size = piece(total, W, {LEAST}, 4096)",
        "first = w * size",
        "while first < total:",
        "    for i in range(first, min(first + size, total)):",
        *indented(body, 2),
        "    first = next_piece(C, slot, W, size)",
    ]


#: Elements below which sharing costs more than it saves.
LEAST = 64

FROM_QUEUE = "x = i if everything else np.int64(queue[i])"


def lower_compute(step: Compute, b: Builder, register: Register) -> None:
    """A phase that only calls the functor."""
    if step.counted:
        parameters: dict[str, str] = {"total": b.count_over(step.over)}
        _, call = element(b, step.fn, "count", parameters)
        b.phase(b.function(step.fn.__name__, parameters, pieces(["x = i", call])))
        return
    b.sparse(register)

    def emit(kind: str) -> None:
        parameters = frontier(b, register, kind)
        lines, call = element(b, step.fn, kind, parameters)
        b.phase(b.function(step.fn.__name__, parameters, pieces([FROM_QUEUE, *lines, call])))

    b.for_kinds(register, emit)


def lower_filter(step: Filter, b: Builder, register: Register) -> None:
    """A phase that appends the elements for which the functor is true."""
    want = b.want
    b.sparse(register)

    def emit(kind: str) -> None:
        parameters = frontier(b, register, kind)
        lines, call = element(b, step.fn, kind, parameters)
        scanned = output(b, register, kind, want, parameters)
        keep = [f"if truth({call}):", *indented(collect("x", scanned))]
        body = ["fill = 0", "edges = 0", *pieces([FROM_QUEUE, *lines, *keep]), last_flush(scanned)]
        made = b.function(step.fn.__name__, parameters, body)
        b.phase(made, after=b.produced(register, kind, want if scanned else ""))

    b.for_kinds(register, emit)


def lower_split(step: Split, b: Builder, register: Register) -> None:
    """A phase with two appends: to the next queue, and to the pile unless it holds the element already."""
    want = b.want
    b.sparse(register)
    pile_kind = b.pile(step.rest)

    def emit(kind: str) -> None:
        if kind != pile_kind:
            b.leave("WRONG_KIND")
            return
        parameters = frontier(b, register, kind)
        lines, call = element(b, step.fn, kind, parameters)
        scanned = output(b, register, kind, want, parameters)
        parameters |= {
            "pile": f"{b.layout.element(kind)}_at(pile_{step.rest})",
            "held": f"held_{step.rest}",
            "stamps": f"int32_at(stamps_{step.rest})",
            "epoch": f"epoch_{step.rest}",
            "put": b.local("local_pile"),
        }
        body = [
            FROM_QUEUE,
            *lines,
            f"if truth({call}):",
            *indented(collect("x", scanned)),
            "elif stamps[x] != epoch:",
            "    stamps[x] = epoch",
            "    put[aside] = x",
            "    aside += 1",
            "    if aside == LOCAL:",
            "        flush_pile(C, slot, pile, held, put, aside)",
            "        aside = 0",
        ]
        lines = ["fill = 0", "edges = 0", "aside = 0", *pieces(body), last_flush(scanned)]
        lines.append("flush_pile(C, slot, pile, held, put, aside)")
        made = b.function(step.fn.__name__, parameters, lines)
        after = (*b.produced(register, kind, want if scanned else ""), f"held_{step.rest} += C[slot + PILE_COUNT]")
        b.phase(made, after=after)

    b.for_kinds(register, emit)


def lower_reduce(step: Reduce, b: Builder, register: Register) -> None:
    """A phase in which every worker reduces its share, and a decision that combines the shares in order."""
    dtype = b.layout.dtype(step.into)
    real = dtype.startswith("float") and step.op not in ("any", "all")

    def emit(kind: str) -> None:
        if kind == "count":
            parameters = {"total": b.count_over(step.over)}
            find = "x = i"
        else:
            parameters = frontier(b, register, kind)
            find = FROM_QUEUE
        lines, call = element(b, step.fn, kind, parameters, VALUE)
        if real:
            parameters["F"] = "F"
        body = [
            "first, last = share(total, w, W)",
            f"result = {start(step.op, dtype)}",
            "for i in range(first, last):",
            *indented([find, *lines, *accumulate(step.op, call, dtype)]),
            "keep_float(F, slot, w, result)" if real else "keep_int(C, slot, w, result)",
        ]
        result = b.unique("result")
        kept = "kept_float(F, slot, other)" if real else "kept_int(C, slot, other)"
        after = (
            f"{result} = {start(step.op, dtype)}",
            "for other in range(W):",
            *indented([line.replace("result", result) for line in accumulate(step.op, kept, dtype)]),
            b.assign(step.into, result),
        )
        b.phase(b.function(step.fn.__name__, parameters, body), after=after)

    if step.counted:
        emit("count")
        return
    b.sparse(register)
    b.for_kinds(register, emit)
