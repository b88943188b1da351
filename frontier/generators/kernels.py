"""Compiled kernels of the generators; imported only when a random graph is made.

The random numbers are the SplitMix64 sequence (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
OOPSLA 2014), whose i-th number is a function of the seed and i. So any thread can generate any part of a graph, and the
graph does not depend on the number of threads.
"""

from __future__ import annotations

import numpy as np

from frontier.native.jit import jit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MUL_1 = np.uint64(0xBF58476D1CE4E5B9)
_MUL_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_HALF = np.uint64(0xFFFFFFFF)


@jit
def draw(seed, i):
    """Return the i-th number of the sequence that starts at ``seed``, 64 random bits."""
    x = seed + (np.uint64(i) + np.uint64(1)) * _GOLDEN
    x = (x ^ (x >> _S30)) * _MUL_1
    x = (x ^ (x >> _S27)) * _MUL_2
    return x ^ (x >> _S31)


@jit
def fill(seed, lo, hi, out):
    """Write the numbers lo to hi of a sequence."""
    for i in range(lo, hi):
        out[i] = draw(seed, i)


@jit
def rmat(seed, lo, hi, scale, t_a, t_ab, t_abc, src, dst):
    """Make R-MAT edges lo to hi; the thresholds are out of 2**32, one half of a draw each."""
    draws = (scale + 1) // 2
    for i in range(lo, hi):
        s = np.uint64(0)
        d = np.uint64(0)
        for k in range(draws):
            bits = draw(seed, i * draws + k)
            for half in range(2):
                if 2 * k + half < scale:
                    r = bits & _HALF
                    bits >>= _S32
                    low = r >= t_ab  # the lower half of the matrix
                    right = (r >= t_a) ^ low ^ (r >= t_abc)
                    s = (s << np.uint64(1)) | np.uint64(low)
                    d = (d << np.uint64(1)) | np.uint64(right)
        src[i] = s
        dst[i] = d


@jit
def shuffle(seed, ids):
    """Shuffle an array (Fisher and Yates, from its end)."""
    for i in range(len(ids) - 1, 0, -1):
        # the remainder is biased by at most i / 2**64
        j = draw(seed, i) % np.uint64(i + 1)
        ids[i], ids[j] = ids[j], ids[i]


@jit
def relabel(ids, names, lo, hi):
    """Replace ids lo to hi by their names."""
    for i in range(lo, hi):
        ids[i] = names[ids[i]]
