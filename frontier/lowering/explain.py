"""Print the program of a loop as pseudo-code: phases and what they read and write, barriers, control flow.

Bookkeeping is left out: which of two arrays holds a frontier, stamps, rows of the trace, and variables that nothing
shown uses. Tests whose outcome is known are left out, too (:mod:`frontier.lowering.folding`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from textwrap import wrap

from frontier.lowering.builder import Builder
from frontier.lowering.folding import folded
from frontier.lowering.frontier_state import ALL, QUEUE, FrontierState
from frontier.lowering.ir import (
    Assign,
    Branch,
    Call,
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
    Phase,
    Region,
    Swap,
    Together,
    Var,
    expression,
    inside,
    no,
    walk,
)
from frontier.lowering.touched import called, read_by, touched
from frontier.lowering.variables import BEFORE, BROUGHT, BUDGET, DIRECTION, EPOCH, NOW, PASSES, SEEN, SLOT, T
from frontier.lowering.words import Words
from frontier.program.order import display_name

__all__ = ["explained"]

#: Why a run returns to the host.
_LEAVES = {
    "DONE": "done",
    "UNCONVERGED": "error: not done after {detail} passes",
    "NEED_IN_EDGES": "the host makes the in-edges, then the run continues here",
    "BAD_VERTEX": "error: there is no such vertex",
    "RECORD_FULL": "error: an element is recorded twice",
    "WRONG_KIND": "error: vertices where edges are expected, or the other way round",
}

#: Kinds of fields; the dtype of a pile is what it holds.
_KINDS = {
    "vertex": "{} of each vertex",
    "edge": "{} of each edge",
    "array": "array of {}",
    "scalar": "{}",
    "pile": "pile, {}",
}

#: From where on lines are broken.
WIDTH = 110

#: Variables that are bookkeeping in every program.
_HIDDEN = {BEFORE, BROUGHT, BUDGET, DIRECTION, EPOCH, NOW, PASSES, SEEN, T}


def explained(program: Builder) -> str:
    """The program as text.

    Parameters
    ----------
    program : Builder
        As :func:`frontier.lowering.loops.lower` gives it.
    """
    begins: dict[Var, frozenset[int]] = {}
    for current in program.frontiers.all:
        begins |= {current.form: frozenset({QUEUE, ALL}), current.kind: frozenset({0, 1})}
    if program.given.kinds:
        begins[program.given.kind] = frozenset(int(kind == "edge") for kind in program.given.kinds)
    nodes = folded(program.nodes, begins)
    first = Words(program, [])
    list(_Explainer(program, nodes, first).lines(nodes))  # names depend on how many frontiers there are
    words = Words(program, first.met)
    return "\n".join([*_head(program), "", *_Explainer(program, nodes, words).lines(nodes)])


def _head(program: Builder) -> Iterator[str]:
    """For whom the program is, and for what problems."""
    layout = program.layout
    yield from wrap(f"# {program.described}", WIDTH, subsequent_indent="# ")
    for number, step in enumerate(program.steps, 1):
        yield f"{'# steps: ' if number == 1 else '#        '}{number} {step}"
    alike: dict[str, list[str]] = {}
    for name, kind, dtype in layout.fields:
        alike.setdefault(_KINDS[kind].format(dtype), []).append(display_name(name))
    for i, (what, names) in enumerate(alike.items()):
        yield from wrap(
            f"{', '.join(names)}: {what}", WIDTH,
            initial_indent="#         " if i else "# fields: ", subsequent_indent="#             ",
        )  # fmt: skip
    weights = f", weights {layout.weights}" if layout.weights else ""
    yield f"# graph: ids of vertices {layout.ids}, numbers of edges {layout.offsets}{weights}"


class _Explainer:
    """Pseudo-code of one program, with the names that ``words`` gives."""

    def __init__(self, program: Builder, nodes: list[Node], words: Words) -> None:
        self.program, self.words = program, words
        self.value = words.value
        self._kept = {*program.state.values(), *program.scalars.values()}
        self._fields = {var for key, var in program.state.items() if key.startswith(("field:", "pile:"))}
        self._fields.update(program.scalars.values())
        self._asked = set(_asked(nodes, self._is_pause))
        self._phases = count(1)

    # ---- nodes -----------------------------------------------------------------------------------------------

    def lines(self, nodes: Iterable[Node]) -> Iterator[str]:
        """Lines of some nodes; assignments that belong together are one."""
        left = list(nodes)
        while left:
            for together in (self._frontier, self._values):
                used, lines = together(left)
                if used:
                    del left[:used]
                    yield from lines
                    break
            else:
                yield from self._node(left.pop(0))

    def _inside(self, nodes: list[Node]) -> list[str]:
        return ["    " + line for line in self.lines(nodes)]

    def _node(self, node: Node) -> Iterator[str]:
        if isinstance(node, Assign | Together):
            if not self._hidden(node):
                yield f"{self.value(node.target)} = {self._given(node)}"
        elif isinstance(node, Swap):
            if node.first in self._fields:
                yield f"swap {self.value(node.first)} and {self.value(node.second)}"
        elif isinstance(node, Phase):
            yield from self._phase(node)
        elif isinstance(node, Branch):
            yield from self._branch(node)
        elif isinstance(node, Loop):
            yield from self._loop(node)
        elif isinstance(node, Exit):
            yield self._exit(node)
        elif isinstance(node, Leave):
            detail = "" if node.detail is None else self.value(expression(node.detail))
            yield "return to the host: " + _LEAVES.get(node.code, node.code).format(detail=detail)
        elif isinstance(node, Deferred):
            yield "# compiled when a run first reaches this"
            yield from self.lines(node.body)
        elif isinstance(node, Region):
            inner = list(self.lines(node.body))
            if node.title:
                yield f"# {node.title}"
            yield from inner

    def _phase(self, node: Phase) -> Iterator[str]:
        yield f"phase {next(self._phases)}: {node.title}"
        over = [self.words.frontier(current) for current in self.words.frontiers(node.call)]
        if over:
            yield f"    over {', '.join(over)}"
        if node.functors:
            yield f"    calls {', '.join(map(called, node.functors))}"
        reads, writes = touched(self.program, self.words, node)
        yield f"    reads {', '.join(reads) or 'nothing'}"
        yield f"    writes {', '.join(writes) or 'nothing'}"
        yield "barrier"
        yield from self.lines(node.after)

    def _branch(self, node: Branch, word: str = "if") -> Iterator[str]:
        if self._is_pause(node):
            yield "# a pass begins: the run may pause here, and resume later"
            return
        yes = self._inside(node.yes)
        only = node.no[0] if yes and len(node.no) == 1 else None
        chained = only if isinstance(only, Branch) and not self._is_pause(only) else None
        otherwise = self._inside(node.no) if chained is None else list(self._branch(chained, "elif"))
        if yes:
            yield from self._test(word, node.condition)
            yield from yes
            if otherwise and chained is None:
                yield "else:"
        elif otherwise:
            yield from self._test(word, no(node.condition))
        yield from otherwise

    def _test(self, word: str, condition: Expr) -> Iterator[str]:
        """The line of a test, or several where it is long."""
        text = self.value(condition)
        first, *rest = [text] if len(text) <= WIDTH - 20 else self.words.conjuncts(condition)
        *lines, last = [f"{word} {first}", *(f"        and {each}" for each in rest)]
        yield from lines
        yield f"{last}:"

    def _loop(self, node: Loop) -> Iterator[str]:
        first = node.body[0] if node.body else None
        if isinstance(first, Exit) and first.unless is not None:
            yield f"while {self.value(first.unless)}:"
            yield from self._inside(node.body[1:])
        else:
            yield "loop:"
            yield from self._inside(node.body)

    def _exit(self, node: Exit) -> str:
        if node.when is not None:
            return f"leave the loop if {self.value(node.when)}"
        assert node.unless is not None
        return f"leave the loop unless {self.value(node.unless)}"

    def _is_pause(self, node: Node) -> bool:
        return isinstance(node, Branch) and any(isinstance(each, Leave) and each.code == "PAUSED" for each in node.yes)

    def _hidden(self, node: Assign | Together) -> bool:
        """Whether an assignment is bookkeeping, or nothing that is shown asks for what it gives."""
        target = node.target
        if not isinstance(target, Var) or target in _HIDDEN or node.value is SLOT:
            return True
        if target in self.program.scalars.values():
            return False
        return not target.meaning or target not in self._asked

    def _given(self, node: Assign | Together) -> str:
        if isinstance(node.target, Var) and self.words.is_flag(node.target) and isinstance(node.value, Const):
            return repr(bool(node.value.value))
        return self.value(node.value)

    # ---- frontiers -------------------------------------------------------------------------------------------

    def _frontier(self, nodes: list[Node]) -> tuple[int, list[str]]:
        """How many of the first nodes say together what a frontier is now, and the line for them."""
        current: FrontierState | None = None
        given: dict[str, Expr] = {}
        used = 0
        for node in nodes:
            if not isinstance(node, Assign | Together):
                break
            of = self.words.part(node.target) or self._element(node.target, current)
            if of is None or (current is not None and of[0] is not current):
                break
            current, used = of[0], used + 1
            given[of[1]] = node.value
        line = self._becomes(current, given) if current is not None else ""
        return used, [line] if line else []

    def _element(self, target: Expr, current: FrontierState | None) -> tuple[FrontierState, str] | None:
        """The frontier in whose queue an element is set."""
        if isinstance(target, Item) and current is not None and current.queue in walk(target.array):
            return current, "element"
        return None

    def _becomes(self, current: FrontierState, given: dict[str, Expr]) -> str:
        form, size, edges = given.get("form"), given.get("count"), given.get("edges")
        element = given.get("element")
        if isinstance(edges, Call) and edges.function.endswith("_single"):
            element = edges.arguments[-1]
        if not {"form", "count", "edges"} & given.keys() or ("side" in given and size is None):
            return ""  # which of its arrays it has
        name = self.words.frontier(current)
        if isinstance(form, Const) and form.value == ALL:
            kind = given.get("kind")
            return f"{name} = all {'edges' if isinstance(kind, Const) and kind.value else 'vertices'}"
        ending = f", as {self.value(form)}" if form is not None else ""
        recorded = [each for each in walk(given.get("queue", Const(0))) if isinstance(each, Item)]
        if element is not None:
            return f"{name} = [{self.value(element)}]{ending}"
        if recorded:
            return f"{name} = {self.value(recorded[0])}{ending}"
        if size is None:
            if form is not None:
                return f"{name} is kept{ending}"
            assert edges is not None
            return f"{name}.edges = {self.value(edges)}"
        if isinstance(size, Const):
            return f"{name} = nothing{ending}" if size.value == 0 else f"{name} = {size.value} elements{ending}"
        if isinstance(size, Counter):
            return f"{name} = what was {'found' if 'bits' in given else 'appended'}{ending}"
        return f"{name} = {self.value(size)} elements{ending}"

    # ---- scalars -----------------------------------------------------------------------------------------------

    def _values(self, nodes: list[Node]) -> tuple[int, list[str]]:
        """How many of the first nodes compute values that are used once, then give them to scalars; and lines."""
        used, read = 0, []
        for node in nodes:
            if isinstance(node, Decide):
                self.words.instead[node.target] = f"{node.functor.__name__}(p)"
                read += [name for name in read_by(node.functor) if name not in read]
            elif isinstance(node, Assign | Together) and self._is_local(node.target):
                assert isinstance(node.target, Var)
                self.words.instead[node.target] = self.words.operand(node.value)
            else:
                break
            used += 1
        targets, values = [], []
        for node in nodes[used:] if used else ():
            if not (isinstance(node, Assign) and node.target in self.program.scalars.values()):
                break
            targets.append(self.value(node.target))
            values.append(self.value(node.value))
        if not targets:
            return used, []
        lines = [f"{', '.join(targets)} = {', '.join(values)}"]
        return used + len(targets), [*lines, f"    reads {', '.join(read)}"] if read else lines

    def _is_local(self, target: Expr) -> bool:
        return isinstance(target, Var) and target not in self._kept and target not in _HIDDEN


def _asked(nodes: list[Node], is_pause: Callable[[Node], bool]) -> Iterator[Var]:
    """The variables of which something depends that a reader sees."""
    for node in inside(nodes):
        made: list[Expr] = []
        own: Expr | None = None
        if isinstance(node, Branch) and not is_pause(node):
            made = [node.condition]
        elif isinstance(node, Exit):
            made = [each for each in (node.when, node.unless) if each is not None]
        elif isinstance(node, Assign | Together) and node.target not in _HIDDEN:
            made, own = [node.value], node.target
        for each in made:
            for part in walk(each):
                if isinstance(part, Var) and part is not own:
                    yield part
