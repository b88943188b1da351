"""Push, balance ``block``: the threads of a block share the edges of as many vertices as there are threads.

A block stages where its vertices' lists begin, and the prefix sum of their degrees, in its shared memory; every thread
then finds whose edge it has next. Needs no scan of the whole frontier, and a hub is one block's alone. Gunrock's
per-thread fine-grained balance (Wang et al., PPoPP 2016); ``twc`` and ``degree_classes`` are made of the same parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.ir import Counter, Value
from frontier.lowering.registers import PUSH_BLOCK
from frontier.lowering.variables import TRACING
from frontier.operators.advance.cuda.edges import accept, converged, finish, way
from frontier.operators.phases import frontier, indented

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.registers import Register
    from frontier.operators.advance import Advance

__all__ = ["Parts", "lower", "shared_edges"]

#: Lines in which every thread of a block takes its vertex: ``mine``, with a list from ``begin_`` to ``stop``.
TAKE = [
    "i = first + t",
    "mine = np.int64(0)",
    "begin_ = I(0)",
    "stop = I(0)",
    "if t < many and i < total:",
    "    mine = element_at(queue, everything, i)",
    "    begin_ = I(offsets[mine])",
    "    stop = I(offsets[mine + 1])",
    "examined += stop - begin_",
]


class Parts:
    """The text of a push that collects in warps: what its phase begins and ends with, and a visit of edges.

    Attributes
    ----------
    parameters : dict of str to expression
        Of the phase.
    want : str
        Which scan the next queue gets.
    """

    def __init__(
        self, step: Advance, b: CudaProgram, target: Register, want: str, parameters: dict[str, Value]
    ) -> None:
        self._b, self.parameters = b, parameters
        parameters["offsets"], parameters["ends"] = b.lists(step.edges)
        parameters["tracing"] = TRACING
        self._inner, self.want = accept(step, b, target, want, parameters)
        self._appends = step.output is not None and way(step, b) != "mark"
        self._converged = converged(step, b)

    def _out(self) -> str:
        return f"C, slot, {self._b.big}, out, out_scan, {self._b.mode(self.want).name}, degrees, capacity, held, fill"

    def begin(self) -> list[str]:
        """Lines that lay the block's arrays into its scratch memory."""
        layout, memory = self._b.layout, self._b.block_memory
        ids, offsets = (8 if name == "int64" else 4 for name in (layout.ids, layout.offsets))
        return [
            "t = thread_index()",
            "lane = np.int32(t & np.int32(31))",
            f"bases = {memory(layout.offsets)}",
            f"vertices = {memory(layout.ids, f'{offsets} * TILE')}",
            f"held = {memory(layout.ids, f'{offsets + ids} * TILE + {ids} * part_of_warp() * (t >> np.int32(5))')}",
            f"keys = {memory(layout.offsets, f'{offsets + 2 * ids} * TILE')}",
            "fill = np.int32(0)",
            "examined = np.int64(0)",
        ]

    def end(self) -> list[str]:
        """Lines after the last edge."""
        return [
            *([f"unstash({self._out()})"] if self._appends else []),
            "if tracing:",
            "    add_up(C, slot, EXAMINED, examined)",
        ]

    def visit(self, condition: str, find: list[str] | None = None) -> list[str]:
        """Lines in which a lane visits edge ``k`` of ``x`` if a condition holds; ``find`` says which they are."""
        return [
            "ok = False",
            "item = np.int64(0)",
            f"if {condition}:",
            *indented([*(find or []), *self._inner]),
            *self._converged,
            *([f"fill = stash({self._out()}, ok, item)"] if self._appends else []),
        ]

    def strip(self, number: str, stride: str) -> list[str]:
        """Lines in which warps side by side walk the list of ``x`` from ``at`` to ``last``."""
        return [
            f"at += {number}",
            "while at < last:",
            "    k = at + lane",
            *indented(self.visit("k < last")),
            f"    at += {stride}",
        ]


def shared_edges(parts: Parts, big: bool) -> list[str]:
    """Lines in which the threads of a block share the edges of their vertices ``mine``."""
    find = ["j = source_in(keys, np.int32(many), k)", "x = np.int64(vertices[j])", "k += bases[j]"]
    return [
        f"before, edges = block_prefix({big}, I(stop - begin_))",
        "keys[t] = before",
        "vertices[t] = mine",
        "bases[t] = begin_ - before",
        "sync()",
        "at = np.int64(t - lane)",
        "while at < edges:",
        "    k = at + lane",
        *indented(parts.visit("k < edges", find)),
        "    at += block_size()",
    ]


def blocks_of(body: list[str]) -> list[str]:
    """A loop in which blocks take vertices, one a thread."""
    return [
        "many = share_of_block(total)",
        "first = block_index() * many",
        "while first < total:",
        *indented([*TAKE, *body]),
        "    first += many * num_blocks()",
    ]


def lower(step: Advance, b: CudaProgram, source: Register, target: Register, want: str) -> None:
    """Add the phase that pushes along all edges of ``source`` and appends to ``target``."""
    parts = Parts(step, b, target, want, frontier(b, source, "vertex"))
    body = [*parts.begin(), *blocks_of(shared_edges(parts, b.big)), *parts.end()]
    made = b.function(f"push_{step.fn.__name__}", parts.parameters, body)
    finish(step, b, made, source, target, parts.want, Counter("EXAMINED"), PUSH_BLOCK)
