"""What changes together in a functor: fields that it stores to, and edges that it accepts, where an atomic succeeds.

In ``if fr.atomic_cas(p.parent, dst, -1, src) == -1: p.level[dst] = p.depth; return True``, whatever else happens at dst
happens where the exchange succeeds, and nowhere else. The analysis goes along all paths through the functor, of which
there are few, and gives up where there is a loop.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from frontier.functors import atomics
from frontier.functors.functor import is_hashable
from frontier.program.effect_values import given

if TYPE_CHECKING:
    from frontier.program.effect_analysis import Reader

__all__ = ["along"]

#: More paths than these are not looked at.
MOST = 64

#: Comparisons of what an atomic has returned, on the left, with the value that it was given: they say that it has
#: succeeded, and that it has not.
_WON = {
    atomics.atomic_cas: (operator.eq, operator.ne),
    atomics.atomic_min: (operator.gt, operator.le),
    atomics.atomic_max: (operator.lt, operator.ge),
}

#: The same comparisons with their sides exchanged.
_TURNED = {operator.lt: operator.gt, operator.gt: operator.lt, operator.le: operator.ge, operator.ge: operator.le,
           operator.eq: operator.eq, operator.ne: operator.ne}  # fmt: skip

#: What may be known of a value: True, False, or the name of the variable whose truth it has; ("not", it).
Truth = Any


@dataclass
class _Path:
    """A way through a functor, up to some statement.

    Attributes
    ----------
    truths : dict of str to Truth
        Of variables.
    facts : dict of str to bool
        What branches have shown of variables.
    stores : dict of str to list of bool
        Fields with an entry for each store: whether the atomic was known to have succeeded.
    tried : bool
        Whether the atomic was executed.
    """

    truths: dict[str, Truth] = field(default_factory=dict)
    facts: dict[str, bool] = field(default_factory=dict)
    stores: dict[str, list[bool]] = field(default_factory=dict)
    tried: bool = False
    seen: tuple[int, ...] = ()

    def of(self, name: str) -> Truth:
        """What is known of a variable's truth."""
        return self.known(self.truths.get(name, name))

    def known(self, truth: Truth) -> Truth:
        """The same in view of the facts."""
        if isinstance(truth, tuple):
            inner = self.known(truth[1])
            return not inner if isinstance(inner, bool) else ("not", inner)
        return self.facts.get(truth, truth) if isinstance(truth, str) else truth

    def branches(self, name: str) -> Iterator[tuple[bool, _Path]]:
        """The paths that go on from a branch on a variable."""
        truth, turned = self.of(name), False
        while isinstance(truth, tuple):
            truth, turned = truth[1], not turned
        for value in (True, False):
            if not isinstance(truth, bool) or truth == value:
                facts = self.facts if isinstance(truth, bool) else {**self.facts, truth: value}
                stores = {name: list(each) for name, each in self.stores.items()}
                yield value != turned, replace(self, truths=dict(self.truths), facts=dict(facts), stores=stores)


def along(reader: Reader) -> dict[str, str]:
    """Return what changes where an atomic of a functor succeeds, and only there, at the same index.

    Parameters
    ----------
    reader : Reader
        It has read the functor.

    Returns
    -------
    dict of str to str
        From names of fields, and "" for what the functor accepts, to the name of the field that the atomic changes.
    """
    tried = [each for each in _calls(reader) if each[1] in _WON]
    if len(tried) != 1 or any(reader.passes_on(call) for _, called, call in _calls(reader)):
        return {}
    target, called, call = tried[0]
    given = (4,) if called is atomics.atomic_cas else (3, 4)  # with what goes along
    if len(call.args) not in given or call.kws or not _once(reader, target):
        return {}
    name, index = reader.field(call.args[0]), reader.index(call.args[1])
    only = name and reader.made.atomics.get(name) == {called.__name__.removeprefix("atomic_")}
    if not only or index == "any" or name in reader.made.stored or not _changes(reader, called, call):
        return {}
    paths = list(_walk(reader, target, called, call))
    if not paths or len(paths) > MOST:
        return {}
    won = f"{target} won"
    made = {}
    if all(_accepted_where_won(path, won) for path in paths):
        made[""] = name
    for other in reader.made.stored.keys() - reader.made.atomics.keys():
        if reader.made.writes[other] == {index} and all(_stored_where_won(path, won, other) for path, _ in paths):
            made[other] = name
    return made


def _calls(reader: Reader) -> Iterator[tuple[str, Any, Any]]:
    """All calls: the variable that gets the result, what is called if that is known, and the call."""
    from numba.core import ir

    for block in reader.ir.blocks.values():
        for statement in block.body:
            call: Any = getattr(statement, "value", None)
            if isinstance(statement, ir.Assign) and getattr(call, "op", "") == "call":
                callee = reader.meaning(call.func)
                called = callee[1] if isinstance(callee, tuple) and callee[0] == "value" else None
                yield statement.target.name, called if is_hashable(called) else None, call


def _once(reader: Reader, name: str) -> bool:
    """Whether a variable has the same value wherever it is used."""
    return len(reader.definitions.get(name, ())) == 1


def _changes(reader: Reader, called: Any, call: Any) -> bool:
    """Whether an atomic that succeeds has certainly changed the element."""
    if called is not atomics.atomic_cas:
        return _once(reader, reader.origin(call.args[2]))  # so that what is compared later is the same
    expected, value = given(reader, call.args[2]), given(reader, call.args[3])
    if expected in ("any", "id") or expected.startswith("p."):
        return False
    return int(expected) < 0 if value == "id" else value not in ("any", expected) and not value.startswith("p.")


def _walk(reader: Reader, target: str, called: Any, call: Any) -> Iterator[tuple[_Path, Truth]]:
    """All paths through a functor, each with what is known of what it returns; none if there is a loop."""
    from numba.core import ir

    blocks = reader.ir.blocks
    pending = [(min(blocks), _Path())]
    found: list[tuple[_Path, Truth]] = []
    while pending and len(found) <= MOST:
        label, path = pending.pop()
        if label in path.seen:
            return
        path.seen = (*path.seen, label)
        for i, statement in enumerate(blocks[label].body):
            if isinstance(statement, ir.Assign):
                if statement.target.name == target:
                    path.tried = True
                truth = _truth(reader, path, statement, target, called, call)
                if truth is None:  # of this assignment: a variable may have several
                    truth = f"{statement.target.name} {label} {i}"
                path.truths[statement.target.name] = truth
            elif isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
                won = path.facts.get(f"{target} won", False)
                path.stores.setdefault(reader.field(statement.target), []).append(won)
            elif isinstance(statement, ir.Branch):
                ways = {True: statement.truebr, False: statement.falsebr}
                pending += [(ways[value], each) for value, each in path.branches(statement.cond.name)]
            elif isinstance(statement, ir.Jump):
                pending.append((statement.target, path))
            elif isinstance(statement, ir.Return):
                found.append((path, path.of(statement.value.name)))
    yield from found


def _truth(reader: Reader, path: _Path, statement: Any, target: str, called: Any, call: Any) -> Truth:
    """What is known of the truth of a value; None if it is one of its own."""
    from numba.core import ir

    made = statement.value
    if isinstance(made, ir.Var):
        return path.of(made.name)
    if isinstance(made, (ir.Const, ir.Global, ir.FreeVar)):
        return bool(made.value) if isinstance(made.value, (bool, int, type(None))) else None
    if not isinstance(made, ir.Expr):
        return None
    if made.op == "cast":
        return path.of(made.value.name)
    if made.op == "unary" and made.fn is operator.not_:
        return path.known(("not", path.of(made.value.name)))
    if made.op == "call" and reader.meaning(made.func) == ("value", bool) and len(made.args) == 1:
        return path.of(made.args[0].name)
    if made.op == "binop":
        return path.known(_outcome(reader, made, target, called, call))
    return None


def _outcome(reader: Reader, made: Any, target: str, called: Any, call: Any) -> Truth:
    """What a comparison says of whether the atomic has succeeded; None if nothing."""
    given = call.args[2]  # the expected value, or the new one
    won, lost = _WON[called]
    for old, other, fn in ((made.lhs, made.rhs, made.fn), (made.rhs, made.lhs, _TURNED.get(made.fn))):
        if reader.origin(old) == target and fn in (won, lost):
            constant = reader.meaning(other)
            same = reader.origin(other) == reader.origin(given) or (
                constant is not None and constant[0] == "value" and constant == reader.meaning(given)
            )
            if same:
                return f"{target} won" if fn is won else ("not", f"{target} won")
    return None


def _accepted_where_won(found: tuple[_Path, Truth], won: str) -> bool:
    path, accepted = found
    if not path.tried:
        return accepted is False
    return bool(accepted == path.facts.get(won, won))


def _stored_where_won(path: _Path, won: str, name: str) -> bool:
    stores = path.stores.get(name, [])
    return all(stores) if stores else not (path.tried and path.facts.get(won, False))
