"""Trace: rows and sums of eager and fused runs on both backends; table, JSON, Chrome's format."""

from __future__ import annotations

import json

import numpy as np
import programs
import pytest
from compare import host, workers

import frontier as fr
from frontier.backends.run import execution

G = fr.from_edges(
    np.repeat(np.arange(40), 3), np.arange(120) * 7 % 40, np.arange(120) % 5 + 1, num_vertices=40, directed=False
)
PUSH = fr.Schedule(direction="push")
STEP = "Advance(visit, unvisited)"


def traced_bfs(g, schedule=PUSH, **options):
    p = programs.bfs_problem(g, 0)
    with fr.trace() as t:
        programs.BFS(p, schedule).run(fr.Frontier(g, [0]), **options)
    return p, t


def steps(t):
    return [row for row in t.rows if not row.step.startswith("compile")]


def test_rows_of_a_bfs(backend):
    p, t = traced_bfs(backend(G))
    p, rows = host(p), steps(t)
    sizes = [int((p.level == k).sum()) for k in range(p.level.max() + 2)]
    assert [row.number for row in rows] == list(range(1, len(rows) + 1))
    assert [row.size_in for row in rows] == sizes[:-1]
    assert [row.size_out for row in rows] == sizes[1:]
    assert [row.edges for row in rows] == [int(G.out_degree[p.level == k].sum()) for k in range(len(rows))]
    assert {(row.step, row.direction, row.backend) for row in rows} == {(STEP, "push", backend.name)}
    assert all(row.seconds >= 0 for row in rows)
    total = t.totals[STEP]
    assert (total.calls, total.edges) == (len(rows), sum(row.edges for row in rows))
    assert t.seconds == pytest.approx(sum(row.seconds for row in rows))
    assert t.lost == 0


def facts(t):
    return [(r.number, r.step, r.size_in, r.size_out) for r in steps(t)]


@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("program", ["sssp", "brandes", "kcore"])
def test_backends_tell_the_same_of_every_construct(compiled, program, fuse):
    told = []
    for g in (G.to("python"), compiled(G)):
        made = {
            "sssp": lambda g=g: (programs.SSSP, programs.sssp_problem(g, 0, 3)),
            "brandes": lambda g=g: (programs.Brandes, programs.brandes_problem(g, [0, 5])),
            "kcore": lambda g=g: (programs.KCore, programs.kcore_problem(g)),
        }[program]()
        with fr.trace() as t:
            made[0](made[1], PUSH.replace(fuse=fuse)).run()
        told.append(facts(t))
    if program == "sssp":  # how often a vertex is relaxed depends on the order of calls
        told = [{step for _, step, *_ in one} for one in told]
        assert len(told[0]) == 5
    assert told[1] == told[0]


def test_pull_counts_what_it_examines(compiled):
    p, t = traced_bfs(compiled(G), fr.Schedule(direction="pull"))
    rows = steps(t)
    assert {row.direction for row in rows} == {"pull"}
    assert all(0 < row.edges <= G.num_slots for row in rows[:1])
    assert sum(row.size_out for row in rows) == (p.level > 0).sum()


def test_eager_calls(backend):
    g = backend(G)
    p = programs.bfs_problem(g, 0)
    with fr.trace() as t:
        programs.eager_bfs(p)
    rows = steps(t)
    assert len(rows) == p.depth
    assert {row.step for row in rows} == {STEP}


def test_the_balance_is_told():
    _, t = traced_bfs(G, fr.Schedule(direction="push", balance="thread"))
    assert {row.balance for row in steps(t)} == {"thread"}
    _, t = traced_bfs(G)
    assert {row.balance for row in steps(t)} == {"merge_path"}


def test_a_ring_keeps_the_last_rows_and_sums_of_all(compiled, monkeypatch):
    monkeypatch.setattr(execution, "ROWS", 4)
    monkeypatch.setattr(execution, "NANOSECONDS", 10**12)  # each call begins with an empty ring
    g = compiled(fr.path(50))
    _, t = traced_bfs(g)
    assert [row.number for row in steps(t)] == [47, 48, 49, 50]
    assert t.lost == 46
    assert t.totals[STEP].calls == 50
    assert t.totals[STEP].edges == g.num_slots
    assert "46 earlier rows are only in the sums" in str(t)


def test_rows_of_a_run_in_parts(compiled):
    g = compiled(G)
    whole = facts(traced_bfs(g)[1])
    assert facts(traced_bfs(g, on_step=lambda e: None)[1]) == whole
    with workers(3):
        assert facts(traced_bfs(g)[1]) == whole


def fresh_functor():
    number = np.random.default_rng().integers(2**40).item()  # in no cache of code

    def fn(p, v):
        p.level[v] = v + number % 7

    return fn


@pytest.mark.unsimulated("it does not compile")
def test_compiling_has_a_row_of_its_own(compiled):
    p = programs.bfs_problem(compiled(G), 0)
    fn = fresh_functor()
    with fr.trace() as t:
        fr.compute(p, fr.Frontier.all(p.graph), fn)
        fr.compute(p, fr.Frontier.all(p.graph), fn)
    assert [row.step for row in t.rows] == ["compile Compute(fn)", "Compute(fn)", "Compute(fn)"]
    assert t.compile_seconds == t.rows[0].compile_seconds > 0
    assert t.rows[0].backend == compiled.name
    assert t.seconds < t.compile_seconds


def test_nothing_is_collected_outside(backend):
    with fr.trace() as outer:
        with fr.trace() as inner:
            traced_bfs(backend(G))
        traced_bfs(backend(G))
    assert len(steps(outer)) == 2 * len(steps(inner)) > 0
    before = len(outer)
    g = backend(G)
    programs.BFS(programs.bfs_problem(g, 0)).run(fr.Frontier(g, [0]))
    assert len(outer) == before


def test_table(backend):
    _, t = traced_bfs(backend(G))
    text = str(t).splitlines()
    assert text[0].split() == ["pass", "step", "direction", "balance", "in", "out", "edges", "ms", "GTEPS", "backend"]
    assert len(text) == len(t) + 3
    assert STEP in text[2 + len(t) - 1]
    assert f" in {len(steps(t))} steps" in text[-1]  # and what it took to compile them, in a test that runs first
    assert repr(t).startswith(f"Trace({len(t)} rows")


def test_json(backend, tmp_path):
    _, t = traced_bfs(backend(G))
    made = json.loads(t.to_json(tmp_path / "t.json"))
    assert json.loads((tmp_path / "t.json").read_text()) == made
    assert len(made["rows"]) == len(t)
    assert {"number", "step", "direction", "balance", "size_in", "size_out", "edges", "milliseconds", "gteps",
            "compile_seconds", "backend"} <= made["rows"][0].keys()  # fmt: skip
    assert made["totals"][0]["step"] == STEP
    assert made["lost"] == 0


def test_chrome(backend, tmp_path):
    _, t = traced_bfs(backend(G))
    events = json.loads(t.to_chrome(tmp_path / "t.json"))["traceEvents"]
    assert (tmp_path / "t.json").exists()
    assert len(events) == len(t)
    assert all(event["ph"] == "X" and event["dur"] >= 0 for event in events)
    ends = [event["ts"] + event["dur"] for event in events]
    assert [event["ts"] for event in events[1:]] == pytest.approx(ends[:-1])
    assert events[-1]["args"]["in"] == steps(t)[-1].size_in
