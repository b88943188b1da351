"""Random numbers for the generators, and the checks of the generators' arguments.

A sequence is selected by a key and generated on all threads; see ``frontier.generators.kernels``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.generators import arrays
from frontier.graph.build_sort import stretches, workers_for
from frontier.graph.topology import Array
from frontier.memory.base import Memory
from frontier.memory.host import HOST
from frontier.native import threads
from frontier.native.jit import sparing

__all__ = ["at_once", "check_room", "draws", "generating", "keys", "on_threads", "uniform", "weights_in", "whole"]


def weights_in(weights: Any, count: int, key: Any, memory: Memory = HOST) -> Array:
    """Random weights in a range."""
    try:
        low, high = weights
        integers = all(isinstance(x, int | np.integer) for x in (low, high))
        valid = low <= high and math.isfinite(low) and math.isfinite(high)
    except (TypeError, ValueError):
        valid = False
    if not valid:
        raise GraphError(f"weights must be (low, high) with low <= high, not {weights!r}")
    if not integers:
        reals: Array = low + (high - low) * uniform(key, count, memory)
        return reals
    if low < -(2**63) or high >= 2**63:
        raise GraphError(f"integer weights must fit into int64, but {weights!r} do not")
    dtype = np.int32 if max(-low - 1, high) < 2**31 else np.int64
    drawn = draws(key, count, memory) % np.uint64(min(int(high) - int(low) + 1, 2**64 - 1))
    return (drawn.view(np.int64) + np.int64(low)).astype(dtype)


def uniform(key: Any, count: int, memory: Memory = HOST) -> Array:
    """Floats uniform in [0, 1)."""
    numbers: Array = (draws(key, count, memory) >> np.uint64(11)) * (1.0 / (1 << 53))
    return numbers


def draws(key: Any, count: int, memory: Memory = HOST) -> Array:
    """Numbers of 64 random bits; in the memory of a GPU, by array operations."""
    if memory is not HOST:
        made: Array = memory.xp.empty(count, np.uint64)
        arrays.fill(key, 0, count, made)
        return made
    kernels = generating(count)
    out = np.empty(count, np.uint64)
    on_threads(lambda lo, hi: kernels.fill(key, lo, hi, out), count)
    return out


def generating(count: int, memory: Memory = HOST) -> Any:
    """What makes so many random edges or numbers: array operations, or compiled kernels."""
    if memory is not HOST or sparing(count, "frontier.generators.kernels"):
        return arrays
    from frontier.generators import kernels

    return kernels


def keys(seed: Any) -> Array:
    """Three seeds for independent sequences: two for the edges, one for the weights."""
    if seed is not None:
        seed = whole("seed", seed, 0)
    return np.random.SeedSequence(seed).generate_state(3, np.uint64)


def on_threads(make: Callable[[int, int], None], count: int) -> None:
    """Call ``make(begin, end)`` on parts of a range, one for each thread."""
    workers = workers_for(count)
    bounds = stretches(count, workers)
    threads.run(lambda w: make(bounds[w], bounds[w + 1]), workers)


def at_once(make: Callable[[int, int], None], count: int) -> None:
    """Call ``make(0, count)``, as on a GPU, which has threads of its own."""
    make(0, count)


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Check that an argument is an integer in range."""
    try:
        number = operator.index(value)
    except TypeError:
        raise GraphError(f"{name} must be an integer, not {value!r}") from None
    if number < least or (most is not None and number > most):
        upto = "" if most is None else f" and at most {most}"
        raise GraphError(f"{name} must be at least {least}{upto}, not {number}")
    return number


def check_room(num_vertices: int, num_edges: int) -> None:
    """Refuse a graph that has no chance to fit into memory, before its arrays are asked for."""
    what = f"a graph of {num_vertices:,} vertices and {num_edges:,} edges" if num_vertices else f"{num_edges:,} edges"
    HOST.check_room(16 * num_vertices + 20 * num_edges, what, "make a smaller one")
