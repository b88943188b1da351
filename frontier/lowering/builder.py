"""Builder: text of a loop function with what frontiers and piles are in it; operators add their phases through it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from frontier.lowering.registers import ALL, BITS, IN, OUT, QUEUE, Register
from frontier.lowering.text import VALUE, Functor, Text

__all__ = ["Builder", "Functor"]


def _number(value: float) -> str:
    """Text of a number, also of one that Python has no literal for."""
    if isinstance(value, float) and not math.isfinite(value):
        return "np.nan" if math.isnan(value) else "np.inf" if value > 0 else "-np.inf"
    kind = bool if isinstance(value, bool) else float if isinstance(value, float) else int
    return kind.__repr__(value)  # not that of a class of the user's, which may be any text


class Builder(Text):
    """Text of one loop function in the making, see :class:`frontier.lowering.text.Text`."""

    # ---- frontiers ---------------------------------------------------------------------------------------------

    def capacity(self, kind: str) -> str:
        """Name of the number of vertices, or of edge slots."""
        return self.input("n" if kind == "vertex" else "m", "n" if kind == "vertex" else "m")

    def target(self, register: Register, kind: str) -> tuple[str, str]:
        """Addresses of the queue (and of its scan) that the next frontier is written to."""
        ids = "ids" if kind == "vertex" else "slots"
        if register.record:
            return self._recorded(register, kind)
        queue, scan = (f"few_{kind}", "few_scan") if register.few else (f"{kind}_queue", "scan")
        a = self.input(register.buffer(ids, "a"), queue)
        b = self.input(register.buffer(ids, "b"), queue)
        queue = f"({a} if {register.side} else {b})"
        if kind == "edge":
            return queue, queue
        a = self.input(register.buffer("scan", "a"), scan)
        b = self.input(register.buffer("scan", "b"), scan)
        return queue, f"({a} if {register.side} else {b})"

    def _recorded(self, register: Register, kind: str) -> tuple[str, str]:
        """Where a loop that keeps its frontiers has them written: after those kept before, so that none is copied."""
        size = 8 if self.layout.element(kind).endswith("64") else 4
        queue = f"(record_{register.record} + filled_{register.record} * {size})"
        a = self.input(register.buffer("scan", "a"), "scan")
        b = self.input(register.buffer("scan", "b"), "scan")
        return queue, f"({a} if {register.side} else {b})"

    def room_left(self, register: Register, kind: str) -> str:
        """Text for the number of elements that the next frontier may have."""
        capacity = self.capacity(kind)
        return f"{capacity} - filled_{register.record}" if register.record else capacity

    def scan_of(self, register: Register) -> str:
        """Address of the scan of the register's own side."""
        scan = "few_scan" if register.few else "scan"
        a = self.input(register.buffer("scan", "a"), scan)
        b = self.input(register.buffer("scan", "b"), scan)
        return f"({b} if {register.side} else {a})"

    def produced(self, register: Register, kind: str, want: str) -> tuple[str, ...]:
        """Lines after a phase that wrote the next frontier to :meth:`target`."""
        form = {"": QUEUE, "out": OUT, "in": IN}[want if kind == "vertex" else ""]
        queue, _ = self.target(register, kind)
        return (
            f"{register.queue} = {queue}",
            f"{register.side} = 1 - {register.side}",
            f"{register.count} = {self.counter('COUNT')}",
            f"{register.edges} = {self.counter('EDGES')}",
            f"{register.form} = {form}",
            f"{register.kind} = {int(kind == 'edge')}",
        )

    def for_kinds(self, register: Register, emit: Callable[[str], None]) -> None:
        """Emit text for each kind of elements that the register may hold here."""
        kinds = sorted(register.kinds, reverse=True)
        if len(kinds) == 1:
            emit(kinds[0])
            return
        end = self.label()
        for kind in kinds:
            other = self.label()
            self.unless(f"{register.kind} == {int(kind == 'edge')}", other)
            emit(kind)
            self.goto(end)
            self.place(other)
        self.place(end)

    def local(self, name: str) -> str:
        """Text for a worker's own array of collected elements."""
        return f"int64_at({self.input(name, 'local')} + w * (8 * LOCAL))"

    def sparse(self, register: Register) -> None:
        """Make the register's frontier a queue (or all), if a pull may have left a bitmap."""
        if register.dense:
            with self.when(f"{register.form} == {BITS}"):
                self._queue_of_bits(register, "out")

    def _queue_of_bits(self, register: Register, want: str) -> None:
        queue, scan = self.target(register, "vertex")
        offsets, _ = self.lists(want)
        self.phase(
            f"queue_of_bits(C, slot, w, W, uint64_at({register.bits}), {self.capacity('vertex')}, {offsets}, "
            f"{self.layout.ids}_at({queue}), {self.layout.offsets}_at({scan}), "
            f"{self.local('local_ids')}, {self.local('local_prefix')})",
            after=self.produced(register, "vertex", want),
        )

    def scanned(self, register: Register, want: str) -> None:
        """Make it all, or a queue with the scan of its degrees in one direction."""
        form = OUT if want == "out" else IN
        if register.dense:
            with self.when(f"{register.form} == {BITS}"):
                self._queue_of_bits(register, want)
        with self.when(f"{register.form} != {form} and {register.form} != {ALL}"):
            offsets, _ = self.lists(want)
            queue = f"{self.layout.ids}_at({register.queue})"
            before = self.variable("before")
            self.phase(
                f"scan_sums(C, slot, w, W, {queue}, {register.count}, {offsets})",
                after=(f"{before} = slot", f"{register.edges} = partial_total(C, slot, W)"),
            )
            self.phase(
                f"scan_write(C, {before}, w, W, {queue}, {self.layout.offsets}_at({self.scan_of(register)}), "
                f"{register.count}, {offsets})",
                after=(f"{register.form} = {form}",),
            )

    def copy(self, register: Register, kind: str, queue: str, count: str, after: tuple[str, ...] = ()) -> None:
        """Make a copy of a queue of ids the register's frontier."""
        target, _ = self.target(register, kind)
        element = self.layout.element(kind)
        self.phase(
            f"copy_queue(w, W, {element}_at({queue}), False, {element}_at({target}), 0, {count})",
            after=(
                f"{register.queue} = {target}",
                f"{register.side} = 1 - {register.side}",
                f"{register.count} = {count}",
                f"{register.edges} = 0",
                f"{register.form} = {QUEUE}",
                f"{register.kind} = {int(kind == 'edge')}",
                *after,
            ),
        )

    def single(self, register: Register, vertex: str) -> None:
        """One vertex. Every worker writes the same id to the same place, so no barrier is needed."""
        queue, _ = self.target(register, "vertex")
        self.line(
            f"{register.queue} = {queue}",
            f"{register.side} = 1 - {register.side}",
            f"{self.layout.ids}_at({register.queue})[0] = {vertex}",
            f"{register.count} = 1",
            f"{register.edges} = 0",
            f"{register.form} = {QUEUE}",
            f"{register.kind} = 0",
        )

    # ---- what steps without phases do ------------------------------------------------------------------------------

    def assign(self, scalar: str, text: str) -> str:
        """Line that gives a scalar a value, in its own dtype."""
        dtype = self.layout.dtype(scalar)
        if dtype == "bool":
            return f"s_{scalar} = truth({text})"
        value = text if dtype.startswith("float") else f"integer({text})"
        return f"s_{scalar} = np.{dtype}({value})"

    def set_scalars(self, values: dict[str, Any]) -> None:
        """All values are computed before any is assigned."""
        names = {name: self.unique("value") for name in values}
        for name, value in values.items():
            wants = "" if self.layout.dtype(name) == "bool" else VALUE
            text = self.decided(value, wants) if callable(value) else _number(value)
            self.line(self.assign(name, text).replace(f"s_{name} = ", f"{names[name]} = ", 1))
        for name, made in names.items():
            self.line(f"s_{name} = {made}")

    def swap(self, first: str, second: str) -> None:
        """Exchange two fields: addresses, or a scalar's values, or what a pile is made of."""
        self.swaps = True
        kind = next(kind for name, kind, _ in self.layout.fields if name == first)
        stems = ["s"] if kind == "scalar" else ["a"]
        if kind == "pile":
            self.pile(first), self.pile(second)
            stems = ["pile", "held", "epoch", "stamps"]
        for stem in stems:
            a, b = f"{stem}_{first}", f"{stem}_{second}"
            self.line(f"{a}, {b} = {b}, {a}")

    def pile(self, name: str) -> str:
        """Declare what a pile is made of; the kind of its elements."""
        for stem in ("pile", "held", "epoch", "stamps"):
            self.keep(f"{stem}_{name}")
        return self.layout.dtype(name)

    def take(self, name: str, register: Register) -> None:
        """The pile's content becomes the frontier; the pile is empty after."""
        kind = self.pile(name)
        register.kinds = frozenset({kind})
        self.copy(
            register, kind, f"pile_{name}", f"held_{name}", (f"held_{name} = 0", f"epoch_{name} += 1")
        )
