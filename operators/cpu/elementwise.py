"""Lowering of the steps that call a functor once for every element: Filter, Split, Compute, Reduce."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.ir import Assign, Call, Counter, Node, Value, Var
from frontier.lowering.phases import VALUE
from frontier.lowering.variables import FLOATS, SLOT, WORDS, WORKERS, pointer
from frontier.operators.phases import accumulate, element, frontier, identity_of, indented, start

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.registers import Register
    from frontier.operators.compute import Compute
    from frontier.operators.filter import Filter
    from frontier.operators.reduce import Reduce
    from frontier.operators.split import Split

__all__ = ["collect", "combined", "lower_compute", "lower_filter", "lower_reduce", "lower_split", "total"]


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


def output(b: Builder, register: Register, kind: str, want: str, parameters: dict[str, Value]) -> bool:
    """Add the parameters for a phase's next queue; whether it makes the scan too."""
    queue, scan = b.target(register, kind)
    parameters["out"] = pointer(b.layout.element(kind), queue)
    parameters["capacity"] = b.room_left(register, kind)
    parameters["ids"] = b.local_array("local_ids")
    scanned = kind == "vertex" and want != ""
    if scanned:
        parameters["out_scan"] = pointer(b.layout.offsets, scan)
        parameters["prefix"] = b.local_array("local_prefix")
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

#: What adds ``found``, of every worker for itself, to what a phase has looked at.
LOOKED_AT = "fetch_add(C, slot + EXAMINED, found)"


def lower_compute(step: Compute, b: Builder, register: Register) -> None:
    """A phase that only calls the functor."""
    if step.counted:
        parameters: dict[str, Value] = {"total": b.count_over(step.over)}
        _, call = element(b, step.fn, "count", parameters)
        b.phase(b.function(step.fn.__name__, parameters, pieces(["x = i", call])), (), "compute", [step.fn])
        return
    b.sparse(register)

    def emit(kind: str) -> None:
        parameters = frontier(b, register, kind)
        lines, call = element(b, step.fn, kind, parameters)
        made = b.function(step.fn.__name__, parameters, pieces([FROM_QUEUE, *lines, call]))
        b.phase(made, (), "compute", [step.fn])

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
        b.phase(made, b.produced(register, kind, want if scanned else ""), "filter: append what is kept", [step.fn])

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
        held = b.state[f"held:{step.rest}"]
        parameters |= {
            "pile": pointer(b.layout.element(kind), b.state[f"pile:{step.rest}"]),
            "held": held,
            "stamps": pointer("int32", b.state[f"stamps:{step.rest}"]),
            "epoch": b.state[f"epoch:{step.rest}"],
            "put": b.local_array("local_pile"),
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
        more = Assign(held, held + Counter("PILE_COUNT"))
        after = [*b.produced(register, kind, want if scanned else ""), more]
        b.phase(made, after, f"split: append what is kept, and put the rest into p.{step.rest}", [step.fn])

    b.for_kinds(register, emit)


def lower_reduce(step: Reduce, b: Builder, register: Register) -> None:
    """A phase in which every worker reduces its share, and a decision that combines the shares in order."""
    dtype = b.layout.dtype(step.into)
    real = dtype.startswith("float") and step.op not in ("any", "all")

    def emit(kind: str) -> None:
        if kind == "count":
            parameters: dict[str, Value] = {"total": b.count_over(step.over)}
            find = "x = i"
        else:
            parameters = frontier(b, register, kind)
            find = FROM_QUEUE
        lines, call = element(b, step.fn, kind, parameters, VALUE)
        if real:
            parameters["F"] = FLOATS
        body = [
            "first, last = share(total, w, W)",
            f"result = {start(step.op, dtype)}",
            "for i in range(first, last):",
            *indented([find, *lines, *accumulate(step.op, call, dtype)]),
            "keep_float(F, slot, w, result)" if real else "keep_int(C, slot, w, result)",
        ]
        b.phase(
            b.function(step.fn.__name__, parameters, body),
            combined(b, step.op, step.into, real),
            f"reduce: {step.op}",
            [step.fn],
        )

    if step.counted:
        emit("count")
        return
    b.sparse(register)
    b.for_kinds(register, emit)


#: Reduction -> how the workers' results are brought together.
OPS = {"sum": "SUM", "min": "MIN", "max": "MAX", "any": "MAX", "all": "MIN", "or": "OR"}


def combined(b: Builder, op: str, into: str, real: bool) -> list[Node]:
    """Nodes after a phase in which workers kept results: these in the order of workers, into a scalar."""
    return [b.assign(into, total(SLOT, op, b.layout.dtype(into), real))]


def total(slot: Var, op: str, dtype: str, real: bool) -> Call:
    """What the workers have left in a phase, brought together."""
    function, memory = ("combined_float", FLOATS) if real else ("combined_int", WORDS)
    return Call(function, memory, slot, WORKERS, Var(OPS[op]), identity_of(op, dtype))
