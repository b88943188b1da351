"""The parts of phases: the graph's arrays, the problem as functors see it, calls of functors, and kernels.

The function of a phase is a kernel (:mod:`frontier.lowering.kernels`); its arguments are expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from frontier.functors.adjacency import hidden
from frontier.functors.captures import Captured, capture
from frontier.functors.functor import arguments
from frontier.graph.sparse_offsets import PARTS
from frontier.lowering.inputs import Buffer, GraphArray, Input, Length, Size
from frontier.lowering.ir import Call, Choice, Expr, Value, cast
from frontier.lowering.kernels import Constant, FunctorCall, FunctorName, Kernel, Made, parameters
from frontier.lowering.variables import SLOT, WORDS, WORKER, WORKERS, Variables, pointer
from frontier.program.layout import Layout
from frontier.program.schedule import ResolvedSchedule
from frontier.system.environment import is_set, switch

__all__ = ["NARROW", "VALUE", "Functor", "Phases", "checking"]

Functor = Callable[..., Any]

#: Integers that functors get with 64 bits, so that their sums and differences do not overflow.
NARROW = ("int8", "int16", "int32", "uint8", "uint16", "uint32")

#: For calls of functors whose value is used in arithmetic, where returning nothing is an error.
VALUE = "_value"


_is_set = is_set("FRONTIER_CHECK")


def checking() -> bool:
    """Whether compiled functors are to check every access: ``FRONTIER_CHECK=1``.

    Raises
    ------
    FrontierError
        It is neither 0 nor 1.
    """
    return _is_set() and switch("FRONTIER_CHECK", "1 to check every access of compiled functors, or 0 not to", False)


class Phases(Variables):
    """The functions of a program's phases, and what they are called with.

    Attributes
    ----------
    functors : dict
        Functor -> its name in the program.
    captures : dict
        Functor -> what it takes from outside, which is compiled with it.
    combines : dict
        Function that combines two numbers -> their dtypes; these functors take no problem.
    functions : list of Kernel
    checks : bool
        Whether functors check every access to a field.
    summed : set of str
        Fields of which workers have copies in some phase, as :class:`frontier.operators.shared.cpu_copies.Copies`.
    topology : list of str
        Arrays of the graph that functors ask for, which get them as hidden fields of the problem.
    """

    def __init__(self, layout: Layout, schedule: ResolvedSchedule) -> None:
        super().__init__(layout)
        self.schedule = schedule
        self.functors: dict[Functor, str] = {}
        self.captures: dict[Functor, Captured] = {}
        self.combines: dict[Functor, set[str]] = {}
        self.functions: list[Kernel] = []
        self.topology: list[str] = []
        self.summed: set[str] = set()
        self.checks = checking()
        self.needs_in = False  # in-lists from the start
        self.needs_in_edges = False  # the permutation too

    # ---- arrays of the graph -----------------------------------------------------------------------------

    def array(self, key: str, given: Input, dtype: str) -> Expr:
        """An array whose address the host gives."""
        return pointer(dtype, self.input(key, given))

    def capacity(self, kind: str) -> Expr:
        """The number of vertices, or of edge slots."""
        name = "n" if kind == "vertex" else "m"
        return self.input(name, Size(kind), "vertices" if kind == "vertex" else "edges")

    def lists(self, edges: str) -> tuple[Expr, Expr]:
        """Offsets and far ends of out- or in-lists."""
        if edges == "out":
            return self.offsets("offsets"), self.ends("targets")
        return self.offsets("in_offsets"), self.ends("in_sources")

    def offsets(self, name: str) -> Expr:
        """Where lists begin, ``"offsets"`` or ``"in_offsets"``, as an array that may be doubly compressed."""
        if not self.layout.sparse:
            return self.array(f"g_{name}", GraphArray(name), self.layout.offsets)
        return Call(f"sparse_{self.layout.offsets}_at", *self._of_sparse(name))

    def _of_sparse(self, name: str) -> list[Expr]:
        return [self.input(f"g_{name}_{part}", GraphArray(name, part)) for part in PARTS]

    def edges_before(self, everything: Expr, edges: str, scan: Expr) -> Expr:
        """How many edges come before each vertex of a frontier: where that is everything, the offsets say so.

        ``scan`` is the address of what says it otherwise.
        """
        if not self.layout.sparse:
            return Choice(everything, self.lists(edges)[0], pointer(self.layout.offsets, scan))
        plain: tuple[Value, ...] = (0, scan, 0, 0)  # without a directory, pointers are of all vertices
        sparse = self._of_sparse("offsets" if edges == "out" else "in_offsets")
        chosen = (Choice(everything, each, other) for each, other in zip(sparse, plain, strict=True))
        return Call(f"sparse_{self.layout.offsets}_at", *chosen)

    def ends(self, name: str) -> Expr:
        """The far ends, ``"targets"`` or ``"in_sources"``, as an array that may be compressed."""
        frames = self.layout.frames
        if frames is None:
            return self.array(f"g_{name}", GraphArray(name), self.layout.ids)
        parts = (self.input(f"g_{name}_{part}", GraphArray(name, part)) for part in ("frames", "words"))
        return Call(f"packed_{frames}_at", *parts)

    def in_edges(self) -> Expr:
        """The out-edge slot of every in-edge."""
        self.needs_in_edges = True
        return self.array("g_in_edges", GraphArray("in_edges"), self.layout.offsets)

    def weights(self) -> Expr:
        """The weights."""
        assert self.layout.weights is not None
        return self.array("g_weights", GraphArray("weights"), self.layout.weights)

    def sources(self) -> Expr:
        """The source of every edge slot."""
        return self.array("g_sources", GraphArray("sources"), self.layout.ids)

    # ---- the problem, and functors -------------------------------------------------------------------------

    def functor(self, fn: Functor) -> str:
        """Name of a functor in the program."""
        if fn not in self.functors:
            self.functors[fn] = self.name(fn.__name__)
        return self.functors[fn]

    def captured(self, fn: Functor) -> Captured:
        """What a functor took from outside when the program was asked for: that is compiled."""
        if fn not in self.captures:
            self.captures[fn] = capture(fn)
        return self.captures[fn]

    def number(self, fn: Functor) -> int:
        """Number by which compiled code names a functor to the host."""
        self.functor(fn)
        return list(self.functors).index(fn)

    def problem(self, instead: Mapping[str, Expr] | None = None) -> Expr:
        """The problem as functors see it, with something else for some of its fields."""
        numbers = {name: number for number, name in enumerate(self.checked_fields())}
        values = [
            Call(f"checked_{numbers[name]}", value, length) if length is not None else (instead or {}).get(name, value)
            for name, value, length in self._fields()
        ]
        return Call("P", *values) if values else Call("P", 0)

    def checked_fields(self) -> list[str]:
        """Names of the fields whose every access is checked, by their numbers."""
        return [name for name, _, length in self._fields() if length is not None] if self.checks else []

    def checkers(self) -> list[str]:
        """Lines that give the names of what makes checked fields."""
        return [f"checked_{number} = checked({number})" for number in range(len(self.checked_fields()))]

    def _fields(self) -> list[tuple[str, Expr, Expr | None]]:
        """Name, value and, where it is an array and they are asked for, the length of what functors see."""
        found: list[tuple[str, Expr, Expr | None]] = []
        for name, kind, dtype in self.layout.fields:
            if kind == "scalar":
                found.append((name, cast("int64", self.scalars[name]) if dtype in NARROW else self.scalars[name], None))
            elif kind != "pile":
                found.append((name, self._seen(name), self._length(name, kind)))
        for name in self.topology:
            length = None if name == "in_edges" else self._length(name, "vertex" if "offsets" in name else "edge")
            if length is not None and "offsets" in name:
                length = length + 1
            found.append((hidden(name), self._of_graph(name), length))
        return found

    def _seen(self, name: str) -> Expr:
        """A field as functors see it."""
        pair, own = self.layout.pair(name), self.state[f"field:{name}"]
        if pair is None or pair.word or name == pair.other:
            return pointer(self.layout.seen(name), own)
        locks = self.input("locks", Buffer("locks"), "locks of pairs")
        return Call(f"{self.layout.seen(name)}_at", own, self.state[f"field:{pair.other}"], locks)

    def memory(self, name: str) -> Expr:
        """A field as it lies in memory."""
        pair = self.layout.pair(name)
        halves = pair is not None and pair.word
        return pointer(self.layout.seen(name), self.state[f"field:{name}"]) if halves else self.field(name)

    def pointer_types(self) -> list[str]:
        """Names of the types of pointers that few programs need: to fields that go along with others, to packed ids."""
        fields = (name for name, kind, _ in self.layout.fields if kind in ("vertex", "edge"))
        several = dict(self.layout.widths)
        needed = (name for name in fields if self.layout.pair(name) is not None or name in several)
        found = sorted({self.layout.seen(name) for name in needed})
        found += sorted({f"summed_{self.layout.seen(name)}" for name in self.summed})
        found += [f"packed_{self.layout.frames}"] if self.layout.frames else []
        return [*found, *([f"sparse_{self.layout.offsets}"] if self.layout.sparse else [])]

    def _length(self, name: str, kind: str) -> Expr | None:
        if not self.checks:
            return None
        if kind == "array":
            return self.input(f"length:{name}", Length(name))
        return self.capacity(kind)

    def _of_graph(self, name: str) -> Expr:
        """An array of the graph as functors that ask for it see it."""
        if name == "targets" and self.layout.frames:
            return self.ends(name)
        if name == "in_edges":
            self.needs_in_edges = True
        if name in ("offsets", "in_offsets") and self.layout.sparse:
            return self.offsets(name)
        return pointer(self.layout.of_graph(name), self.input(f"g_{name}", GraphArray(name)))

    def calling(self, fn: Functor, place: str, ends: tuple[str, ...], wants: str = "") -> FunctorCall:
        """Return a function that calls a functor inside a phase with all of its ends, which are given in this order."""
        order = tuple(ends.index(name) for name in arguments(fn, place))
        return FunctorCall(self.functor(fn), self.number(fn), order, bool(wants))

    def combining(self, fn: Functor, dtype: str) -> FunctorCall:
        """Return a function that calls a user's function of two numbers inside a phase: ``call(C, slot, a, b)``."""
        self.combines.setdefault(fn, set()).add(dtype)
        return FunctorCall(self.functor(fn), self.number(fn), (0, 1), value=True, problem=False)

    def helper(self, fn: Functor) -> FunctorName:
        """A function of the operators' that is compiled as functors are, and called as it is."""
        return FunctorName(self.functor(fn))

    def kernel(
        self, stem: str, factory: Callable[..., Any], given: dict[str, Value],
        instead: Mapping[str, Expr] | None = None, /, **constants: Constant,
    ) -> Call:  # fmt: skip
        """Add the function of a phase that a factory makes for some constants: the call of it.

        The function is ``phase(p, C, slot, w, W, ...)``: the problem as functors see it, the counters and the offset of
        this phase's, the number of this worker and how many there are; then parameters of its own. It is called by
        all workers when :meth:`~frontier.lowering.builder.Builder.phase` has been given the call.

        Parameters
        ----------
        stem : str
            What its name begins with in the program.
        factory : function
            Returns ``phase``; see :mod:`frontier.lowering.kernels`.
        given : dict
            Name of a parameter of its own -> the expression that it is called with. Those that are not named are 0: the
            constants leave out what would use them.
        instead : dict, optional
            Name of a field -> what functors see of it in this phase.
        **constants
            What the factory is called with: numbers, strings, and functions as :class:`Made` or :meth:`calling` say.
        """
        names = parameters(factory)
        assert set(given) <= set(names), (factory, sorted(set(given) - set(names)))
        made = Kernel(self.name(stem), Made(factory, constants))
        self.functions.append(made)
        own = (given.get(name, 0) for name in names)
        return Call(made.name, self.problem(instead), WORDS, SLOT, WORKER, WORKERS, *own)

    def width(self, field: str) -> int:
        """How many values each vertex or edge has in the field of that name; 0 without one, or if it has one each."""
        return dict(self.layout.widths).get(field, 0)

    def count_over(self, over: int | str | None) -> Value:
        """Number of calls of a functor of ``i``: what ``over=`` says, or the scalar holds."""
        if isinstance(over, str):
            return Call("max", cast("int64", self.scalars[over]), cast("int64", 0))
        assert over is not None
        return self.parameter(over)
