"""The six programs of the operators' definition, declared and eager, for the tests.

Functors, steps and loops stand at module level, because each distinct one compiles once; graphs, frontiers
and options vary at run time. Functors take no part in the answer's order: what they leave behind is the
same however the edges are shared, except for parents, which :func:`check_parents` judges.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import frontier as fr

# -- breadth-first search --------------------------------------------------------------------------


def visit(p, src, dst):
    """Claim dst for src; whoever is first keeps it."""
    if fr.atomic_cas(p.parent, dst, -1, src) == -1:
        p.level[dst] = p.depth
        return True
    return False


def unvisited(p, dst):
    return p.parent[dst] == -1


class BFS(fr.Enactor):
    loop = fr.Loop(fr.Advance(visit, where=unvisited, unique="claimed"), count="depth")


class BFSFromSource(fr.Enactor):
    loop = fr.Loop(fr.Advance(visit, where=unvisited, unique="claimed"), over="source", count="depth")


class FreeBFS(fr.Enactor):
    """In free Python: runs operator by operator."""

    def step(self, frontier):
        self.problem.depth += 1
        return fr.advance(self.problem, frontier, visit, where=unvisited)


def bfs_problem(g: fr.Graph, source: int) -> fr.Problem:
    p = fr.Problem(
        g,
        parent=fr.vertex("int32", -1, combine="claim"),
        level=fr.vertex("int32", -1, combine="min"),
        depth=fr.scalar("int32", 0),
        source=fr.scalar("int32", source),
    )
    p.parent[source] = source
    p.level[source] = 0
    return p


def eager_bfs(p: fr.Problem) -> None:
    f = fr.Frontier(p.graph, [int(p.source)])
    while f:
        p.depth += 1
        f = fr.advance(p, f, visit, where=unvisited)


def check_parents(g: fr.Graph, p: fr.Problem, source: int) -> None:
    """Every reached vertex but the source has an in-neighbour one level above as its parent."""
    assert p.parent[source] == source
    assert ((p.parent == -1) == (p.level == -1)).all()
    edges = set(zip(g.sources.tolist(), g.targets.tolist(), strict=True))
    for v in np.flatnonzero(p.level > 0).tolist():
        u = int(p.parent[v])
        assert (u, v) in edges
        assert p.level[u] == p.level[v] - 1


# -- shortest paths with a near and a far pile --------------------------------------------------------


def relax(p, src, dst, weight):
    new = p.distance[src] + weight
    return new < fr.atomic_min(p.distance, dst, new)


def near(p, v):
    return p.distance[v] < p.limit


def fresh(p, v):
    return p.distance[v] >= p.limit


def distance(p, v):
    return p.distance[v]


def widen(p):
    return p.lowest + p.delta


class SSSP(fr.Enactor):
    loop = fr.Loop(
        fr.Filter(fresh),
        fr.Reduce(distance, "min", into="lowest"),
        fr.Set(limit=widen),
        fr.Split(near, rest="far"),
        fr.Loop(fr.Advance(relax), fr.Split(near, rest="far")),
        take="far",
    )


def sssp_problem(g: fr.Graph, source: int, delta: float) -> fr.Problem:
    assert g.weights is not None
    real = g.weights.dtype.kind == "f"
    dtype = "float64" if real else "int64"
    p = fr.Problem(
        g,
        distance=fr.vertex(dtype, np.inf if real else np.iinfo(np.int64).max, combine="min"),
        lowest=fr.scalar(dtype),
        limit=fr.scalar(dtype),
        delta=fr.scalar(dtype, delta),
        far=fr.pile(),
    )
    p.distance[source] = 0
    p.far = [source]
    return p


def eager_sssp(p: fr.Problem) -> None:
    while p.far:
        f = fr.filter(p, fr.take(p, "far"), fresh)
        fr.reduce(p, f, distance, "min", into="lowest")
        fr.set(p, limit=widen)
        f, _ = fr.split(p, f, near, rest="far")
        while f:
            f, _ = fr.split(p, fr.advance(p, f, relax), near, rest="far")


# -- components over an edge frontier -------------------------------------------------------------------


def hook(p, src, dst):
    """Hook the higher root below the lower; look at the edge again until both ends agree."""
    a = p.label[src]
    b = p.label[dst]
    if a == b:
        return False
    fr.atomic_min(p.label, max(a, b), min(a, b))
    return True


def jump(p, v):
    parent = p.label[v]
    above = p.label[parent]
    if parent == above:
        return False
    p.label[v] = above
    return True


class Components(fr.Enactor):
    loop = fr.Loop(fr.Filter(hook), fr.Loop(fr.Filter(jump), over="vertices"), over="edges")


def components_problem(g: fr.Graph) -> fr.Problem:
    return fr.Problem(g, label=fr.vertex("int32", np.arange(g.num_vertices), combine="min"))


def eager_components(p: fr.Problem) -> None:
    f = fr.Frontier.all(p.graph, kind="edge")
    while f:
        f = fr.filter(p, f, hook)
        v = fr.Frontier.all(p.graph)
        while v:
            v = fr.filter(p, v, jump)


# -- PageRank -----------------------------------------------------------------------------------------------


def stuck(p, v):
    return p.rank[v] if p.degree[v] == 0 else 0.0


def hand_out(p, v):
    p.share[v] = p.rank[v] / p.degree[v] if p.degree[v] > 0 else 0.0


def share(p, src):
    return p.share[src]


def renew(p, v):
    new = (1.0 - p.damping) / p.n + p.damping * (p.sum[v] + p.loose / p.n)
    change = abs(new - p.rank[v])
    p.rank[v] = new
    return change


def converged(p):
    return p.error < p.tolerance


class PageRank(fr.Enactor):
    loop = fr.Loop(
        fr.Reduce(stuck, "sum", into="loose"),
        fr.Compute(hand_out),
        fr.Gather(share, "sum", into="sum"),
        fr.Reduce(renew, "sum", into="error"),
        until=converged,
        over="vertices",
    )


def pagerank_problem(g: fr.Graph) -> fr.Problem:
    n = max(g.num_vertices, 1)
    return fr.Problem(
        g,
        rank=fr.vertex("float64", 1 / n),
        share=fr.vertex("float64"),
        sum=fr.vertex("float64"),
        degree=fr.vertex("int32", g.out_degree),
        n=fr.scalar("int64", n),
        damping=fr.scalar("float64", 0.85),
        tolerance=fr.scalar("float64", 1e-11),
        loose=fr.scalar("float64"),
        error=fr.scalar("float64"),
    )


def eager_pagerank(p: fr.Problem) -> None:
    f = fr.Frontier.all(p.graph)
    while f:
        fr.reduce(p, f, stuck, "sum", into="loose")
        fr.compute(p, f, hand_out)
        fr.gather(p, f, share, "sum", into="sum")
        if fr.reduce(p, f, renew, "sum", into="error") < p.tolerance:
            break


# -- betweenness ----------------------------------------------------------------------------------------------


def next_source(p):
    return p.sources[p.turn - 1]


def zero(p):
    return 0


def clear(p, v):
    p.level[v] = -1
    p.sigma[v] = 0.0
    p.delta[v] = 0.0


def seed(p, v):
    p.level[v] = 0
    p.sigma[v] = 1.0


def discover(p, src, dst):
    """Every path counts; whoever meets dst first brings it into the next level."""
    first = fr.atomic_cas(p.level, dst, -1, p.depth) == -1
    fr.atomic_add(p.sigma, dst, p.sigma[src])
    return first


def open_(p, dst):
    return p.level[dst] == -1 or p.level[dst] == p.depth


def depend(p, src, dst):
    if p.level[dst] != p.level[src] + 1:
        return 0.0
    return p.sigma[src] / p.sigma[dst] * (1.0 + p.settled[dst])


def collect(p, v):
    p.settled[v] = p.delta[v]
    if v != p.source:
        p.centrality[v] += p.delta[v]


class Brandes(fr.Enactor):
    loop = fr.Loop(
        fr.Set(source=next_source, depth=zero),
        fr.Compute(clear, over="vertices"),
        fr.Compute(seed, over="source"),
        fr.Loop(fr.Advance(discover, where=open_, unique="claimed"), over="source", count="depth", record="levels"),
        fr.Loop(fr.Gather(depend, "sum", into="delta", edges="out"), fr.Compute(collect), replay="levels"),
        times="turns",
        count="turn",
    )


def brandes_problem(g: fr.Graph, sources: Any) -> fr.Problem:
    return fr.Problem(
        g,
        level=fr.vertex("int32", -1),
        sigma=fr.vertex("float64"),
        delta=fr.vertex("float64"),
        settled=fr.vertex("float64"),
        centrality=fr.vertex("float64"),
        sources=fr.array(np.asarray(sources, dtype=np.int64)),
        turns=fr.scalar("int64", len(sources)),
        turn=fr.scalar("int64"),
        depth=fr.scalar("int32"),
        source=fr.scalar("int32"),
    )


def eager_brandes(p: fr.Problem) -> None:
    everything = fr.Frontier.all(p.graph)
    for _ in range(p.turns):
        p.turn += 1
        fr.set(p, source=next_source, depth=zero)
        fr.compute(p, everything, clear)
        f = fr.Frontier(p.graph, [int(p.source)])
        fr.compute(p, f, seed)
        levels = []
        while f:
            p.depth += 1
            levels.append(f)
            f = fr.advance(p, f, discover, where=open_, unique="claimed")
        for f in reversed(levels):
            fr.gather(p, f, depend, "sum", into="delta", edges="out")
            fr.compute(p, f, collect)


# -- k-core -----------------------------------------------------------------------------------------------------


def alive(p, v):
    return p.core[v] < 0


def degree(p, v):
    return p.degree[v]


def thin(p, v):
    return p.degree[v] <= p.k


def settle(p, v):
    p.core[v] = p.k


def standing(p, dst):
    return p.core[dst] < 0


def loosen(p, dst):
    return fr.atomic_add(p.degree, dst, -1) == p.k + 1


class KCore(fr.Enactor):
    loop = fr.Loop(
        fr.Filter(alive),
        fr.Reduce(degree, "min", into="k"),
        fr.Split(thin, rest="rest"),
        fr.Loop(fr.Compute(settle), fr.Advance(loosen, where=standing, unique="claimed")),
        take="rest",
    )


def kcore_problem(g: fr.Graph) -> fr.Problem:
    p = fr.Problem(
        g,
        core=fr.vertex("int32", -1),
        degree=fr.vertex("int32", g.out_degree),
        k=fr.scalar("int32"),
        rest=fr.pile(),
    )
    p.rest = fr.Frontier.all(g)
    return p


def eager_kcore(p: fr.Problem) -> None:
    while p.rest:
        f = fr.filter(p, fr.take(p, "rest"), alive)
        fr.reduce(p, f, degree, "min", into="k")
        f, _ = fr.split(p, f, thin, rest="rest")
        while f:
            fr.compute(p, f, settle)
            f = fr.advance(p, f, loosen, where=standing, unique="claimed")


def clear_bfs(p, v):
    """Forget a search, but for its source."""
    p.parent[v] = p.source if v == p.source else -1
    p.level[v] = 0 if v == p.source else -1
