"""Steps that claim vertices on several GPUs: what is found to change together. Searches rely on it."""

from __future__ import annotations

import pytest

import frontier as fr
from frontier.distributed.devices.touches import Touches

# ---- what changes together ---------------------------------------------------------------------------------


def plain(p, src, dst):
    if fr.atomic_cas(p.parent, dst, -1, src) == -1:
        p.level[dst] = p.depth
        return True
    return False


def turned(p, src, dst):
    if -1 != fr.atomic_cas(p.parent, dst, -1, src):  # noqa: SIM300
        return False
    p.level[dst] = 5
    return True


def in_one_line(p, src, dst):
    return p.parent[dst] == -1 and fr.atomic_cas(p.parent, dst, -1, src) == -1


def with_a_name(p, src, dst):
    old = fr.atomic_cas(p.parent, dst, -1, src)
    won = not (old != -1)  # noqa: SIM202
    if won:
        p.level[dst] = p.depth
    return won


def lowers(p, src, dst, weight):
    new = p.cost[src] + weight
    if new < p.cost[dst] and new < fr.atomic_min(p.cost, dst, new):
        p.level[dst] = src
        return True
    return False


def raises(p, src, dst):
    return not fr.atomic_max(p.cost, dst, p.cost[src]) >= p.cost[src]  # read twice: these may differ


def everything(p, src, dst):
    if fr.atomic_cas(p.parent, dst, -1, src) == -1:
        p.level[dst] = p.depth
    return True


def sometimes(p, src, dst):
    if fr.atomic_cas(p.parent, dst, -1, src) == -1:
        if src > 3:
            p.level[dst] = 1
        return True
    return False


def before(p, src, dst):
    p.level[dst] = 1
    return fr.atomic_cas(p.parent, dst, -1, src) == -1


def elsewhere(p, src, dst):
    if fr.atomic_cas(p.parent, dst, -1, src) == -1:
        p.level[src] = 1
        return True
    return False


def by_more(p, src, dst):
    won = fr.atomic_cas(p.parent, dst, -1, src) == -1
    won = src > 3
    return won


def with_another_value(p, src, dst):
    return fr.atomic_cas(p.parent, dst, -1, src) == -2


def perhaps_unchanged(p, src, dst):
    return fr.atomic_cas(p.parent, dst, -1, p.depth) == -1


def at_another_index(p, src, dst):
    return fr.atomic_cas(p.parent, dst + 1, -1, src) == -1


def twice(p, src, dst):
    first = fr.atomic_cas(p.parent, dst, -1, src) == -1
    return first or fr.atomic_cas(p.parent, dst, -1, dst) == -1


def stored_too(p, src, dst):
    if fr.atomic_cas(p.parent, dst, -1, src) == -1:
        p.parent[dst] = dst
        return True
    return False


def in_a_loop(p, src, dst):
    for _ in range(2):  # noqa: SIM110
        if fr.atomic_cas(p.parent, dst, -1, src) == -1:
            return True
    return False


def helper(p, v):
    p.level[v] = 1


def passed_on(p, src, dst):
    if fr.atomic_cas(p.parent, dst, -1, src) == -1:
        helper(p, dst)
        return True
    return False


def store(level, v):
    level[v] = 2


def with_a_field_passed_on(p, src, dst):
    if fr.atomic_cas(p.parent, dst, -1, src) == -1:
        return True
    store(p.level, dst)
    return False


def named(p, src, dst):
    return fr.atomic_cas(field=p.parent, index=dst, expected=-1, value=src) == -1


def perhaps_not_tried(p, src, dst):
    if p.cost[dst] > 3:
        old = fr.atomic_cas(p.parent, dst, -1, src)
    else:
        old = -1
    return old == -1


def compared_with_another(p, src, dst, weight):
    new = p.cost[src]
    if weight > 3:
        new = new + weight
    old = fr.atomic_min(p.cost, dst, new)
    if weight < 3:
        new = new - weight
    return old > new


def at_the_near_end(p, src, dst):
    return fr.atomic_cas(p.parent, src, -1, dst) == -1


BOTH = {"": {"parent"}, "level": {"parent"}}
ALONG = [
    (plain, BOTH), (turned, BOTH), (with_a_name, BOTH), (in_one_line, {"": {"parent"}}),
    (lowers, {"": {"cost"}, "level": {"cost"}}), (raises, {}), (everything, {"level": {"parent"}}),
    (sometimes, {"": {"parent"}}), (before, {"": {"parent"}}), (elsewhere, {"": {"parent"}}), (by_more, {}),
    (with_another_value, {}), (perhaps_unchanged, {}), (at_another_index, {}), (twice, {}), (stored_too, {}),
    (in_a_loop, {}), (passed_on, {}), (named, {}), (perhaps_not_tried, {}), (compared_with_another, {}),
    (at_the_near_end, {"": {"parent"}}), (with_a_field_passed_on, {}),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "along"), ALONG, ids=lambda x: getattr(x, "__name__", ""))
def test_what_changes_where_an_atomic_succeeds(fn, along):
    assert fr.effects(fn).along == along


def asks(p, v):
    before = p.parent[v]
    p.level[v] = p.depth if before == -1 or p.parent[v] != 7 else 3
    p.parent[v] = -4


def exchanged(p, v):
    fr.atomic_cas(p.parent, v, value=-1, expected=v)


def passes_it_on(p, v):
    p.level[v] = p.parent[v]


def test_what_fields_are_compared_with_and_get():
    assert fr.effects(plain).tests["parent"] == {"-1"}
    assert fr.effects(plain).puts == {"parent": {"id"}, "level": {"p.depth"}}
    assert fr.effects(asks).tests["parent"] == {"-1", "7"}
    assert fr.effects(asks).puts == {"level": {"any"}, "parent": {"-4"}}
    assert fr.effects(exchanged).tests["parent"] == fr.effects(exchanged).puts["parent"] == {"any"}
    assert fr.effects(passes_it_on).tests["parent"] == {"any"}


# ---- which steps claim ---------------------------------------------------------------------------------------


def begin(p, v):
    p.parent[v] = v


def forget(p, v):
    p.parent[v] = -1


def unclaimed(p, dst):
    return p.parent[dst] == -1


def too_large(p, v):
    p.parent[v] = 4294967295


def above(p, dst):
    return p.parent[dst] < 0


def spread(p, src, dst):
    return p.parent[dst] == p.parent[src]


def stores_anyway(p, src, dst):
    p.parent[dst] = 77


def problem(g, **more):
    fields = {"parent": fr.vertex("int32", -1, combine="claim"), "level": fr.vertex("int32", -1, with_="parent")}
    scalars = {"depth": fr.scalar("int32"), "source": fr.scalar("int32", 5)}
    return fr.Problem(g, **(fields | scalars | more))


def claimed(step, *others, **fields):
    p = problem(fr.grid(3, 3), **fields)
    program = fr.Sequence(*others, step)
    return Touches(program, p, fr.Schedule().resolved()).claim(step)


def test_a_search_claims():
    made = claimed(fr.Advance(plain, where=unclaimed), fr.Compute(begin))
    assert (made.field, made.along, made.alike) == ("parent", ("level",), (("level", "p.depth"),))


@pytest.mark.parametrize(
    ("step", "others", "fields"),
    [
        (fr.Advance(plain), [fr.Compute(forget)], {}),
        (fr.Advance(plain), [fr.Compute(too_large)], {}),
        (fr.Advance(plain, where=above), [], {}),
        (fr.Advance(plain), [fr.Advance(spread)], {}),
        (fr.Advance(plain), [fr.Advance(stores_anyway, output=None)], {}),
        (fr.Advance(everything), [], {}),
        (fr.Advance(at_the_near_end), [], {}),
        (fr.Advance(sometimes), [], {}),
        (fr.Advance(plain, output=None), [], {}),
        (fr.Advance(plain), [], {"parent": fr.vertex("int32", -1, combine="max"), "level": fr.vertex("int32", -1)}),
        (fr.Advance(plain), [], {"parent": fr.vertex("uint32", 0, combine="claim"), "level": fr.vertex("int32", -1)}),
    ],
)
def test_steps_that_do_not_claim(step, others, fields):
    assert claimed(step, *others, **fields) is None
