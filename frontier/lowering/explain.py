"""What a loop becomes, as pseudo-code for people: phases and what they read and write, barriers, decisions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from frontier.analysis import effects
from frontier.lowering.ir import (
    Assign,
    Branch,
    Call,
    Choice,
    Const,
    Counter,
    Decide,
    Deferred,
    Exit,
    Expr,
    Item,
    Leave,
    Loop,
    Node,
    Op,
    Phase,
    Region,
    Resume,
    Swap,
    Together,
    Var,
    expression,
)
from frontier.lowering.loops import Program
from frontier.lowering.variables import BEFORE, BUDGET, DIRECTION, EPOCH, NOW, PASSES, SEEN, SLOT, STOP, T

__all__ = ["explained"]

#: Functions that change a value's type, and nothing that a reader would ask for.
_CASTS = ("truth", "integer")

#: Names of the counters of a phase.
_COUNTERS = {
    "COUNT": "the number appended",
    "EDGES": "the edges of what was appended",
    "EXAMINED": "the edges visited",
    "PILE_COUNT": "the number put aside",
    "HELD": "the number put aside",
}

#: Why a run returns to the host.
_LEAVES = {
    "DONE": "done",
    "PAUSED": "pause: the time is up, or the host asked for a pass only",
    "UNCONVERGED": "error: not done after {detail} passes",
    "NEED_IN_EDGES": "ask the host for the in-edges, then go on here",
    "NEED_CODE": "ask the host for the code of what follows, then go on here",
    "BAD_VERTEX": "error: no such vertex",
    "RECORD_FULL": "error: an element is recorded twice",
    "WRONG_KIND": "error: vertices where edges are expected, or the other way round",
}

#: Bookkeeping: of the trace, of barriers, and of which of two arrays holds a frontier.
_HIDDEN = {BEFORE, DIRECTION, EPOCH, NOW, PASSES, SEEN, T}
_HIDDEN_PARTS = (".queue", ".side", ".bits", ".kind")


def explained(program: Program) -> str:
    """The program as text.

    Parameters
    ----------
    program : Program
        As :func:`frontier.lowering.loops.lower` gives it.
    """
    return "\n".join(_Explainer(program).nodes(program.nodes)) + "\n"


def _effects(phase: Phase) -> list[str]:
    """What a phase does to fields, a line each for reading and for writing."""
    reads: dict[str, set[str]] = {}
    writes: dict[str, set[str]] = {name: {"v"} for name in phase.writes}
    atomics: dict[str, set[str]] = {}
    for fn in phase.functors:
        found = effects(fn)
        for target, source in ((reads, found.reads), (writes, found.writes), (atomics, found.atomics)):
            for name, places in source.items():
                target.setdefault(name, set()).update(places)
    lines = []
    if reads:
        lines.append("reads " + ", ".join(_places(reads)))
    if writes:
        lines.append("writes " + ", ".join(
            f"{place} (atomic {', '.join(sorted(atomics[name]))})" if name in atomics else place
            for name, place in zip(sorted(writes), _places(writes), strict=True)
        ))  # fmt: skip
    return lines


def _places(fields: dict[str, set[str]]) -> list[str]:
    """Fields with the indices at which they are touched."""
    made = []
    for name in sorted(fields):
        indices = sorted(index for index in fields[name] if index)
        made.append(f"p.{name}[{', '.join(indices)}]" if indices else f"p.{name}")
    return made


class _Explainer:
    """Pseudo-code of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program

    # ---- nodes -------------------------------------------------------------------------------------------------

    def nodes(self, nodes: Iterable[Node]) -> Iterator[str]:
        """Lines of some nodes."""
        for node in nodes:
            yield from self.node(node)

    def _inside(self, nodes: list[Node]) -> list[str]:
        return ["    " + line for line in self.nodes(nodes)]

    def node(self, node: Node) -> Iterator[str]:
        """Lines of one node."""
        if isinstance(node, (Assign, Together)):
            if not self._hidden(node.target) and node.value is not SLOT:
                yield f"{self.value(node.target)} = {self.value(node.value)}"
        elif isinstance(node, Decide):
            yield f"{node.target.meaning.removesuffix('(p)')} = {node.functor.__name__}(p)"
        elif isinstance(node, Swap):
            if not any(node.first.meaning.startswith(part) for part in ("size", "epoch", "stamps")):
                yield f"swap {self.value(node.first)} and {self.value(node.second)}"
        elif isinstance(node, Phase):
            yield from self._phase(node)
        elif isinstance(node, Branch):
            yield from self._branch(node)
        elif isinstance(node, Loop):
            yield f"loop: {node.title}"
            yield from self._inside(node.body)
        elif isinstance(node, Exit):
            yield self._exit(node)
        elif isinstance(node, Leave):
            detail = "" if node.detail is None else self.value(expression(node.detail))
            yield "return to the host: " + _LEAVES.get(node.code, node.code).format(detail=detail)
        elif isinstance(node, Deferred):
            yield from self.nodes(node.body)
        elif isinstance(node, Region):
            inside = list(self.nodes(node.body))
            if node.title:
                yield f"# {node.title}"
            yield from inside
        else:
            assert isinstance(node, Resume), node

    def _phase(self, node: Phase) -> Iterator[str]:
        names = ", ".join(fn.__name__ for fn in node.functors)
        yield f"phase: {node.title}{f' [{names}]' if names else ''}"
        for line in _effects(node):
            yield f"    {line}"
        yield "barrier"
        yield from self.nodes(node.after)

    def _branch(self, node: Branch) -> Iterator[str]:
        yes, no = self._inside(node.yes), self._inside(node.no)
        if not (yes or no):
            return
        if yes:
            yield f"if {self.value(node.condition)}:"
            yield from yes
            if no:
                yield "else:"
        else:
            yield f"if not {self.value(node.condition)}:"
        yield from no

    def _exit(self, node: Exit) -> str:
        if node.when is not None:
            return f"leave the loop if {self.value(node.when)}"
        assert node.unless is not None
        return f"leave the loop unless {self.value(node.unless)}"

    def _hidden(self, target: Expr) -> bool:
        """Whether a variable is bookkeeping."""
        if not isinstance(target, Var):
            return isinstance(target, Item)
        hidden = target in _HIDDEN or target is BUDGET
        return hidden or target.meaning.endswith(_HIDDEN_PARTS)

    # ---- expressions -----------------------------------------------------------------------------------------

    def value(self, made: Expr) -> str:
        """An expression as people write it."""
        if isinstance(made, Var):
            return _WORDS.get(made) or made.meaning or made.name
        if isinstance(made, Const):
            return made.meaning or repr(made.value)
        if isinstance(made, Counter):
            return _COUNTERS.get(made.word, f"counter {made.word}") + (f" ({made.more})" if made.more else "")
        if isinstance(made, Item):
            return f"{self.value(made.array)}[{self.value(made.index)}]"
        if isinstance(made, Choice):
            return f"({self.value(made.yes)} if {self.value(made.condition)} else {self.value(made.no)})"
        if isinstance(made, Call):
            return self._call(made)
        assert isinstance(made, Op), made
        texts = [self._operand(each) for each in made.operands]
        if len(texts) == 1:
            return f"{made.symbol} {texts[0]}"
        return f" {made.symbol} ".join(texts)

    def _operand(self, made: Expr) -> str:
        text = self.value(made)
        simple = not isinstance(made, Op) or len(made.operands) == 1
        return text if simple else f"({text})"

    def _call(self, made: Call) -> str:
        if made.function in _CASTS or made.function.startswith("np.") or made.function.endswith("_at"):
            return self.value(made.arguments[0])
        if made.function in ("combined_int", "combined_float"):
            operation = made.arguments[-2]
            assert isinstance(operation, Var)
            return f"the {operation.name.lower()} of the workers' results"
        if made.function == "partial_total":
            return "the sum of the workers' sums"
        if made.function == "P":
            return "p"
        return f"{made.function}({', '.join(map(self.value, made.arguments))})"


#: Variables that every program has, in words.
_WORDS = {STOP: "stop", BUDGET: "passes_allowed"}
