"""Contagion with thresholds: who joins once enough of those around have joined (Granovetter, 1978).

    python examples/contagion_threshold.py [--backend cpu|python|cuda] [GRAPH]

In the linear threshold model each vertex has a threshold, here a random fraction of the weight of its in-edges. It
joins as soon as the in-edges from those who have joined weigh that much. Only edges of those who joined in the last
round are looked at. GRAPH is a file with positive integers as edge weights that ``fr.read`` knows; the default is
Zachary's karate club with random weights.
"""

import argparse
import math

import numpy as np

import frontier as fr


def weight_of_edge(p, weight):
    """All in-edges of a vertex are added up."""
    return weight


def set_threshold(p, v):
    """Draw the threshold of v; nobody joins without a neighbour who has."""
    p.threshold[v] = max(1, math.ceil(p.share * (0.5 + fr.random(p.seed, v)) * p.weight_in[v]))


def outside(p, dst):
    """Whether dst has not joined."""
    return p.since[dst] == -1


def press(p, dst, weight):
    """Count the edge of someone who has just joined."""
    fr.atomic_add(p.pressure, dst, weight)
    return True


def join(p, v):
    """Let v join if the pressure has reached its threshold."""
    if p.pressure[v] < p.threshold[v]:
        return False
    p.since[v] = p.round
    return True


class Contagion(fr.Enactor):
    """Draw the thresholds; then, round by round, those who have joined press on those who have not."""

    loop = (
        fr.Gather(weight_of_edge, "sum", into="weight_in", over="vertices"),
        fr.Compute(set_threshold, over="vertices"),
        fr.Loop(fr.Advance(press, where=outside), fr.Filter(join), count="round"),
    )


def contagion(g, first, share=0.5, seed=1):
    """The problem: ``since`` is the round in which each vertex has joined, 0 for the first, -1 for never."""
    p = fr.Problem(
        g,
        weight_in=fr.vertex("int64"),
        threshold=fr.vertex("int64"),
        pressure=fr.vertex("int64"),
        since=fr.vertex("int32", -1),
        round=fr.scalar("int32"),
        share=fr.scalar("float64", share),
        seed=fr.scalar("int64", seed),
    )
    p.since[first] = 0
    Contagion(p).run(fr.Frontier(g, first))
    return p


def contagion_one_by_one(g, first, threshold):
    """The same by adding up all in-edges of every vertex in every round."""
    edges = list(zip(g.sources.tolist(), g.targets.tolist(), g.weights.tolist(), strict=True))
    since = [0 if v in first else -1 for v in range(g.num_vertices)]
    joined, number = set(first), 0
    while joined:
        number += 1
        pressure = [0] * g.num_vertices
        for u, v, weight in edges:
            pressure[v] += weight if since[u] >= 0 else 0
        joined = {v for v in range(g.num_vertices) if since[v] < 0 and pressure[v] >= threshold[v]}
        for v in joined:
            since[v] = number
    return since


def main(arguments=None):
    """Let it spread from two vertices, check who joins when, and print it."""
    parser = argparse.ArgumentParser(description="the linear threshold model")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph) if options.graph else fr.karate(weights=(1, 9), seed=1)

    first = np.argsort(-g.out_degree, kind="stable")[:2].tolist()
    p = contagion(g.to(options.backend), first)
    since = p.since.tolist()
    assert since == contagion_one_by_one(g, first, p.threshold.tolist())
    joined = np.bincount([since for since in since if since >= 0])
    print(f"{joined.sum()} of {g.num_vertices} vertices join, round by round:", *joined)
    return p


if __name__ == "__main__":
    main()
