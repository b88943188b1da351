"""Whether rows that ranks have read have every edge both ways, which no rank can see by itself."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from frontier.distributed.ranks.local_rows import BLOCKS, blocks
from frontier.distributed.transport.rounds import common
from frontier.errors import GraphError
from frontier.graph.validation import mixed

if TYPE_CHECKING:
    from frontier.distributed.ranks.local_rows import OwnRows
    from frontier.distributed.transport.communicators import Communicator

__all__ = ["check_both_ways"]


def check_both_ways(rows: OwnRows, comm: Communicator) -> None:
    """Refuse rows in which not every edge has its reverse, with the same weight; all ranks call this together.

    An edge and its reverse are with different ranks. So each adds up numbers that are made of its edges, and of their
    reverses: the sums of all ranks are equal if the edges are, and hardly ever otherwise.
    """
    first, end = rows.own
    begins = rows.offsets[first : end + 1].astype(np.int64)
    weights = rows.values.get("")
    there = back = 0
    for begin, stop in itertools.pairwise(blocks(begins, 4 * BLOCKS)):  # 64 bytes for each edge
        slots = slice(int(begins[begin]), int(begins[stop]))
        src = np.repeat(np.arange(first + begin, first + stop, dtype=np.uint64), np.diff(begins[begin : stop + 1]))
        dst = rows.targets[slots].astype(np.uint64)
        value = None if weights is None else weights[slots]
        there, back = there + mixed(src, dst, value), back + mixed(dst, src, value)
    told = comm.allgather((there, back))
    if (sum(each[0] for each in told) - sum(each[1] for each in told)) % 2**64:
        raise common(GraphError(
            "the rows of an undirected graph must have every edge both ways, with the same weight, and these do not"
        ))  # fmt: skip
