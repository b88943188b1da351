"""What explain() says of a loop: exactly for BFS, and for every phase of every primitive what it reads and writes."""

from __future__ import annotations

import re

import numpy as np
import pytest

import frontier as fr
from frontier import cli
from frontier.lowering.folding import folded
from frontier.lowering.ir import Assign, Branch, Exit, Leave, Loop, Phase, Region, Var, both, differ, equal, expression
from frontier.primitives.bfs import BFS, bfs_problem

#: Those of Gunrock's papers; the others are made of the same steps.
PRIMITIVES = ("bc", "bfs", "cc", "pagerank", "sssp")

GOLDEN = """\
# cpu: one function, run by one thread, which other threads help in phases that have enough work
# steps: 1 Compute(begin)
#        2 Advance(visit, unvisited)
# fields: p.parent, p.level: int32 of each vertex
#         p.depth, p.source: int32
# graph: ids of vertices int32, numbers of edges int32

if p.source < 0 or p.source >= vertices:
    return to the host: error: there is no such vertex
frontier1 = [p.source], as a list
# Compute(begin)
phase 1: compute
    over frontier1
    calls begin(p, v)
    reads nothing
    writes p.level[v], p.parent[v]
barrier
if p.source < 0 or p.source >= vertices:
    return to the host: error: there is no such vertex
frontier2 = [p.source], as a list
while frontier2.count > 0:
    # a pass begins: the run may pause here, and resume later
    p.depth = p.depth + 1
    # Advance(visit, unvisited)
    if frontier2 is not a list with out-degrees:
        phase 2: add up the out-degrees
            over frontier2
            reads out-degrees
            writes partial results of the threads
        barrier
        frontier2.edges = the sum of the threads' sums
        phase 3: write the prefix sum of the out-degrees
            over frontier2
            reads out-degrees
            writes frontier2
        barrier
        frontier2 is kept, as a list with out-degrees
    phase 4: push along out-edges (merge_path)
        over frontier2
        calls visit(p, src, dst), unvisited(p, dst)
        reads p.depth, p.parent[dst], out-edges
        writes p.level[dst], p.parent[dst] (atomic cas), the next frontier2
    barrier
    frontier2 = what was appended, as a list with out-degrees
return to the host: done"""


@pytest.fixture(scope="module")
def search() -> fr.Problem:
    return bfs_problem(fr.karate(), 0)


def shown(capsys, *arguments: str) -> str:
    assert cli.main(["explain", *arguments]) == 0
    return capsys.readouterr().out


# ---- enactors ----------------------------------------------------------------------------------------------------


def test_bfs_exactly(search):
    push = fr.Schedule(direction="push")
    assert BFS(search, push).explain() == GOLDEN
    assert BFS(search, push).explain(backend="cpu") == GOLDEN


def test_nothing_is_run_and_the_text_is_always_the_same(search):
    before = search.level.copy()
    assert BFS(search).explain() == BFS(search).explain() == BFS(bfs_problem(fr.karate(), 3)).explain()
    assert (search.level == before).all()


def test_the_python_backend_shows_what_cpu_would_run():
    text = BFS(bfs_problem(fr.karate().to("python"), 0), fr.Schedule(direction="push")).explain()
    first, rest = text.split("\n#\n", 1)
    assert first == "# The python backend takes the steps one by one; compiled, they become:"
    assert rest == GOLDEN


def test_cuda_needs_no_gpu(search):
    narrow = BFS(search).explain(backend="cuda")
    assert narrow.startswith("# cuda: one kernel")
    assert "graphs of low degree" in narrow
    assert "push along out-edges (thread)" in narrow
    assert "pull" not in narrow
    full = BFS(bfs_problem(fr.rmat(10, seed=1), 0)).explain(backend="cuda")
    assert "graphs of any degrees" in full
    assert "one thread of each block\n# executes the control flow" in full
    assert "push along out-edges (merge_path)" in full
    assert "pull along in-edges" in full


def test_schedules_are_honoured(search):
    pulls = BFS(search, fr.Schedule(direction="pull")).explain()
    assert "pull along in-edges" in pulls
    assert "push" not in pulls
    decides = BFS(search).explain()
    assert "if frontier2.count < last_count" in decides
    assert "pulling = True" in decides
    with pytest.raises(fr.FrontierError, match="deterministic"):
        BFS(search, fr.Schedule(deterministic=True)).explain(backend="cuda")


def keep(p, v):
    return p.x[v] > p.k


def less(p):
    return p.k - p.step


def none(p):
    return p.k <= 0


def one(p, src, dst):
    return p.x[src]


def own(p, v):
    return p.x[v]


class Everything(fr.Enactor):
    loop = (
        fr.Loop(
            fr.Filter(keep), fr.Split(keep, rest="later"), fr.Set(k=less), fr.Set(k=less, step=3), until=none,
            over="vertices", record="rounds",
        ),
        fr.Loop(fr.Gather(one, "sum", into="y"), fr.Reduce(own, "max", into="k"), replay="rounds"),
        fr.Loop(fr.Scan(own, into="y"), fr.Swap("x", "y"), take="later", max_steps=9),
    )  # fmt: skip


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
def test_records_piles_swaps_and_decisions(backend):
    p = fr.Problem(
        fr.karate(), x=fr.vertex("int64", 1), y=fr.vertex("int64"), k=fr.scalar("int64"), step=fr.scalar("int64", 1),
        later=fr.pile(),
    )  # fmt: skip
    text = Everything(p).explain(backend=backend)
    for line in (
        "p.later: pile, vertex",
        "frontier1 = all vertices",
        "p.k = less(p)\n        reads p.k, p.step",
        "p.k, p.step = less(p), 3",
        "leave the loop if none(p)",
        "writes p.later, the next frontier1",
        "len(p.later) = len(p.later) + the number put aside",
        "= record rounds[passes_left], as a list",
        "gather along in-edges: sum",
        "reduce: max",
        "copy what p.later holds",
        "if passes3 >= 9:" if "passes3" in text else "if passes >= 9:",
        "swap p.x and p.y",
    ):
        assert line in text, text
    assert "epoch" not in text
    assert "stamps" not in text
    assert "queue" not in text


def test_a_loop_that_is_given_its_frontier():
    class Fed(fr.Enactor):
        loop = fr.Loop(fr.Filter(keep))

    p = fr.Problem(fr.path(4), x=fr.vertex("int64", 1), k=fr.scalar("int64"))
    text = Fed(p).explain()
    assert "while frontier.count > 0:" in text
    assert Fed(p).explain([1, 2]) == text
    with pytest.raises(fr.FrontierError):
        Fed(p).explain(fr.Frontier(fr.path(9), [8]))


def relax(p, src, dst, weight):
    d = p.distance[src] + weight
    return fr.atomic_min(p.distance, dst, d) > d


class SSSP(fr.Enactor):
    loop = fr.Loop(fr.Advance(relax), order=fr.by("distance", delta="auto"), over="source")


def test_loops_with_an_order():
    """They become others, which depend on the backend; that leaves the problem as it was, also one that has run."""
    g = fr.path(6, weights=(1, 3))
    p = fr.Problem(g, distance=fr.vertex("float64", np.inf, combine="min"), source=fr.scalar("int64", 0))
    p.distance[0] = 0
    fields = set(p.fields)
    text, sliding = SSSP(p).explain(), SSSP(p).explain(backend="cuda")
    assert set(p.fields) == fields
    assert "while len(order.far) > 0:" in text
    assert "writes order.far, the next frontier2" in text
    assert "order.limit = limit(p)\n        reads order.delta, order.least" in text
    assert "order.limit = follow(p)" in sliding  # as on roads on a GPU
    assert "__" not in text + sliding
    SSSP(p).run()
    scalars = {name: value.copy() for name, value in p.scalars.items()}
    assert SSSP(p).explain() == text
    assert p.scalars == scalars
    p = fr.Problem(g.to("python"), distance=fr.vertex("float64", np.inf), source=fr.scalar("int64", 0))
    assert SSSP(p).explain().endswith(text)


def test_steps_explain_themselves(search):
    assert "calls begin(p, v)" in fr.Compute(BFS.loop.steps[0].fn, over="vertices").explain(search)
    with pytest.raises(fr.FrontierError, match="takes a Problem first"):
        BFS.loop.steps[0].explain(fr.karate())


def test_errors(search):
    class Free(fr.Enactor):
        def step(self, frontier):
            return frontier

    class Empty(fr.Enactor):
        pass

    with pytest.raises(fr.FrontierError, match=r"Free overrides step: free Python becomes no program"):
        Free(search).explain()
    with pytest.raises(fr.FrontierError, match="declares no loop"):
        Empty(search).explain()
    with pytest.raises(fr.FrontierError, match=r"BFS\(problem\)\.explain"):
        BFS.explain(search)
    for wrong in ("gpu", 3):
        with pytest.raises(fr.FrontierError, match="there is no backend"):
            BFS(search).explain(backend=wrong)
    with pytest.raises(fr.FrontierError, match="make one with fr"):
        BFS(search, "push").explain()


def test_a_backend_that_makes_no_programs(search):
    class Other(fr.backends.Backend):
        name = "other"

        def start(self, step, p, f, schedule):
            raise NotImplementedError

    with pytest.raises(fr.FrontierError, match=r"the other backend has no programs"):
        Other().program(BFS.program(), search, None, fr.Schedule().resolved())


# ---- the command ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
@pytest.mark.parametrize("graph", ["karate", "rmat:9"])
@pytest.mark.parametrize("name", PRIMITIVES)
def test_every_phase_says_what_it_reads_and_writes(capsys, name, graph, backend):
    text = shown(capsys, name, graph, "--backend", backend)
    parts = re.findall(r"^ *phase \d+: .*?\n *barrier$", text, re.MULTILINE | re.DOTALL)
    assert parts
    for part in parts:
        lines = [line.strip() for line in part.splitlines()[:-1]]
        assert [line.split()[0] for line in lines[-2:]] == ["reads", "writes"], part
        assert lines[-1] != "writes nothing", part
    assert all(len(line) < 160 for line in text.splitlines())
    assert "0x" not in text
    assert "__" not in text
    assert " object " not in text


def test_the_command_shows_each_program_once(capsys):
    text = shown(capsys, "bfs")
    assert text.startswith("bfs on karate runs 1 program.\n\n---- program 1 of 1 ----\n\n# cpu: ")
    assert text == shown(capsys, "bfs", "karate", "--source", "3")
    assert "runs 2 programs" in shown(capsys, "sssp")


def test_the_command_takes_the_options_of_the_primitive(capsys):
    assert "float32" in shown(capsys, "pagerank", "--tolerance", "1e-4")
    assert cli.main(["explain", "nothing"]) == 2
    assert cli.main(["explain", "bfs", "--backend", "abacus"]) == 2


# ---- what cannot happen is left out --------------------------------------------------------------------------------


def named(nodes):
    return [node.title for node in nodes if isinstance(node, Phase)]


def test_tests_whose_outcome_is_known_are_left_out():
    form, other = Var("form_1"), Var("other_2")
    work, rest = Phase(expression(0), title="work"), Phase(expression(0), title="rest")  # type: ignore[arg-type]
    state = {form: frozenset({0, 3})}
    assert named(folded([Branch(equal(form, 1), [work], [rest])], state)) == ["rest"]
    assert named(folded([Assign(form, expression(1)), Branch(equal(form, 1), [work], [rest])], state)) == ["work"]
    (left,) = folded([Branch(both(differ(form, 1), equal(other, 2)), [work])], state)
    assert left.condition.operands[0] is other
    (outer,) = folded([Branch(equal(form, 0), [Branch(equal(form, 3), [work], [rest])])], state)
    assert named(outer.yes) == ["rest"]
    assert folded([Leave("DONE"), work], state)[1:] == []


def test_a_loop_may_come_back_with_what_it_did():
    form = Var("form_1")
    work = Phase(expression(0), [Assign(form, expression(4))], title="work")  # type: ignore[arg-type]
    test = Branch(equal(form, 4), [Phase(expression(0), title="listed")])  # type: ignore[arg-type]
    (loop, after) = folded(
        [Loop([Exit(unless=equal(form, 0)), Region("", [test, work])]), test], {form: frozenset({0})}
    )
    assert named(loop.body[1].body) == ["work"]  # where the form is 4, the loop is left
    assert named([after]) == ["listed"]
