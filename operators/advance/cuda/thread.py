"""Push, balance ``thread``: a few lanes share the list of one frontier vertex.

Needs no scan and no memory of the block, so a pass costs little more than its chain of loads; a hub would hold
up its lanes. Every edge has a lane of its own where lists are short, so that also the atomics of functors overlap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.analysis import effects
from frontier.lowering.ir import Counter, Value, cast
from frontier.lowering.registers import PUSH_THREAD
from frontier.lowering.variables import EPOCH, TRACING, pointer
from frontier.operators.advance.cuda.edges import accept, append, finish, keep
from frontier.operators.cuda.elementwise import output
from frontier.operators.phases import frontier, indented
from frontier.operators.sample import Sample, sample_key, sample_place

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.registers import Register
    from frontier.operators.advance import Advance

__all__ = ["far_ends", "lower"]

#: Edges of a vertex that joins the frontier whose far ends are fetched ahead.
AHEAD = 4


def lower(step: Advance, b: CudaProgram, source: Register, target: Register, want: str) -> None:
    """Add the phase that pushes along (a part of) the edges of every vertex of ``source``."""
    parameters = frontier(b, source, "vertex")
    parameters["offsets"], parameters["ends"] = b.lists(step.edges)
    parameters["carried"] = b.carried(source, step.edges)
    parameters["starts"] = pointer(b.layout.offsets, b.scan_of(source))
    parameters["tracing"] = TRACING
    parameters["slots"] = b.capacity("edge")
    inner, want = accept(step, b, target, want, parameters, end="ahead")
    lanes = _lanes(step, b)
    if isinstance(step.part, Sample):
        going, find, onward = "draw < drawn", _drawn(step.part, b, parameters), [f"draw += {lanes}"]
        inner = [*_place(b), *inner]
    else:
        going, find, onward = "k < end", _list(step.part), _onward(lanes)
    b.holds = step.held is not None and b.carries(want) and not b.decides and b.build.packs
    hold, stay, count = _hold(step, b, want, lanes, parameters) if step.hold is not None else ([], [], [])
    waits = " or stays" if stay else ""
    add = append(step, b, want)
    if b.holds:
        add, count = ["append_waiting(C, slot, out, out_scan, capacity, ok, item, begun, stays)"], []
    ahead = _ahead(step, b, parameters) if b.carries(want) and not b.decides else []
    body = [
        "lane = np.int32(w & 31)",
        f"part = np.int32(lane & np.int32({lanes - 1}))",
        "seen = np.int64(0)",
        *(["next_ = I(-1)"] if ahead else []),
        *(["kept = np.int64(0)"] if count else []),
        f"first = ((w - lane) >> 5) * {32 // lanes}",
        "while first < total:",
        f"    i = first + (lane >> {lanes.bit_length() - 1})",
        *indented(find),
        *indented(hold),
        f"    while any_lane({going}{waits}):",
        "        ok = False",
        "        item = np.int64(0)",
        *(["        begun = I(0)"] if b.carries(want) else []),
        *indented(stay, 2),
        f"        {'elif' if stay else 'if'} {going}:",
        *indented(inner, 3),
        *indented(add, 2),
        *(["        if ok:", "            next_ = begun"] if ahead else []),
        *indented(onward, 2),
        *(["        stays = False"] if stay else []),
        f"    first += (W >> 5) * {32 // lanes}",
        "if tracing:",
        "    add_up(C, slot, EXAMINED, seen)",
        *count,
        *ahead,
    ]
    b.arrived = bool(ahead)
    made = b.function(f"push_{step.fn.__name__}", parameters, body)
    finish(step, b, made, source, target, want, Counter("EXAMINED"), PUSH_THREAD)
    b.arrived = b.holds = False


def _ahead(step: Advance, b: CudaProgram, parameters: dict[str, Value]) -> list[str]:
    """Lines for the time in which the grid waits: what the next level will ask of far ends is brought nearer.

    A level of a search on a road is a chain of loads, one of them from memory: of fields of vertices two steps away.
    """
    found = [effects(fn) for fn in (step.fn, step.where) if fn is not None]
    touched = {name for each in found for some in (each.reads, each.writes) for name in some if step.far in some[name]}
    fields = [name for name, kind, _ in b.layout.fields if kind == "vertex" and name in touched]
    for name in fields:
        parameters[f"of_{name}"] = b.field(name)
    fetch = [f"prefetch(of_{name}, far{{0}})" for name in fields] + ["prefetch(degrees, far{0})"]
    last = "np.int64(slots) - 1"
    lines = [f"far{i} = np.int64(following[min(np.int64(next_) + {i}, {last})])" for i in range(AHEAD)]
    lines += [text.format(i) for i in range(AHEAD) for text in fetch]
    return ["arrive_packed(C, slot)", "if next_ >= I(0) and slots > 0:", *indented(lines)]


def _lanes(step: Advance, b: CudaProgram) -> int:
    """Lanes of a list: fewer where only a part of it is walked."""
    if isinstance(step.part, Sample):
        length = step.part.size
    elif step.part is not None and step.part[1] is not None:
        length = max(step.part[1] - step.part[0], 1)
    else:
        return b.build.lanes
    return min(b.build.lanes, 1 << (length - 1).bit_length())


def _hold(
    step: Advance, b: CudaProgram, want: str, lanes: int, parameters: dict[str, Value]
) -> tuple[list[str], list[str], list[str]]:
    """Lines that ask whether ``x`` waits, that then take it, and that count those; one lane decides for all of a list.

    A field may change meanwhile, so lanes that asked by themselves might disagree, and edges be lost.
    """
    assert step.hold is not None
    drawn = isinstance(step.part, Sample)
    hold = [
        "stays = False",
        "if part == 0 and i < total:",
        f"    stays = truth({b.call(step.hold, 'vertex', {'v': 'x'})})",
        *(["kept += ones(ballot(stays))"] if step.held is not None and not b.holds else []),
        "if shuffle(np.int32(stays), np.int32(lane - part)) != np.int32(0):",
        "    if tracing and part == 0:",
        f"        seen -= {'drawn' if drawn else 'max(np.int64(end - k), 0)'}",
        f"    {'draw = drawn' if drawn else 'k = end'}",
    ]
    stay = ["if stays:", *indented(keep(step, b, want, parameters))]
    count = ["if kept != 0 and lane == 0:", "    fetch_add(C, slot + PILE_COUNT, kept)"]
    return hold, stay, count if step.held is not None else []


def _list(part: tuple[int, int | None] | None) -> list[str]:
    """Lines that find vertex ``x`` and its edges ``k`` to ``end``; the first is read before ``end`` is known."""
    lines = [
        "x = element_at(queue, everything, i)",
        "if carried:",
        "    k = I(starts[i])",
        "else:",
        "    k = I(offsets[x])",
    ]
    first, last = part or (0, None)
    if first:
        lines.append(f"k = I(k + I({first}))")
    lines += [
        "if I(k + I(part)) < slots:",
        "    ahead = np.int64(ends[I(k + I(part))])",
        "end = I(offsets[x + 1])",
    ]
    if last is not None:
        lines.append(f"end = I(min(end, I(k + I({max(last - first, 0)}))))")
    lines += [
        "if tracing and part == 0:",
        "    seen += max(end - k, 0)",
        "k = I(k + I(part))",
    ]
    none = ["x = np.int64(0)", "k = I(0)", "end = I(0)", "ahead = np.int64(0)"]
    return [*none, "if i < total:", *indented(lines)]


def _onward(lanes: int) -> list[str]:
    """Lines that go to a lane's next edge."""
    return [f"k = I(k + I({lanes}))", "if k < end:", "    ahead = np.int64(ends[k])"]


def _drawn(part: Sample, b: CudaProgram, parameters: dict[str, Value]) -> list[str]:
    """Lines that find vertex ``x``, how many of its edges are drawn, and the lane's first ``draw``."""
    parameters["seed"] = cast("int64", b.scalars[part.seed] if isinstance(part.seed, str) else part.seed)
    return [
        "x = np.int64(0)",
        "start = I(0)",
        "degree = np.int64(0)",
        "drawn = np.int64(0)",
        "key = np.int64(0)",
        "if i < total:",
        "    x = element_at(queue, everything, i)",
        "    start = I(offsets[x])",
        "    degree = np.int64(offsets[x + 1]) - start",
        f"    drawn = np.int64(min(degree, {part.size}))",
        f"    key = np.int64({b.functor(sample_key)}(p, seed, x))",
        "    if tracing and part == 0:",
        "        seen += drawn",
        "draw = np.int64(part)",
    ]


def _place(b: CudaProgram) -> list[str]:
    """Lines that find the edge ``k`` of a draw."""
    return [
        "place = draw",
        "if drawn < degree:",
        f"    place = np.int64({b.functor(sample_place)}(p, key, degree, draw))",
        "k = I(start + place)",
        "ahead = np.int64(ends[k])",
    ]


def far_ends(step: Advance, b: CudaProgram, edges: Register, vertices: Register) -> None:
    """Add the phase that makes the set of the far ends of some edges."""
    parameters = frontier(b, edges, "edge")
    # The far end of an edge is the same whichever way it is walked from here on.
    parameters["ends"] = b.lists("out")[1] if step.edges == "out" else b.sources()
    parameters["stamps"] = b.array("stamps", "stamps", "int32")
    parameters["epoch"] = cast("int32", EPOCH)
    want = output(b, vertices, "vertex", "" if step.part else step.edges, parameters)
    body = [
        "lane = w & 31",
        "first = w - lane",
        "while first < total:",
        "    ok = False",
        "    item = np.int64(0)",
        "    i = first + lane",
        "    if i < total:",
        "        far = np.int64(ends[element_at(queue, everything, i)])",
        "        if stamps[far] != epoch and exchange(stamps, far, epoch) != epoch:",
        "            ok = True",
        "            item = far",
        f"    append(C, slot, {b.big}, out, out_scan, {b.mode(want).name}, degrees, capacity, ok, item, True)",
        "    first += W",
    ]
    b.set(EPOCH, EPOCH + 1)
    b.phase(b.function("far_ends", parameters, body), b.produced(vertices, "vertex", want), "list the far ends")
