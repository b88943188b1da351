"""A minimum spanning forest (Boruvka, 1926): every tree takes the lightest edge that leaves it, all at the same time.

    python examples/boruvka.py [--backend cpu|python|cuda] [GRAPH]

Among edges of equal weight, the one with the lower endpoints counts as lighter. So no cycle can arise, except that two
trees may take the same edge. Trees are then joined as in ``examples/components.py``. GRAPH is a file with edge weights
that ``fr.read`` knows, read as undirected; the default is Zachary's karate club with random weights.
"""

import argparse

import networkx as nx
import numpy as np

import frontier as fr


def between(p, src, dst):
    """Keep edges between different trees."""
    return p.tree[src] != p.tree[dst]


def forget(p, v):
    """Reset the choice of every tree."""
    p.lightest[v] = np.inf
    p.taken[v] = p.none


def weigh(p, src, weight):
    """Find the least weight of an edge that leaves the tree of src."""
    fr.atomic_min(p.lightest, p.tree[src], weight)


def take(p, src, dst, weight):
    """Among the edges of that weight, choose the one with the lowest endpoints."""
    if weight == p.lightest[p.tree[src]]:
        fr.atomic_min(p.taken, p.tree[src], min(src, dst) * p.n + max(src, dst))


def hang(p, v):
    """Attach a root to the tree at the other end of its edge; if two trees chose each other, the lower root stays."""
    edge = p.taken[v]
    p.above[v] = p.tree[v]
    if edge == p.none:
        return
    other = p.tree[edge // p.n] + p.tree[edge % p.n] - v
    if p.taken[other] == edge and v < other:
        return
    p.above[v] = other
    p.chosen[v] = edge


def jump(p, v):
    """Point to the parent's parent; keep v until it points to a root."""
    above = p.tree[v]
    p.tree[v] = p.tree[above]
    return p.tree[v] != above


class Boruvka(fr.Enactor):
    """Repeat rounds until no edge joins different trees."""

    loop = fr.Loop(
        fr.Filter(between),
        fr.Compute(forget, over="vertices"),
        fr.Compute(weigh),
        fr.Compute(take),
        fr.Compute(hang, over="vertices"),
        fr.Swap("tree", "above"),
        fr.Loop(fr.Filter(jump), over="vertices"),
        over="edges",
        count="rounds",
    )


def spanning_forest(g):
    """The problem: ``chosen`` has src * n + dst for each edge of the forest, in any order, and -1."""
    n = g.num_vertices
    p = fr.Problem(
        g,
        tree=fr.vertex("int64", np.arange(n)),
        above=fr.vertex("int64"),
        lightest=fr.vertex("float64"),
        taken=fr.vertex("int64"),
        chosen=fr.vertex("int64", -1),
        n=fr.scalar("int64", n),
        none=fr.scalar("int64", n * n),
        rounds=fr.scalar("int64"),
    )
    Boruvka(p).run()
    return p


def main(arguments=None):
    """Find the forest, compare it with NetworkX's, and print its weight."""
    parser = argparse.ArgumentParser(description="minimum spanning forest")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph, directed=False) if options.graph else fr.karate(weights=(1, 100), seed=1)

    p = spanning_forest(g.to(options.backend))
    edges = [divmod(edge, g.num_vertices) for edge in p.chosen.tolist() if edge != -1]
    whole = fr.to_networkx(g)
    forest = whole.edge_subgraph(edges)
    assert nx.is_forest(forest)
    assert len(edges) == g.num_vertices - nx.number_connected_components(whole)
    total = forest.size("weight")
    assert np.isclose(total, nx.minimum_spanning_tree(whole).size("weight"))
    print(f"{len(edges)} edges of weight {total:g} in all, found in {p.rounds} rounds")
    return p


if __name__ == "__main__":
    main()
