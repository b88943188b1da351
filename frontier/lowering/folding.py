"""Constant folding: remove tests whose outcome is known, and the code that is dead because of it.

Operators test the form and the kind of a frontier wherever these matter, although often only one is possible. Compilers
find that out by themselves; this module does it for :mod:`frontier.lowering.explain`, so that readers need not.
"""

from __future__ import annotations

from dataclasses import replace

from frontier.lowering.ir import (
    Assign,
    Branch,
    Const,
    Deferred,
    Exit,
    Expr,
    Leave,
    Loop,
    Node,
    Op,
    Phase,
    Region,
    Var,
    no,
)

__all__ = ["State", "folded"]

#: Variable -> the values that it may have here; None in code that is never reached.
State = dict[Var, frozenset[int]] | None

#: What a form or a kind may be.
_ANY = frozenset(range(6))


def folded(nodes: list[Node], state: State) -> list[Node]:
    """Nodes without what cannot happen.

    Parameters
    ----------
    nodes : list of Node
    state : dict of Var to frozenset of int
        The variables to follow, and the values with which they may begin.
    """
    return _Folder().nodes(nodes, state)[0]


class _Folder:
    """Follows the values of variables through a program."""

    def __init__(self) -> None:
        self._exits: list[State] = []  # of each loop around: what may hold where it is left

    def nodes(self, nodes: list[Node], state: State) -> tuple[list[Node], State]:
        """What of some nodes can happen, and what holds after them."""
        made: list[Node] = []
        for node in nodes:
            if state is None:
                break
            some, state = self._node(node, state)
            made += some
        return made, state

    def _node(self, node: Node, state: State) -> tuple[list[Node], State]:
        assert state is not None
        if isinstance(node, Assign):
            return [node], _assigned(node, state)
        if isinstance(node, Phase):
            after, state = self.nodes(node.after, state)
            return [replace(node, after=after)], state
        if isinstance(node, Branch):
            return self._branch(node, state)
        if isinstance(node, Loop):
            return self._loop(node, state)
        if isinstance(node, Exit):
            return self._exit(node, state)
        if isinstance(node, Leave):
            return [node], None
        if isinstance(node, Region | Deferred):
            body, state = self.nodes(node.body, state)
            return [replace(node, body=body)], state
        return [node], state

    def _branch(self, node: Branch, state: State) -> tuple[list[Node], State]:
        condition = _known(node.condition, state)
        if isinstance(condition, bool):
            return self.nodes(node.yes if condition else node.no, state)
        yes, after_yes = self.nodes(node.yes, _refined(condition, state, True))
        otherwise, after_no = self.nodes(node.no, _refined(condition, state, False))
        return [Branch(condition, yes, otherwise)], _joined(after_yes, after_no)

    def _loop(self, node: Loop, state: State) -> tuple[list[Node], State]:
        """What holds at the head is what holds before the loop or at its end, which depends on the head."""
        while True:
            self._exits.append(None)
            body, end = self.nodes(node.body, state)
            after = self._exits.pop()
            head = _joined(state, end)
            if head == state:
                return [replace(node, body=body)], after
            state = head

    def _exit(self, node: Exit, state: State) -> tuple[list[Node], State]:
        condition = node.when
        if condition is None:
            assert node.unless is not None
            condition = no(node.unless)
        self._exits[-1] = _joined(self._exits[-1], _refined(condition, state, True))
        return [node], _refined(condition, state, False)


def _joined(a: State, b: State) -> State:
    if a is None or b is None:
        return b if a is None else a
    return {var: a[var] | b[var] for var in a}


def _assigned(node: Assign, state: State) -> State:
    assert state is not None
    if node.target not in state:
        return state
    assert isinstance(node.target, Var)
    value = frozenset({int(node.value.value)}) if isinstance(node.value, Const) else _ANY
    return state | {node.target: value}


def _compared(made: Expr, state: State) -> tuple[Var, int] | None:
    """Variable and number, where a variable that is followed is compared with a number."""
    if not (state and isinstance(made, Op) and made.symbol in ("==", "!=")):
        return None
    var, other = made.operands
    if not (isinstance(var, Var) and var in state and isinstance(other, Const)):
        return None
    return var, int(other.value)


def _known(made: Expr, state: State) -> Expr | bool:
    """A condition, or its value where that is known; what is known within it is left out."""
    if not isinstance(made, Op):
        return made
    if made.symbol == "not":
        inner = _known(made.operands[0], state)
        return not inner if isinstance(inner, bool) else no(inner)
    if made.symbol in ("and", "or"):
        ends = made.symbol == "or"  # the value of a part that decides
        parts = [_known(each, state) for each in made.operands]
        if any(part is ends for part in parts):
            return ends
        left = [part for part in parts if not isinstance(part, bool)]
        return (Op(made.symbol, *left) if len(left) > 1 else left[0]) if left else not ends
    found = _compared(made, state)
    if found is None:
        return made
    var, number = found
    assert state is not None
    possible = state[var]
    if number in possible and len(possible) > 1:
        return made
    return (number in possible) == (made.symbol == "==")


def _refined(made: Expr, state: State, holds: bool) -> State:
    """What holds where a condition does, or does not."""
    if not isinstance(made, Op) or state is None:
        return state
    if made.symbol == "not":
        return _refined(made.operands[0], state, not holds)
    if made.symbol == ("and" if holds else "or"):
        for each in made.operands:
            state = _refined(each, state, holds)
        return state
    found = _compared(made, state)
    if found is None:
        return state
    var, number = found
    left = state[var] & {number} if (made.symbol == "==") == holds else state[var] - {number}
    return state | {var: left} if left else None
