"""What GPUs get of a problem's fields when a run begins, and what they give back when it pauses or ends.

Fields may have been changed since the last run, by anybody. But most elements of most fields still have the value with
which the field was declared. So the first GPU looks for those that differ; the others fill their arrays and take over
these only. Where many differ, they copy the field. Of a field that nobody needs at elements of others, a GPU gets those
that it owns.

Of a field that is spread every GPU looks for those among its own elements, and at the end gives these back, in its own
memory. Where nobody has seen such a field since it was declared, there is nothing to look for: GPUs begin to fill their
arrays while the host prepares the run. A field of which there is one array for all GPUs needs nothing of this.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.devices import compaction
from frontier.distributed.devices.spread_fields import spread_fields
from frontier.memory import detection, spread

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from frontier.distributed.devices.replicas import Replica
    from frontier.memory.base import Memory
    from frontier.program.problem import Field, Problem

__all__ = ["begin", "bring_back", "follow", "give_parts", "load", "wait"]

#: One of so many elements may differ, and shorter fields are copied: three short kernels take as long.
FEW, SHORT = 16, 1 << 16


def begin(p: Problem, replicas: Sequence[Replica], apart: Collection[str]) -> frozenset[str]:
    """Let GPUs begin to fill fields that nobody has seen since they were declared; those of which each has a copy."""
    first, store = replicas[0], spread_fields(p)
    shared, private = store.unfilled & store.fresh & first.shared, store.fresh & first.private
    if not (shared or private):
        return frozenset()
    wait(replicas)  # for whoever has used this memory before
    for replica in replicas:
        arrays, (start, end) = replica.whole.arrays, replica.own["vertex"]
        with replica.memory.using("the fields of a problem"):
            for name in shared:
                replica.memory.fill(arrays[name][start:end], _usual(p.fields[name]))
            for name in private:
                begun, last = _span(p, replica, name, apart)
                replica.memory.fill(arrays[name][begun:last], _usual(p.fields[name]))
    store.unfilled.difference_update(shared)
    return frozenset(private)


def load(p: Problem, replicas: Sequence[Replica], apart: Collection[str], begun: Collection[str] = ()) -> Any:
    """Let all GPUs have the fields as they are now; of those ``apart``, what they own.

    Before the first GPU changes the fields, all GPUs must be waited for; until then what is returned must be kept.
    ``begun`` are fields that :func:`begin` has begun to fill: where nobody has seen them since, GPUs have them.
    """
    first, others, fresh = replicas[0], replicas[1:], spread_fields(p).fresh.intersection(begun)
    arrays = {name: array for name, array in p.arrays.items() if name not in first.shared | first.private}
    if not (arrays or p.piles) and first.private <= fresh:
        return None
    # For whoever has written the fields; and where GPUs have begun to fill some, that may have been on other streams.
    wait(replicas if begun else replicas[:1])
    found = {}
    with first.memory.using("the fields of a problem"):
        for name, array in arrays.items():
            usual = _usual(p.fields.get(name))
            if usual is not None and len(array) >= SHORT:
                found[name] = compaction.differing(first.memory, array, usual, len(array) // FEW)
    known = {name: each for name, each in found.items() if each is not None}
    looked = _look(p, replicas, apart, fresh)
    for replica in others if known else ():
        with replica.memory.using("the fields of a problem"):
            for name, each in known.items():
                start, end = _span(p, replica, name, apart)
                compaction.fill(replica.memory, replica.whole.arrays[name][start:end], each)
    if looked:
        wait(replicas)
    elif known:
        first.memory.synchronize()
    for replica in others:
        with replica.memory.using("the fields of a problem"):
            for name, array in arrays.items():
                mine, (start, end) = replica.whole.arrays[name], _span(p, replica, name, apart)
                if name in known:
                    compaction.adopt(replica.memory, mine, array, (start, end), known[name])
                else:
                    _copy(replica.memory, mine[start:end], array[start:end])
    for rank, replica in enumerate(replicas):
        owners = [*replicas[rank + 1 :], *replicas[: rank + 1]]  # each begins with another one
        with replica.memory.using("the fields of a problem"):
            for name in first.private - fresh:
                _take_parts(p, replica, owners if name not in apart else [replica], name, looked)
    return known, looked


def _look(
    p: Problem, replicas: Sequence[Replica], apart: Collection[str], fresh: Collection[str]
) -> dict[tuple[str, int], compaction.Differing]:
    """Fill private copies of fields that most elements have one value of; each GPU looks at its own elements.

    What it has found, by field and GPU. Where too many differ, there is nothing.
    """
    looked = {}
    for replica in replicas:
        memory, (start, end) = replica.memory, replica.own["vertex"]
        with memory.using("the fields of a problem"):
            for name in replica.private:
                usual, mine = _usual(p.fields.get(name)), replica.whole.arrays[name]
                if usual is not None and name not in apart and name not in fresh and len(mine) >= SHORT:
                    memory.fill(mine, usual)
                    part = _seen(p, replica, name)[start:end]
                    found = compaction.differing(memory, part, usual, len(part) // FEW)
                    if found is not None:
                        looked[name, replica.rank] = found
    return looked


def _take_parts(
    p: Problem,
    replica: Replica,
    owners: Sequence[Replica],
    name: str,
    looked: dict[tuple[str, int], compaction.Differing],
) -> None:
    """Let a GPU's private copy of a field have what some GPUs own; the current GPU is the one."""
    mine, values = replica.whole.arrays[name], _seen(p, replica, name)
    for owner in owners:
        start, end = owner.own["vertex"]
        found = looked.get((name, owner.rank))
        if found is not None:
            compaction.adopt(replica.memory, mine[start:end], values[start:end], (0, end - start), found)
        elif end > start:
            _copy(replica.memory, mine[start:end], values[start:end])


def bring_back(p: Problem, replicas: Sequence[Replica], changed: Collection[str], mirrored: Collection[str]) -> None:
    """Bring to the problem what owners have of the fields of vertices that have changed.

    The first GPU has all elements of those that are ``mirrored``, unless its copy is private.
    """
    first = replicas[0]
    others = set(changed) - set(mirrored) - first.private - first.shared
    for replica in replicas[1:] if others else ():
        own = slice(*replica.own["vertex"])
        with replica.memory.using("the fields of a problem"):
            for name in others:
                _copy(replica.memory, p.arrays[name][own], replica.whole.arrays[name][own])
    if give_parts(p, replicas, changed) or others:
        wait(replicas)


def give_parts(p: Problem, replicas: Sequence[Replica], changed: Collection[str]) -> bool:
    """Let owners begin to copy what they have of private fields that have changed to the problem's; whether they do."""
    private = replicas[0].private.intersection(changed)
    for replica in replicas if private else ():
        own = slice(*replica.own["vertex"])
        with replica.memory.using("the fields of a problem"):
            for name in private:
                compaction.copy(replica.memory, _seen(p, replica, name)[own], replica.whole.arrays[name][own])
    return bool(private)


def _seen(p: Problem, replica: Replica, name: str) -> Any:
    """A field that is spread as one of a GPU."""
    return spread.seen_by(p.arrays[name], int(getattr(replica.memory, "index", 0)))


def wait(replicas: Sequence[Replica]) -> None:
    """Wait for all GPUs."""
    for memory in dict.fromkeys(replica.memory for replica in replicas):
        memory.synchronize()


def follow(replicas: Sequence[Replica]) -> None:
    """Let what GPUs do next on their streams wait for what all have been given so far; the host does not wait."""
    memories = list(dict.fromkeys(replica.memory for replica in replicas))
    events = []
    for memory in memories:
        with memory.using():
            events.append(_event(memory))
            events[-1].record()
    for memory in memories:
        with memory.using():
            stream = detection.cupy().cuda.get_current_stream()
            for event in events:
                if event is not _event(memory):
                    stream.wait_event(event)


@cache
def _event(memory: Memory) -> Any:
    """An event of a GPU, which is current."""
    return detection.cupy().cuda.Event(disable_timing=True)


def _usual(field: Field | None) -> Any:
    """The value that most elements of a field may have; None if it was not declared with one."""
    one = field is not None and field.kind in ("vertex", "edge") and isinstance(field.init, int | float | np.generic)
    return field.init if field is not None and one else None


def _span(p: Problem, replica: Replica, name: str, apart: Collection[str]) -> tuple[int, int]:
    span: tuple[int, int] = replica.own["vertex"] if name in apart else (0, len(p.arrays[name]))
    return span


def _copy(memory: Memory, into: Any, values: Any) -> None:
    """Copy an array to another of the same length, which may be of another GPU; the host does not wait.

    The current GPU is that of ``memory``, which is one of both.
    """
    if isinstance(into, np.ndarray):
        into[...] = values
    elif into.flags.c_contiguous and values.flags.c_contiguous:
        into.data.copy_from_device_async(values.data, values.nbytes)
    else:  # one of a pair, in the gaps of the other
        into[...] = memory.moved(values)
