"""Lowering of Buckets: one phase that appends to the next queue and to several piles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.ir import Assign, Counter
from frontier.lowering.phases import VALUE
from frontier.lowering.variables import pointer
from frontier.operators.cpu.elementwise import FROM_QUEUE, collect, last_flush, output, pieces
from frontier.operators.phases import element, frontier, indented

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.registers import Register
    from frontier.operators.buckets import Buckets

__all__ = ["lower"]


def lower(step: Buckets, b: Builder, register: Register) -> None:
    """A phase that finds each element's bucket once; every pile has a counter and a worker's array of its own."""
    want = b.want
    b.sparse(register)
    pile_kinds = {b.pile(name) for name in step.piles}

    def emit(kind: str) -> None:
        if kind not in pile_kinds:
            b.leave("WRONG_KIND")
            return
        parameters = frontier(b, register, kind)
        lines, call = element(b, step.fn, kind, parameters, VALUE)
        scanned = output(b, register, kind, want, parameters)
        begin, put, end = ["fill = 0", "edges = 0"], [], [last_flush(scanned)]
        after = list(b.produced(register, kind, want if scanned else ""))
        for number, name in enumerate(step.piles, 1):
            held = b.state[f"held:{name}"]
            parameters |= {
                f"pile{number}": pointer(b.layout.element(kind), b.state[f"pile:{name}"]),
                f"held{number}": held,
                f"stamps{number}": pointer("int32", b.state[f"stamps:{name}"]),
                f"epoch{number}": b.state[f"epoch:{name}"],
                f"put{number}": b.local_array(f"local_pile{number}"),
            }
            begin.append(f"aside{number} = 0")
            put += _put(number, number == len(step.piles))
            end.append(_flush(number))
            after.append(Assign(held, held + Counter("PILE_LOCK", number - 1)))
        body = [FROM_QUEUE, *lines, f"bucket = {call}", "if not bucket >= 1:", *indented(collect("x", scanned)), *put]
        made = b.function(step.fn.__name__, parameters, [*begin, *pieces(body), *end])
        b.phase(made, after, "buckets: append what is due, and put the rest into the piles", [step.fn])

    b.for_kinds(register, emit)


def _counter(number: int) -> str:
    """Text of a pile's counter in the slot: the words that a single pile's lock and counters use otherwise."""
    return f"PILE_LOCK + {number - 1}"


def _flush(number: int) -> str:
    return f"flush_bucket(C, slot + {_counter(number)}, pile{number}, held{number}, put{number}, aside{number})"


def _put(number: int, last: bool) -> list[str]:
    """Lines for an element of one bucket, unless the pile holds it already."""
    return [
        "else:" if last else f"elif bucket < {number + 1}:",
        f"    if stamps{number}[x] != epoch{number}:",
        f"        stamps{number}[x] = epoch{number}",
        f"        put{number}[aside{number}] = x",
        f"        aside{number} += 1",
        f"        if aside{number} == LOCAL:",
        f"            {_flush(number)}",
        f"            aside{number} = 0",
    ]
