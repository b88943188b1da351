"""fr.effects: which fields a functor reads, writes or changes atomically, and at which index."""

from __future__ import annotations

import programs
import pytest

import frontier as fr


def read(p, src, dst):
    return p.a[src] + p.b[dst] > p.limit


def write(p, v):
    p.a[v] = p.b[v + 1]
    p.c[v] += 1


def other_name(p, v):
    u = v
    field = p.a
    field[u] = p.b[u]


def either(p, src, dst):
    at = src if p.a[src] else dst
    p.b[at] = 1


def helper(p, at, value):
    p.a[at] = value + p.b[p.c[at]]


def through_a_helper(p, src, dst):
    helper(p, dst, p.d[src])


def helper_of_a_field(field, at):
    return field[at]


def field_passed_on(p, v):
    return helper_of_a_field(p.a, v)


def by_the_edge(p, edge, weight):
    p.a[edge] += weight


def counted(p, i):
    return p.a[i]


def only_scalars(p):
    return p.limit + p.step


def nothing(p, v):
    return v > 3


CASES = [
    (read, {"a": {"src"}, "b": {"dst"}, "limit": {""}}, {}, {}),
    (write, {"b": {"any"}, "c": {"v"}}, {"a": {"v"}, "c": {"v"}}, {}),
    (other_name, {"b": {"v"}}, {"a": {"v"}}, {}),
    (either, {"a": {"src"}}, {"b": {"any"}}, {}),
    (through_a_helper, {"b": {"any"}, "c": {"dst"}, "d": {"src"}}, {"a": {"dst"}}, {}),
    (by_the_edge, {"a": {"edge"}}, {"a": {"edge"}}, {}),
    (counted, {"a": {"i"}}, {}, {}),
    (only_scalars, {"limit": {""}, "step": {""}}, {}, {}),
    (nothing, {}, {}, {}),
    (programs.visit, {"depth": {""}}, {"parent": {"dst"}, "level": {"dst"}}, {"parent": {"cas"}}),
    (programs.relax, {"distance": {"src"}}, {"distance": {"dst"}}, {"distance": {"min"}}),
    (programs.hook, {"label": {"src", "dst"}}, {"label": {"any"}}, {"label": {"min"}}),
    (programs.jump, {"label": {"v", "any"}}, {"label": {"v"}}, {}),
    (programs.discover, {"depth": {""}, "sigma": {"src"}}, {"level": {"dst"}, "sigma": {"dst"}},
     {"level": {"cas"}, "sigma": {"add"}}),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "reads", "writes", "atomics"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_effects(fn, reads, writes, atomics):
    found = fr.effects(fn)
    assert found.reads == reads
    assert found.writes == writes
    assert found.atomics == atomics
    assert found.exact
    assert found.fields == {*reads, *writes}


def test_a_field_passed_to_a_helper_is_read_there():
    assert fr.effects(field_passed_on).reads.keys() == {"a"}


def test_when_the_problem_goes_where_nothing_is_known():
    def fn(p, v):
        return unknown(p, v)

    def unknown(p, v):
        return p.a[v]

    found = fr.effects(fn)
    assert found.reads == {"a": {"v"}} or not found.exact


def lets_go(p, v):
    return len(p) > v


def test_a_problem_handed_to_something_else_is_not_exact():
    assert not fr.effects(lets_go).exact


def sets_a_scalar(p, v):
    p.limit = v


@pytest.mark.parametrize("fn", [sets_a_scalar], ids=lambda fn: fn.__name__)
def test_what_functors_may_not_do(fn):
    with pytest.raises(fr.FunctorError, match=fn.__name__):
        fr.effects(fn)
