"""A vertex cover of small weight, by local ratios in parallel rounds (Bar-Yehuda and Even, 1981).

    python examples/weighted_cover.py [--backend cpu|python|cuda] [GRAPH]

A cover contains an endpoint of every edge. Edges pay for vertices: in every round, edges that form a matching each pay
as much as both endpoints still lack, so that one of them is paid for and joins the cover. No vertex gets more than its
price, so every cover costs at least what all edges pay, and this one costs at most twice as much. GRAPH is a file that
``fr.read`` knows, read as undirected; the default is Zachary's karate club. Prices are random.
"""

import argparse

import numpy as np

import frontier as fr


def lacking(p, src):
    """Whether a vertex has not been paid for yet."""
    return p.paid[src] < p.price[src]


def preference(p, src, dst):
    """A random number for this edge and round; an edge that has the greatest at both endpoints is matched."""
    return fr.random(p.round, min(src, dst) * p.n + max(src, dst))


def pay(p, src, dst, edge):
    """Let an edge pay if it is matched; its other direction does the same."""
    if p.paid[src] < p.price[src] and p.choice[src] == dst and p.choice[dst] == src:
        p.payment[edge] += min(p.price[src] - p.paid[src], p.price[dst] - p.paid[dst])


def payment(p, edge):
    """What an edge has paid so far."""
    return p.payment[edge]


def undecided(p, v):
    """Whether v has not been paid for, and had a neighbour for which that is so when the round began."""
    return p.paid[v] < p.price[v] and p.choice[v] != -1


class Cover(fr.Enactor):
    """Match, pay and add up, until every edge has an endpoint that is paid for."""

    loop = fr.Loop(
        fr.Gather(preference, "argmax", into="choice", where=lacking),
        fr.Compute(pay, over="edges"),
        fr.Gather(payment, "sum", into="paid"),
        fr.Filter(undecided),
        over="vertices",
        count="round",
    )


def cover(g, price):
    """The problem: vertices with ``paid`` equal to ``price`` cover an undirected graph without self-loops."""
    p = fr.Problem(
        g,
        price=fr.vertex("int64", price),
        paid=fr.vertex("int64"),
        choice=fr.vertex("int64", -1),
        payment=fr.edge("int64"),
        round=fr.scalar("int64"),
        n=fr.scalar("int64", g.num_vertices),
    )
    Cover(p).run()
    return p


def check(g, price, payment):
    """What the vertices of the cover cost and what edges have paid; no one pays too much, and every edge is covered."""
    payment = np.array(payment)
    edges = {}
    for u, v, amount in zip(g.sources.tolist(), g.targets.tolist(), payment.tolist(), strict=True):
        assert amount >= 0
        assert edges.setdefault((min(u, v), max(u, v)), amount) == amount
    paid = [0] * g.num_vertices
    for (u, v), amount in edges.items():
        paid[u] += amount
        paid[v] += amount
    assert all(paid[v] <= price[v] for v in range(g.num_vertices))
    inside = {v for v in range(g.num_vertices) if paid[v] == price[v]}
    assert all(u in inside or v in inside for u, v in edges)
    return inside, sum(edges.values())


def main(arguments=None):
    """Find a cover, check it, and print what it costs."""
    parser = argparse.ArgumentParser(description="a vertex cover of small weight")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph, directed=False, self_loops="drop") if options.graph else fr.karate()
    price = np.random.default_rng(1).integers(1, 10, g.num_vertices)

    p = cover(g.to(options.backend), price)
    inside, total = check(g, price.tolist(), p.payment.tolist())
    assert inside == set(np.flatnonzero(np.array(p.paid.tolist()) == price).tolist())
    cost = int(price[sorted(inside)].sum())
    assert cost <= 2 * total
    print(f"{len(inside)} vertices, found in {p.round} rounds, cost {cost}; no cover costs less than {total}")
    return p


if __name__ == "__main__":
    main()
