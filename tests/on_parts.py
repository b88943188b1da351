"""The operators' tests on several parts: ``FRONTIER_TEST_BACKENDS="ranks:2 ranks:3,python" python -m pytest``.

Then only the modules below are collected, and of them the tests that take a backend. Half of the tests get parts of
random sizes, some of them empty, and members that come late to an exchange; both follow from the test's name. With
``FRONTIER_TEST_BACKENDS=ranks mpirun -n 2 python -m pytest`` the parts are processes, see ``together``.
"""

from __future__ import annotations

import os
import re
import time
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from frontier.distributed.ranks import walk
from frontier.distributed.transport import mpi, threads

__all__ = ["EXCLUDED", "MODULES", "disturbed", "reason"]

MODULES = (
    "advance", "atomics", "buckets", "compute_reduce_set", "enactor", "filter_split_take", "gather", "hold",
    "intersect", "loops", "order", "pairs", "programs", "reductions", "registered_reductions", "sample", "scan",
    "shaped_fields",
)  # fmt: skip

_ANSWER = "it uses what atomic_add returns at an element of other parts, which is refused (test_ranks_merging.py)"

#: Tests by a pattern that their names match, and why they are not for parts.
EXCLUDED = {
    r"test_programs.*kcore": _ANSWER,
    r"test_old_values|test_nothing_is_lost|swapped_at_half": "it exchanges at indices of its own, which is refused",
    r"test_constant_indices_and_helpers": "it writes at indices of its own, which is refused (test_rows_in_parts.py)",
    r"test_an_advance_sums_rows.*int|test_writes_and_updates.*int": "floats are tested; see test_rows_in_parts.py",
    r"test_larger_graphs": "they take a minute; test_ranks.py has primitives on several parts",
    r"test_shortest_paths_in_any_order.*(float32|int64)": "parts exchange keys of any type alike; doubles are tested",
    r"test_four_workers_on_larger_graphs": "they take seconds for each part; small ones have parts",
    r"test_a_trace_does_not_count": "the trace has rows of every part",
}


def reason(name: str) -> str:
    """Why a test is not for parts; empty if it is."""
    return next((why for pattern, why in EXCLUDED.items() if re.search(pattern, name)), "")


def disturbed(name: str, patch: pytest.MonkeyPatch) -> None:
    """Parts of random sizes, and members that come late, for every second name."""
    seed = zlib.crc32(name.encode())
    if seed % 2:
        return

    def starts(g: Any, parts: int) -> Any:
        cuts = np.random.default_rng([seed, g.num_vertices, parts]).integers(0, g.num_vertices + 1, parts - 1)
        return np.array([0, *sorted(cuts), g.num_vertices])

    draws = np.random.default_rng([seed, os.getpid()])

    def late(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, *given: Any) -> Any:
            if draws.random() < 0.2:
                time.sleep(draws.random() * 1e-3)
            return method(self, *given)

        return call

    patch.setattr(walk, "starts_of", starts)
    patch.setattr(threads.Threads, "meet", late(threads.Threads.meet))
    for name in ("allgather", "alltoall_blocks", "alltoall_bytes", "allgather_bytes"):
        patch.setattr(mpi.Mpi, name, late(getattr(mpi.Mpi, name)))
