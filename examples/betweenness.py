"""Betweenness from scratch: levels are recorded on the way forward and replayed on the way back.

    python examples/betweenness.py [--backend cpu|python|cuda] [GRAPH]

GRAPH is a file that ``fr.read`` knows; the default is Zachary's karate club.
"""

import argparse
from types import SimpleNamespace

import numpy as np

import frontier as fr


# begin out
def clear(p, v):
    """Reset the fields before the next source."""
    p.level[v] = -1
    p.sigma[v] = 0.0


def start(p, v):
    """One path leads to the source."""
    p.level[v] = 0
    p.sigma[v] = 1.0


def discover(p, src, dst):
    """Add the number of paths to src to that of dst; the first edge to reach dst puts it into the next level."""
    first = fr.atomic_cas(p.level, dst, -1, p.depth) == -1
    fr.atomic_add(p.sigma, dst, p.sigma[src])
    return first


def ahead(p, dst):
    """The target is one level farther. Stays true during the whole step, because every path must be counted."""
    return p.level[dst] == -1 or p.level[dst] == p.depth
# end out


# begin back
def share(p, src, dst):
    """What each path to dst passes back to src, if dst is one level farther; 0 otherwise."""
    return p.share[dst] if p.level[dst] == p.level[src] + 1 else 0.0


def accumulate(p, v):
    """Compute the dependency of the source on v, and what v passes back for each path to it."""
    delta = p.sigma[v] * p.sum[v]
    p.share[v] = (1.0 + delta) / p.sigma[v]
    if v != p.source:
        p.centrality[v] += delta
# end back


# begin problem
def problem(g, sources):
    """The fields for a computation from the given sources."""
    return fr.Problem(
        g,
        level=fr.vertex("int32", -1),
        sigma=fr.vertex("float64"),
        sum=fr.vertex("float64"),
        share=fr.vertex("float64"),
        centrality=fr.vertex("float64"),
        sources=fr.array(sources),
        turns=fr.scalar("int64", len(sources)),
        turn=fr.scalar("int64"),
        source=fr.scalar("int64"),
        depth=fr.scalar("int32"),
    )
# end problem


# begin eager
def one_source_eagerly(g, source):
    """What one source contributes, with the levels in a Python list."""
    p = problem(g, [source])
    p.source = source
    fr.compute(p, fr.Frontier.all(g), clear)
    f = fr.Frontier(g, [source])
    fr.compute(p, f, start)
    levels = []
    while f:
        levels.append(f)
        p.depth += 1
        f = fr.advance(p, f, discover, where=ahead, unique="claimed")
    for f in reversed(levels):
        fr.gather(p, f, share, "sum", into="sum", edges="out")
        fr.compute(p, f, accumulate)
    print(f"from vertex {source}: levels of {[len(f) for f in levels]} vertices")
    return p
# end eager


# begin declared
def next_source(p):
    """The source of this pass of the outer loop; ``turn`` counts passes from 1."""
    return p.sources[p.turn - 1]


class Betweenness(fr.Enactor):
    """All sources, one after another."""

    loop = fr.Loop(
        fr.Set(source=next_source, depth=0),
        fr.Compute(clear, over="vertices"),
        fr.Compute(start, over="source"),
        fr.Loop(
            fr.Advance(discover, where=ahead, unique="claimed"),
            over="source",
            count="depth",
            record="levels",
        ),
        fr.Loop(
            fr.Gather(share, "sum", into="sum", edges="out"),
            fr.Compute(accumulate),
            replay="levels",
        ),
        times="turns",
        count="turn",
    )


def betweenness(g, sources):
    """The centralities by one compiled function."""
    p = problem(g, sources)
    Betweenness(p).run()
    return p
# end declared


def main(arguments=None):
    """Compute one source eagerly and all by the declared loop, check both, and print the highest."""
    parser = argparse.ArgumentParser(description="betweenness from scratch")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = (fr.read(options.graph) if options.graph else fr.karate()).to(options.backend)

    # begin use
    one = one_source_eagerly(g, 0)
    assert np.allclose(one.centrality, betweenness(g, [0]).centrality)

    sources = np.arange(g.num_vertices)
    p = betweenness(g, sources)
    # In an undirected graph every pair has been counted from both of its ends.
    centrality = p.centrality if g.directed else p.centrality / 2
    result = SimpleNamespace(centrality=centrality, sources=sources, normalized=False)
    fr.verify.betweenness(g, result).raise_if_failed()
    for v in np.argsort(-centrality)[:3]:
        print(f"vertex {v}: {centrality[v]:.3f}")
    # end use
    return p


if __name__ == "__main__":
    main()
