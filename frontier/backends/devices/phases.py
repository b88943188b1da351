"""Phases in which GPUs exchange what a step has changed: kernels that read the memory of the other GPUs.

Every GPU has whole fields, and bitmaps that say which elements it has changed. Of an element that another GPU owns, it
has a copy. After a step, owners bring together what all have made of their elements (:func:`merging`), and then all
copy what owners have changed (:func:`sharing`). Both read only what is marked: a warp looks at 32 words of a bitmap at
once, and then its lanes at the elements of each word that is not zero, so that values are read side by side.

``marked`` and ``fields`` are tables with an address for each GPU. The bitmap of the exchange before, ``stale``, which
nobody reads any more, is cleared on the way. A GPU's range begins with a word, or is empty and begins with the last
vertex.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.lowering.kernels import Callee

if TYPE_CHECKING:
    from frontier.backends.cuda.machine import ballot, find_first, popcount, shuffle
    from frontier.backends.cuda.names import uint32_at
    from frontier.backends.cuda.reductions import add_found

__all__ = ["combining", "completing", "copying", "finding", "following", "merging", "settling", "sharing"]


def clearing(stale, w, W, n):
    """Clear the words of a bitmap that are not zero."""
    i = w
    while i < (n + 31) >> 5:
        if stale[i] != 0:
            stale[i] = np.uint32(0)
        i += W


def is_set(bits, v):
    """Whether the bitmap at an address has an element."""
    return np.uint32(np.uint32(uint32_at(bits)[v >> 5] >> np.uint32(v & 31)) & np.uint32(1)) != np.uint32(0)


def combining(at: Callee, combine: str, flag: bool) -> Callable[..., Any]:
    """Return a function that makes one value of an element of what GPUs have made of it, in their order.

    It returns the value, and whether there was any change by another GPU.
    """
    sums, least, greatest = combine == "sum" and not flag, combine == "min", combine == "max"
    union, common = combine == "or" or (combine == "sum" and flag), combine == "and"

    def bring(mine, fields, marked, bases, rank, parts, v):
        value = mine[v]
        found = False
        others = False
        for r in range(parts):
            if is_set(marked[r], v):
                if r != rank:
                    others = True
                theirs = at(fields[r])[v]
                if sums:
                    if r != rank:
                        value += theirs - at(bases[r])[v]
                elif not found:
                    value = theirs
                elif least:
                    value = min(value, theirs)
                elif greatest:
                    value = max(value, theirs)
                elif union:
                    value = value | theirs
                elif common:
                    value = value & theirs
                found = True  # of claims, the first one counts
        return value, others

    return bring


def following(at: Callee, lead: Callee, lead_at: Callee) -> Callable[..., Any]:
    """Return a function that gives the value of the GPU whose value of another field, the leader, has been chosen.

    That is the first GPU that has changed the leader to what ``lead`` makes of it, or, if no GPU has changed it, the
    first that has changed this field.
    """

    def bring(mine, fields, marked, leader, rank, parts, v):
        chosen, _ = lead(leader.mine, leader.fields, leader.marked, leader.bases, rank, parts, v)
        value = mine[v]
        led = False
        found = False
        others = False
        for r in range(parts):
            changed = is_set(marked[r], v)
            wins = not led and is_set(leader.marked[r], v) and lead_at(leader.fields[r])[v] == chosen
            if wins or (changed and not (found or led)):
                value = at(fields[r])[v]
                found = True
            led = led or wins
            others = others or (changed and r != rank)
        return value, others

    return bring


def merging(bring: Callee) -> Callable[..., Any]:
    """Owners bring together what all GPUs have made of their elements, and mark what has changed.

    ``bases`` goes to ``bring``: for a field that follows another, the parts of that field.
    """

    def phase(p, C, slot, w, W, mine, marks, stale, fields, marked, bases, rank, parts, first, end, n):
        lane = np.int32(w & 31)
        word = ((first + 31) >> 5) + (w - lane)
        last = (end + 31) >> 5
        while word < last:
            bits = np.uint32(0)
            if word + lane < last:
                for r in range(parts):
                    if r != rank:
                        bits = np.uint32(bits | np.uint32(uint32_at(marked[r])[word + lane]))
            pending = ballot(bits != np.uint32(0))
            while pending != np.uint32(0):
                leader = find_first(pending)
                pending = np.uint32(pending & np.uint32(pending - np.uint32(1)))
                some = np.uint32(shuffle(np.int64(bits), leader))
                v = ((word + leader) << 5) + lane
                changed = False
                if np.uint32(np.uint32(some >> np.uint32(lane)) & np.uint32(1)) != np.uint32(0):
                    value, changed = bring(mine, fields, marked, bases, rank, parts, v)
                    mine[v] = value
                votes = ballot(changed)
                if lane == 0:  # no other warp has this word
                    marks[word + leader] = np.uint32(np.uint32(marks[word + leader]) | votes)
            word += W
        clearing(stale, w, W, n)

    return phase


def copying(based: bool) -> Callable[..., Any]:
    """Return a function by which a warp copies the marked elements of a range from another GPU."""

    def copy(w, W, mine, base, theirs, marks, first, end):
        lane = np.int32(w & 31)
        word = ((first + 31) >> 5) + (w - lane)
        last = (end + 31) >> 5
        while word < last:
            bits = np.uint32(0)
            if word + lane < last:
                bits = np.uint32(marks[word + lane])
            pending = ballot(bits != np.uint32(0))
            while pending != np.uint32(0):
                leader = find_first(pending)
                pending = np.uint32(pending & np.uint32(pending - np.uint32(1)))
                some = np.uint32(shuffle(np.int64(bits), leader))
                v = ((word + leader) << 5) + lane
                if np.uint32(np.uint32(some >> np.uint32(lane)) & np.uint32(1)) != np.uint32(0):
                    value = theirs[v]
                    mine[v] = value
                    if based:
                        base[v] = value
            word += W

    return copy


def sharing(at: Callee, copy: Callee, clears: bool) -> Callable[..., Any]:
    """Take over what owners have changed of a field."""

    def phase(p, C, slot, w, W, mine, base, stale, fields, marked, starts, rank, parts, n):
        for r in range(parts):
            if r != rank:
                copy(w, W, mine, base, at(fields[r]), uint32_at(marked[r]), starts[r], starts[r + 1])
        if clears:
            clearing(stale, w, W, n)

    return phase


def settling(copy: Callee) -> Callable[..., Any]:
    """Note the values of elements that this GPU has added to, for owners have taken the sums over."""

    def phase(p, C, slot, w, W, mine, base, marks, starts, rank, parts):
        for r in range(parts):
            if r != rank:
                copy(w, W, base, base, mine, marks, starts[r], starts[r + 1])

    return phase


def finding(big: bool) -> Callable[..., Any]:
    """Owners bring together which of their vertices any GPU has found, in a bitmap, and count them and their edges."""

    def phase(p, C, slot, w, W, made, stale, marked, parts, degrees, first, end, n):
        count = np.int64(0)
        edges = np.int64(0)
        word = ((first + 31) >> 5) + w
        last = (end + 31) >> 5
        while word < last:
            bits = np.uint32(0)
            for r in range(parts):
                bits = np.uint32(bits | np.uint32(uint32_at(marked[r])[word]))
            made[word] = bits
            count += popcount(bits)
            while bits != np.uint32(0):
                x = (word << 5) + find_first(bits)
                bits = np.uint32(bits & np.uint32(bits - np.uint32(1)))
                edges += np.int64(degrees[x + 1]) - np.int64(degrees[x])
            word += W
        add_found(C, slot, big, count, edges)
        clearing(stale, w, W, n)

    return phase


def completing() -> Callable[..., Any]:
    """Take over from the other GPUs the bits of their vertices."""

    def phase(p, C, slot, w, W, bits, others, starts, rank, parts):
        for r in range(parts):
            if r != rank:
                theirs = uint32_at(others[r])
                i = ((starts[r] + 31) >> 5) + w
                while i < (starts[r + 1] + 31) >> 5:
                    bits[i] = np.uint32(theirs[i])
                    i += W

    return phase
