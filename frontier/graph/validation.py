"""Whether arrays are those of a graph, looked at once, before compiled code reads them without looking.

Compiled code follows offsets and targets wherever they lead. So what comes from outside, arrays given to
:class:`frontier.Graph` or a folder that another program may have written, is looked at here: by all threads, in
stretches that fit a core's cache, and in the order in which it lies, so that files are read once.

Whether in-lists are the transposition of the out-lists, and whether an undirected graph has each edge both ways, takes
no sorting: a number is made of each edge, and the sums of both sides are compared. What goes into the numbers is drawn
anew each time, so that no graph can be made for which the sums are equal by intent.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.packed import AFTER, BLOCK, PackedIds, unpacked
from frontier.graph.topology import Array
from frontier.memory.arrays import is_device, to_host
from frontier.native import threads

__all__ = ["check_edges", "check_kinds", "mixed"]

#: Slots that are looked at together, a multiple of a block's; and how many are worth more than one thread.
STRETCH, WORTH_THREADS = 1 << 17, 1 << 18

#: What is multiplied with the ends of an edge, and what it carries, where no other numbers are drawn.
FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)

#: In-offsets, in-sources and the slot of each in-edge.
InLists = tuple[Array, Array | PackedIds, Array]


# ---- what takes no time ----------------------------------------------------------------------------------------


def check_kinds(
    offsets: Array,
    ends: Array | PackedIds,
    weights: Array | None = None,
    labels: Array | None = None,
    vertices: Mapping[str, Array] | None = None,
    edges: Mapping[str, Array] | None = None,
    in_lists: InLists | None = None,
) -> None:
    """Refuse arrays that have not the dtypes and lengths of those of a graph, and offsets that fall.

    Takes O(n) time and reads nothing of the size of the edges.

    Raises
    ------
    GraphError
    """
    _check_ids("offsets", offsets)
    if isinstance(ends, PackedIds):
        _check_packed(ends)
    else:
        _check_ids("targets", ends)
    n, m = len(offsets) - 1, len(ends)
    _check_offsets("offsets", offsets, m)
    if weights is not None:
        _check_array("weights", weights, m)
        if weights.dtype.kind not in "iuf" or weights.itemsize not in (1, 2, 4, 8) or weights.dtype == np.float16:
            raise GraphError(f"weights are integers, float32 or float64, not {weights.dtype}")
    if labels is not None:
        _check_array("labels", labels, n, gaps=True)
    for kind, columns, count in (("vertex", vertices, n), ("edge", edges, m)):
        for name, column in (columns or {}).items():
            _check_array(f"the {kind} column {name!r}", column, count, gaps=True)
    if in_lists is not None:
        _check_in_lists(in_lists, offsets, ends)


def _check_in_lists(in_lists: InLists, offsets: Array, ends: Array | PackedIds) -> None:
    for name, array in zip(("in_offsets", "in_sources", "in_edges"), in_lists, strict=True):
        _check_ids(name, array)
        alike, dtype = ("targets", ends.dtype) if name == "in_sources" else ("offsets", offsets.dtype)
        if array.dtype != dtype:
            raise GraphError(f"{name} have the dtype of {alike}, {dtype}, not {array.dtype}")
        length = len(offsets) if name == "in_offsets" else len(ends)
        if len(array) != length:
            raise GraphError(f"{name} have {length} entries, not {len(array)}")
    _check_offsets("in_offsets", in_lists[0], len(ends))


def _check_array(what: str, array: Any, length: int | None = None, gaps: bool = False) -> None:
    if not isinstance(array, np.ndarray) and not is_device(array):
        raise GraphError(f"{what} must be an array, not {type(array).__name__}; fr.from_csr makes arrays of lists")
    if array.ndim != 1:
        raise GraphError(f"{what} must have one dimension, not {array.ndim}")
    if not array.dtype.isnative or array.dtype.kind == "V":
        raise GraphError(f"{what} must have a dtype of this machine's numbers or strings, not {array.dtype}")
    if not gaps and not (array.flags.c_contiguous and getattr(array.flags, "aligned", True)):
        raise GraphError(f"{what} must lie without gaps; np.ascontiguousarray copies an array so")
    if length is not None and len(array) != length:
        raise GraphError(f"{what} must have {length} entries, not {len(array)}")


def _check_ids(what: str, array: Any) -> None:
    _check_array(what, array)
    if array.dtype not in (np.int32, np.int64):
        raise GraphError(f"{what} are int32 or int64, not {array.dtype}; fr.from_csr converts arrays")


def _check_offsets(what: str, offsets: Array, m: int) -> None:
    if len(offsets) == 0:
        raise GraphError(f"{what} have at least one entry")
    if int(offsets[0]) != 0 or int(offsets[-1]) != m:
        raise GraphError(f"{what} go from 0 to the number of edge slots, {m}, not from {offsets[0]} to {offsets[-1]}")
    falls = offsets[1:] < offsets[:-1]
    if falls.any():
        raise GraphError(f"{what} must not fall, but do at vertex {int(falls.argmax())}")


def _check_packed(ends: PackedIds) -> None:
    """Refuse frames that lead out of the words, or words that are too few."""
    _check_ids("the frames of compressed lists", ends.frames)
    _check_array("the words of compressed lists", ends.words)
    if ends.dtype not in (np.int32, np.int64) or ends.words.dtype != np.uint32:
        raise GraphError(f"compressed lists are ids in uint32 words, not {ends.dtype} in {ends.words.dtype}")
    begins = to_host(ends.frames)[::2]
    if len(ends.frames) != 2 * -(-len(ends) // BLOCK) + 1 or begins[0] != 0:
        raise GraphError(f"compressed lists of {len(ends)} slots do not have {len(ends.frames)} frames from 0 on")
    bits = np.diff(begins.astype(np.int64))
    if len(bits) and (bits.min() < 0 or bits.max() > 32):
        raise GraphError("a block of compressed lists takes 0 to 32 words")
    if len(ends.words) < int(begins[-1]) + AFTER:
        raise GraphError(f"compressed lists need {int(begins[-1]) + AFTER} words, and there are {len(ends.words)}")


# ---- what reads all edges --------------------------------------------------------------------------------------


def check_edges(
    offsets: Array,
    ends: Array | PackedIds,
    weights: Array | None = None,
    *,
    directed: bool,
    labels: Array | None = None,
    in_lists: InLists | None = None,
) -> None:
    """Refuse edges that :func:`check_kinds` has let pass and that are not those of a graph.

    Every target is a vertex, and lists ascend; no weight is NaN; an undirected graph has each edge both ways, with the
    same weight; in-lists are the transposition of the others; labels are unique.

    Raises
    ------
    GraphError
    """
    factors = tuple(secrets.randbits(64) | 1 for _ in FACTORS)
    out = _Lists("targets", offsets, ends, factors)
    found = None if weights is None else to_host(weights)
    if found is not None and found.dtype.kind == "f":
        _by_all(len(found), lambda lo, hi: _check_numbers(found, lo, hi))
    numbered: _Carried = lambda lo, hi: np.arange(lo, hi)  # noqa: E731
    if directed:
        there = out.sums(None if in_lists is None else numbered)
    else:
        there = out.sums(lambda lo, hi: None if found is None else found[lo:hi])
        if there[0] != there[1]:
            raise GraphError("an undirected graph has every edge both ways, with the same weight, and this has not")
    if in_lists is not None:
        slots = to_host(in_lists[2])
        if not directed:
            there = out.sums(numbered)
        back = _Lists("in_sources", in_lists[0], in_lists[1], factors).sums(lambda lo, hi: slots[lo:hi])
        if back[1] != there[0]:
            raise GraphError("in_sources and in_edges are not those of the edges, or do not lie in their order")
    if labels is not None and len(set(to_host(labels).tolist())) < len(labels):
        raise GraphError("labels must be unique, and these are not")


#: What goes with slots lo to hi - 1 into the sums.
_Carried = Callable[[int, int], "Array | None"]


class _Lists:
    """Lists of ids, which are looked at stretch by stretch."""

    def __init__(self, what: str, offsets: Array, ends: Array | PackedIds, factors: tuple[int, ...]) -> None:
        self._what, self._factors = what, factors
        self._offsets = to_host(offsets)
        self._ends = ends.copied(lambda array, kind: to_host(array)) if isinstance(ends, PackedIds) else to_host(ends)

    def sums(self, carried: _Carried | None) -> tuple[int, int]:
        """Check all ids; with something carried, return the sums of the numbers of edges, and of their reverses."""
        found: list[tuple[int, int]] = []
        _by_all(len(self._ends), lambda lo, hi: found.append(self._look(lo, hi, carried)))
        return sum(each[0] for each in found) % 2**64, sum(each[1] for each in found) % 2**64

    def _look(self, lo: int, hi: int, carried: _Carried | None) -> tuple[int, int]:
        begin = max(lo - 1, 0)  # the last of the stretch before may be of the same list
        ids, owners = self._ids(begin, hi), self._owners(begin, hi)
        low, high, n = int(ids.min()), int(ids.max()), len(self._offsets) - 1
        if low < 0 or high >= n:
            slot = begin + int(ids.argmin() if low < 0 else ids.argmax())
            wrong = low if low < 0 else high
            raise GraphError(f"{self._what} are vertices from 0 to {n - 1}, but that of slot {slot} is {wrong}")
        falls = (ids[1:] < ids[:-1]) & (owners[1:] == owners[:-1])
        if falls.any():
            raise GraphError(f"{self._what} ascend in each list, but do not at slot {begin + 1 + int(falls.argmax())}")
        if carried is None:
            return 0, 0
        ids, owners, values = ids[lo - begin :].astype(np.uint64), owners[lo - begin :], carried(lo, hi)
        return mixed(owners, ids, values, self._factors), mixed(ids, owners, values, self._factors)

    def _ids(self, lo: int, hi: int) -> Array:
        ids: Array = unpacked(self._ends, lo, hi) if isinstance(self._ends, PackedIds) else self._ends[lo:hi]
        return ids

    def _owners(self, lo: int, hi: int) -> Array:
        """The vertex of each slot of a stretch."""
        ends = np.array([lo, hi - 1], self._offsets.dtype)  # of another dtype, all offsets would be converted
        first, last = (np.searchsorted(self._offsets, ends, "right") - 1).tolist()
        lengths = np.diff(np.clip(self._offsets[first : last + 2], lo, hi))
        return np.repeat(np.arange(first, last + 1, dtype=np.uint64), lengths)


def mixed(src: Array, dst: Array, values: Array | None, factors: tuple[int, ...] = FACTORS) -> int:
    """Return a number that is made of edges, in whatever order they are.

    Parameters
    ----------
    src, dst : ndarray of uint64
    values : ndarray or None
        What each edge carries.
    factors : tuple of int
        Three odd numbers.
    """
    one, two, three = map(np.uint64, factors)
    found: Array = src * one + dst * two
    if values is not None:
        bits = (values.astype(np.float64) + 0.0).view(np.uint64) if values.dtype.kind == "f" else values
        found += bits.astype(np.uint64) * three
    found ^= found >> np.uint64(31)
    found *= np.uint64(0xBF58476D1CE4E5B9)
    found ^= found >> np.uint64(29)
    return int(found.sum(dtype=np.uint64))


def _check_numbers(weights: Array, lo: int, hi: int) -> None:
    if np.isnan(weights[lo:hi].min()):
        raise GraphError(f"weight {lo + int(np.isnan(weights[lo:hi]).argmax())} is NaN")


def _by_all(count: int, look: Callable[[int, int], None]) -> None:
    """Call something for all stretches, on all threads; of several errors, raise that of the first stretch."""
    workers = threads.num_threads() if count >= WORTH_THREADS else 1
    stretches = range(0, count, STRETCH)
    wrong: dict[int, GraphError] = {}

    def work(worker: int) -> None:
        for lo in stretches[worker::workers]:
            try:
                look(lo, min(lo + STRETCH, count))
            except GraphError as error:
                wrong[lo] = error
                return

    threads.run(work, workers)
    if wrong:
        raise wrong[min(wrong)]
