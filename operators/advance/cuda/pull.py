"""Pull on the GPU: every vertex for which ``where`` holds searches its in-edges for vertices of the frontier.

The frontier is a bitmap. A warp processes the 32 vertices of one word of it, one per lane and four neighbours at a
time; the votes of its lanes are the word of the next bitmap, which is stored without atomics. ``where`` is evaluated
again after every visited edge, so a vertex that needs only one parent stops at the first one. What remains of long
lists is processed by the whole warp. (Beamer, Asanovic, Patterson: Direction-optimizing breadth-first search, SC 2012.)

With ``hub_cache`` every block keeps the hubs of the frontier in a table in its shared memory. Neighbours in the table
are visited first, and if that ends the search, the bitmap is not read (Enterprise; Liu and Huang, SC 2015). With
``queue="scan"``, pulls that follow a pull process fewer vertices: see ``shrink.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.functors.functor import arguments
from frontier.lowering.frontier_state import PULL
from frontier.lowering.ir import Call, Counter, Value
from frontier.lowering.variables import TRACING, pointer
from frontier.operators.advance.cuda.shrink import Waiting, waiting
from frontier.operators.advance.edges import make_bitmap, needs_edges, next_bits, pulled, pulling, walked
from frontier.operators.advance.switch import hub_inputs, hub_list
from frontier.operators.shared.phases import indented

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["lower"]

#: Edges of a list that its lane walks alone.
ALONE = 64

#: Entries of a block's table of hubs: a power of two.
TABLE = 2048


def lower(step: Advance, b: CudaProgram, source: FrontierState, target: FrontierState) -> None:
    """Add the phases: the frontier as a bitmap, then the pull of all vertices, or of those still unvisited."""
    make_bitmap(b, source, "uint32")
    queue = waiting(step, b)
    if queue is None:
        _search(step, b, source, target)
        return
    with b.when(queue.valid) as branch:
        made = pointer("uint32", next_bits(b, target))
        b.phase(b.divided("fill_bits", made, b.capacity("vertex")), title="clear the next bitmap")
        _search(step, b, source, target, queue, again=True)
    with b.otherwise(branch):
        _search(step, b, source, target, queue)


def _search(
    step: Advance,
    b: CudaProgram,
    source: FrontierState,
    target: FrontierState,
    queue: Waiting | None = None,
    again: bool = False,
) -> None:
    """Add the phase of a pull; ``queue``: it records the unvisited vertices, ``again``: it processes only these."""
    opposite = "in" if step.edges == "out" else "out"
    parameters: dict[str, Value] = {
        "everything": b.everything(source),
        "bits": pointer("uint32", source.bits),
        "n": b.capacity("vertex"),
        "tracing": TRACING,
    }
    parameters["offsets"], parameters["ends"] = b.lists(opposite)
    visit, where = _visit(step, b, parameters)
    if step.output is not None:
        parameters["made"] = pointer("uint32", next_bits(b, target))
        parameters["degrees"] = b.lists(step.edges)[0]
    if queue is not None:
        parameters |= queue.parameters(again)
    near = "src" if step.far == "dst" else "dst"
    cached = b.schedule.hub_cache and not b.low_degree  # low-degree builds have no scratch memory, and no hubs
    each = [
        *_alone(visit, where, near, cached),
        *_together(visit, near),
        *_vote(step, again),
        *(queue.note(where) if queue is not None else []),
    ]
    body = [
        *(_hubs(step, b, parameters) if cached else []),
        "lane = np.int32(w & 31)",
        "count = np.int64(0)",
        "edges = np.int64(0)",
        "examined = np.int64(0)",
        *(queue.begin(b, TABLE if cached else 0) if queue is not None else []),
        *_by_warps(each, again),
        *(queue.end() if queue is not None else []),
        *([f"add_found(C, slot, {b.big}, count, edges)"] if step.output is not None else []),
        "if tracing:",
        "    add_up(C, slot, EXAMINED, examined)",
    ]
    after = walked(PULL, Counter("EXAMINED"))
    if step.output is not None:
        after += pulled(b, target)
    if queue is not None:
        after += queue.after(again)
    made = b.function(f"pull_{'again_' * again}{step.fn.__name__}", parameters, body)
    b.phase(made, after, pulling(step) + ", only of vertices still unvisited" * again, [step.fn, step.where])


def _by_warps(each: list[str], again: bool) -> list[str]:
    """A loop in which a warp takes 32 vertices ``x`` at a time, those of a word or of a queue; n or more is none."""
    if again:
        take = ["x = n", "if i < total:", "    x = np.int64(queue[i])"]
        return ["i = w", "while i - lane < total:", *indented([*take, *each]), "    i += W"]
    take = ["x = (word << 5) + lane"]
    return ["word = (w - lane) >> 5", "while word < (n + 31) >> 5:", *indented([*take, *each]), "    word += W >> 5"]


def _visit(step: Advance, b: CudaProgram, parameters: dict[str, Value]) -> tuple[list[str], str | None]:
    """Lines that visit edge ``e`` from the near end to ``x``, setting ``accepted`` and ``going``; text of where."""
    far, near = step.far, "src" if step.far == "dst" else "dst"
    lines, edge = [], "np.int64(e)"
    if needs_edges(step, b):
        parameters["in_edges"] = b.in_edges()
        lines.append("slot_of = np.int64(in_edges[e])")
        edge = "slot_of"
    if "weight" in arguments(step.fn, "edge"):
        parameters["weights"] = b.weights()
    ends = {near: near, far: "x", "edge": edge, "weight": f"weights[{edge}]"}
    where = b.call(step.where, far, ends) if step.where is not None else None
    lines += [f"if truth({b.call(step.fn, 'edge', ends)}):", "    accepted = True"]
    if where is not None:
        lines += [f"if not truth({where}):", "    going = False"]
    return lines, where


_BIT = "np.uint32(np.uint32(bits[{0} >> 5] >> np.uint32({0} & 31)) & np.uint32(1)) != np.uint32(0)"


def _hubs(step: Advance, b: CudaProgram, parameters: dict[str, Value]) -> list[str]:
    """Lines that fill the block's table with the hubs in the frontier; of those in one place the last stays."""
    parameters["hubs"] = hub_list(step, b)
    parameters["many"] = Call("min", hub_inputs(step, b)[1], TABLE)
    return [
        f"table = {b.block_memory(b.layout.ids)}",
        f"fill_hubs(table, {TABLE}, hubs, many, bits, everything)",
    ]


def _alone(visit: list[str], where: str | None, near: str, cached: bool) -> list[str]:
    """Lines in which a lane walks the beginning of its vertex's list, four edges at a time."""
    find = ["k = I(offsets[x])", "end = I(offsets[x + 1])", "going = True"]
    probes = []
    for i in range(4):
        probes.append(f"near{i} = np.int64(ends[min(I(k + I({i})), I(cap - I(1)))])")
    probes += ["left = I(cap - k)", "real = np.uint32(15)", "if left < I(4):", "    real = np.uint32((1 << left) - 1)"]
    probes.append("hits = real")
    probes += ["if not everything:", "    hits = np.uint32(0)"]
    if cached:
        for i in range(4):
            probes.append(f"    if table[near{i} & {TABLE - 1}] == near{i}:")
            probes.append(f"        hits = np.uint32(hits | np.uint32({1 << i}))")
        probes += ["    hits = np.uint32(hits & real)", "    known = hits", "    if hits == np.uint32(0):"]
        probes += [*indented(_read_bits(), 2), "        known = np.uint32(15)"]
        # What the table did not hold is looked up if the search goes on.
        visits = [
            "while hits != np.uint32(0) and going:",
            *indented(_each(visit, near)),
            "    if hits == np.uint32(0) and going and known != np.uint32(15):",
            *indented(_read_bits(), 2),
            "        hits = np.uint32(hits & np.uint32(~known))",
            "        known = np.uint32(15)",
        ]
        probes.insert(0, "known = np.uint32(15)")
    else:
        probes += indented(_read_bits())
        visits = ["while hits != np.uint32(0) and going:", *indented(_each(visit, near))]
    probes += [*visits, "k = I(k + I(4))"]
    return [
        "accepted = False",
        "going = False",
        "k = I(0)",
        "end = I(0)",
        "if x < n:",
        *(indented([f"if truth({where}):", *indented(find)] if where is not None else find)),
        "begun = k",
        f"cap = min(end, I(k + I({ALONE})))",
        "while k < cap and going:",
        *indented(probes),
        "k = min(k, cap)",
        "examined += k - begun",
    ]


def _read_bits() -> list[str]:
    """Lines that look up four neighbours in the frontier's bitmap."""
    lines = [f"hit{i} = {_BIT.format(f'near{i}')}" for i in range(4)]
    for i in range(4):
        lines += [f"if hit{i}:", f"    hits = np.uint32(hits | np.uint32({1 << i}))"]
    return [*lines, "hits = np.uint32(hits & real)"]


def _each(visit: list[str], near: str) -> list[str]:
    """Lines that visit the next of the neighbours that are hit."""
    return [
        "j = find_first(hits)",
        "hits = np.uint32(hits & np.uint32(hits - np.uint32(1)))",
        f"{near} = near0",
        *(line for i in (1, 2, 3) for line in (f"if j == {i}:", f"    {near} = near{i}")),
        "e = I(k + I(j))",
        *visit,
    ]


def _together(visit: list[str], near: str) -> list[str]:
    """Lines in which the warp walks what is left of its vertices' long lists."""
    return [
        "pending = ballot(going and k < end)",
        "while pending != np.uint32(0):",
        "    leader = find_first(pending)",
        "    pending = np.uint32(pending & np.uint32(pending - np.uint32(1)))",
        "    mine = x",
        "    kept = accepted",
        "    x = np.int64(shuffle(mine, leader))",
        "    e = I(I(shuffle(k, leader)) + I(lane))",
        "    last = I(shuffle(end, leader))",
        "    accepted = False",
        "    going = True",
        "    more = True",
        "    while more:",
        "        if e < last:",
        f"            {near} = np.int64(ends[e])",
        "            examined += 1",
        f"            if everything or {_BIT.format(near)}:",
        *indented(visit, 4),
        "        e = I(e + I(32))",
        "        more = not any_lane(not going) and any_lane(e < last)",
        "    found = any_lane(accepted)",
        "    x = mine",
        "    accepted = kept",
        "    if lane == leader and found:",
        "        accepted = True",
    ]


def _vote(step: Advance, again: bool) -> list[str]:
    """Return lines that put accepted vertices into the next bitmap: as a word, or bit by bit into a cleared one."""
    if step.output is None:
        return []
    found = ["count += 1", "edges += np.int64(degrees[x + 1]) - np.int64(degrees[x])"]
    if again:
        bit = "fetch_or(made, x >> 5, np.uint32(np.uint32(1) << np.uint32(x & 31)))"
        return ["if accepted:", *indented([bit, *found])]
    return ["votes = ballot(accepted)", "if lane == 0:", "    made[word] = votes", "if accepted:", *indented(found)]
