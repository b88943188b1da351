"""Find which fields a functor reads, writes or changes atomically, and at which index.

This is done once for each functor, from numba's intermediate representation of its bytecode and of its helpers. It is
conservative: an index that is not plainly one of the functor's parameters is ``"any"``. Results are kept on disk with
compiled code, because importing numba takes longer than everything else in a process that computes on a GPU.
"""

from __future__ import annotations

import builtins
import hashlib
import json
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frontier.errors import FunctorError
from frontier.functors import atomics
from frontier.functors.adjacency import NEEDS
from frontier.functors.captures import Captures
from frontier.functors.functor import helpers, is_helper, line_of, location, names_used
from frontier.functors.numbers import OF_BOOLS
from frontier.functors.rules import check_rules, place_of, unknown_field
from frontier.native import address_space
from frontier.native.cache import cache_folder, keep, kept
from frontier.native.machine_code import numba_version
from frontier.program.pairs import why_none

if TYPE_CHECKING:
    from frontier.program.problem import Problem

__all__ = ["Effects", "check_functor", "check_plain", "effects"]

_ATOMICS = {getattr(atomics, name): name.removeprefix("atomic_") for name in atomics.__all__}

#: An argument's place in the functor, or "any".
Index = str


@dataclass
class Effects:
    """The fields that a functor reads and writes, found by :func:`effects`.

    Attributes
    ----------
    reads, writes : dict of str to set of str
        From names of fields to indices: ``src``, ``dst``, ``v``, ``edge``, ``i`` or ``any``; a scalar has the index
        ``""``. Atomics are included in the writes.
    atomics : dict of str to set of str
        From names of fields to operations: ``add``, ``min``, ``max``, ``or``, ``exch``, ``cas``.
    topology : set of str
        Arrays of the graph that it reads by ``fr.neighbours``, ``fr.target`` and so on: ``offsets``, ``targets``,
        ``sources``, ``weights``.
    updates : dict of str to set of str
        Fields of which the functor replaces an element by a value computed from the old one, without an atomic. The
        values are the parameters from which the index is made, such as ``"dst"`` or ``"i k"``, or ``"any"`` if several
        calls may update the same element.
    carried : dict of str to set of str
        From names of fields to atomics that also give a value for the field that goes along with it.
    sums : set of str
        Operands of arithmetic between two bools: names of fields, separated by blanks, that all hold bools.
    exact : bool
        False if the problem is passed to code that the analysis cannot follow.
    """

    reads: dict[str, set[Index]] = field(default_factory=dict)
    writes: dict[str, set[Index]] = field(default_factory=dict)
    atomics: dict[str, set[str]] = field(default_factory=dict)
    topology: set[str] = field(default_factory=set)
    updates: dict[str, set[str]] = field(default_factory=dict)
    carried: dict[str, set[str]] = field(default_factory=dict, repr=False)
    sums: set[str] = field(default_factory=set, repr=False)
    exact: bool = True

    @property
    def fields(self) -> set[str]:
        """The names of all these fields."""
        return {*self.reads, *self.writes}


_COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)

#: Operations that two bools do not have.
_OF_NUMBERS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
               operator.pow, operator.lshift, operator.rshift)  # fmt: skip

#: By fingerprint.
_found: dict[str, Effects] = {}


def effects(fn: Callable[..., Any]) -> Effects:
    """Return which fields a functor and its helpers read and write.

    Parameters
    ----------
    fn : function
        A functor; its first parameter is the problem.

    Returns
    -------
    Effects

    Raises
    ------
    FunctorError
        If it, or a helper, does something functors may not do (try, with, yield, assignment to a scalar).
    """
    captures = Captures((fn,))
    if captures.refused:  # it may change without notice
        return _read(fn)
    part = captures.parts[fn]
    if part.fingerprint not in _found:
        path = _file_of(part.fingerprint)
        made = _loaded(path)
        if made is None:
            made = _read(part.frozen())
            keep(path, _text(made).encode())
        _found[part.fingerprint] = made
    return _found[part.fingerprint]


def _read(fn: Callable[..., Any]) -> Effects:
    made = Effects()
    names = fn.__code__.co_varnames[1 : fn.__code__.co_argcount]
    _Reader(fn, {0: "problem", **{i: ("index", name) for i, name in enumerate(names, 1)}}, made, ()).read()
    return made


# ---- on disk -------------------------------------------------------------------------------------------


def _file_of(fingerprint: str) -> Path:
    """Where what a functor touches is kept: a name made of all that it depends on."""
    key = hashlib.sha256(f"{_version()}{fingerprint}".encode())
    return cache_folder("effects") / f"{key.hexdigest()[:32]}.json"


@cache
def _version() -> str:
    """Return what the analysis itself depends on, for the cache key."""
    functors = Path(__file__).parents[1] / "functors"
    files = [Path(__file__), *(functors / f"{name}.py" for name in ("captures", "functor", "atomics", "adjacency"))]
    sources = [file.read_bytes() for file in files]
    return f"{sys.version_info[:2]} {numba_version()} {hashlib.sha256(b''.join(sources)).hexdigest()}"


def _text(found: Effects) -> str:
    return json.dumps(asdict(found), default=sorted)  # sets


def _loaded(path: Path) -> Effects | None:
    """Read a result from its file; None if there is none, or it is damaged."""
    try:
        given = json.loads(kept(path) or "")
        reads, writes, atomic, updates, carried = (
            {name: set(values) for name, values in given[kind].items()}
            for kind in ("reads", "writes", "atomics", "updates", "carried")
        )
        topology, sums = set(given["topology"]), set(given["sums"])
        return Effects(reads, writes, atomic, topology, updates, carried, sums, exact=given["exact"])
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


# ---- the rules -----------------------------------------------------------------------------------------


def check_functor(fn: Callable[..., Any], p: Problem) -> Effects | None:
    """Return the effects of a functor; raise FunctorError for unknown names and uses that no backend allows.

    None on a backend that interprets, for functors that look at what happens, by ``breakpoint`` for example.
    """
    parts, looks = check_plain(fn, p)
    try:
        found = effects(fn)
    except FunctorError:
        if looks:
            return None
        raise
    for name in sorted(found.fields):
        if name not in p.fields:
            raise FunctorError(f"{place_of(parts, name)}: {unknown_field(name, p.fields)}")
        kind = p.fields[name].kind
        if kind == "pile":
            raise FunctorError(f"{place_of(parts, name)}: p.{name} is a pile; functors do not see piles")
        indexed = {*found.reads.get(name, ()), *found.writes.get(name, ())} - {""}
        if kind == "scalar" and indexed and name not in found.atomics:
            raise FunctorError(f"{place_of(parts, name)}: p.{name}[...]: p.{name} is a scalar, without an index")
        if kind == "scalar" and name in found.atomics:
            raise FunctorError(f"{place_of(parts, name)}: p.{name} {atomics.SCALAR_MESSAGE}")
    for names in found.sums:
        if all(p.fields[name].dtype == bool for name in names.split()):
            raise FunctorError(f"{location(fn)}: {OF_BOOLS}")
    for name, operations in found.atomics.items():
        for operation in operations:
            try:
                atomics.check_atomic(operation, p.fields[name].dtype)
            except FunctorError as error:
                raise FunctorError(f"{place_of(parts, name)}: p.{name}: {error}") from None
    for name, operations in found.carried.items():
        _check_carried(f"{place_of(parts, name)}: fr.atomic_{min(operations)}(p.{name}, ...)", name, operations, p)
    return found


def check_plain(fn: Callable[..., Any], p: Problem) -> tuple[list[Callable[..., Any]], bool]:
    """A function and all that it calls, and whether they look at what happens; raise FunctorError for what none may do.

    Unlike :func:`check_functor` this asks nothing of a problem in it.
    """
    parts = [fn, *helpers(fn)]
    for part in parts:
        _check_globals(part)
    looking = p.graph.placement.backend.interprets
    looks = check_rules(fn, parts, looking)
    return parts, looks | Captures((fn,)).check(looking)


def _check_carried(place: str, name: str, operations: set[str], p: Problem) -> None:
    """Refuse a fourth argument of atomics where no field goes along with the first."""
    combine = next((pair.combine for pair in p._pairs if pair.key == name), None)
    if combine is None:
        raise FunctorError(f"{place}: {why_none(p.fields, name)}")
    if operations != {combine}:
        raise FunctorError(f"{place}: with a fourth argument only atomic_{combine}, as p.{name} has {combine=}")
    backend = p.graph.placement.backend
    if not (backend.keeps_pairs or backend.interprets):
        raise FunctorError(f"{place}: the {backend.name} backend does not know fields that go along with others yet; "
                           "use the cpu or the python backend")  # fmt: skip


def _check_globals(fn: Callable[..., Any]) -> None:
    for name in names_used(fn.__code__)[0]:
        if name not in fn.__globals__ and not hasattr(builtins, name):
            raise FunctorError(f"{location(fn, line_of(fn.__code__, name))}: name {name!r} is not defined")


class _Reader:
    """Reads one function; arguments are the problem, an index of the functor, or anything else."""

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
            raise FunctorError(f"{location(fn)}: functors cannot do this: {reason}") from None
        self.definitions = self.ir._definitions
        self.named: set[str] = set()
        self.line = 0  # of the statement at hand

    def meaning(self, var: Any, depth: int = 0) -> Any:
        """"problem", ("index", name), ("field", name), ("value", object), or None."""
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
        return None

    def index(self, var: Any) -> Index:
        made = self.meaning(var)
        return made[1] if isinstance(made, tuple) and made[0] == "index" else "any"

    def read(self) -> None:
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
                    self.expression(statement.value)
                elif isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
                    self.access(statement.target, statement.index, True)
                    self.update(statement)
                elif isinstance(statement, ir.SetAttr) and self.meaning(statement.target) == "problem":
                    where = location(self.fn, statement.loc.line)
                    raise FunctorError(
                        f"{where}: p.{statement.attr} = ...: scalars are written by Set, Reduce or count=, "
                        "arrays element by element; return the value and use Reduce"
                    )
        for name in self.named - self.made.fields:  # scalars: naming one is reading it
            self.made.reads.setdefault(name, set()).add("")

    def access(self, target: Any, index: Any, write: bool) -> None:
        made = self.meaning(target)
        if made == "problem":
            self.wrong("p[...]")
        if isinstance(made, tuple) and made[0] == "field" and self.several(index):
            self.wrong(f"p.{made[1]}[...] with a slice or several indices")
        if isinstance(made, tuple) and made[0] == "field":
            where = self.made.writes if write else self.made.reads
            where.setdefault(made[1], set()).add(self.index(index))
        else:  # of several fields, perhaps
            self.made.exact = False

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
                base = self.base(statement.index)
                self.made.updates.setdefault(made[1], set()).add(base)

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
                known = NEEDS.get(called) == "offsets" if _hashable(called) and called in NEEDS else False
                if not (known or called in (int, range) or isinstance(called, type)):
                    return "any"
        return " ".join(sorted(names)) or "any"

    def expression(self, expr: Any) -> None:
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
        made = self.meaning(var)
        if isinstance(made, tuple) and made[0] == "field":
            self.made.reads.setdefault(made[1], set()).add("")

    def call(self, expr: Any) -> None:
        callee = self.meaning(expr.func)
        if self.field(expr.func):
            self.wrong(f"p.{self.field(expr.func)}(...)")
        called = callee[1] if isinstance(callee, tuple) and callee[0] == "value" else None
        if called is len and expr.args and self.field(expr.args[0]):
            self.wrong(f"len(p.{self.field(expr.args[0])})")
        arguments = [*expr.args, *(value for _, value in expr.kws)]
        known = _hashable(called)
        if known and called in _ATOMICS:
            self.atomic(_ATOMICS[called], arguments)
        elif known and called in NEEDS:
            self.made.topology.add(NEEDS[called])
            for var in arguments[1:]:
                self.plain(var)
        elif called is not None and is_helper(called) and not expr.kws:
            if called in self.stack:
                return  # recursion: its body is being read already
            given = {i: self.meaning(var) for i, var in enumerate(arguments)}
            _Reader(called, given, self.made, self.stack).read()
        else:
            for var in arguments:
                if self.meaning(var) == "problem":
                    self.made.exact = False
                self.plain(var)

    def atomic(self, operation: str, arguments: list[Any]) -> None:
        made = self.meaning(arguments[0]) if arguments else None
        if isinstance(made, tuple) and made[0] == "field":
            self.access(arguments[0], arguments[1] if len(arguments) > 1 else None, True)
            self.made.atomics.setdefault(made[1], set()).add(operation)
            if operation in ("min", "max") and len(arguments) > 3:
                self.made.carried.setdefault(made[1], set()).add(operation)
        else:
            self.made.exact = False


#: Operators that keep indices of different elements apart, as a rule.
_APART = (operator.add, operator.sub, operator.mul, operator.lshift)


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
    if isinstance(made, ir.Expr) and made.op in ("binop", "getitem", "getattr", "cast", "static_getitem"):
        own = [part for part in map(made._kws.get, ("fn", "attr", "index")) if not isinstance(part, ir.Var)]
        return made.op, repr(own), *(_key(part, definitions) for part in made.list_vars())
    return var.name


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
