"""Push, balance ``degree_classes``: four queues by degree, for a thread, a warp, a block or the whole grid a vertex.

One phase sorts the frontier into the queues, a second works through them, the longest lists first. Enterprise's
workload balancing (Liu and Huang, SC 2015); its four kernels that run side by side are here parts of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.ir import Assign, Counter, Value, Var
from frontier.lowering.registers import PUSH_CLASSES
from frontier.operators.advance.cuda.block import Parts, blocks_of
from frontier.operators.advance.cuda.edges import finish
from frontier.operators.phases import frontier, indented

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.registers import Register
    from frontier.operators.advance import Advance

__all__ = ["lower"]

#: Degrees from which on a warp, a block, all blocks walk a list.
WARP, BLOCK, GRID = 32, 256, 65536


def lower(step: Advance, b: CudaProgram, source: Register, target: Register, want: str) -> None:
    """Add the phases that push along all edges of ``source`` and append to ``target``."""
    queues: dict[str, Value] = {
        "small": b.array("classes_small", "vertex_queue", b.layout.ids),
        "large": b.array("classes_large", "vertex_queue", b.layout.ids),
        "n": b.capacity("vertex"),
    }
    counts = _classify(step, b, source, queues)
    parts = Parts(step, b, target, want, {**queues, **{f"many{i}": each for i, each in enumerate(counts)}})
    body = [*parts.begin(), *_long(parts), *_threads(parts), *parts.end()]
    made = b.function(f"push_{step.fn.__name__}", parts.parameters, body)
    finish(step, b, made, source, target, parts.want, Counter("EXAMINED"), PUSH_CLASSES)


def _classify(step: Advance, b: CudaProgram, source: Register, queues: dict[str, Value]) -> list[Var]:
    """Add the phase that writes the queues; the variables that hold their lengths.

    Two arrays hold two queues each, one from the front and one from the back: together they have no more elements
    than the frontier.
    """
    parameters = frontier(b, source, "vertex") | queues
    parameters["offsets"] = b.lists(step.edges)[0]
    body = [
        "t = thread_index()",
        "examined = np.int64(0)",
        *blocks_of(
            [
                "degree = I(stop - begin_)",
                "kind = np.int32(-1)",
                "if degree > I(0):",
                f"    kind = np.int32(degree >= I({WARP})) + np.int32(degree >= I({BLOCK}))",
                f"    kind = np.int32(kind + np.int32(degree >= I({GRID})))",
                "place = class_places(C, slot, kind)",
                "if kind == 0:",
                "    small[place] = mine",
                "elif kind == 1:",
                "    small[n - place] = mine",
                "elif kind == 2:",
                "    large[place] = mine",
                "elif kind == 3:",
                "    large[n - place] = mine",
            ]
        ),
    ]
    counts = [b.variable("members") for _ in range(4)]
    words = ("COUNT", "EXAMINED", "PILE_COUNT", "CURSOR")
    after = [Assign(count, Counter(word)) for count, word in zip(counts, words, strict=True)]
    b.phase(b.function(f"classes_{step.fn.__name__}", parameters, body), after, "sort the frontier by degree")
    return counts


#: Lines that say, for a class of long lists, how far its queue goes and who walks a list: all, a block, a warp.
_TURNS = [
    "if turn == 3:",
    "    many, q, step = many3, np.int64(0), np.int64(1)",
    "    number, stride = w - lane, np.int64(W)",
    "elif turn == 2:",
    "    many, q, step = many2, np.int64(block_index()), np.int64(num_blocks())",
    "    number, stride = np.int64(t - lane), np.int64(block_size())",
    "else:",
    "    many, q, step = many1, np.int64((w - lane) >> 5), np.int64(W >> 5)",
    "    number, stride = np.int64(0), np.int64(32)",
]


def _long(parts: Parts) -> list[str]:
    """Lines that work through the three classes of long lists; one text for all, for it holds the functor."""
    return [
        "for turn in (3, 2, 1):",
        *indented(_TURNS),
        "    while q < many:",
        "        x = np.int64(small[n - q]) if turn == 1 else np.int64(large[q if turn == 2 else n - q])",
        "        at = np.int64(offsets[x])",
        "        last = np.int64(offsets[x + 1])",
        "        if number == 0 and lane == 0:",
        "            examined += last - at",
        *indented(parts.strip("number", "stride"), 2),
        "        q += step",
    ]


def _threads(parts: Parts) -> list[str]:
    """Lines that work through the short lists, a lane each."""
    return [
        "first = w - lane",
        "while first < many0:",
        "    x = np.int64(0)",
        "    k = np.int64(0)",
        "    last = np.int64(0)",
        "    if first + lane < many0:",
        "        x = np.int64(small[first + lane])",
        "        k = np.int64(offsets[x])",
        "        last = np.int64(offsets[x + 1])",
        "    examined += last - k",
        "    while any_lane(k < last):",
        *indented(parts.visit("k < last"), 2),
        "        k += 1",
        "    first += W",
    ]
