"""Copies of fields on the CPU, one for each worker, where a phase often adds to the same elements.

An atomic takes several times as long as what it does, and if two workers add to elements of one cache line in turns,
twenty times. So each worker adds to a copy of its own, and the copies are added up after the phase; worker 0 adds to
the field itself. This is done with integers, whose sums do not depend on the order, and if nothing else happens to the
field in the phase. Where copies would be too large, or there is only one worker, all add to the field.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.lowering.inputs import FieldCopies
from frontier.lowering.ir import Call, Choice, Expr, Var, both, differ, either, equal
from frontier.lowering.variables import WORKER, WORKERS, pointer
from frontier.program.effects import effects

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder

__all__ = ["Copies"]

#: Copies are used if a phase has at least one edge for so many entries of the field.
SPARSE = 8

INTEGERS = ("int32", "int64", "uint32", "uint64")


class Copies:
    """The copies that workers have in one phase of the fields to which its functor only adds.

    Parameters
    ----------
    b : Builder
    fn : function
        The functor of the phase.
    total : Expr
        The number of elements of its frontier.
    work : Expr
        About how much it does: all phases here are divided among as many workers.
    """

    def __init__(self, b: Builder, fn: Callable[..., Any], total: Expr, work: Expr) -> None:
        self._b, self._work = b, work
        self._made: dict[str, tuple[Expr, Var]] = {}
        for number, (name, kind, dtype) in enumerate(_only_added(b, fn)):
            size = np.dtype(dtype).itemsize
            copies = b.input(f"copies_{number}_{kind}_{size}", FieldCopies(kind, size), "the threads' copies")
            used = b.variable("copied", "copied")
            enough = both(differ(copies, 0), total * SPARSE >= self._length(name))
            b.set(used, Choice(enough, 1, 0))
            self._made[name] = copies, used
        b.summed |= {*self._made}

    def fields(self) -> dict[str, Expr]:
        """What functors see of these fields in the phase."""
        found: dict[str, Expr] = {}
        for name, (copies, used) in self._made.items():
            own, size = self._b.state[f"field:{name}"], np.dtype(self._b.layout.dtype(name)).itemsize
            copied = differ(used, 0)
            copy = copies + (WORKER - 1) * (size * self._length(name))
            found[name] = Call(
                f"summed_{self._b.layout.seen(name)}_at",
                Choice(both(copied, WORKER > 0), copy, own),
                Choice(either(copied, equal(WORKERS, 1)), 1, 0),
            )
        return found

    def clear(self) -> None:
        """Add a phase before: copies begin as 0."""
        for name, (copies, used) in self._made.items():
            with self._b.when(differ(used, 0)):
                call = self._b.divided("clear_copy", self._array(name, copies), self._length(name))
                self._b.phase(call, (), "clear the threads' copies of a field", work=self._work)

    def add_up(self) -> None:
        """Add a phase after: the copies are added to the field."""
        for name, (copies, used) in self._made.items():
            with self._b.when(differ(used, 0)):
                call = self._b.divided(
                    "add_copies", self._b.field(name), self._array(name, copies), self._length(name)
                )
                title = "add up the threads' copies of a field"
                self._b.phase(call, (), title, writes=[name], work=self._work)

    def _array(self, name: str, copies: Expr) -> Expr:
        return pointer(self._b.layout.dtype(name), copies)

    def _length(self, name: str) -> Expr:
        return self._b.capacity(next(kind for field, kind, _ in self._b.layout.fields if field == name))


def _only_added(b: Builder, fn: Callable[..., Any]) -> list[tuple[str, str, str]]:
    """Name, kind and dtype of the fields to which a functor adds, and of which it learns nothing."""
    touched = effects(fn)
    if b.checks or not (touched.exact and touched.writes_known):
        return []
    other = {*touched.reads, *touched.answers, *touched.updates, *touched.stored, *touched.carried}
    return [
        (name, kind, dtype)
        for name, kind, dtype in b.layout.fields
        if touched.atomics.get(name) == {"add"} and name not in other
        and kind in ("vertex", "edge") and dtype in INTEGERS
        and b.layout.pair(name) is None and name not in dict(b.layout.widths)
    ]  # fmt: skip
