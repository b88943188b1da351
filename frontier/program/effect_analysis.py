"""Effect analysis: reads a functor, and the functions that it calls, in numba's intermediate representation.

The analysis goes through the statements once. What a variable is, such as the problem, a field or one of the functor's
indices, is followed back through its definitions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from frontier.errors import FunctorError
from frontier.functors import atomics
from frontier.functors.adjacency import NEEDS, NEEDS_IN, neighbours
from frontier.functors.functor import is_hashable, is_helper, location
from frontier.functors.scratch import refusal, scratch
from frontier.native import address_space
from frontier.program.effect_ids import used_as_values
from frontier.program.effect_paths import along
from frontier.program.effect_values import atomic_values, compared, given, negated, offers, reads

if TYPE_CHECKING:
    from frontier.program.effects import Effects, Index

__all__ = ["Reader"]

_ATOMICS = {getattr(atomics, name): name.removeprefix("atomic_") for name in atomics.__all__}

_COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)

#: Operations that two bools do not have.
_OF_NUMBERS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
               operator.pow, operator.lshift, operator.rshift)  # fmt: skip

#: Operators that keep indices of different elements apart, as a rule.
_APART = (operator.add, operator.sub, operator.mul, operator.lshift)


class Reader:
    """Reads one function, and by readers of their own those that it calls.

    Parameters
    ----------
    fn : function
    given : mapping of int to object
        What its arguments are, as :meth:`meaning` says it.
    made : Effects
        To which all that is found is added.
    stack : tuple of functions
        The callers, so that recursion ends.
    """

    def __init__(
        self, fn: Callable[..., Any], given: Mapping[int, Any], made: Effects, stack: tuple[Any, ...]
    ) -> None:
        address_space.prepare(compiling=False)
        from numba.core import compiler, errors

        self.fn, self.given, self.made, self.stack = fn, given, made, (*stack, fn)
        try:
            self.ir = compiler.run_frontend(fn)
        except (errors.NumbaError, errors.UnsupportedBytecodeError, NotImplementedError, AssertionError) as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            line = getattr(getattr(error, "loc", None), "line", None)
            raise FunctorError(
                f"{location(fn, line)}: functors cannot do this: {reason} (see what a functor may do in the "
                "documentation)"
            ) from None
        self.definitions = self.ir._definitions
        self.named: set[str] = set()
        self.line, self.target = 0, ""  # of the statement at hand

    def meaning(self, var: Any, depth: int = 0) -> Any:
        """"problem", "scratch", ("index", name), ("field", name), ("value", object), ("slot", which), or None."""
        from numba.core import ir

        found = self.definitions.get(getattr(var, "name", None), ())
        if len(found) != 1 or depth > 20:
            return None
        made = found[0]
        if isinstance(made, ir.Arg):
            return self.given.get(made.index)
        if isinstance(made, ir.Var):
            return self.meaning(made, depth + 1)
        if isinstance(made, (ir.Global, ir.FreeVar, ir.Const)):
            return ("value", made.value)
        if isinstance(made, ir.Expr) and made.op == "cast":
            return self.meaning(made.value, depth + 1)
        if isinstance(made, ir.Expr) and made.op == "getattr":
            base = self.meaning(made.value, depth + 1)
            if base == "problem":
                return ("field", made.attr)
            if isinstance(base, tuple) and base[0] == "value" and hasattr(base[1], made.attr):
                return ("value", getattr(base[1], made.attr))
        if isinstance(made, ir.Expr) and made.op == "pair_first":
            return self.looped(made)
        if isinstance(made, ir.Expr) and made.op == "call" and self.meaning(made.func) == ("value", scratch):
            return "scratch"
        return None

    def looped(self, made: Any) -> Any:
        """("slot", "list v") for the variable of a loop over ``fr.neighbours(p, v)``, or None."""
        from numba.core import ir

        for op in ("iternext", "getiter", "call"):
            made = made.value
            for _ in range(20):
                if isinstance(made, ir.Var):
                    found = self.definitions.get(made.name, ())
                    made = found[0] if len(found) == 1 else None
            if getattr(made, "op", "") != op:
                return None
        called = self.meaning(made.func)
        if called != ("value", neighbours) or len(made.args) != 2:
            return None
        vertex = self.index(made.args[1])
        return ("slot", f"list {vertex}" if vertex != "any" else vertex)

    def index(self, var: Any) -> Index:
        """The functor's argument that an index is, or ``"any"``."""
        made = self.meaning(var)
        return made[1] if isinstance(made, tuple) and made[0] == "index" else "any"

    def slot(self, var: Any) -> str:
        """The edge slots that a variable stands for, as :attr:`Effects.slots` names them."""
        made = self.meaning(var)
        return made[1] if isinstance(made, tuple) and made[0] in ("index", "slot") else "any"

    def read(self) -> None:
        """Note what the function does in the effects; raise FunctorError for what functors may not do."""
        from numba.core import ir

        raises = (ir.Raise, ir.StaticRaise, ir.DynamicRaise, ir.TryRaise, ir.StaticTryRaise, ir.DynamicTryRaise)
        for block in self.ir.blocks.values():
            for statement in block.body:
                self.line = statement.loc.line
                if isinstance(statement, raises):
                    # One worker would return, and the others would wait for it at the barrier forever.
                    raise FunctorError(
                        f"{location(self.fn, statement.loc.line)}: functors cannot raise, assert or try: "
                        "write an error code to a field, or use the python backend"
                    )
                if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Expr):
                    self.target = statement.target.name
                    self.expression(statement.value)
                elif isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
                    self.access(statement.target, statement.index, True)
                    self.update(statement)
                    self.store(statement)
                elif isinstance(statement, ir.SetAttr) and self.meaning(statement.target) == "problem":
                    where = location(self.fn, statement.loc.line)
                    raise FunctorError(
                        f"{where}: p.{statement.attr} = ...: scalars are written by Set, Reduce or count=, "
                        "arrays element by element; return the value and use Reduce"
                    )
        for name in self.named - self.made.fields:  # scalars: naming one is reading it
            self.made.reads.setdefault(name, set()).add("")
        self.made.ids.update(used_as_values(self, _ATOMICS))
        if len(self.stack) == 1 and self.made.atomics:
            self.made.along |= {name: {field} for name, field in along(self).items()}
        if len(self.stack) == 1 and (name := negated(self)):
            self.made.negated.add(name)

    def access(self, target: Any, index: Any, write: bool) -> None:
        """Note an element that is read or written."""
        made = self.meaning(target)
        if made == "problem":
            self.wrong("p[...]")
        if isinstance(made, tuple) and made[0] == "value" and isinstance(made[1], tuple):
            return  # a table of constants
        if made == "scratch":
            return
        row = self.row(index)
        if isinstance(made, tuple) and made[0] == "field":
            line = self.line - self.fn.__code__.co_firstlineno
            indices = "1" if row is None else f"2{self.value(index)}"
            used = f"{indices} {line} {self.fn.__name__}"  # a name may have blanks
            self.made.dimensions.setdefault(made[1], set()).add(used)
        if row is not None:
            index = row
        if isinstance(made, tuple) and made[0] == "field" and self.several(index):
            self.wrong(f"p.{made[1]}[...] with a slice or several indices")
        if isinstance(made, tuple) and made[0] == "field":
            where = self.made.writes if write else self.made.reads
            where.setdefault(made[1], set()).add(self.index(index))
            if self.index(index) == "any":
                self.made.slots.setdefault(made[1], set()).add(self.slot(index))
            if not write:
                self.made.tests.setdefault(made[1], set()).update(compared(self, self.target))
        else:  # of several fields, perhaps
            self.made.exact = False
            self.made.writes_known = self.made.writes_known and not write

    def value(self, index: Any) -> str:
        """``"i"`` if the second of two indices is the argument of that name; else nothing."""
        return "i" if self.index(self.pair(index)[1]) == "i" else ""

    def row(self, index: Any) -> Any:
        """The first of two indices, ``v`` in ``p.h[v, i]``; else None."""
        return self.pair(index)[0]

    def pair(self, index: Any) -> tuple[Any, Any]:
        """Both of two indices; else None twice."""
        from numba.core import ir

        found = self.definitions.get(getattr(index, "name", None), ())
        made = found[0] if len(found) == 1 else index
        parts: Any = made.value if isinstance(made, (ir.Const, ir.Global, ir.FreeVar)) else made  # of two constants
        if isinstance(made, ir.Expr) and made.op == "build_tuple":
            parts = made.items
        return tuple(parts) if isinstance(parts, (tuple, list)) and len(parts) == 2 else (None, None)

    def several(self, index: Any) -> bool:
        """Whether an index is a slice or a tuple."""
        from numba.core import ir

        if isinstance(index, (slice, tuple)):
            return True
        found = self.definitions.get(getattr(index, "name", None), ())
        made = found[0] if len(found) == 1 else None
        if isinstance(made, ir.Expr) and made.op == "call":
            callee = self.meaning(made.func)
            return isinstance(callee, tuple) and callee == ("value", slice)
        constant = isinstance(made, (ir.Const, ir.Global, ir.FreeVar)) and isinstance(made.value, (slice, tuple))
        return constant or (isinstance(made, ir.Expr) and made.op == "build_tuple")

    def update(self, statement: Any) -> None:
        """Note an element that is written by what it was."""
        made = self.meaning(statement.target)
        if not (isinstance(made, tuple) and made[0] == "field"):
            return
        index = _key(statement.index, self.definitions)
        for expr in _made_of(statement.value, self.definitions):
            reads = getattr(expr, "op", "") in ("getitem", "static_getitem") and self.meaning(expr.value) == made
            if reads and _key(expr.index, self.definitions) == index:
                row = self.row(statement.index)
                base = self.base(statement.index if row is None else row)
                self.made.updates.setdefault(made[1], set()).add(base)

    def store(self, statement: Any) -> None:
        """Note whether all calls that write an element store the same value there."""
        name = self.field(statement.target)
        if name:
            self.made.puts.setdefault(name, set()).add(given(self, statement.value))
            known = self.made.stored.setdefault(name, set())
            known.add("several" if known else "alike" if self.alike(statement) else "own")

    def alike(self, statement: Any) -> bool:
        """Whether a value is made of scalars, constants and the element's id alone."""
        from numba.core import ir

        parts = [statement.value, *_made_of(statement.value, self.definitions)]
        for part in parts:
            if isinstance(part, ir.Expr):
                scalar = part.op == "getattr" and self.meaning(part.value) == "problem"
                if not scalar and part.op not in ("binop", "unary", "cast"):
                    return False
            elif isinstance(part, ir.Var):
                found, made = self.definitions.get(part.name, ()), self.meaning(part)
                unknown = len(found) != 1 or (isinstance(found[0], ir.Arg) and made is None)
                argument = isinstance(made, tuple) and made[0] == "index"
                if unknown or (argument and made[1] != self.index(self.row(statement.index) or statement.index)):
                    return False
        return True

    def base(self, var: Any) -> str:
        """The arguments that an index is made of, if calls with others do not meet there; else ``"any"``."""
        from numba.core import ir

        names = set()
        for expr in (var, *_made_of(var, self.definitions)):
            made = self.meaning(expr) if isinstance(expr, ir.Var) else None
            if isinstance(made, tuple) and made[0] == "index":
                names.add(made[1])
            op = getattr(expr, "op", "")
            if op in ("getitem", "static_getitem"):
                return "any"
            if op in ("binop", "inplace_binop") and (expr._kws.get("immutable_fn") or expr.fn) not in _APART:
                return "any"
            if op == "call":
                callee = self.meaning(expr.func)
                called = callee[1] if isinstance(callee, tuple) and callee[0] == "value" else None
                known = NEEDS.get(called) == "offsets" if is_hashable(called) and called in NEEDS else False
                if not (known or called in (int, range) or isinstance(called, type)):
                    return "any"
        return " ".join(sorted(names)) or "any"

    def expression(self, expr: Any) -> None:
        """Note what an expression does."""
        if expr.op in ("getitem", "static_getitem", "typed_getitem"):
            self.access(expr.value, expr.index, False)
        elif expr.op == "inplace_binop" or expr.op == "binop":
            for side in (expr.lhs, expr.rhs):
                self.plain(side)
            bools = self.bools(expr.lhs), self.bools(expr.rhs)
            if (expr.fn if expr.op == "binop" else expr.immutable_fn) in _OF_NUMBERS and None not in bools:
                self.made.sums.add(" ".join(sorted(bools[0] | bools[1])))
        elif expr.op == "call":
            self.call(expr)
        elif expr.op == "getattr" and self.meaning(expr.value) == "problem":
            self.named.add(expr.attr)
        elif expr.op in ("getattr", "getiter"):
            name = self.field(expr.value)
            if name and name != "graph":  # which is said to be no field
                self.wrong(f"p.{name}.{expr.attr}" if expr.op == "getattr" else f"for ... in p.{name}")

    def field(self, var: Any) -> str:
        """The name of the field that a variable is, or ""."""
        made = self.meaning(var)
        return made[1] if isinstance(made, tuple) and made[0] == "field" else ""

    def wrong(self, what: str) -> None:
        """Refuse what is done with a whole field."""
        raise FunctorError(
            f"{location(self.fn, self.line)}: {what}: functors use a field one element at a time, p.name[index]"
        )

    def bools(self, var: Any, depth: int = 0) -> Any:
        """Names of the fields that must hold bools so that a variable is one; None if it is not plainly one."""
        from numba.core import ir

        found = self.definitions.get(getattr(var, "name", None), ())
        made = found[0] if len(found) == 1 and depth < 20 else None
        if isinstance(made, ir.Var):
            return self.bools(made, depth + 1)
        if isinstance(made, (ir.Const, ir.Global, ir.FreeVar)):
            return frozenset() if isinstance(made.value, bool) else None
        if not isinstance(made, ir.Expr):
            return None
        if (made.op == "binop" and made.fn in _COMPARISONS) or (made.op == "unary" and made.fn is operator.not_):
            return frozenset()
        named = self.meaning(made.value if made.op in ("getitem", "static_getitem") else var)
        return frozenset({named[1]}) if isinstance(named, tuple) and named[0] == "field" else None

    def plain(self, var: Any) -> None:
        """Note a scalar that is used as a value: reading it has no index."""
        made = self.meaning(var)
        if isinstance(made, tuple) and made[0] == "field":
            self.made.reads.setdefault(made[1], set()).add("")

    def call(self, expr: Any) -> None:
        """Note what a call does; helpers are read, too."""
        callee = self.meaning(expr.func)
        if self.field(expr.func):
            self.wrong(f"p.{self.field(expr.func)}(...)")
        called = callee[1] if isinstance(callee, tuple) and callee[0] == "value" else None
        if called is len and expr.args and self.field(expr.args[0]):
            self.wrong(f"len(p.{self.field(expr.args[0])})")
        arguments = [*expr.args, *(value for _, value in expr.kws)]
        known = is_hashable(called)
        if known and called in _ATOMICS:
            self.atomic(_ATOMICS[called], arguments, bool(expr.kws))
        elif known and called in NEEDS:
            self.made.topology.update(self.asked(expr, called))
            if NEEDS[called] != "offsets":
                slot = self.slot(arguments[1]) if len(arguments) > 1 else "any"
                self.made.slots.setdefault(NEEDS[called], set()).add(slot)
            for var in arguments[1:]:
                self.plain(var)
        elif called is scratch:
            size = self.meaning(expr.args[0]) if expr.args else None
            reason = refusal(size[1] if isinstance(size, tuple) and size[0] == "value" else None)
            if reason is not None:
                raise FunctorError(f"{location(self.fn, self.line)}: {reason}")
        elif called is not None and is_helper(called) and not expr.kws:
            if called in self.stack:
                return  # recursion: its body is being read already
            given = {i: self.meaning(var) for i, var in enumerate(arguments)}
            Reader(called, given, self.made, self.stack).read()
        else:
            for var in arguments:
                if self.meaning(var) == "problem":
                    self.made.exact = self.made.writes_known = False
                self.plain(var)

    def asked(self, expr: Any, called: Any) -> tuple[str, ...]:
        """The arrays of the graph that a call of ``fr.neighbours`` or the like needs."""
        given = [*expr.args[2:], *(value for name, value in expr.kws if name == "edges")]
        if called not in NEEDS_IN or not given:
            return (NEEDS[called],)
        made = self.meaning(given[0])
        if made not in (("value", "out"), ("value", "in")):
            said = 'takes a third argument that is written as "out" or "in"'
            raise FunctorError(f"{location(self.fn, self.line)}: fr.{called.__name__} {said}")
        return NEEDS_IN[called] if made == ("value", "in") else (NEEDS[called],)

    def atomic(self, operation: str, arguments: list[Any], named: bool) -> None:
        """Note an atomic, whose arguments are a field, an index and values; some may be ``named``."""
        made = self.meaning(arguments[0]) if arguments else None
        if isinstance(made, tuple) and made[0] == "field":
            self.access(arguments[0], arguments[1] if len(arguments) > 1 else None, True)
            self.made.atomics.setdefault(made[1], set()).add(operation)
            tests, puts = ({"any"}, "any") if named else atomic_values(self, operation, arguments)
            self.made.tests.setdefault(made[1], set()).update(tests)
            self.made.puts.setdefault(made[1], set()).add(puts)
            how = self.used(self.target)
            if how:
                self.made.answers.setdefault(made[1], set()).add(operation if how == "used" else f"{operation} {how}")
            if operation in ("min", "max"):
                offer = "any" if named or len(arguments) < 3 else offers(self, made[1], *arguments[1:3])
                self.made.relaxes.setdefault(made[1], set()).add(offer)
            if operation in ("min", "max") and len(arguments) > 3:
                self.made.carried.setdefault(made[1], set()).add(operation)
        else:
            self.made.exact = self.made.writes_known = False

    def passes_on(self, call: Any) -> bool:
        """Whether a call passes the problem, or a field, to a function that is none of the framework's."""
        callee = self.meaning(call.func)
        called = callee[1] if isinstance(callee, tuple) and callee[0] == "value" else None
        known = is_hashable(called) and (called in _ATOMICS or called in NEEDS)
        arguments = [*call.args, *(value for _, value in call.kws)]
        return not known and any(self.meaning(var) == "problem" or self.field(var) for var in arguments)

    def definition(self, var: Any) -> Any:
        """The expression that a variable is, through copies; None if it has several."""
        from numba.core import ir

        for _ in range(20):
            found = self.definitions.get(getattr(var, "name", None), ())
            made = found[0] if len(found) == 1 else None
            var = made.value if isinstance(made, ir.Expr) and made.op == "cast" else made
            if not isinstance(var, ir.Var):
                break
        return var

    def origin(self, var: Any) -> str:
        """The name of the variable that a variable is a copy of."""
        from numba.core import ir

        for _ in range(20):
            found = self.definitions.get(var.name, ())
            made = found[0] if len(found) == 1 else None
            if isinstance(made, ir.Expr) and made.op == "cast":
                made = made.value
            if not isinstance(made, ir.Var):
                break
            var = made
        return str(var.name)

    def used(self, name: str) -> str:
        """Whether a variable is ``"used"``, only ``"returned"`` by the functor, or neither."""
        from numba.core import ir

        found = ""
        for block in self.ir.blocks.values():
            for statement in block.body:
                if all(var.name != name for var in reads(statement)):
                    continue
                value = getattr(statement, "value", None)
                if isinstance(statement, ir.Assign) and isinstance(value, ir.Expr) and value.op == "cast":
                    how = self.used(statement.target.name)
                else:
                    how = "returned" if isinstance(statement, ir.Return) and len(self.stack) == 1 else "used"
                if how == "used":
                    return how
                found = found or how
        return found


def _made_of(var: Any, definitions: Mapping[str, Any]) -> Iterator[Any]:
    """All that a value is made of: expressions, variables and constants, each once."""
    from numba.core import ir

    seen: set[str] = set()
    pending = [var]
    while pending:
        made = pending.pop()
        if isinstance(made, ir.Var):
            yield made
            if made.name not in seen:
                seen.add(made.name)
                pending += definitions.get(made.name, ())
        elif isinstance(made, ir.Expr):
            yield made
            pending += [part for part in made.list_vars() if not (made.op == "call" and part is made.func)]


def _key(var: Any, definitions: Mapping[str, Any]) -> Any:
    """Text that is equal for indices that are made alike."""
    from numba.core import ir

    if not isinstance(var, ir.Var):
        return repr(var)
    found = definitions.get(var.name, ())
    if len(found) != 1:
        return var.name
    made = found[0]
    if isinstance(made, ir.Var):
        return _key(made, definitions)
    if isinstance(made, ir.Arg):
        return made.name
    if isinstance(made, (ir.Const, ir.Global, ir.FreeVar)):
        return repr(made.value)
    kinds = ("binop", "getitem", "getattr", "cast", "static_getitem", "build_tuple")
    if isinstance(made, ir.Expr) and made.op in kinds:
        own = [part for part in map(made._kws.get, ("fn", "attr", "index")) if not isinstance(part, ir.Var)]
        return made.op, repr(own), *(_key(part, definitions) for part in made.list_vars())
    return var.name
