"""Personalised PageRank by random walks with restart: how often walks from a seed visit each vertex.

    python examples/restart_walks.py [--backend cpu|python|cuda] [GRAPH]

A walk follows an edge with the probability DAMPING, each edge being equally likely, and otherwise begins again at the
seed; so it does at a vertex without out-edges. Visits are counted until each walk has begun again, and their shares
approach the ranks (Fogaras et al., 2005). The more walks, the nearer: errors are a few times 1 / sqrt(walks). GRAPH is
a file that ``fr.read`` knows; the default is Zachary's karate club.
"""

import argparse

import numpy as np

import frontier as fr

DAMPING = 0.85


def walk(p, i):
    """Walk from the seed until walk i ends, and count its visits."""
    v = p.source
    fr.atomic_add(p.visits, v, 1)
    step = 0
    while fr.degree(p, v) > 0 and fr.random(p.seed + i, step) < p.damping:
        k = int(fr.random(p.seed + i, step + 1) * fr.degree(p, v))
        v = fr.target(p, fr.neighbours(p, v).start + k)
        fr.atomic_add(p.visits, v, 1)
        step += 2


class Walks(fr.Enactor):
    """All walks at the same time."""

    loop = fr.Compute(walk, over="walks")


def visits(g, source, walks, seed=1):
    """The problem: ``visits`` says how often the walks came to each vertex."""
    p = fr.Problem(
        g,
        visits=fr.vertex("int64"),
        source=fr.scalar("int64", source),
        damping=fr.scalar("float64", DAMPING),
        walks=fr.scalar("int64", walks),
        seed=fr.scalar("int64", seed),
    )
    Walks(p).run()
    return p


def main(arguments=None):
    """Walk, compare the shares of visits with the ranks, and print the most visited vertices."""
    parser = argparse.ArgumentParser(description="random walks with restart")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph) if options.graph else fr.karate()

    walks = 3000
    p = visits(g.to(options.backend), 0, walks)
    counted = np.array(p.visits.tolist())
    share = counted / counted.sum()
    rank = fr.personalized_pagerank(g, 0, damping=DAMPING).rank
    # Four standard deviations; for walks that visit the seed only once, or always, it is less.
    assert np.allclose(share, rank, rtol=0, atol=5.5 / walks**0.5)
    for v in np.argsort(-share, kind="stable")[:3]:
        print(f"vertex {v}: {share[v]:.1%} of all visits, and its rank is {rank[v]:.1%}")
    print(f"the greatest error is {np.abs(share - rank).max():.2%}")
    return p


if __name__ == "__main__":
    main()
