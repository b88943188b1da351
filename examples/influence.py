"""Influence maximisation: whom to tell some news so that it spreads widely (Kempe, Kleinberg and Tardos, 2003).

    python examples/influence.py [--backend cpu|python|cuda] [GRAPH]

In an independent cascade, each edge passes the news on with the same probability. So there are many possible worlds, in
each of which some edges do. A greedy choice takes the vertex that adds most to the vertices reached, on average over 63
worlds; it comes within a factor of 1 - 1/e of the best. The worlds are a batch: each has a bit in a number of every
vertex and edge, and one search serves all. GRAPH is a file that ``fr.read`` knows; the default is the karate club.
"""

import argparse

import frontier as fr

WORLDS, CHOICES, CHANCE = 63, 3, 0.1
ALL = 2**WORLDS - 1


def draw(p, edge):
    """Choose the worlds in which an edge passes the news on."""
    bits = 0
    for world in range(WORLDS):
        if fr.random(world, edge) < CHANCE:
            bits |= 1 << world
    p.open[edge] = bits


def next_candidate(p):
    """The candidates are all vertices, one after another."""
    return p.turn - 1


def forget(p, v):
    """Return to what those chosen so far have told."""
    p.heard[v] = p.told[v]


def tell(p, v):
    """The candidate knows the news in all worlds."""
    p.heard[v] = ALL


def spread(p, src, dst, edge):
    """Pass the news on in the worlds in which the edge is open; true if dst has not heard it there before."""
    news = p.heard[src] & p.open[edge] & ~p.heard[dst]
    return news != 0 and news & ~fr.atomic_or(p.heard, dst, news) != 0


def hearing(p, v):
    """The number of worlds in which v hears the news."""
    number, bits = 0, p.heard[v]
    while bits:
        bits &= bits - 1
        number += 1
    return number


def note(p, v):
    """Note what is reached with the candidate."""
    p.reach[v] = p.reached


class Cascade(fr.Enactor):
    """Let the candidate tell the news, besides those chosen before."""

    loop = (
        fr.Compute(forget, over="vertices"),
        fr.Compute(tell, over="candidate"),
        fr.Loop(fr.Advance(spread), over="candidate"),
    )


class Candidates(fr.Enactor):
    """Try all candidates."""

    loop = fr.Loop(
        fr.Set(candidate=next_candidate),
        *Cascade.loop,
        fr.Reduce(hearing, "sum", into="reached", over="vertices"),
        fr.Compute(note, over="candidate"),
        times="n",
        count="turn",
    )


def influence(g):
    """The problem, the vertices chosen, and how many they reach in all worlds together."""
    p = fr.Problem(
        g,
        open=fr.edge("int64"),
        heard=fr.vertex("int64"),
        told=fr.vertex("int64"),
        reach=fr.vertex("int64"),
        reached=fr.scalar("int64"),
        candidate=fr.scalar("int64"),
        turn=fr.scalar("int64"),
        n=fr.scalar("int64", g.num_vertices),
    )
    fr.compute(p, fr.Frontier.all(g, kind="edge"), draw)
    chosen = []
    for _ in range(CHOICES):
        p.turn = 0
        Candidates(p).run()
        p.candidate = int(p.reach.argmax())
        chosen.append(p.candidate)
        Cascade(p).run()
        p.told = p.heard
    return p, chosen, int(p.reach.max())


def influence_world_by_world(g):
    """The same with a search for each candidate in each world."""
    edges = list(zip(range(g.num_slots), g.sources.tolist(), g.targets.tolist(), strict=True))
    worlds = [[(u, v) for e, u, v in edges if fr.random(world, e) < CHANCE] for world in range(WORLDS)]

    def reach(sources):
        total = 0
        for world in worlds:
            heard = set(sources)
            while fresh := {v for u, v in world if u in heard} - heard:
                heard |= fresh
            total += len(heard)
        return total

    chosen = []
    for _ in range(CHOICES):
        chosen.append(max(range(g.num_vertices), key=lambda v: reach([*chosen, v])))
    return chosen, reach(chosen)


def main(arguments=None):
    """Choose vertices, check them, and print how many others hear the news."""
    parser = argparse.ArgumentParser(description="influence maximisation")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph) if options.graph else fr.karate()

    p, chosen, reached = influence(g.to(options.backend))
    assert (chosen, reached) == influence_world_by_world(g)
    names = ", ".join(map(str, g.labels_of(chosen)))
    print(f"told to {names}, the news reaches {reached / WORLDS:.1f} of {g.num_vertices} vertices on average")
    return p


if __name__ == "__main__":
    main()
