"""Earliest arrival times in a temporal graph, whose edges are contacts at one time each (Wu et al., VLDB 2014).

    python examples/temporal_bfs.py [--backend cpu|python|cuda] [GRAPH]

A contact passes news from one endpoint to the other if it happens after the news has arrived there. The earliest
arrival is found by a search that continues from every vertex whose arrival time has become earlier; the weight of an
edge is the time of its contact. GRAPH is a file with edge weights that ``fr.read`` knows; the default is Zachary's
karate club, with contacts at random times.
"""

import argparse

import numpy as np

import frontier as fr

NEVER = np.iinfo(np.int64).max


def tell(p, src, dst, weight):
    """Use a contact after the arrival at src; true if it makes the arrival at dst earlier."""
    return p.heard[src] < weight < p.heard[dst] and weight < fr.atomic_min(p.heard, dst, weight)


class News(fr.Enactor):
    """Continue from all vertices whose arrival time has become earlier."""

    loop = fr.Loop(fr.Advance(tell), over="source")


def earliest(g, source):
    """Earliest arrival at every vertex of news from the source at time 0, or NEVER; array of int64."""
    p = fr.Problem(g, heard=fr.vertex("int64", NEVER), source=fr.scalar("int64", source))
    p.heard[source] = 0
    News(p).run()
    return p.heard


def earliest_in_order(g, source):
    """The same by processing all contacts in the order of time."""
    contacts = sorted(zip(g.weights.tolist(), g.sources.tolist(), g.targets.tolist(), strict=True))
    heard = [NEVER] * g.num_vertices
    heard[source] = 0
    for time, src, dst in contacts:
        if heard[src] < time < heard[dst]:
            heard[dst] = time
    return heard


def main(arguments=None):
    """Find the times, check them, and print how the news spreads."""
    parser = argparse.ArgumentParser(description="earliest arrival over contacts in time")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph) if options.graph else fr.karate(weights=(1, 100), seed=1)

    heard = earliest(g.to(options.backend), 0)
    assert heard.tolist() == earliest_in_order(g, 0)
    reached = heard[heard < NEVER]
    print(f"{len(reached)} of {g.num_vertices} vertices hear of it, half of them by {int(np.median(reached))}")
    return heard


if __name__ == "__main__":
    main()
