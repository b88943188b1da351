"""An epidemic: vertices are susceptible, then ill for some days, then immune (SIR; Kermack and McKendrick, 1927).

    python examples/epidemic.py [--backend cpu|python|cuda] [GRAPH]

Every day, whoever is ill infects each susceptible neighbour with the same probability. The frontier holds the ill: a
pile joins those who are still ill and those who have just been infected. Chance depends on the day and the edge only,
so it is the same on every backend. GRAPH is a file that ``fr.read`` knows; the default is Zachary's karate club.
"""

import argparse

import numpy as np

import frontier as fr


def still_ill(p, v):
    """Whether v, infected some days ago, has not recovered yet."""
    return p.day - p.since[v] <= p.lasts


def susceptible(p, dst):
    """Whether dst was never infected."""
    return p.since[dst] == -1


def infect(p, dst, edge):
    """Infect dst along an edge by chance; true for one of the calls that infect it."""
    return fr.random(p.seed + p.day, edge) < p.chance and fr.atomic_cas(p.since, dst, -1, p.day) == -1


class Epidemic(fr.Enactor):
    """A pass is a day; ill are those of the day before who have not recovered, and the newly infected."""

    loop = fr.Loop(
        fr.Filter(still_ill),
        fr.Put("ill"),
        fr.Advance(infect, where=susceptible, unique="claimed"),
        fr.Put("ill"),
        take="ill",
        count="day",
    )


def epidemic(g, first, chance=0.12, lasts=3, seed=1):
    """The problem: ``since`` is the day on which each vertex was infected, -1 for never; ``day`` the last day."""
    p = fr.Problem(
        g,
        since=fr.vertex("int32", -1),
        ill=fr.pile(),
        day=fr.scalar("int32"),
        lasts=fr.scalar("int32", lasts),
        chance=fr.scalar("float64", chance),
        seed=fr.scalar("int64", seed),
    )
    p.since[first] = 0
    p.ill = [first]
    Epidemic(p).run()
    return p


def epidemic_day_by_day(g, first, chance=0.12, lasts=3, seed=1):
    """The same with a list of the ill."""
    offsets, targets = g.offsets.tolist(), g.targets.tolist()
    since = [-1] * g.num_vertices
    since[first] = day = 0
    ill = [first]
    while ill:
        day += 1
        ill = [v for v in ill if day - since[v] <= lasts]
        for v in list(ill):
            for edge in range(offsets[v], offsets[v + 1]):
                if since[targets[edge]] == -1 and fr.random(seed + day, edge) < chance:
                    since[targets[edge]] = day
                    ill.append(targets[edge])
    return since, day


def main(arguments=None):
    """Let a disease spread, check the days of infection, and print the course of the epidemic."""
    parser = argparse.ArgumentParser(description="an epidemic")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph) if options.graph else fr.karate()

    p = epidemic(g.to(options.backend), 0)
    since = p.since.tolist()
    assert (since, p.day) == epidemic_day_by_day(g, 0)
    infected = np.bincount([day for day in since if day >= 0])
    print(f"{infected.sum()} of {g.num_vertices} vertices fall ill; nobody is ill on day {p.day}")
    print("newly infected, day by day:", *infected)
    return p


if __name__ == "__main__":
    main()
