"""Programs as nodes: names that cannot clash, blocks, and what explain() tells."""

from __future__ import annotations

import pytest
from compare import host

import frontier as fr
from frontier.lowering.blocks import Flow, Jump, laid_out
from frontier.lowering.ir import (
    Assign,
    Branch,
    Call,
    Deferred,
    Exit,
    Leave,
    Loop,
    Phase,
    Var,
    both,
    differ,
    equal,
    expression,
    inside,
)
from frontier.lowering.loops import lower
from frontier.lowering.variables import Variables
from frontier.program.layout import Layout

# ---- names -----------------------------------------------------------------------------------------------------


def a_x(p, v):
    return p.x_1[v] > 0


def s_x_1(p, v):
    p.x_1[v] += 1


def P(p):
    return p.total + 1


@pytest.mark.parametrize("stem", ["x_1", "x_2", "total_3", "run", "slot", "w", "W", "C", "count_7"])
def test_names_of_users_and_ours_do_not_meet(backend, stem):
    """A functor named as variables are, beside fields, scalars and piles named as other variables are."""
    g = backend(fr.path(5))
    fields = {stem: fr.pile(), "x_1": fr.vertex("int64", 0), "total": fr.scalar("int64", 0)}
    if stem == "x_1":
        fields = {"x_1": fr.vertex("int64", 0), "total": fr.scalar("int64", 0), "x": fr.pile()}
    p = fr.Problem(g, **fields)
    pile = "x" if stem == "x_1" else stem
    body = [fr.Compute(s_x_1), fr.Filter(a_x), fr.Split(a_x, rest=pile), fr.Set(total=P), fr.Compute(s_x_1)]
    fr.Sequence(*body, over="vertices")(p)
    assert host(p.x_1).tolist() == [2] * 5
    assert (p.total, len(p.piles[pile])) == (1, 0)


def test_every_name_of_a_program_ends_in_its_own_number():
    def push(p, src, dst):
        return fr.atomic_cas(p.a, dst, -1, src) == -1

    def free(p, dst):
        return p.a[dst] == -1

    p = fr.Problem(fr.karate(), a=fr.vertex("int64", -1), s=fr.scalar("int64"), a_1=fr.pile())
    loop = fr.Loop(fr.Advance(push, where=free), fr.Split(lambda p, v: True, rest="a_1"), over="s")
    program = lower(loop, Layout.of(p), fr.Schedule(), None)
    variables = {var for var in program.table().values() if var.name[-1].isdigit()}
    names = [var.name for var in variables] + list(program.functors.values())
    names += [function.name for function in program.functions]
    assert len({int(name.rpartition("_")[2]) for name in names}) == len(names) > 30
    assert len(set(program.table())) == len(program.table())


def test_keys_of_words_do_not_meet():
    """Those with a name of the user's have a colon, which no name has."""
    p = fr.Problem(fr.karate(), t=fr.vertex("int64"), pc=fr.scalar("int64"), epoch=fr.pile(), swaps=fr.scalar("int64"))
    variables = Variables(Layout.of(p))
    variables.keep("swaps")
    assert {"field:t", "scalar:pc", "scalar:swaps", "t", "pc", "epoch", "swaps"} <= set(variables.table())


# ---- expressions and blocks --------------------------------------------------------------------------------


def test_an_expression_has_no_value_while_it_is_made():
    count = Var("count_1")
    with pytest.raises(TypeError, match="when the program runs"):
        bool(count > 3)
    assert both(equal(count, 1)).symbol == "=="


def phases(nodes):
    return [node.title for node in inside(nodes) if isinstance(node, Phase)]


def flow(nodes, whole=True):
    """Blocks where a phase is a block of its own."""

    def phase(made, node):
        made.add(node)
        made.place(made.label())

    return Flow(nodes, phase, whole).blocks


def test_straight_branches_stay_in_their_block():
    count = Var("count_1")
    quiet = Branch(count > 3, [Assign(count, expression(0))], [Leave("PAUSED")])
    assert len(flow([quiet])) == 1
    busy = Branch(count > 3, [Phase(Call("work"))])
    assert len(flow([busy])) > 1


def test_deferred_nodes_leave_all_other_labels_as_they_are():
    count = Var("count_1")
    later = Deferred([Phase(Call("pull"), title="pull"), Phase(Call("mark"), title="mark")])
    loop = Loop([Exit(unless=count > 0), Branch(count > 9, [Phase(Call("push"), title="push")], [later])])
    whole, part = flow([loop, Leave("DONE")]), flow([loop, Leave("DONE")], whole=False)
    assert phases([loop]) == ["push", "pull", "mark"]
    labels = [block.label for block in whole]
    kept = [block.label for block in part]
    assert [label for label in labels if label in kept] == kept
    assert len(kept) == len(labels) - 2
    (instead,) = [block for block in part if isinstance(block.nodes[0], Leave) and block.nodes[0].code == "NEED_CODE"]
    assert instead.label in labels


def test_the_shortest_loop_comes_first():
    count, other = Var("count_1"), Var("other_2")
    inner = Loop([Exit(when=equal(other, 0)), Phase(Call("inner"))])
    outer = Loop([Exit(unless=differ(count, 0)), Phase(Call("before")), inner, Phase(Call("after"))])
    blocks = flow([outer, Leave("DONE")])
    first, below = next(laid_out(blocks))
    assert any(isinstance(node, Jump) and node.when is not None for node in first.nodes)
    assert below == {block.label for block in blocks} - {first.label}
