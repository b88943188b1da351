"""The programs of the operators' definition: eager and declared, on every backend, against other libraries."""

from __future__ import annotations

import networkx as nx
import numpy as np
import oracles
import programs
import pytest
from compare import WORKERS, close, equal, host, workers
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, graphs_with_vertex, random_graphs

import frontier as fr

FORMS = ("eager", "declared", "unfused")
UNFUSED = fr.Schedule(fuse=False)
forms = st.sampled_from(FORMS)
counts = st.sampled_from(WORKERS)


def execute(form, enactor, eager, p, frontier=None, schedule=None):
    if form == "eager":
        eager(p)
    else:
        schedule = schedule or fr.Schedule()
        enactor(p, schedule.replace(fuse=form == "declared")).run(frontier)


@given(graphs_with_vertex(weights=None), forms, counts, st.sampled_from(["auto", "push", "pull"]))
def test_bfs(backend, drawn, form, count, direction):
    g, source = drawn
    p = programs.bfs_problem(backend(g), source)
    with workers(count):
        start = fr.Frontier(p.graph, [source])
        execute(form, programs.BFS, programs.eager_bfs, p, start, fr.Schedule(direction=direction))
    equal(p.level, oracles.bfs_levels(g, source))
    programs.check_parents(g, host(p), source)
    # The last pass finds nothing, so the depth is one more than the deepest level.
    assert p.depth == int(p.level.max()) + 1


@given(graphs_with_vertex(weights=None), counts)
def test_bfs_from_a_scalar_and_in_free_python(backend, drawn, count):
    g, source = drawn
    expected = oracles.bfs_levels(g, source)
    with workers(count):
        p = programs.bfs_problem(backend(g), source)
        programs.BFSFromSource(p).run()
        equal(p.level, expected)
        p = programs.bfs_problem(backend(g), source)
        programs.FreeBFS(p).run(fr.Frontier(p.graph, [source]))
        equal(p.level, expected)


@pytest.mark.parametrize("dtype", ["int32", "float64"])
@given(st.data())
def test_sssp(backend, dtype, data):
    g, source = data.draw(graphs_with_vertex(weights=dtype))
    p = programs.sssp_problem(backend(g), source, data.draw(st.sampled_from([1, 3, 500])))
    with workers(data.draw(counts)):
        execute(data.draw(forms), programs.SSSP, programs.eager_sssp, p)
    close(p.distance, oracles.sssp_distances(g, source), rtol=1e-12)
    assert not p.far


@given(graphs(weights=None), forms, counts)
def test_components(backend, g, form, count):
    p = programs.components_problem(backend(g))
    with workers(count):
        execute(form, programs.Components, programs.eager_components, p)
    equal(p.label, oracles.components(g))


@given(graphs(weights=None), forms, counts)
def test_pagerank(backend, g, form, count):
    p = programs.pagerank_problem(backend(g))
    if g.num_vertices:
        with workers(count):
            execute(form, programs.PageRank, programs.eager_pagerank, p)
    close(p.rank, oracles.pagerank(g), atol=1e-9)


@given(graphs(weights=None, parallel=False), forms, counts)
def test_betweenness(backend, g, form, count):
    p = programs.brandes_problem(backend(g), range(g.num_vertices))
    with workers(count):
        execute(form, programs.Brandes, programs.eager_brandes, p)
    centrality = p.centrality if g.directed else p.centrality / 2
    close(centrality, oracles.betweenness(g), rtol=1e-9, atol=1e-9)


@given(graphs(directed=False, weights=None, parallel=False), forms, counts)
def test_kcore(backend, g, form, count):
    simple = nx.Graph(oracles.networkx_graph(g))
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))
    g = fr.from_networkx(simple)
    p = programs.kcore_problem(backend(g))
    with workers(count):
        execute(form, programs.KCore, programs.eager_kcore, p)
    expected = nx.core_number(simple)
    assert p.core.tolist() == [expected[v] for v in range(g.num_vertices)]


@pytest.mark.unsimulated("large graphs")
@pytest.mark.parametrize("count", [1, 4])
def test_larger_graphs(compiled, count):
    """Several pieces of work for every worker, full collecting arrays, and every program once."""
    for g in random_graphs(8, seed=20, min_vertices=1000, max_vertices=4000, weights="int32"):
        source = int(np.argmax(g.out_degree))
        g = compiled(g)
        with workers(count):
            p = programs.bfs_problem(g, source)
            programs.BFS(p).run(fr.Frontier(g, [source]))
            equal(p.level, oracles.bfs_levels(g, source))
            p = programs.sssp_problem(g, source, 700)
            programs.SSSP(p).run()
            equal(p.distance, oracles.sssp_distances(g, source))
            p = programs.components_problem(g)
            programs.Components(p).run()
            equal(p.label, oracles.components(g))
            p = programs.pagerank_problem(g)
            programs.PageRank(p).run()
            close(p.rank, oracles.pagerank(g), atol=1e-9)


def test_kcore_agrees_on_directed_graphs_with_self_loops(agree):
    for g in random_graphs(30, seed=21, max_vertices=40, weights=None, parallel=True):
        agree(g, programs.kcore_problem, lambda p: programs.KCore(p).run().k, 3)


def test_one_enactor_runs_twice(backend):
    g = backend(fr.karate())
    p = programs.bfs_problem(g, 0)
    enactor = programs.BFS(p)
    enactor.run(fr.Frontier(g, [0]))
    first = p.level.copy()
    passes = enactor.passes
    p.parent, p.level, p.depth = -1, -1, 0
    p.parent[0] = p.level[0] = 0
    assert enactor.run(fr.Frontier(g, [0])) is p
    equal(p.level, first)
    assert enactor.passes == passes == first.max() + 1
