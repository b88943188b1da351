"""Arrays that are passed to phases together, as named tuples; an array that a phase does not use is 0."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Edges", "Frontiers", "Lists", "Out", "Pile", "Queue", "Several", "Shared"]


class Edges(NamedTuple):
    """What is known of an edge by its slot."""

    sources: Any
    targets: Any
    weights: Any


class Lists(NamedTuple):
    """The adjacency lists of one direction: vertex x has the places ``offsets[x]`` to ``offsets[x + 1]``.

    ``ends`` are the far ends by place. In lists of in-edges ``in_edges`` are the edges' own slots.
    """

    offsets: Any
    ends: Any
    in_edges: Any
    weights: Any


class Out(NamedTuple):
    """Where a worker of the CPU appends: the next queue and its scan, and the worker's own arrays for these.

    ``stamps`` and ``epoch`` say which vertices have been taken in this phase, ``alone`` whether a single worker
    executes it, and ``plainly`` whether it may take a vertex twice; ``pile`` gets what is put aside.
    """

    queue: Any
    scan: Any
    capacity: Any
    ids: Any
    prefix: Any
    degrees: Any
    stamps: Any
    epoch: Any
    plainly: Any
    alone: Any
    pile: Any


class Queue(NamedTuple):
    """Where threads of a GPU append: the next queue, its scan, and the offsets that give the degrees for that.

    What has been taken in this phase say ``stamps`` and ``epoch``, bits (``taken``), or the block's ``history``; where
    GPUs share it, bytes (``taken``) and a byte for each block of them (``blocks``). ``claimed``: bits of vertices that
    the functors do not accept. ``following`` are the far ends that the next push walks.
    """

    queue: Any
    scan: Any
    capacity: Any
    degrees: Any
    stamps: Any
    epoch: Any
    taken: Any
    history: Any
    following: Any
    blocks: Any
    claimed: Any


class Frontiers(NamedTuple):
    """Frontiers of several GPUs, to which each appends: which vertices each GPU owns, and where its arrays lie.

    ``inbox``: the word of each one's box that counts what is appended. ``rank``, ``first``, ``end``, ``box``: of this
    GPU. ``received``: where bytes are counted for a trace.
    """

    starts: Any
    parts: Any
    boxes: Any
    inbox: Any
    queues: Any
    scans: Any
    rank: Any
    first: Any
    end: Any
    box: Any
    received: Any


class Pile(NamedTuple):
    """A pile that holds so many elements, those stamped with its epoch; ``ids`` is a worker's own array, on the CPU."""

    elements: Any
    held: Any
    stamps: Any
    epoch: Any
    ids: Any


class Shared(NamedTuple):
    """A field of which GPUs have copies: this one's; addresses of all copies, of what all tell, and of old values."""

    mine: Any
    fields: Any
    marked: Any
    bases: Any


class Several(NamedTuple):
    """Several of a kind: the first, and the others as such a tuple again; 0 after the last."""

    first: Any
    others: Any
