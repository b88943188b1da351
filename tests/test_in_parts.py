"""Results under mpirun: arrays in parts, which become one array when all ranks ask, or are used where they lie."""

from __future__ import annotations

import pytest
from mpi import mpirun, processes

from frontier.memory import detection

pytestmark = [processes, pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")]

HEAD = """
import copy, operator, os, pickle, sys
import numpy as np, frontier as fr
from frontier.distributed.ranks import field_storage
from mpi4py import MPI
field_storage.LEAST = 0                    # short fields begin with own elements alone, too
rank, size = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
whole = fr.rmat(9, 8, seed=5, weights=(1, 9))
rows = f"ranks,{size}x1"            # where ranks are told least during a run
g = whole.to(rows)
"""


def ran(count, folder, program, **more):
    """Run a program, to its end on every rank."""
    made = mpirun(count, folder, HEAD + program + '\nprint("end reached")\n', **more)
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("end reached") == count


def test_results_are_used_where_they_lie(tmp_path):
    ran(3, tmp_path, """
expected = fr.bfs(whole, 3)
with fr.trace() as seen:
    found = fr.bfs(g, 3)
level = found.level
assert level.in_parts and found.parent.in_parts
assert not [row for row in seen.rows if row.step == "result"]
with fr.trace() as seen:
    assert level.first == MPI.COMM_WORLD.exscan(len(level.own)) or rank == 0 == level.first
    assert np.array_equal(level.own, expected.level[level.first :][: len(level.own)])
    assert MPI.COMM_WORLD.allreduce(len(level.own)) == len(level) == 512
    assert (level.dtype, level.shape, level.ndim, level.size, level.nbytes) == (np.int32, (512,), 1, 512, 2048)
    assert repr(level) == str(level) == "<512 entries of int32, in 3 parts>"
    assert (level.max(), level.min(), level.sum()) == (expected.level.max(), -1, expected.level.sum())
    assert np.max(level) == expected.level.max()
    assert (level == fr.bfs(whole, 3).level).all() and (level == found.level).all() and not (level < -1).any()
    twice = level + level * 1
    assert twice.in_parts and (twice == 2 * level).all()
    before = level.sum()
    level += 1
    assert level is found.level and level.sum() == before + 512
    level -= 1
assert sum(row.sent for row in seen.rows) == 0, seen
assert level.in_parts
""", FRONTIER_RANKS_WHOLE="0")


def test_a_root_that_is_no_rank_is_refused(tmp_path):
    ran(3, tmp_path, """
parts = fr.rmat(8, 8, seed=5, weights=(1, 9), placement="ranks")
level = fr.bfs(g, 3).level
for root in (3, 7, -1, "0", 1.0, True):
    for array in (level, parts.targets, parts.weights):
        try:
            array.gather(root=root)
        except fr.FrontierError as error:
            said = f"root={root!r}" if type(root) is int else f"root must be an integer, not {root!r}"
            assert str(error) == f"{said}: ranks are 0 to 2", error
        else:
            raise AssertionError(root)
found = level.gather(root=np.int64(1)), parts.targets.gather(root=2)
assert [each is None for each in found] == [rank != 1, rank != 2]
""", FRONTIER_RANKS_WHOLE="0")


def test_rows_are_used_where_they_lie(tmp_path):
    ran(3, tmp_path, """
def message(p, src, weight, i):
    return p.x[src, i] * weight
def take(p, v):
    for i in range(3):
        p.x[v, i] = p.sum[v, i] % 7 + i
def out(p, src, dst, edge):
    p.e[edge, 1] += src % 3
def back(p, src, dst, edge):            # at edges of other ranks
    fr.atomic_add(p.into, (dst, 0), p.e[edge, 1])
class Spread(fr.Enactor):
    loop = fr.Loop(
        fr.Gather(message, "sum", into="sum"), fr.Compute(take), fr.Advance(out, output=None),
        fr.Advance(back, output=None, edges="in"), over="vertices", times=2,
    )
def problem(g):
    x = np.arange(512 * 3).reshape(512, 3) % 5
    p = fr.Problem(
        g, x=fr.vertex("int64", x, shape=3), sum=fr.vertex("int64", shape=3), e=fr.edge("int8", [3, 4], shape=2),
        into=fr.vertex("int64", shape=2),
    )
    Spread(p).run()
    return p
expected = problem(whole)
for there in (g, fr.rmat(9, 8, seed=5, weights=(1, 9), placement=rows)):
    with fr.trace() as seen:
        p = problem(there)
    found = p.sum
    assert p.x.shape == (512, 3) and found.in_parts
    assert repr(found) == "<512 entries of 3 values of int64, in 3 parts>"
    assert (found.shape, found.ndim, found.size, found.nbytes, len(found)) == ((512, 3), 2, 1536, 12288, 512)
    assert np.array_equal(found.own, expected.sum[found.first :][: len(found.own)])
    assert (found.max(), found.sum()) == (expected.sum.max(), expected.sum.sum())
    twice = 2 * found + found
    assert twice.in_parts and (twice == found * 3).all() and found.in_parts
    assert np.asarray(found).shape == (512, 3) and np.array_equal(found, expected.sum)
    assert found[5, 2] == expected.sum[5, 2] and not found.in_parts
    assert np.array_equal(p.x, expected.x) and np.array_equal(p.into, expected.into) and len(p.e) == g.num_slots
    p.sum = [1, 2, 3]
    assert p.sum.tolist() == [[1, 2, 3]] * 512
    for most in ("1535", "1536", "0"):                            # values, not rows
        os.environ["FRONTIER_RANKS_WHOLE"] = most
        assert problem(there).sum.in_parts == (most != "1536")
""", FRONTIER_RANKS_WHOLE="0")


#: Ways to ask for the whole.
ASKS = (
    "np.asarray(level)", "level.gather()", "level[:]", "level.copy()", "np.array(list(level))",
    "np.concatenate([level])",
    "pickle.loads(pickle.dumps(level))", "copy.deepcopy(level)", "np.sort(level)[np.argsort(np.argsort(level))]",
)  # fmt: skip


def test_the_whole_is_there_when_all_ask(tmp_path):
    ran(2, tmp_path, "".join(f"""
expected, level = fr.bfs(whole, 3).level, fr.bfs(g, 3).level
with fr.trace() as seen:
    found = {ask}
    assert isinstance(found, np.ndarray) and np.array_equal(found, expected)
    assert not level.in_parts and repr(level) == repr(expected)
    assert level[5] == expected[5] and np.array_equal(level[[3, 1]], expected[[3, 1]]) and expected[3] in level
rows = [row for row in seen.rows if row.step == "result"]
assert len(rows) == 1 and 0 < rows[0].sent < 2048          # once
""" for ask in ASKS), FRONTIER_RANKS_WHOLE="0")


def test_one_rank_may_get_the_whole(tmp_path):
    ran(3, tmp_path, """
expected, level = fr.bfs(whole, 3).level, fr.bfs(g, 3).level
found = level.gather(root=1)
assert (found is None) == (rank != 1)
if rank == 1:
    assert np.array_equal(found, expected)
assert level.in_parts
assert np.array_equal(level, expected)
assert (level.gather(root=2) is None) == (rank != 2)
""", FRONTIER_RANKS_WHOLE="0")


def test_short_results_are_whole_on_every_rank(tmp_path):
    ran(2, tmp_path, """
expected, level = fr.bfs(whole, 3).level, fr.bfs(g, 3).level
assert not level.in_parts
if rank == 1:                       # alone
    assert level[7] == expected[7] and (level == expected).all() and repr(level) == repr(expected)
    assert level.tolist() == expected.tolist()
assert np.array_equal(level.own, expected[level.first :][: len(level.own)])
os.environ["FRONTIER_RANKS_WHOLE"] = "511"
assert fr.bfs(g, 3).level.in_parts
""")


def test_results_are_right_whatever_is_left_in_parts(tmp_path):
    ran(4, tmp_path, """
for there in (rows, "ranks", "ranks,2d", "ranks,2d,python" if size == 2 else "ranks,1x4"):
    for g in (whole.to(there), fr.rmat(9, 8, seed=5, weights=(1, 9), placement=there)):
        fr.verify.bfs(whole, fr.bfs(g, 3))
        fr.verify.sssp(whole, fr.sssp(g, 3))
        one, several = (fr.pagerank(each, tolerance=1e-5) for each in (whole, g))
        np.testing.assert_allclose(several.rank, one.rank, rtol=1e-6)
        assert several.top(3) == pytest_approx(one.top(3))
        assert fr.connected_components(g).sizes() == fr.connected_components(whole).sizes()
        found = fr.betweenness(g, [1, 5, 1], normalized=True).centrality
        np.testing.assert_allclose(found, fr.betweenness(whole, [1, 5, 1], normalized=True).centrality, rtol=1e-9)
""".replace("pytest_approx(one.top(3))", "[(v, each) for (v, _), (_, each) in zip(one.top(3), several.top(3))]"),
        FRONTIER_RANKS_WHOLE="0")  # fmt: skip


def test_a_run_goes_on_from_what_is_in_parts(tmp_path):
    ran(3, tmp_path, """
def add(p, src, dst):
    fr.atomic_add(p.sum, dst, p.value[src])
def take(p, v):
    p.value[v] = p.sum[v] % 7 + v
    p.sum[v] = 0
class Spread(fr.Enactor):
    loop = fr.Loop(fr.Advance(add, output=None), fr.Compute(take), over="vertices", times="times")
def problem(g):
    fields = dict(value=fr.vertex("int64", 1), sum=fr.vertex("int64", 0, combine="sum"))
    return fr.Problem(g, **fields, times=fr.scalar("int64", 3))
def both(call):
    results = [call(p) for p in (one, several)]
    assert (np.asarray(results[0]) == np.asarray(results[1])).all()
def run(p, **more):
    return Spread(p).run(**more).value
one, several = problem(whole), problem(g)
run(one), run(several)
assert several.value.in_parts
assert run(several).in_parts
assert several.value is several.value
run(one)
both(lambda p: p.value.copy())                                  # twice, and then asked for
assert not several.value.in_parts and "value" in several._store.given_away(several)
run(one), run(several)
assert not several.value.in_parts                               # who has once asked is told after each run
one, several = problem(whole), problem(g)
run(one), run(several)
for p in (one, several):
    p.value[5] = 77                                             # the same on all ranks
both(run)
one, several = problem(whole), problem(g)
run(one), run(several)
for p in (one, several):
    p.value = np.arange(512)
    p.sum[:] = 3
assert not several.value.in_parts and not several.sum.in_parts
both(run)
held = [(p := problem(each)).value for each in (whole, g)]      # as numpy.asarray below, before anything runs
views = [np.asarray(each)[100:200] for each in held]
run(one := problem(whole))
p.value[:] = 1
run(p)
assert (views[1] == one.value[100:200]).all()
one, several = problem(whole), problem(g)
seen = [[], []]
for p, into in zip((one, several), seen):
    run(p, on_step=lambda e: into.append(e.problem.value.sum()))
assert seen[0] == seen[1] and several.value.in_parts
again = copy.deepcopy(several)
both(lambda p: (again if p is several else p).value)
""", FRONTIER_RANKS_WHOLE="0")


def test_what_readers_alone_know_stays_in_parts_too(tmp_path):
    ran(3, tmp_path, """
def give(p, src, dst):
    return p.value[dst] if p.value[dst] > p.value[src] else 0
def take(p, v):
    p.value[v] = (p.value[v] + p.sum[v]) % 1000
class Flow(fr.Enactor):
    loop = fr.Loop(fr.Gather(give, "sum", into="sum"), fr.Compute(take), over="vertices", times="times")
def problem(g):
    fields = dict(value=fr.vertex("int64", np.arange(900) % 7), sum=fr.vertex("int64", 0))
    return fr.Problem(g, **fields, times=fr.scalar("int64", 8))
whole = fr.grid(30, 30)
for g in (whole.to("ranks"), whole.to(rows), fr.from_edges(whole.sources, whole.targets, placement="ranks")):
    one, several = problem(whole), problem(g)
    for p in (one, several):
        Flow(p).run()
    assert several.value.in_parts
    for p in (one, several):
        e = Flow(p)
        e.run(on_step=lambda e: e.passes == 5)
        e.resume()
    assert several.value.in_parts
    assert (one.value == several.value).all() and (one.sum == several.sum).all()
    assert np.array_equal(one.value, several.value) and np.array_equal(one.sum, several.sum)
""", FRONTIER_RANKS_WHOLE="0")


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("if rank == 2: print(level[5])", "rank 2 asks for all of p.level"),
        ("if rank == 1: print(level.max())\nfr.bfs(g, 4)", "rank 0 begins a run, rank 1 asks for max() of p.level of"),
        ("(found.parent if rank else level).gather()", "0 asks for all of p.level of run 1, rank 1 asks for all of"),
        ("level.gather(root=rank)", "0 asks for all of p.level of run 1 on rank 0, rank 1 asks for all of p.level of"),
        ("n = fr.bfs(g, 4).level\n(n if rank else level).max()", "max() of p.level of run 1, rank 1 asks for max()"),
        ("n = fr.bfs(g, 4).level + 1\n(n if rank else level + 1).sum()", "sum() of add(p.level of run 1, 1), rank 1"),
        ("level += level if rank else 1", "rank 0 changes p.level of run 1 to add(p.level of run 1, 1), rank 1 cha"),
        ("if rank == 1: sys.exit(0)\nfr.bfs(g, 4)", "rank 1 of 3 has ended, and others wait"),
        ('if rank == 1: level.gather()\nfr.rmat(6, 6, seed=1, placement="ranks")', "rank 0 builds a graph"),
        ("(parts.targets if rank else parts.weights).gather()", "0 asks for weights of graph 1 in parts, rank 1 asks "),
        ("np.asarray((parts if rank else other).targets)", "0 asks for targets of graph 2 in parts, rank 1 asks fo"),
        ("parts.targets[rank:]", "rank 0 asks for targets of graph 1 in parts, rank 1 asks for targets[1:"),
        ("parts.in_degree if rank else parts.out_weight", "rank 0 asks for out_weight of graph 1 in parts, rank 1"),
    ],
)  # fmt: skip
def test_a_rank_that_asks_alone_ends_all_within_seconds(what, message, tmp_path):
    head = HEAD + "found = fr.bfs(g, 3)\nlevel = found.level\n"
    if "parts" in what:
        head += "parts = fr.rmat(6, 8, seed=5, weights=(1, 9), directed=True, placement='ranks')\n"
        head += "other = fr.rmat(6, 8, seed=6, placement='ranks')\n"
    made = mpirun(3, tmp_path, f"{head}{what}\n", FRONTIER_RANKS_WHOLE="0")
    assert made.returncode != 0, made.stdout
    most = 2 if "has ended" in message else 1  # each rank that waits sees it for itself
    assert 1 <= made.stderr.count(message) <= most, made.stderr


def test_a_rank_may_print_alone(tmp_path):
    program = HEAD + "level = fr.bfs(g, 3).level\nif rank:\n    print(level)"
    made = mpirun(2, tmp_path, program, FRONTIER_RANKS_WHOLE="0")
    assert made.returncode == 0, made.stderr
    assert made.stdout == "<512 entries of int32, in 2 parts>\n"


@pytest.mark.parametrize("text", ["-1", "1.5"])
def test_the_longest_is_a_number(text, tmp_path):
    made = mpirun(2, tmp_path, HEAD + "fr.bfs(g, 3)", FRONTIER_RANKS_WHOLE=text)
    assert made.returncode != 0
    assert "a number of elements" in made.stderr


def test_what_is_touched_at_own_elements_alone_takes_the_memory_of_these(tmp_path):
    ran(3, tmp_path, """
from frontier.memory.reserved import written
n = 1 << 18
g = fr.from_edges(np.arange(n - 1), np.arange(1, n), placement="ranks")
def grow(p, v):
    p.own[v] += v % 3
    p.kept[v] = p.own[v] * 2
def look(p, src):
    return p.own[src]
def some(p):
    return p.seven[3]
def problem():
    return fr.Problem(
        g, own=fr.vertex("int64", 5), kept=fr.vertex("float64"), sum=fr.vertex("int64"), seven=fr.vertex("int32", 7),
        one=fr.scalar("int32"),
    )
def taken(name):
    return sum(each.stop - each.start for each in written(p.arrays[name])) / n
p, expected = problem(), 5 + np.arange(n) % 3 * 3
fr.Loop(fr.Compute(grow, over="vertices"), times=3)(p)
assert max(map(taken, ("own", "kept", "sum", "seven"))) < 0.5
assert p.own.in_parts and p.own.max() == 11 and (p.seven.own == 7).all()
assert max(map(taken, ("own", "kept", "sum", "seven"))) < 0.5
fr.Gather(look, "sum", into="sum", over="vertices")(p)
assert taken("own") == 1 and taken("sum") < 0.5
assert (np.asarray(p.sum) == np.r_[0, expected[:-1]] + np.r_[expected[1:], 0]).all()
assert (np.asarray(p.kept) == 2 * expected).all()
fr.Set(one=some)(p)
assert p.one == 7
copied = copy.deepcopy(fr.Problem(fr.path(9).to("ranks"), seven=fr.vertex("int32", 7)))
assert copied.seven.tolist() == [7] * 9
for use in (lambda p: p.seven[n - 1], lambda p: np.asarray(p.seven)[0], lambda p: p.seven.gather()[5],
            lambda p: p.seven.max(), lambda p: pickle.loads(pickle.dumps(p.seven))[7], lambda p: min(p.seven)):
    assert use(problem()) == 7
assert str(problem().seven) == str(np.full(n, 7, "int32"))
p = problem()
if rank == 1:
    print(p.own)                     # alone; so it has all elements, and the others have not
fr.Loop(fr.Compute(grow, over="vertices"), times=3)(p)
assert (np.asarray(p.own) == expected).all()
p = problem()
p.own = np.arange(n)
p.seven[n - 1] = 8
fr.Gather(look, "sum", into="sum", over="vertices")(p)
assert p.sum[0] == 1 and p.seven.sum() == 7 * n + 1
p.own.own = np.arange(p.own.first, p.own.first + len(p.own.own))
p.seven.own = 9
p.seven[n - 1] = 8
assert p.own.max() == n - 1 and p.seven.sum() == 9 * n - 1
p = problem()
p.own.own = np.arange(p.own.first, p.own.first + len(p.own.own))
assert taken("own") < 0.5 and p.own.max() == n - 1
fr.Gather(look, "sum", into="sum", over="vertices")(p)
assert p.sum[0] == 1 and p.sum[n - 1] == n - 2 and p.sum[5] == 10
""", FRONTIER_RANKS_WHOLE="0")


@pytest.mark.parametrize("place", ["ranks", "ranks,2d"])
def test_what_is_not_written_of_fields_that_are_exchanged(place, tmp_path):
    """A name that a step uses at elements of others may get the array of a name that no step uses."""
    ran(2, tmp_path, f"""
def look(p, src, dst):
    fr.atomic_add(p.sum, src, p.x[dst])
def some(p):
    return p.x[3] + p.x[500]
def problem(g):
    p = fr.Problem(
        g, x=fr.vertex("int64", 5), y=fr.vertex("int64", 7), z=fr.vertex("int64", 9),
        sum=fr.vertex("int64", combine="sum"), one=fr.scalar("int64"),
    )
    fr.Sequence(fr.Swap("y", "z"), fr.Swap("x", "y"), fr.Set(one=some), over="vertices")(p)
    p.y[3] = 11
    p.y[500] = 13
    fr.Sequence(fr.Swap("x", "y"), fr.Advance(look, output=None), over="vertices")(p)
    return p
expected = problem(whole)
assert expected.one == 18
for g in (whole.to({place!r}), fr.rmat(9, 8, seed=5, weights=(1, 9), placement={place!r})):
    p = problem(g)
    assert p.one == 18
    for name in ("sum", "x", "y", "z"):
        assert np.array_equal(getattr(p, name), getattr(expected, name)), name
""", FRONTIER_RANKS_WHOLE="0")


#: What follows makes runs that compare what ranks have.
GROW = """
def grow(p, v):
    p.x[v] += 1
def begun():
    p = fr.Problem(
        g, x=fr.vertex("int64"), y=fr.vertex("int64", 1), wide=fr.vertex("int64", 4, shape=2),
        several=fr.array(np.arange(9)),
    )
    run(p)
    return p
def run(p):
    fr.Compute(grow, over="vertices")(p)
def refused(p):
    try:
        run(p)
    except fr.errors.GraphError as error:
        return "rank 1 has not the same" in str(error)
    return False
"""


def test_ranks_may_give_the_same_values_in_other_ways(tmp_path):
    ran(2, tmp_path, GROW + """
p = begun()
for v in (3, 4) if rank else (4, 3):
    p.y[v] = v
run(p)
p.y[[5] if rank else 5] = 7
run(p)
p.y = np.full(512, 2) if rank else 2
run(p)
if rank:
    p.y[9] = 8
assert refused(p)
if rank:
    p.y[9] = 2                          # as it was
run(p)
assert np.array_equal(p.x, np.full(512, 5)) and (p.y == 2).all()
""")


def test_whatever_one_rank_alone_writes_is_found(tmp_path):
    ran(2, tmp_path, GROW + """
def rows(p):
    for row in p.wide:
        row[1] += 5
for write in (
    lambda p: np.add.at(p.y, [1, 1], 3), lambda p: p.y.put([1, 2], 3), lambda p: np.put(p.y, [1, 2], 3), rows,
    lambda p: p.y.__setitem__(5, 2), lambda p: p.y.__setitem__(slice(3, 5), 2), lambda p: p.y.fill(2),
    lambda p: p.wide.__setitem__((3, 1), 2), lambda p: p.several.__setitem__(-1, 2),
    lambda p: operator.iadd(p.y, 1), lambda p: setattr(p.y, "own", 2), lambda p: np.asarray(p.y).fill(2),
    lambda p: np.add(p.y, 1, out=p.y, where=np.arange(512) < 3), lambda p: setattr(p, "y", 2),
):
    p = begun()
    if rank:
        write(p)
    assert refused(p)
""")


@pytest.mark.parametrize("most", ["0", "4194304"])  # longest fields that are told to all
def test_each_rank_gives_its_elements_values(most, tmp_path):
    ran(2, tmp_path, """
def grow(p, v):
    p.x[v] += 1
def give(p, src, dst):
    fr.atomic_add(p.sum, dst, p.x[src])
def problem(g):
    return fr.Problem(g, x=fr.vertex("int64", 5), sum=fr.vertex("int64", 0, combine="sum"))
expected, p = problem(whole), problem(g)
first = p.x.first
expected.x = np.arange(512) % 7
p.x.own = np.arange(first, first + len(p.x.own)) % 7
for there in (expected, p):
    fr.Sequence(fr.Compute(grow), fr.Advance(give, output=None), over="vertices")(there)
assert np.array_equal(p.x, expected.x) and np.array_equal(p.sum, expected.sum)
p.x.own = 3
assert (np.asarray(p.x) == 3).all()
try:
    p.x.own[0] = 4
except ValueError as error:
    assert "read-only" in str(error)
else:
    raise AssertionError
""", FRONTIER_RANKS_WHOLE=most)


def test_a_copy_after_ranks_have_looked_at_different_fields(tmp_path):
    ran(2, tmp_path, """
def grow(p, v):
    p.x[v] += 1
    p.y[v] += 1
p = fr.Problem(g, x=fr.vertex("int64", np.arange(512)), y=fr.vertex("int64", np.arange(512)))
print(p.y if rank else p.x)
fr.Compute(grow, over="vertices")(p)
again = copy.deepcopy(p)
assert (np.asarray(again.x) == np.arange(512) + 1).all() and (np.asarray(again.y) == np.asarray(again.x)).all()
""", FRONTIER_RANKS_WHOLE="0")


@pytest.mark.parametrize(("there", "rows"), [("ranks", 1), ("ranks,2d", 2)])
def test_a_search_does_not_send_its_result(there, rows, tmp_path):
    """Whoever wants bytes counted: n elements of 4 bytes, of two fields, to three others, are 98 KB more."""
    ran(4, tmp_path, f"""
whole = fr.rmat(12, 16, seed=5)
g = whole.to({there!r})
sent = []
for longest in ("0", ""):
    os.environ["FRONTIER_RANKS_WHOLE"] = longest
    with fr.trace() as seen:
        found = fr.bfs(g, 3)
    sent.append(MPI.COMM_WORLD.allreduce(sum(row.sent for row in seen.rows)))
    fr.verify.bfs(whole, found)
if {rows} == 1:
    assert sent[0] <= sent[1]
else:
    assert sent[0] < 0.5 * sent[1], sent                       # most of what is sent is the result
""")


def test_commands_use_results_in_parts(tmp_path):
    ran(2, tmp_path, """
import runpy
for name in ("bfs", "pagerank", "cc", "bc", "sssp"):
    sys.argv = ["frontier", name, "rmat:8", "--backend", rows, "--verify", "--output", f"{name}.npz"]
    sys.argv += ["--sources", "4"] * (name == "bc") + ["--weights", "1:9"] * (name == "sssp")
    out = sys.stdout
    try:
        runpy.run_module("frontier", run_name="__main__")
    except SystemExit as end:
        assert not end.code, end.code
    sys.stdout = out
""", FRONTIER_RANKS_WHOLE="0")


def test_graph500_uses_results_in_parts(tmp_path):
    ran(2, tmp_path, """
from frontier.graph500.run import benchmark
one, several = (benchmark(8, roots=3, backend=place) for place in ("cpu", rows))
for kernel in ("bfs", "sssp"):
    found = [[(s.root, s.edges) for s in each.searches[kernel]] for each in (one, several)]
    assert found[0] == found[1]
""", FRONTIER_RANKS_WHOLE="0")
