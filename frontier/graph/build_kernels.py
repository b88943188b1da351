"""Compiled kernels of graph construction; imported only when a graph is built.

Edges are sorted by (source, target) in two stable steps. First they are distributed to buckets by the high bits of the
source; each worker processes a part of the input. Then every bucket, which is small enough for a core's cache, is
sorted by the remaining bits (least significant digit first), and duplicates in it are resolved while it is written. An
edge is represented by one 64-bit key, with the low bits of its source above its target. If there are weights or
columns, it also has a payload: the number of the edge, or the bits of its weight.
"""

from __future__ import annotations

import numpy as np

from frontier.native.jit import jit

KEEP, FIRST, LAST, MIN, MAX, SUM, ERROR = range(7)
GOOD, OVERFLOW = -1, -2

#: Whether weights of duplicates are looked at: never; the payloads, which are their bits; those that payloads number.
BLIND, BITS, NUMBERED = range(3)

DIGIT_BITS = 11


@jit
def count(src, dst, lo, hi, shift, both, drop_loops, counts):
    """Count edges lo to hi by bucket; ``both``: the reverse of each edge too."""
    for i in range(lo, hi):
        s = np.uint64(src[i])
        d = np.uint64(dst[i])
        if s != d:
            counts[s >> shift] += 1
            if both:
                counts[d >> shift] += 1
        elif not drop_loops:
            counts[s >> shift] += 1


@jit
def deal(
    src, dst, lo, hi, shift, bits, both, drop_loops, values, cursor, keys, payload
):
    """Write edges lo to hi into their buckets, at this worker's cursors."""
    low = (np.uint64(1) << shift) - np.uint64(1)
    carry = len(payload) > 0
    for i in range(lo, hi):
        s = np.uint64(src[i])
        d = np.uint64(dst[i])
        if s == d and drop_loops:
            continue
        b = s >> shift
        at = cursor[b]
        cursor[b] = at + 1
        keys[at] = ((s & low) << bits) | d
        if carry:
            payload[at] = values[i]
        if both and s != d:
            b = d >> shift
            at = cursor[b]
            cursor[b] = at + 1
            keys[at] = ((d & low) << bits) | s
            if carry:
                payload[at] = values[i]


@jit
def sort(a, pa, low_bit, high_bit, b, pb, hist):
    """Sort keys and payloads by the bits from low_bit to high_bit; equals keep their order.

    Returns whether the result lies in the scratch arrays b and pb, not in place.
    """
    size = len(a)
    carry = len(pa) > 0
    passes = (high_bit - low_bit + DIGIT_BITS - 1) // DIGIT_BITS
    if passes == 0 or size < 2:
        return False
    digit = (high_bit - low_bit + passes - 1) // passes
    mask = (np.uint64(1) << np.uint64(digit)) - np.uint64(1)
    swapped = False
    for p in range(passes):
        shift = np.uint64(low_bit + p * digit)
        hist[: mask + np.uint64(1)] = 0
        for i in range(size):
            hist[(a[i] >> shift) & mask] += 1
        if hist[(a[0] >> shift) & mask] == size:
            continue
        total = 0
        for d in range(mask + np.uint64(1)):
            h = hist[d]
            hist[d] = total
            total += h
        for i in range(size):
            k = a[i]
            d = (k >> shift) & mask
            at = hist[d]
            hist[d] = at + 1
            b[at] = k
            if carry:
                pb[at] = pa[i]
        a, b = b, a
        pa, pb = pb, pa
        swapped = not swapped
    return swapped


@jit
def resolve(
    keys, payload, lo, from_keys, from_payload, size, bits, first, how, watch, weights, sums, degree
):
    """Write sorted keys to ``keys[lo:]``, one for each run of equals, and count degrees.

    ``from_keys`` may be the same place. Returns GOOD, OVERFLOW, or the key of a duplicate if
    that is an error. If ``watch`` is not BLIND, of the first duplicates with different weights: their
    key, below OVERFLOW.
    """
    carry = len(payload) > 0
    found = np.int64(GOOD)
    out = lo
    i = 0
    while i < size:
        key = from_keys[i]
        j = i + 1
        if how != KEEP:
            while j < size and from_keys[j] == key:
                j += 1
        pick = i
        if j > i + 1:
            if how == ERROR:
                return np.int64(key)
            if how == LAST:
                pick = j - 1
            elif how in (MIN, MAX):
                for k in range(i + 1, j):
                    w, best = weights[from_payload[k]], weights[from_payload[pick]]
                    if (w < best) if how == MIN else (w > best):
                        pick = k
            if watch != BLIND and found == GOOD:
                for k in range(i + 1, j):
                    if (
                        from_payload[k] != from_payload[i]
                        if watch == BITS
                        else weights[from_payload[k]] != weights[from_payload[i]]
                    ):
                        found = OVERFLOW - 1 - np.int64(key)
        if how == SUM:
            total = weights[from_payload[i]]
            check = np.float64(total)
            for k in range(i + 1, j):
                total += weights[from_payload[k]]
                check += np.float64(weights[from_payload[k]])
            if abs(check - np.float64(total)) > 1e18:  # the integer wrapped round
                return OVERFLOW
            sums[out] = total
        keys[out] = key
        if carry:
            payload[out] = from_payload[pick]
        degree[first + (key >> bits)] += 1
        out += 1
        i = j
    return found


@jit
def sort_bucket(
    keys,
    payload,
    lo,
    hi,
    low_bit,
    high_bit,
    scratch,
    scratch_payload,
    hist,
    first,
    bits,
    how,
    watch,
    weights,
    sums,
    degree,
):
    """Sort keys lo to hi and resolve duplicates; see ``sort`` and ``resolve``."""
    a, pa = keys[lo:hi], payload[lo : hi if len(payload) else lo]
    if sort(a, pa, low_bit, high_bit, scratch, scratch_payload, hist):
        a, pa = scratch, scratch_payload
    return resolve(keys, payload, lo, a, pa, hi - lo, bits, first, how, watch, weights, sums, degree)


@jit
def emit(keys, payload, lo, size, bits, at, targets, values):
    """Write the targets and payloads of ``size`` keys from lo on to the places from ``at`` on."""
    mask = (np.uint64(1) << bits) - np.uint64(1)
    carry = len(payload) > 0
    for i in range(size):
        targets[at + i] = keys[lo + i] & mask
        if carry:
            values[at + i] = payload[lo + i]


@jit
def take(values, index, lo, hi, out):
    """``out[i] = values[index[i]]`` for i from lo to hi."""
    for i in range(lo, hi):
        out[i] = values[index[i]]


@jit
def count_kept(offsets, targets, mask, old, lo, hi, lengths):
    """Count, for each of the vertices ``old[lo:hi]``, the targets that are in the mask."""
    for i in range(lo, hi):
        v = old[i]
        kept = 0
        for slot in range(offsets[v], offsets[v + 1]):
            kept += mask[targets[slot]]
        lengths[i] = kept


@jit
def write_kept(offsets, targets, mask, new, old, lo, hi, begins, ends, slots):
    """Write these targets, by their new ids, and their slots if there is room for them.

    Those that do not stay are written, too, and overwritten by the next, as it is not known before which do.
    """
    for i in range(lo, hi):
        slot, stop = offsets[old[i]], offsets[old[i] + 1]
        out = begins[i]
        while out < begins[i + 1] and slot < stop:  # a file of targets may have changed meanwhile
            t = targets[slot]
            ends[out] = new[t]
            if len(slots) > 0:
                slots[out] = slot
            out += mask[t]
            slot += 1


@jit
def merge(offsets, targets, weights, group, members, begins, lo, hi, once, at, sources, ends, sums, out):
    """Add up the edges that lead from groups lo to hi to the same group, and write them from ``out`` on.

    Those of an undirected graph are taken once: from the lower group, and inside a group from the lower vertex. ``at``
    says where the edge to a group was written last, or -1. Returns where the next one would be written.
    """
    for a in range(lo, hi):
        first = out
        for k in range(begins[a], begins[a + 1]):
            v = members[k]
            for slot in range(offsets[v], offsets[v + 1]):
                t = targets[slot]
                b = group[t]
                if once and (b < a or (b == a and t < v)):
                    continue
                if at[b] >= first:
                    sums[at[b]] += weights[slot]
                else:
                    at[b] = out
                    sources[out] = a
                    ends[out] = b
                    sums[out] = weights[slot]
                    out += 1
    return out
