"""How the phases of the CPU walk a frontier and adjacency lists: generators, of which a phase is the loop body.

The translator puts the body in place of ``yield`` (:mod:`frontier.compile.translation.translator`), so a walk costs
what the same loop written into the phase does, and the body's variables stay in registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cpu.runtime_words import EXAMINED
from frontier.lowering.kernels import Callee
from frontier.operators.shared.phases import slot_of_edge, weight_of_edge

if TYPE_CHECKING:
    from frontier.backends.cpu.atomics import truth
    from frontier.backends.cpu.intrinsics import fetch_add
    from frontier.backends.cpu.runtime import next_piece, piece

__all__ = ["LEAST", "MOST", "over_elements", "over_list", "over_part", "over_pieces", "over_vertices"]

#: Fewest and most elements of a piece: with fewer, dividing the work costs more than it saves.
LEAST, MOST = 64, 4096


def over_pieces(least: int, most: int, fixed: bool = False) -> Callable[..., Any]:
    """Return a walk over a worker's pieces of a range: the first of each, and the end.

    Worker w begins with piece w, then an idle worker takes the next; if ``fixed``, the pieces of a worker are the same
    in every run. So a short frontier stays with one worker, whose cache holds what it needs.
    """

    def pieces(C, slot, w, W, total):
        size = piece(total, W, least, most)
        first = w * size
        while first < total:
            yield first, min(first + size, total)
            if fixed:
                first += W * size
            else:
                first = next_piece(C, slot, W, size)

    return pieces


def over_elements(counted: bool = False) -> Callable[..., Any]:
    """Return a walk over a worker's elements of a frontier; if ``counted``, of the numbers below ``total``."""
    pieces = over_pieces(LEAST, MOST)

    def elements(C, slot, w, W, everything, queue, total):
        for first, end in pieces(C, slot, w, W, total):
            for i in range(first, end):
                yield i if counted or everything else np.int64(queue[i])

    return elements


def over_vertices() -> Callable[..., Any]:
    """Return a walk over a worker's vertices of a frontier that counts the edges of their lists as examined.

    Pieces of all vertices have about equally many edges where the first has many: by degree, a third may belong to the
    first few thousand.
    """
    pieces = over_pieces(LEAST, MOST)

    def vertices(C, slot, w, W, everything, queue, total, lists):
        examined = np.int64(0)
        level = everything and W > 1 and begins_heavy(lists, total, piece(total, W, LEAST, MOST))
        for first, end in pieces(C, slot, w, W, total):
            if level:
                first = vertex_at(lists, total, first)
                end = vertex_at(lists, total, end)
            for i in range(first, end):
                x = i if everything else np.int64(queue[i])
                yield x
                examined += np.int64(lists.offsets[x + 1]) - np.int64(lists.offsets[x])
        fetch_add(C, slot + EXAMINED, examined)

    return vertices


def begins_heavy(lists, total, size):
    """Whether the first vertices have more than twice as many edges as equally many others on average."""
    begin = np.int64(lists.offsets[0])
    here = np.float64(np.int64(lists.offsets[min(size, total)]) - begin)
    return here * np.float64(total) > 2.0 * np.float64(size) * np.float64(np.int64(lists.offsets[total]) - begin)


def vertex_at(lists, total, number):
    """The vertex before which lies the same part of all vertices and edges as ``number`` is of ``total``."""
    begin = np.int64(lists.offsets[0])
    work = total + np.int64(lists.offsets[total]) - begin
    position = np.int64(np.float64(number) / np.float64(total) * np.float64(work))
    low, high = np.int64(0), total
    while low < high:
        middle = (low + high) >> 1
        if middle + np.int64(lists.offsets[middle]) - begin < position:
            low = middle + 1
        else:
            high = middle
    return low


def over_list(where: Callee, renumbered: bool, weighted: bool) -> Callable[..., Any]:
    """Return a walk over the edges of a vertex for whose far ends a condition holds: far end, slot and weight."""
    part = over_part(where, renumbered, weighted)

    def edges(p, C, slot, lists, x):
        first, end = np.int64(lists.offsets[x]), np.int64(lists.offsets[x + 1])
        for far, e, weight in part(p, C, slot, lists, first, end):  # noqa: UP028 - the translator has no ``yield from``
            yield far, e, weight

    return edges


def over_part(where: Callee, renumbered: bool, weighted: bool) -> Callable[..., Any]:
    """The same for a part of the lists, from a position to another."""
    every = where is None
    slot_at, weight_at = slot_of_edge(renumbered), weight_of_edge(weighted)

    def edges(p, C, slot, lists, first, end):
        for k in range(first, end):
            far = np.int64(lists.ends[k])
            e = slot_at(lists, k)
            weight = weight_at(lists, e)
            if every or truth(where(p, C, slot, far)):
                yield far, e, weight

    return edges
