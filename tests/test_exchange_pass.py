"""What the pass makes of programs that several GPUs run, and which it refuses: no GPU is needed to lower one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import frontier as fr
from frontier.backends.cuda.program import Build
from frontier.distributed.devices.exchange_pass import program_of_part
from frontier.distributed.devices.touches import OneKernelError, Touches
from frontier.lowering.ir import (
    Assign,
    Call,
    Const,
    Counter,
    Expr,
    Item,
    Local,
    Op,
    Phase,
    Var,
    equal,
    inside,
    rewritten,
)
from frontier.program.layout import Layout


def visit(p, src, dst):
    return fr.atomic_cas(p.level, dst, -1, p.depth) == -1


def unvisited(p, dst):
    return p.level[dst] < 0


def one(p, v):
    return 1


def level(p, v):
    return p.level[v]


def note(p, v):
    p.level[v] = 1


SEARCH = fr.Loop(fr.Advance(visit, where=unvisited), count="depth")


def program(step, lowered=None, **schedule):
    """The program of one of several GPUs."""
    p = fr.Problem(
        fr.rmat(6, 4, seed=1), level=fr.vertex("int32", -1), depth=fr.scalar("int32"), total=fr.scalar("int64")
    )
    resolved = fr.Schedule().resolved()
    touches = Touches(step, p, resolved)
    return program_of_part(lowered or step, Layout.of(p), replace(resolved, **schedule), "vertex", Build(), touches)


def variables(*made: Expr) -> set[str]:
    """Meanings of the variables in expressions."""
    found = set()

    def note(each: Expr) -> None:
        if isinstance(each, Var):
            found.add(each.name.rsplit("_", 1)[0])

    for each in made:
        rewritten(each, note)
    return found


@pytest.mark.parametrize("switch", ["beamer", "gunrock"])
def test_rules_decide_by_sizes_of_all(switch):
    """What is remembered for a decision has the size of the whole; what phases are called with, that of the part."""
    made = program(SEARCH, switch=switch)
    local = {each for part in inside(made.nodes) if isinstance(part, Local) for each in inside(part.body)}
    remembered = [
        each.value
        for each in inside(made.nodes)
        if isinstance(each, Assign) and each not in local and isinstance(each.target, Var)
        and each.target.name.startswith(("last", "push", "visited"))
    ]  # fmt: skip
    assert "all_count" in variables(*remembered)
    assert "count" not in variables(*remembered)
    pushes = [each.call for each in local if isinstance(each, Phase) and each.title.startswith("push")]
    assert pushes
    assert "count" in variables(*pushes)
    assert "all_count" not in variables(*pushes)


def test_a_count_is_that_of_all():
    """A number of elements is the same on all GPUs; a sum is combined when they meet."""

    def assigned(made):
        nodes = [each for each in inside(made.nodes) if isinstance(each, Assign)]
        return [each for each in nodes if each.target is made.scalars["total"]]

    (node,) = assigned(program(fr.Reduce(one, "sum", into="total")))
    assert variables(node.value) == {"all_count"}
    summed = program(fr.Reduce(level, "sum", into="total"))
    of_part, of_all = assigned(summed)
    phases = [each for each in inside(summed.nodes) if isinstance(each, Phase)]
    assert [each.meets for each in phases if of_part in each.after or of_all in each.after] == [False, True]


def test_what_is_refused():
    with pytest.raises(OneKernelError, match="what each GPU has counted"):
        program(SEARCH, switch="hubs")

    class Unmarked(fr.Compute):
        """A step that says it marks its work itself, and does not."""

        chooses_direction = True

    with pytest.raises(OneKernelError, match="not marked"):
        program(Unmarked(note))

    class Forgetful(fr.Reduce):
        """A reduction that does not say how parts are combined."""

        def partial(self):
            return iter(())

    with pytest.raises(OneKernelError, match=r"finds for p\.total"):
        program(Forgetful(level, "sum", into="total"))


def test_parts_of_expressions_are_replaced():
    a, b, c = (Var(name) for name in "abc")
    made = Call("f", a + b, Item(a, equal(b, 3)), np.int64(2).item())
    found = rewritten(made, {a: c}.get)
    assert isinstance(found, Call)
    assert variables(found) == {"b", "c"}
    assert rewritten(made, {c: a}.get) is made
    assert isinstance(rewritten(Op("+", a, Counter("COUNT")), {a: Const(1)}.get), Op)
