"""Communities by label propagation (CDLP), as the LDBC Graphalytics benchmark defines it.

    python examples/cdlp.py [--backend cpu|python|cuda] [GRAPH]

Every vertex begins with its own id as its label. In every round all vertices simultaneously take the label that is most
frequent among their neighbours, the smallest one of several (Raghavan, Albert and Kumara, 2007, made deterministic).
Directed edges are followed in both directions. A vertex with d neighbours counts their labels in a hash table of d
slots, its own slots of two edge fields, so hubs do no harm. GRAPH is a file that ``fr.read`` knows; the default is
Zachary's karate club. The same algorithm, ready to use, is ``fr.label_propagation``.
"""

import argparse
from collections import Counter

import numpy as np

import frontier as fr


def own(p, v):
    """Make every vertex a community of its own."""
    p.label[v] = v


def find(p, first, size, label):
    """The slot of a label in the table of ``size`` slots from ``first`` on; a new label takes a free slot."""
    slot = first + fr.hash(label) % size
    while True:
        held = p.key[slot]
        if held == -1:
            held = fr.atomic_cas(p.key, slot, -1, label)
        if held == -1 or held == label:
            return slot
        slot = slot + 1 if slot + 1 < first + size else first


def choose(p, v):
    """Take the most frequent label of v's neighbours; the smallest of several."""
    for e in fr.neighbours(p, v):
        p.key[e] = -1
        p.times[e] = 0
    best, most = p.label[v], 0
    for e in fr.neighbours(p, v):
        label = p.label[fr.target(p, e)]
        slot = find(p, fr.neighbours(p, v).start, fr.degree(p, v), label)
        times = p.times[slot] + 1
        p.times[slot] = times
        if times > most or (times == most and label < best):
            best, most = label, times
    p.next[v] = best


class Communities(fr.Enactor):
    """Run a number of rounds, each on the labels of the previous round."""

    loop = (
        fr.Compute(own, over="vertices"),
        fr.Loop(fr.Compute(choose, over="vertices"), fr.Swap("label", "next"), times="rounds"),
    )


def both_ways(g):
    """The graph with the reverse of every edge added; an undirected graph has them already."""
    if not g.directed:
        return g
    src, dst = np.concatenate([g.sources, g.targets]), np.concatenate([g.targets, g.sources])
    return fr.from_edges(src, dst, num_vertices=g.num_vertices, directed=True, duplicates="keep")


def communities(g, rounds):
    """Label of every vertex after some rounds, in a graph with edges in both directions; array of int64."""
    p = fr.Problem(
        g,
        label=fr.vertex("int64"),
        next=fr.vertex("int64"),
        key=fr.edge("int64"),
        times=fr.edge("int64"),
        rounds=fr.scalar("int64", rounds),
    )
    Communities(p).run()
    return p.label


def communities_one_by_one(g, rounds):
    """The same in plain Python."""
    label = list(range(g.num_vertices))
    for _ in range(rounds):
        before = label[:]
        for v in range(g.num_vertices):
            around = Counter(before[u] for u in g.targets[g.offsets[v] : g.offsets[v + 1]].tolist())
            if around:
                label[v] = min(around, key=lambda x: (-around[x], x))
    return label


def main(arguments=None):
    """Find the communities, check them, and print how large they are."""
    parser = argparse.ArgumentParser(description="communities by label propagation")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = both_ways(fr.read(options.graph) if options.graph else fr.karate())

    label = communities(g.to(options.backend), rounds=5)
    assert label.tolist() == communities_one_by_one(g, rounds=5)
    for community, size in zip(*np.unique(label, return_counts=True), strict=True):
        print(f"community {community}: {size} vertices")
    return label


if __name__ == "__main__":
    main()
