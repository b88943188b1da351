"""What the other GPUs get of a problem's fields when a run begins, and what they give back when it pauses or ends.

Fields may have been changed since the last run, by anybody. But most elements of most fields still have the value with
which the field was declared. So the first GPU looks for those that differ; the others fill their arrays and take over
these only. Where many differ, they copy the field. Of a field that nobody needs at elements of others, a GPU gets those
that it owns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.devices import compaction

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from frontier.backends.devices.replicas import Replica
    from frontier.memory.base import Memory
    from frontier.program.problem import Field, Problem

__all__ = ["bring_back", "load", "wait"]

#: One of so many elements may differ, and shorter fields are copied: three short kernels take as long.
FEW, SHORT = 16, 1 << 16


def load(p: Problem, replicas: Sequence[Replica], apart: Collection[str]) -> Any:
    """Let all GPUs have the fields as they are now; of those ``apart``, what they own.

    What the first GPU does with the fields must be finished. Before it changes them, all GPUs must be waited for; until
    then what is returned must be kept.
    """
    first, others = replicas[0], replicas[1:]
    arrays = {name: array for name, array in p.arrays.items() if name not in first.shared}
    found = {}
    with first.memory.using("the fields of a problem"):
        for name, array in arrays.items():
            usual = _usual(p.fields.get(name))
            if usual is not None and len(array) >= SHORT:
                found[name] = compaction.differing(first.memory, array, usual, len(array) // FEW)
    known = {name: each for name, each in found.items() if each is not None}
    for replica in others:
        with replica.memory.using("the fields of a problem"):
            for name, each in known.items():
                start, end = _span(p, replica, name, apart)
                compaction.fill(replica.memory, replica.whole.arrays[name][start:end], each)
    if known:
        first.memory.synchronize()
    for replica in others:
        with replica.memory.using("the fields of a problem"):
            for name, array in arrays.items():
                mine, (start, end) = replica.whole.arrays[name], _span(p, replica, name, apart)
                if name in known:
                    compaction.adopt(replica.memory, mine, array, (start, end), known[name])
                else:
                    _copy(replica.memory, mine[start:end], array[start:end])
    return known


def bring_back(p: Problem, replicas: Sequence[Replica], names: Collection[str]) -> None:
    """Bring to the problem what owners have of some fields of vertices."""
    if not names:
        return
    for replica in replicas[1:]:
        own = slice(*replica.own["vertex"])
        with replica.memory.using("the fields of a problem"):
            for name in names:
                _copy(replica.memory, p.arrays[name][own], replica.whole.arrays[name][own])
    wait(replicas)


def wait(replicas: Sequence[Replica]) -> None:
    """Wait for all GPUs."""
    for memory in dict.fromkeys(replica.memory for replica in replicas):
        memory.synchronize()


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
