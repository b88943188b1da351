"""Translate the statements of a function of generated code to LLVM instructions."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from inspect import isgeneratorfunction
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError

from frontier.compile.elements import Flags, Narrow
from frontier.compile.translation.expressions import Expressions, word

if TYPE_CHECKING:
    from frontier.compile.translation.translator import Definition, Translator

__all__ = ["Body"]

#: The variable that holds what a function gives that is translated within another; no name is like it.
_RESULT = "return"


def _label(node: ast.stmt) -> int | None:
    """The block that ``pc = 3`` names."""
    match node:
        case ast.Assign(targets=[ast.Name(id="pc")], value=ast.Constant(value=int(number))):
            return number
    return None


def _case(test: ast.expr) -> int | None:
    """The block that ``pc == 3`` asks for."""
    match test:
        case ast.Compare(left=ast.Name(id="pc"), ops=[ast.Eq()], comparators=[ast.Constant(value=int(number))]):
            return number
    return None


def _labelled(node: ast.While) -> dict[int, list[ast.stmt]] | None:
    """The blocks of ``while True`` if it is nothing but ``if pc == 3: ...`` for several numbers."""
    blocks: dict[int, list[ast.stmt]] = {}
    for block in node.body:
        if not isinstance(block, ast.If) or (number := _case(block.test)) is None:
            return None
        blocks[number] = block.body
    return blocks


class Body(Expressions):
    """One function's statements, translated in the order in which they stand."""

    def __init__(self, translator: Translator, builder: Any, names: Mapping[str, Any], result: Any) -> None:
        super().__init__(translator, builder, names)
        self.result = result
        self.end: Any = None  # where a function that is translated within another returns to
        self.take: Callable[[Body, ast.expr], None] | None = None  # what translates ``yield`` in a generator
        self.loops: list[tuple[Any, Any]] = []  # where continue and break go
        self.labels: dict[int, Any] = {}
        self._paths = 0

    def enter(self, definition: Definition, given: Iterable[tuple[Any, Any]]) -> None:
        """Give the parameters their values; those that are assigned to become variables."""
        for name, (kind, value) in zip(definition.parameters, given, strict=True):
            if name in definition.assigned:
                self.store(name, kind, value)
            else:
                self.parameters[name] = kind, value

    def inlined(
        self, function: Any, given: list[tuple[Any, Any]], take: Callable[[Body, ast.expr], None] | None = None
    ) -> tuple[Any, Any]:
        """Type and value of the call of a plain function, which is translated at this place.

        Of a generator, which has no value, every ``yield`` is translated by ``take``.
        """
        definition = self.translator.definition(function)
        body = Body(self.translator, self.builder, self.translator.names(function), None)
        body.enter(definition, given)
        body.wraps = take is None or self.wraps
        body.take = take
        body.end = self.builder.append_basic_block("returned")
        body.statements(definition.body)
        if not self.builder.block.is_terminated:
            self.builder.branch(body.end)
        self.builder.position_at_end(body.end)
        if _RESULT not in body.variables:
            return types.none, self.context.get_dummy_value()
        kind, place = body.variables[_RESULT]
        return kind, self.builder.load(place)

    def statements(self, nodes: list[ast.stmt], last: bool = False) -> None:
        """Translate statements up to one after which nothing is reached; ``last``: they end a labelled block."""
        for i, node in enumerate(nodes):
            if self.builder.block.is_terminated:
                return
            rest = nodes[i + 1 :]
            label = _label(node) if self.labels else None
            if label is not None and (isinstance(rest[0], ast.Continue) if rest else last):
                self.builder.branch(self.labels[label])
            elif isinstance(node, ast.If):
                self._if(node, last and not rest)
            else:
                try:
                    getattr(self, f"_{type(node).__name__.lower()}")(node)
                except Exception as error:
                    error.add_note(ast.unparse(node)[:200])
                    raise

    def _expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Yield):
            assert node.value.value is not None
            assert self.take is not None
            self.take(self, node.value.value)
        elif not isinstance(node.value, ast.Constant):  # what a function is for
            self.value(node.value)

    def _pass(self, node: ast.Pass) -> None:
        pass

    def _assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        self._assign_all(target, self._values(node.value, target))

    def _values(self, node: ast.expr, target: ast.expr) -> list[tuple[Any, Any]]:
        """What is assigned to each part of a target."""
        if not isinstance(target, ast.Tuple):
            return [self.value(node)]
        if isinstance(node, ast.Tuple):
            return [self.value(each) for each in node.elts]
        kind, value = self.value(node)
        return list(zip(kind.types, cgutils.unpack_tuple(self.builder, value), strict=True))

    def _assign_all(self, target: ast.expr, values: list[tuple[Any, Any]]) -> None:
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        for each, (kind, value) in zip(targets, values, strict=True):
            self._assign_one(each, kind, value)

    def _assign_one(self, target: ast.expr, kind: Any, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.store(target.id, kind, value)
            return
        assert isinstance(target, ast.Subscript)
        self._put(self.value(target.value), self.value(target.slice), kind, value)

    def _put(self, array: tuple[Any, Any], index: tuple[Any, Any], kind: Any, value: Any) -> None:
        """Store an element."""
        function, arrays = operator.setitem, self.translator.arrays
        if isinstance(array[0], Flags):  # for these the operator is a function that numba would compile
            function, value = arrays.store, self._cast_to(types.int32, types.boolean, self._truth(kind, value))
            kind = types.int32
        elif isinstance(array[0], Narrow):
            function, value = arrays.store_narrow, self._cast_to(types.int64, kind, value)
            kind = types.int64
        self.operation(function, [array[0], index[0], kind], [array[1], index[1], value])

    def _augassign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._assign_one(node.target, *self._binary(node.op, node.target, node.value))
            return
        assert isinstance(node.target, ast.Subscript)
        array, index = self.value(node.target.value), self.value(node.target.slice)
        self._put(array, index, *self._operate(node.op, self._element(array, index), self.value(node.value)))

    def _within(self, nodes: list[ast.stmt], last: bool = False) -> None:
        """Translate the statements of a branch or a loop."""
        outer = self.path
        self._paths += 1
        self.path = (*outer, self._paths)
        self.statements(nodes, last)
        self.path = outer

    def _if(self, node: ast.If, last: bool) -> None:
        known = self.known(node.test)
        if known is not None:
            self.statements(node.body if known else node.orelse, last)
            return
        test, ended = self.condition(node.test), []
        with self.builder.if_else(test) as (then, otherwise):
            for branch, nodes in ((then, node.body), (otherwise, node.orelse)):
                with branch:
                    self._within(nodes, last)
                    ended.append(self.builder.block.is_terminated)
        if all(ended):
            self.builder.unreachable()

    def _machine(self, blocks: dict[int, list[ast.stmt]]) -> None:
        """A loop over blocks of which ``pc`` says which is next: that it jumps there at once need not be found out."""
        builder = self.builder
        self.labels = {label: builder.append_basic_block(f"pc.{label}") for label in blocks}
        end, lost = builder.append_basic_block("left"), builder.append_basic_block("lost")
        if "pc" in self.parameters:  # which no block assigns to
            self.store("pc", *self.parameters.pop("pc"))
        _, place = self.variables["pc"]
        choice = builder.switch(builder.load(place), lost)
        for label, nodes in blocks.items():
            choice.add_case(word(label), self.labels[label])
            builder.position_at_end(self.labels[label])
            builder.store(word(label), place)
            self.loops.append((lost, end))
            self._within(nodes, last=True)
            self.loops.pop()
            if not builder.block.is_terminated:
                raise TypingError(f"block {label} of a text has no end")
        builder.position_at_end(lost)
        builder.unreachable()
        builder.position_at_end(end)
        self.labels = {}

    def _while(self, node: ast.While) -> None:
        blocks = _labelled(node)
        if blocks is not None:
            self._machine(blocks)
            return
        head, body, end = (self.builder.append_basic_block(name) for name in ("while", "do", "done"))
        self.builder.branch(head)
        self.builder.position_at_end(head)
        if isinstance(node.test, ast.Constant) and node.test.value is True:
            self.builder.branch(body)
        else:
            self.builder.cbranch(self.condition(node.test), body, end)
        self._loop(body, node.body, head, end)
        self.builder.position_at_end(end)

    def _for(self, node: ast.For) -> None:
        if isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) != "range":
            self._for_yielded(node, node.iter)
            return
        assert isinstance(node.target, ast.Name)
        if isinstance(node.iter, ast.Tuple):
            self._for_each(node.target.id, node.iter.elts, node.body)
        else:
            assert isinstance(node.iter, ast.Call)
            self._for_range(node.target.id, [self.value(each) for each in node.iter.args], node.body)

    def _for_yielded(self, node: ast.For, call: ast.Call) -> None:
        """Over what a generator yields: it is translated here, and the statements of the loop instead of ``yield``."""

        def take(generator: Body, yielded: ast.expr) -> None:
            self._assign_all(node.target, generator._values(yielded, node.target))
            following = self.builder.append_basic_block("next")
            self._loop(self.builder.block, node.body, following, generator.end)
            self.builder.position_at_end(following)

        function = self.object(call.func)
        assert isgeneratorfunction(function), function
        self.inlined(function, [self.value(each) for each in call.args], take)

    def _for_each(self, name: str, given: list[ast.expr], nodes: list[ast.stmt]) -> None:
        """Over a few numbers: the statements are there once for each."""
        end = self.builder.append_basic_block("done")
        for each in given:
            self.store(name, *self.value(each))
            following = self.builder.append_basic_block("next")
            self._loop(self.builder.block, nodes, following, end)
            self.builder.position_at_end(following)
        self.builder.branch(end)
        self.builder.position_at_end(end)

    def _for_range(self, name: str, given: list[tuple[Any, Any]], nodes: list[ast.stmt]) -> None:
        """Over a range: the counter is its own, so that the body may assign to the variable."""
        if len(given) > 2:
            raise TypingError("a range in a kernel has no step")
        narrow = self.translator.narrow_ranges and all(kind == types.int32 for kind, _ in given)
        kind = types.int32 if narrow else types.int64
        builder, number = self.builder, self.context.get_value_type(kind)
        ends = [self._cast_to(kind, *each) for each in given]
        first, last = (ends[0], ends[1]) if len(ends) == 2 else (ir.Constant(number, 0), ends[0])
        with builder.goto_entry_block():
            counter = builder.alloca(number)
        builder.store(first, counter)
        head, body, following, end = (builder.append_basic_block(name) for name in ("for", "do", "next", "done"))
        builder.branch(head)
        builder.position_at_end(head)
        builder.cbranch(builder.icmp_signed("<", builder.load(counter), last), body, end)
        builder.position_at_end(body)
        self.store(name, kind, builder.load(counter))
        self._loop(body, nodes, following, end)
        builder.position_at_end(following)
        builder.store(builder.add(builder.load(counter), ir.Constant(number, 1), flags=["nsw"]), counter)
        builder.branch(head)
        builder.position_at_end(end)

    def _loop(self, block: Any, nodes: list[ast.stmt], again: Any, end: Any) -> None:
        self.builder.position_at_end(block)
        self.loops.append((again, end))
        self._within(nodes)
        self.loops.pop()
        if not self.builder.block.is_terminated:
            self.builder.branch(again)

    def _continue(self, node: ast.Continue) -> None:
        self.builder.branch(self.loops[-1][0])

    def _break(self, node: ast.Break) -> None:
        self.builder.branch(self.loops[-1][1])

    def _return(self, node: ast.Return) -> None:
        if self.end is not None:
            if node.value is not None:
                self.store(_RESULT, *self.value(node.value))
            self.builder.branch(self.end)
            return
        kind, value = (types.none, None) if node.value is None else self.value(node.value)
        if self.result is None:
            self.result = kind
        if self.result == types.none:
            self.builder.ret_void()
        else:
            self.builder.ret(self.cast(value, kind, self.result, "a result"))
