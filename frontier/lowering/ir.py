"""The intermediate representation (IR) of programs: nodes, variables and expressions as objects, not as text.

A program is a list of nodes. *Phases* are work that is divided among the workers and ends in a barrier. All other nodes
are control flow: assignments, branches, loops, exchanges of two variables, and returns to the host. Control flow is
computed from values that all workers know, so every worker may execute it redundantly, or one worker may execute it for
all. That is the choice of a printer (:mod:`frontier.lowering.printer`), which generates the code that a backend
compiles.

Variables are objects, so equal names cannot clash; a printer writes the name in :class:`Var`, which ends in a unique
number. Expressions are made with Python's operators if they give numbers (``count * 2 < edges``), and with
:func:`equal`, :func:`both` and similar functions if they give truth values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = [
    "Assign", "Branch", "Call", "Choice", "Const", "Counter", "Decide", "Deferred", "Exit", "Expr", "Item", "Leave",
    "Local", "Loop", "Node", "Op", "Phase", "Region", "Resume", "Swap", "Together", "Value", "Var", "Way", "both",
    "cast", "differ", "either", "equal", "expression", "inside", "no", "rewritten", "walk",
]  # fmt: skip


# ---- expressions -----------------------------------------------------------------------------------------


class Expr:
    """A value that is computed when the program runs."""

    __slots__ = ()

    def inner(self) -> tuple[Expr, ...]:
        """The expressions that this one is made of."""
        return ()

    def __add__(self, other: Value) -> Expr:
        return Op("+", self, other)

    def __radd__(self, other: Value) -> Expr:
        return Op("+", other, self)

    def __sub__(self, other: Value) -> Expr:
        return Op("-", self, other)

    def __rsub__(self, other: Value) -> Expr:
        return Op("-", other, self)

    def __mul__(self, other: Value) -> Expr:
        return Op("*", self, other)

    def __rmul__(self, other: Value) -> Expr:
        return Op("*", other, self)

    def __floordiv__(self, other: Value) -> Expr:
        return Op("//", self, other)

    def __lshift__(self, other: Value) -> Expr:
        return Op("<<", self, other)

    def __rshift__(self, other: Value) -> Expr:
        return Op(">>", self, other)

    def __and__(self, other: Value) -> Expr:
        return Op("&", self, other)

    def __or__(self, other: Value) -> Expr:
        return Op("|", self, other)

    def __lt__(self, other: Value) -> Expr:
        return Op("<", self, other)

    def __le__(self, other: Value) -> Expr:
        return Op("<=", self, other)

    def __gt__(self, other: Value) -> Expr:
        return Op(">", self, other)

    def __ge__(self, other: Value) -> Expr:
        return Op(">=", self, other)

    def __bool__(self) -> bool:
        raise TypeError("an expression has its value when the program runs, not while it is made")


@dataclass(frozen=True, eq=False)
class Var(Expr):
    """A variable.

    Attributes
    ----------
    name : str
        What printers write: no other variable, function or functor of the program has it.
    dtype : str
        ``"int64"`` but for scalars of the problem and what is computed for them.
    meaning : str
        For :meth:`Enactor.explain`: ``"p.total"``, ``"frontier"``.
    """

    name: str
    dtype: str = "int64"
    meaning: str = ""


@dataclass(eq=False)
class Const(Expr):
    """A number; ``meaning`` is its name where it stands for something."""

    value: int | float | bool
    meaning: str = ""


class Op(Expr):
    """An operator of Python's and its operands."""

    __slots__ = ("operands", "symbol")

    def __init__(self, symbol: str, *operands: Value) -> None:
        self.symbol, self.operands = symbol, tuple(expression(each) for each in operands)

    def inner(self) -> tuple[Expr, ...]:
        """Its operands."""
        return self.operands


class Call(Expr):
    """A call of a function of the backend's runtime, or of a phase."""

    __slots__ = ("arguments", "function")

    def __init__(self, function: str, *arguments: Value) -> None:
        self.function, self.arguments = function, tuple(expression(each) for each in arguments)

    def inner(self) -> tuple[Expr, ...]:
        """The arguments."""
        return self.arguments


class Choice(Expr):
    """One of two values."""

    __slots__ = ("condition", "no", "yes")

    def __init__(self, condition: Expr, yes: Value, no: Value) -> None:
        self.condition, self.yes, self.no = condition, expression(yes), expression(no)

    def inner(self) -> tuple[Expr, ...]:
        """The condition and both values."""
        return self.condition, self.yes, self.no


class Item(Expr):
    """An element of an array."""

    __slots__ = ("array", "index")

    def __init__(self, array: Expr, index: Value) -> None:
        self.array, self.index = array, expression(index)

    def inner(self) -> tuple[Expr, ...]:
        """The array and the index."""
        return self.array, self.index


class Counter(Expr):
    """What the workers have counted together in the phase that has just ended; ``more`` words after the named one."""

    __slots__ = ("more", "word")

    def __init__(self, word: str, more: int = 0) -> None:
        self.word, self.more = word, more


Value = Expr | int | float | bool


def expression(value: Value) -> Expr:
    """A number as an expression."""
    return value if isinstance(value, Expr) else Const(value)


def equal(a: Value, b: Value) -> Expr:
    """Whether two values are equal."""
    return Op("==", a, b)


def differ(a: Value, b: Value) -> Expr:
    """Whether two values differ."""
    return Op("!=", a, b)


def both(*conditions: Expr) -> Expr:
    """Whether all conditions hold; the second is not looked at where the first does not."""
    return Op("and", *conditions) if len(conditions) > 1 else conditions[0]


def either(*conditions: Expr) -> Expr:
    """Whether one of the conditions holds."""
    return Op("or", *conditions) if len(conditions) > 1 else conditions[0]


def no(condition: Expr) -> Expr:
    """Whether a condition does not hold."""
    return Op("not", condition)


def cast(dtype: str, value: Value) -> Expr:
    """A value in another dtype."""
    return Call(f"np.{dtype}", value)


def walk(value: Expr) -> Iterator[Expr]:
    """An expression and all that it is made of."""
    yield value
    for each in value.inner():
        yield from walk(each)


def rewritten(made: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """An expression with others in place of some of its parts: ``change`` gives what replaces a part, or None."""
    instead = change(made)
    if instead is not None:
        return instead
    parts = [rewritten(each, change) for each in made.inner()]
    if all(new is old for new, old in zip(parts, made.inner(), strict=True)):
        return made
    if isinstance(made, Op):
        return Op(made.symbol, *parts)
    if isinstance(made, Call):
        return Call(made.function, *parts)
    assert isinstance(made, (Choice, Item))
    return Choice(*parts) if isinstance(made, Choice) else Item(*parts)


# ---- nodes -------------------------------------------------------------------------------------------------


class Node:
    """What a program does next."""


@dataclass(eq=False)
class Assign(Node):
    """Give a variable, or an element of an array, a value."""

    target: Var | Item
    value: Expr


@dataclass(eq=False)
class Swap(Node):
    """Exchange the values of two variables."""

    first: Var
    second: Var


@dataclass(eq=False)
class Decide(Node):
    """Call a functor of the problem alone; the run ends if it raises. All workers call it alike."""

    target: Var
    functor: Callable[..., Any]
    problem: Expr
    wants: str


@dataclass(eq=False)
class Together(Node):
    """Compute a value for which all threads of a block are needed, as a sum of the blocks' results."""

    target: Var
    value: Call


@dataclass(eq=False)
class Phase(Node):
    """Work that is divided among the workers, then a barrier, then what is made of its counters.

    Attributes
    ----------
    call : Call
        Of the phase's function, whose arguments every worker computes.
    more : tuple of Call
        What every worker does after that, before the same barrier.
    after : list of Node
        Without phases, branches between them, or loops.
    title : str
        What it does, for people.
    functors : tuple of callables
        That it calls: from their effects follows what it reads and writes.
    writes : tuple of str
        Fields that it writes itself.
    arrived, waits : bool
        On a GPU: whether the phase says by itself that its block has arrived at the barrier; and whether it counts who
        waits in the word of its count.
    meets : bool
        On several GPUs: whether all of them meet at its barrier.
    work : Expr, optional
        About how many edges and elements it processes, on which it depends how many threads share it; much, if unknown.
        Phases of which one reads what each worker has left in another have the same.
    """

    call: Call
    after: list[Node] = field(default_factory=list)
    title: str = ""
    functors: tuple[Callable[..., Any], ...] = ()
    writes: tuple[str, ...] = ()
    arrived: bool = False
    waits: bool = False
    meets: bool = False
    more: tuple[Call, ...] = ()
    work: Expr | None = None

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls, in their order."""
        return (self.call, *self.more)


@dataclass(eq=False)
class Branch(Node):
    """Go one of two ways."""

    condition: Expr
    yes: list[Node] = field(default_factory=list)
    no: list[Node] = field(default_factory=list)


@dataclass(eq=False)
class Loop(Node):
    """Do the same again until an :class:`Exit`; a run that has returned to the host enters it at its head.

    ``passes`` is how many passes have begun, if that is counted.
    """

    body: list[Node] = field(default_factory=list)
    title: str = ""
    passes: Var | None = None


@dataclass(eq=False)
class Exit(Node):
    """Leave the innermost loop where a condition holds (``when``), or does not (``unless``)."""

    when: Expr | None = None
    unless: Expr | None = None


@dataclass(eq=False)
class Leave(Node):
    """Return to the host. The next call goes on at the place from which the present block was entered.

    Such places are loops' heads, ends of phases and of branches between phases, and :class:`Resume`.
    """

    code: str
    detail: Value | None = None


@dataclass(eq=False)
class Resume(Node):
    """A run that leaves after here goes on here."""


@dataclass(eq=False)
class Deferred(Node):
    """What is compiled only when a run first comes to it; until then the run leaves there with ``NEED_CODE``."""

    body: list[Node] = field(default_factory=list)


@dataclass(eq=False)
class Region(Node):
    """Nodes that belong together, under a title: an operator of the user's."""

    title: str
    body: list[Node] = field(default_factory=list)


#: How a step goes along edges: ``"claim"`` is a push that claims at the owners of far ends, on several GPUs.
Way = Literal["push", "pull", "claim"]


@dataclass(eq=False)
class Local(Region):
    """What each machine does with its own part of a frontier: the work of a step, or bookkeeping.

    Within it the size of a frontier, ``count`` and ``edges``, is that of the part; so it is in all phases. Everywhere
    else it is that of the whole frontier, so that all machines decide alike. On one machine these are the same. A
    scalar that a step assigns is also the same on all: it gets the size of the whole, and what phases have found is
    combined (``Step.partial``). What a step has changed is exchanged at the end: see
    :mod:`frontier.distributed.devices.exchange_pass`.

    Attributes
    ----------
    step : Step or None
        None for bookkeeping, of which other machines need not know.
    target : FrontierState or None
        The frontier that it leaves.
    way : {"push", "pull", "claim"}
    kinds : frozenset of str
        Kinds of elements of the target when it begins.
    """

    step: Any = None
    target: Any = None
    way: Way = "push"
    kinds: frozenset[str] = frozenset()


def inside(nodes: list[Node]) -> Iterator[Node]:
    """All nodes, those within others too."""
    for node in nodes:
        yield node
        if isinstance(node, (Loop, Region, Deferred)):
            yield from inside(node.body)
        elif isinstance(node, Branch):
            yield from inside([*node.yes, *node.no])
        elif isinstance(node, Phase):
            yield from inside(node.after)
