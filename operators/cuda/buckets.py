"""Buckets on the GPU: one phase in which a warp appends to the next queue and to several piles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.ir import Assign, Call, Choice, Counter, Value, cast
from frontier.lowering.phases import VALUE
from frontier.lowering.variables import pointer
from frontier.operators.cuda.elementwise import append_accepted, chunks, mark, output
from frontier.operators.phases import element, frontier

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.registers import Register
    from frontier.operators.buckets import Buckets

__all__ = ["lower"]


def lower(step: Buckets, b: CudaProgram, register: Register) -> None:
    """A phase that finds each element's bucket once; every pile has a counter of its own, read after the barrier."""
    after = b.want
    b.sparse(register)
    pile_kinds = {b.pile(name) for name in step.piles}

    def emit(kind: str) -> None:
        if kind not in pile_kinds:
            b.leave("WRONG_KIND")
            return
        parameters = frontier(b, register, kind)
        lines, call = element(b, step.fn, kind, parameters, VALUE)
        want = output(b, register, kind, after, parameters)
        body = [*lines, f"bucket = {call}", "if not bucket >= 1:", f"    {mark('accepted')}"]
        masks, appends, counts = ["accepted"], [append_accepted(b, want)], b.produced(register, kind, want)
        for number, name in enumerate(step.piles, 1):
            held = b.state[f"held:{name}"]
            parameters |= {
                f"pile{number}": pointer(b.layout.element(kind), b.state[f"pile:{name}"]),
                f"held{number}": held,
                f"stamps{number}": pointer("int32", b.state[f"stamps:{name}"]),
                f"epoch{number}": cast("int32", b.state[f"epoch:{name}"]),
            }
            counter = f"BUCKETS + {number - 1}"
            body += _put(number, number == len(step.piles))
            masks.append(f"aside{number}")
            appends.append(
                f"append_pile(C, slot + {counter} - PILE_COUNT, pile{number}, held{number}, "
                f"queue, everything, first, aside{number})"
            )
            counts.append(Assign(held, held + Counter("BUCKETS", number - 1)))
        parameters = {name: _chosen(b, name, value) for name, value in parameters.items()}
        made = b.function(step.fn.__name__, parameters, chunks(body, tuple(masks), appends))
        b.phase(made, counts, "buckets: append what is due, and put the rest into the piles", [step.fn])

    b.for_kinds(register, emit)


def _chosen(b: CudaProgram, name: str, value: Value) -> Value:
    """A parameter without a choice: numba takes a call with so many arguments only if none of them branches."""
    if not (isinstance(value, Call) and isinstance(value.arguments[0], Choice)):
        return value
    address = b.variable(name)
    b.set(address, value.arguments[0])
    return Call(value.function, address)


def _put(number: int, last: bool) -> list[str]:
    """Lines for an element of one bucket, unless the pile holds it already."""
    return [
        "else:" if last else f"elif bucket < {number + 1}:",
        f"    if stamps{number}[x] != epoch{number}:",
        f"        stamps{number}[x] = epoch{number}",
        f"        {mark(f'aside{number}')}",
    ]
