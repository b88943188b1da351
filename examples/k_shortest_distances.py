"""The k shortest distances to every vertex: the least k lengths of walks from a source, all of them different.

    python examples/k_shortest_distances.py [--backend cpu|python|cuda] [GRAPH]

As in Bellman and Ford's algorithm, lengths of walks become lengths of walks that are one edge longer, until nothing
changes; here every vertex has K of them, in order. A gather finds the least length at each vertex that is greater than
the one before, K times. Walks may visit a vertex repeatedly. GRAPH is a file with positive edge weights that
``fr.read`` knows; the default is Zachary's karate club with random weights.
"""

import argparse
from heapq import heappop, heappush

import frontier as fr

K = 4
FAR = float("inf")


def begin(p, v):
    """No length was found in this round; all are greater than -1."""
    p.last[v] = -1.0


def beyond(p, src, dst, weight):
    """The least length of a walk by this edge that is greater than the last one found at dst."""
    for j in range(K):
        if p.far[src, j] + weight > p.last[dst]:
            return p.far[src, j] + weight
    return FAR


def keep(p, v):
    """Note the length that was found at v; at the source, the first is that of the walk without edges."""
    length = p.least[v]
    if v == p.source and p.rank == 1:
        length = 0.0
    p.next[v, p.rank - 1] = length
    p.last[v] = length


def differs(p, v):
    """Whether a round has changed a length of v."""
    changed = False
    for j in range(K):
        changed = changed or p.next[v, j] != p.far[v, j]
    return changed


def stable(p):
    """Whether a round has changed nothing."""
    return not p.changed


class Shortest(fr.Enactor):
    """Lengthen walks by one edge until the least lengths do not change."""

    loop = fr.Loop(
        fr.Set(rank=0),
        fr.Compute(begin, over="vertices"),
        fr.Loop(
            fr.Gather(beyond, "min", into="least", over="vertices"),
            fr.Compute(keep, over="vertices"),
            times=K,
            count="rank",
        ),
        fr.Reduce(differs, "any", into="changed", over="vertices"),
        fr.Swap("far", "next"),
        until=stable,
        count="rounds",
    )


def shortest(g, source):
    """The problem: ``far`` has the K least lengths of walks from the source to each vertex; inf if there are fewer."""
    p = fr.Problem(
        g,
        far=fr.vertex("float64", FAR, shape=K),
        next=fr.vertex("float64", FAR, shape=K),
        last=fr.vertex("float64"),
        least=fr.vertex("float64"),
        rank=fr.scalar("int64"),
        rounds=fr.scalar("int64"),
        changed=fr.scalar("bool"),
        source=fr.scalar("int64", source),
    )
    Shortest(p).run()
    return p


def shortest_in_order(g, source):
    """The same by Dijkstra's algorithm, in which a vertex is settled K times."""
    offsets, targets, weights = g.offsets.tolist(), g.targets.tolist(), g.weights.tolist()
    far, heap = [[] for _ in range(g.num_vertices)], [(0, source)]
    while heap:
        length, v = heappop(heap)
        if len(far[v]) < K and length not in far[v]:
            far[v].append(length)
            for e in range(offsets[v], offsets[v + 1]):
                heappush(heap, (length + weights[e], targets[e]))
    return [lengths + [FAR] * (K - len(lengths)) for lengths in far]


def main(arguments=None):
    """Find the lengths, check them, and print those of the vertex that is farthest away."""
    parser = argparse.ArgumentParser(description="the k shortest distances")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph) if options.graph else fr.karate(weights=(1, 100), seed=1)

    p = shortest(g.to(options.backend), 0)
    far = p.far.tolist()
    assert far == shortest_in_order(g, 0)
    farthest = max((lengths[0], v) for v, lengths in enumerate(far) if lengths[0] < FAR)[1]
    print(f"walks to vertex {farthest}:", *(f"{length:g}" for length in far[farthest]), f"(in {p.rounds} rounds)")
    return p


if __name__ == "__main__":
    main()
