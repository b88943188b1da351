"""The generators of ``frontier.generators.kernels`` by array operations, on a GPU or for few edges.

They produce the same numbers, because a seed must give the same graph however it is made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frontier.graph.topology import Array
from frontier.memory.arrays import namespace_of

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MUL_1 = np.uint64(0xBF58476D1CE4E5B9)
_MUL_2 = np.uint64(0x94D049BB133111EB)
_S1, _S27, _S30, _S31, _S32 = np.uint64(1), np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_HALF = np.uint64(0xFFFFFFFF)


def _drawn(seed: Any, places: Array) -> Array:
    """The numbers at some places of the sequence that starts at ``seed``."""
    x = np.uint64(seed) + (places + _S1) * _GOLDEN
    x = (x ^ (x >> _S30)) * _MUL_1
    x = (x ^ (x >> _S27)) * _MUL_2
    made: Array = x ^ (x >> _S31)
    return made


def later(seed: Any, places: int) -> Any:
    """The seed of the same sequence without its first numbers."""
    return np.uint64((int(seed) + places * int(_GOLDEN)) % 2**64)


def fill(seed: Any, lo: int, hi: int, out: Array) -> None:
    """Write the numbers lo to hi of a sequence."""
    out[lo:hi] = _drawn(seed, namespace_of(out).arange(lo, hi, dtype=np.uint64))


def rmat(seed: Any, lo: int, hi: int, scale: int, t_a: Any, t_ab: Any, t_abc: Any, src: Array, dst: Array) -> None:
    """Make R-MAT edges lo to hi; the thresholds are out of 2**32, one half of a draw each."""
    draws, xp = (scale + 1) // 2, namespace_of(src)
    places = xp.arange(lo, hi, dtype=np.uint64) * np.uint64(draws)
    s, d = xp.zeros(hi - lo, np.uint64), xp.zeros(hi - lo, np.uint64)
    for bit in range(scale):
        if bit % 2 == 0:
            bits = _drawn(seed, places + np.uint64(bit // 2))
        r = bits & _HALF
        bits >>= _S32
        low = r >= t_ab  # the lower half of the matrix
        right = (r >= t_a) ^ low ^ (r >= t_abc)
        s = (s << _S1) | low
        d = (d << _S1) | right
    src[lo:hi] = s
    dst[lo:hi] = d


def shuffle(seed: Any, ids: Array) -> None:
    """Shuffle an array (Fisher and Yates, from its end)."""
    places = np.arange(len(ids), dtype=np.uint64)
    others = (_drawn(seed, places) % (places + _S1)).tolist()
    made = ids.tolist()
    for i in range(len(made) - 1, 0, -1):
        j = others[i]
        made[i], made[j] = made[j], made[i]
    ids[:] = made


def relabel(ids: Array, names: Array, lo: int, hi: int) -> None:
    """Replace ids lo to hi by their names."""
    ids[lo:hi] = names[ids[lo:hi]]
