"""The compiled kernel that sorts adjacency lists by weight; imported only when a graph's lists are sorted."""

from __future__ import annotations

import numpy as np

from frontier.native.jit import jit

#: Lists of at most so many edges are sorted by insertion.
SHORT = 48


@jit
def sort_lists(offsets, first, end, keys, order, one, two, places, counts):
    """Write to ``order`` the places of each list, from that of vertex ``first`` on, by ascending key.

    ``one``, ``two`` and ``places`` are scratch of the length of the longest list. Long lists are sorted by bytes, from
    the least significant one, without those in which all keys agree.
    """
    for v in range(first, end):
        begin = np.int64(offsets[v])
        length = np.int64(offsets[v + 1]) - begin
        if length <= SHORT:
            for i in range(length):
                key = keys[begin + i]
                j = i
                while j > 0 and one[j - 1] > key:
                    one[j] = one[j - 1]
                    order[begin + j] = order[begin + j - 1]
                    j -= 1
                one[j] = key
                order[begin + j] = begin + i
            continue
        low = np.uint64(keys[begin])
        differ = np.uint64(0)
        for i in range(length):
            key = keys[begin + i]
            one[i] = key
            order[begin + i] = begin + i
            differ |= np.uint64(key) ^ low
        for byte in range(keys.itemsize):
            shift = np.uint64(8 * byte)
            if (differ >> shift) & np.uint64(255) == 0:
                continue
            counts[:] = 0
            for i in range(length):
                counts[(np.uint64(one[i]) >> shift) & np.uint64(255)] += 1
            total = 0
            for digit in range(256):
                held = counts[digit]
                counts[digit] = total
                total += held
            for i in range(length):
                byte_of = (np.uint64(one[i]) >> shift) & np.uint64(255)
                at = counts[byte_of]
                counts[byte_of] = at + 1
                two[at] = one[i]
                places[at] = order[begin + i]
            for i in range(length):
                one[i] = two[i]
                order[begin + i] = places[i]
