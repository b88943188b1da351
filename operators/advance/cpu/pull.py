"""Pull: every vertex for which ``where`` holds looks for frontier vertices among its in-edges.

The frontier is a bitmap. A worker handles 64 vertices at a time and writes their word of the next bitmap
without atomics. After every visited edge ``where`` is asked again, so a vertex that needs only one parent
stops at the first (Beamer, Asanovic, Patterson: Direction-optimizing breadth-first search, SC 2012).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.functors import arguments
from frontier.lowering.ir import Counter, Value
from frontier.lowering.registers import PULL
from frontier.lowering.variables import pointer
from frontier.operators.advance.edges import make_bitmap, needs_edges, next_bits, pulled, pulling, walked
from frontier.operators.phases import indented

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.registers import Register
    from frontier.operators.advance import Advance

__all__ = ["lower"]


def lower(step: Advance, b: Builder, source: Register, target: Register) -> None:
    """Add the phases: the frontier as a bitmap, then the sweep over all vertices."""
    make_bitmap(b, source, "uint64", False)
    opposite = "in" if step.edges == "out" else "out"
    parameters: dict[str, Value] = {
        "everything": b.everything(source),
        "bits": pointer("uint64", source.bits),
        "n": b.capacity("vertex"),
    }
    parameters["offsets"], parameters["ends"] = b.lists(opposite)
    far, near = step.far, "src" if step.far == "dst" else "dst"
    edge = "k"
    find = [f"{near} = np.int64(ends[k])"]
    inside = []
    if needs_edges(step, b):
        parameters["in_edges"] = b.in_edges()
        inside.append("e = np.int64(in_edges[k])")
        edge = "e"
    if "weight" in arguments(step.fn, "edge"):
        parameters["weights"] = b.weights()
    ends = {near: near, far: "x", "edge": edge, "weight": f"weights[{edge}]"}
    call = b.call(step.fn, "edge", ends)
    where = b.call(step.where, far, ends) if step.where is not None else None
    visit = [*inside, f"if truth({call}):", "    accepted = True"]
    if where is not None:
        visit += [f"if not truth({where}):", "    break"]
    search = [
        "accepted = False",
        "start = np.int64(offsets[x])",
        "end = np.int64(offsets[x + 1])",
        "k = start",
        "for k in range(start, end):",
        *indented([*find, f"if everything or (bits[{near} >> 6] >> np.uint64({near} & 63)) & np.uint64(1):"]),
        *indented(visit, 2),
        "examined += min(k + 1, end) - start",
    ]
    if step.output is not None:
        parameters["made"] = pointer("uint64", next_bits(b, target))
        parameters["degrees"] = b.lists(step.edges)[0]
        search += [
            "if accepted:",
            "    word |= np.uint64(1) << np.uint64(x & 63)",
            "    count += 1",
            "    edges += np.int64(degrees[x + 1]) - np.int64(degrees[x])",
        ]
    vertex = search if where is None else [f"if truth({where}):", *indented(search)]
    body = [
        "count = np.int64(0)",
        "edges = np.int64(0)",
        "examined = np.int64(0)",
        "total = (n + 63) >> 6",
        "size = piece(total, W, 4, 64)",
        "first = w * size",
        "while first < total:",
        "    for i in range(first, min(first + size, total)):",
        "        word = np.uint64(0)",
        "        for x in range(i << 6, min((i + 1) << 6, n)):",
        *indented(vertex, 3),
        *(["        made[i] = word"] if step.output is not None else []),
        "    first = next_piece(C, slot, W, size)",
        "fetch_add(C, slot + COUNT, count)",
        "fetch_add(C, slot + EDGES, edges)",
        "fetch_add(C, slot + EXAMINED, examined)",
    ]
    after = walked(PULL, Counter("EXAMINED"))
    if step.output is not None:
        after += pulled(b, target)
    b.phase(b.function(f"pull_{step.fn.__name__}", parameters, body), after, pulling(step), [step.fn, step.where])
