"""Phases on the GPU of the steps that call a functor once for every element: Filter, Split, Compute, Reduce.

A warp takes a chunk of the frontier, each of its lanes up to 32 elements, and appends what is accepted with
one atomic; so the next queue is written without a scan and without duplicates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.ir import Assign, Call, Counter, Node, Together, Value, Var, cast
from frontier.lowering.phases import VALUE
from frontier.lowering.variables import FLOATS, SLOT, WORDS, pointer
from frontier.operators.phases import accumulate, element, frontier, identity_of, indented, start

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.registers import Register
    from frontier.operators.compute import Compute
    from frontier.operators.filter import Filter
    from frontier.operators.reduce import Reduce
    from frontier.operators.split import Split

__all__ = [
    "OPS",
    "append_accepted",
    "chunks",
    "combined",
    "count_hubs",
    "every",
    "lower_compute",
    "lower_filter",
    "lower_reduce",
    "lower_split",
    "mark",
    "output",
]

#: Reduction -> how partial results are brought together.
OPS = {"sum": "SUM", "min": "MIN", "max": "MAX", "any": "MAX", "all": "MIN", "or": "OR"}

FROM_QUEUE = "x = element_at(queue, everything, i)"


def output(b: CudaProgram, register: Register, kind: str, want: str, parameters: dict[str, Value]) -> str:
    """Add the parameters for a phase's next queue; which scan it gets, if any."""
    want = want if kind == "vertex" else ""
    queue, scan = b.target(register, kind)
    parameters["out"] = pointer(b.layout.element(kind), queue)
    parameters["out_scan"] = pointer(b.layout.offsets, scan)
    parameters["degrees"] = b.lists(want or "out")[0]
    parameters["capacity"] = b.room_left(register, kind)
    return want


def count_hubs(b: CudaProgram, parameters: dict[str, Value]) -> Call:
    """The phase that counts the frontier's vertices of more than the ``least`` edges."""
    body = [
        "found = np.int64(0)",
        "i = w",
        "while i < total:",
        f"    {FROM_QUEUE}",
        "    if np.int64(offsets[x + 1]) - np.int64(offsets[x]) > least:",
        "        found += 1",
        "    i += W",
        "add_up(C, slot, EXAMINED, found)",
    ]
    return b.function("count_hubs", parameters, body)


def every(body: list[str]) -> list[str]:
    """A loop in which every thread takes every W-th element ``i``."""
    return ["i = w", "while i < total:", *indented(body), "    i += W"]


def chunks(body: list[str], masks: tuple[str, ...], appends: list[str]) -> list[str]:
    """A loop over warps' chunks; ``body`` marks elements ``x`` in the masks by their bit, ``appends`` uses them."""
    return [
        "lane = w & 31",
        "many = chunk(total, W)",
        "first = (w - lane) * many",
        "while first < total:",
        *(f"    {mask} = np.uint32(0)" for mask in masks),
        "    for u in range(many):",
        "        i = first + 32 * u + lane",
        "        if i < total:",
        *indented([FROM_QUEUE, *body], 3),
        *indented(appends),
        "    first += W * many",
    ]


def mark(mask: str) -> str:
    """Line that marks the element at hand."""
    return f"{mask} = np.uint32({mask} | np.uint32(np.uint32(1) << np.uint32(u)))"


def append_accepted(b: CudaProgram, want: str) -> str:
    """Line that appends a chunk's accepted elements."""
    out = f"out, out_scan, {b.mode(want).name}, degrees"
    return f"append_chunk(C, slot, {b.big}, {out}, queue, everything, first, accepted)"


def lower_compute(step: Compute, b: CudaProgram, register: Register) -> None:
    """A phase that only calls the functor."""
    if step.counted:
        parameters: dict[str, Value] = {"total": b.count_over(step.over)}
        _, call = element(b, step.fn, "count", parameters)
        b.phase(b.function(step.fn.__name__, parameters, every(["x = i", call])), (), "compute", [step.fn])
        return
    b.sparse(register)

    def emit(kind: str) -> None:
        parameters = frontier(b, register, kind)
        lines, call = element(b, step.fn, kind, parameters)
        made = b.function(step.fn.__name__, parameters, every([FROM_QUEUE, *lines, call]))
        b.phase(made, (), "compute", [step.fn])

    b.for_kinds(register, emit)


def lower_filter(step: Filter, b: CudaProgram, register: Register) -> None:
    """A phase that appends the elements for which the functor is true."""
    after = b.want
    b.sparse(register)

    def emit(kind: str) -> None:
        parameters = frontier(b, register, kind)
        lines, call = element(b, step.fn, kind, parameters)
        want = output(b, register, kind, after, parameters)
        body = [*lines, f"if truth({call}):", f"    {mark('accepted')}"]
        made = b.function(step.fn.__name__, parameters, chunks(body, ("accepted",), [append_accepted(b, want)]))
        b.phase(made, b.produced(register, kind, want), "filter: append what is kept", [step.fn])

    b.for_kinds(register, emit)


def lower_split(step: Split, b: CudaProgram, register: Register) -> None:
    """A phase with two appends: to the next queue, and to the pile unless it holds the element already."""
    after = b.want
    b.sparse(register)
    pile_kind = b.pile(step.rest)

    def emit(kind: str) -> None:
        if kind != pile_kind:
            b.leave("WRONG_KIND")
            return
        parameters = frontier(b, register, kind)
        lines, call = element(b, step.fn, kind, parameters)
        want = output(b, register, kind, after, parameters)
        held = b.state[f"held:{step.rest}"]
        parameters |= {
            "pile": pointer(b.layout.element(kind), b.state[f"pile:{step.rest}"]),
            "held": held,
            "stamps": pointer("int32", b.state[f"stamps:{step.rest}"]),
            "epoch": cast("int32", b.state[f"epoch:{step.rest}"]),
        }
        body = [
            *lines,
            f"if truth({call}):",
            f"    {mark('accepted')}",
            "elif stamps[x] != epoch:",
            "    stamps[x] = epoch",
            f"    {mark('aside')}",
        ]
        appends = [append_accepted(b, want), "append_pile(C, slot, pile, held, queue, everything, first, aside)"]
        made = b.function(step.fn.__name__, parameters, chunks(body, ("accepted", "aside"), appends))
        more = Assign(held, held + Counter("PILE_COUNT"))
        nodes = [*b.produced(register, kind, want), more]
        b.phase(made, nodes, f"split: append what is kept, and put the rest into p.{step.rest}", [step.fn])

    b.for_kinds(register, emit)


def lower_reduce(step: Reduce, b: CudaProgram, register: Register) -> None:
    """A phase in which every block reduces its share, and a decision that combines the shares in order."""
    dtype = b.layout.dtype(step.into)
    real = dtype.startswith("float") and step.op not in ("any", "all")
    kind_of, memory = ("float", "F") if real else ("int", "C")

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
        identity = start(step.op, dtype)
        body = [
            f"result = {identity}",
            *every([find, *lines, *accumulate(step.op, call, dtype)]),
            f"keep_{kind_of}({memory}, slot, {OPS[step.op]}, result)",
        ]
        made = b.function(step.fn.__name__, parameters, body)
        b.phase(made, combined(b, SLOT, step.op, step.into, real), f"reduce: {step.op}", [step.fn])

    if step.counted:
        emit("count")
        return
    b.sparse(register)
    b.for_kinds(register, emit)


def combined(b: CudaProgram, slot: Var, op: str, into: str, real: bool) -> list[Node]:
    """Nodes after a phase in which blocks kept results: these in the order of blocks, into a scalar."""
    dtype = b.layout.dtype(into)
    function, memory = ("combined_float", FLOATS) if real else ("combined_int", WORDS)
    result = b.local("result", "float64" if real else "int64", f"the {op} of the blocks' results")
    call = Call(function, memory, slot, Var(OPS[op]), identity_of(op, dtype))
    return [Together(result, call), b.assign(into, result)]
