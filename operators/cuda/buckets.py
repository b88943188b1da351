"""Buckets on the GPU: one phase in which a warp appends to the next queue and to several piles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.text import VALUE
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
        masks, appends, counts = ["accepted"], [append_accepted(b, want)], ["read_buckets(C, slot)"]
        for number, name in enumerate(step.piles, 1):
            parameters |= {
                f"pile{number}": f"{b.layout.element(kind)}_at(pile_{name})",
                f"held{number}": f"held_{name}",
                f"stamps{number}": f"int32_at(stamps_{name})",
                f"epoch{number}": f"np.int32(epoch_{name})",
            }
            counter = f"BUCKETS + {number - 1}"
            body += _put(number, number == len(step.piles))
            masks.append(f"aside{number}")
            appends.append(
                f"append_pile(C, slot + {counter} - PILE_COUNT, pile{number}, held{number}, "
                f"queue, everything, first, aside{number})"
            )
            counts.append(f"held_{name} += {b.counter(counter)}")
        for parameter, text in parameters.items():
            if " if " in text:  # numba takes a call with so many arguments only if none of them branches
                pointer, address = text.split("(", 1)
                chosen = b.variable(parameter)
                b.line(f"{chosen} = {address.removesuffix(')')}")
                parameters[parameter] = f"{pointer}({chosen})"
        made = b.function(step.fn.__name__, parameters, chunks(body, tuple(masks), appends))
        b.phase(made, after=(*b.produced(register, kind, want), *counts))

    b.for_kinds(register, emit)


def _put(number: int, last: bool) -> list[str]:
    """Lines for an element of one bucket, unless the pile holds it already."""
    return [
        "else:" if last else f"elif bucket < {number + 1}:",
        f"    if stamps{number}[x] != epoch{number}:",
        f"        stamps{number}[x] = epoch{number}",
        f"        {mark(f'aside{number}')}",
    ]
