"""fr.effects: which fields a functor reads, writes or changes atomically, and at which index."""

from __future__ import annotations

import os
import subprocess
import sys

import programs
import pytest

import frontier as fr
from frontier.program import effects as analysis


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


def at_slots(p, v, uv):
    for e in fr.neighbours(p, v):
        p.a[v] += fr.target(p, e) + beside(p, e)
    for f in fr.neighbours(p, fr.target(p, uv)):
        p.b[f] = fr.weight(p, uv + 1)


def beside(p, e):
    return p.c[e] + fr.source(p, e)


def test_slots_are_those_of_an_edge_or_of_a_list():
    of_v = {"list v"}
    assert fr.effects(at_slots).slots == {
        "targets": {"list v", "uv"}, "sources": of_v, "weights": {"any"}, "c": of_v, "b": {"any"}
    }  # fmt: skip


def test_when_the_problem_goes_where_nothing_is_known():
    def fn(p, v):
        return unknown(p, v)

    def unknown(p, v):
        return p.a[v]

    found = fr.effects(fn)
    assert found.reads == {"a": {"v"}} or not found.exact


def kept_in(folder, monkeypatch):
    """An empty folder in which what was found is kept; nothing is known from before."""
    monkeypatch.setattr(analysis, "cache_folder", lambda target: folder)
    monkeypatch.setattr(analysis, "_found", {})
    return lambda: sorted(folder.iterdir())


def test_what_was_found_is_kept_on_disk(tmp_path, monkeypatch):
    files = kept_in(tmp_path, monkeypatch)
    found = fr.effects(either)
    assert len(files()) == 1
    monkeypatch.setattr(analysis, "_found", {})
    monkeypatch.setattr("frontier.program.effect_analysis.Reader", None)
    assert fr.effects(either) == found
    files()[0].write_text("{")  # damaged: found anew
    monkeypatch.setattr(analysis, "_found", {})
    with pytest.raises(TypeError):
        fr.effects(either)


def test_another_functor_of_the_same_name_is_another_file(tmp_path, monkeypatch):
    files = kept_in(tmp_path, monkeypatch)
    helper = [lambda p, v: p.a[v], lambda p, v: p.b[v]]

    def made(inner):
        def fn(p, v):
            return inner(p, v)

        return fn

    assert [set(fr.effects(made(inner)).reads) for inner in helper] == [{"a"}, {"b"}]
    assert len(files()) == 2


class Rules:
    """A namespace, which two processes may fill in two ways."""

    @staticmethod
    def near(p, v):
        return p.a[v]


def by_rule(p, v):
    return Rules.near(p, v)


def test_what_depends_on_an_object_is_not_kept(tmp_path, monkeypatch):
    files = kept_in(tmp_path, monkeypatch)
    assert fr.effects(by_rule).reads == {"a": {"v"}}
    assert files() == []


def test_a_second_process_finds_it_without_numba(tmp_path):
    code = (
        "import sys, frontier as fr\nfrom frontier.primitives.bfs import visit\n"
        "print(sorted(fr.effects(visit).writes), 'numba' in sys.modules)"
    )
    env = {**os.environ, "FRONTIER_CACHE_DIR": str(tmp_path)}
    runs = [subprocess.check_output([sys.executable, "-c", code], env=env, text=True) for _ in range(2)]
    assert runs == ["['level', 'parent'] True\n", "['level', 'parent'] False\n"]


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


# -- what is stored -----------------------------------------------------------------------------------------


def put(p, element, value):
    p.x[element] = value


STORES = {
    "a constant": (lambda p, dst: put(p, dst, 3), {"alike"}),
    "what a helper cannot know": (lambda p, dst: put(p, dst, p.depth + 1), {"own"}),
    "the id": (lambda p, dst: put(p, dst, dst), {"alike"}),
    "another id": (lambda p, src, dst: put(p, dst, src), {"own"}),
    "an element": (lambda p, src, dst: put(p, dst, p.y[src]), {"own"}),
    "an element by a helper": (lambda p, src, dst: put(p, dst, p.y[src] + 1), {"own"}),
    "a weight": (lambda p, dst, weight: put(p, dst, weight), {"own"}),
    "the id elsewhere": (lambda p, dst: put(p, p.y[dst], dst), {"own"}),
}


def by_depth(p, src, dst):
    if p.y[src]:
        p.x[dst] = 2 * p.depth + dst


def either(p, src, dst):
    p.x[dst] = 1 if p.y[src] else 2


def one_of_two(p, src, dst):
    if p.y[src]:
        p.x[dst] = 1
    else:
        p.x[dst] = 2


def one_more(p, dst):
    p.x[dst] += 1


STORES |= {
    "sometimes": (by_depth, {"alike"}), "either": (either, {"own"}),
    "one of two": (one_of_two, {"alike", "several"}), "one more": (one_more, {"own"}),
}  # fmt: skip


@pytest.mark.parametrize("what", STORES)
def test_whether_all_calls_store_the_same_in_an_element(what):
    fn, expected = STORES[what]
    assert analysis.effects(fn).stored["x"] == expected
