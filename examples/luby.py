"""A maximal independent set: vertices without an edge between any two, to which none can be added (Luby, 1986).

    python examples/luby.py [--backend cpu|python|cuda] [GRAPH]

In every round each undecided vertex draws a random number. A vertex whose number is less than those of all its
undecided neighbours joins the set, and its neighbours are excluded. GRAPH is a file that ``fr.read`` knows, read as
undirected; the default is Zachary's karate club.
"""

import argparse

import frontier as fr

UNDECIDED, IN, OUT = 0, 1, 2


def draw(p, v):
    """A random number for this round, made unique by the vertex's id."""
    p.number[v] = fr.hash(p.round * p.n + v) % 2**32 * p.n + v


def undecided(p, src):
    """Only undecided neighbours count."""
    return p.state[src] == UNDECIDED


def number(p, src):
    """The number that a neighbour has drawn."""
    return p.number[src]


def join(p, v):
    """Put v into the set if its number is less than those of its neighbours."""
    if p.number[v] < p.lowest[v]:
        p.state[v] = IN


def joined(p, src):
    """Whether a neighbour is in the set."""
    return p.state[src] == IN


def drop(p, v):
    """Exclude v if a neighbour is in the set; keep v in the frontier while it is undecided."""
    if p.state[v] == UNDECIDED and p.beside[v]:
        p.state[v] = OUT
    return p.state[v] == UNDECIDED


class Luby(fr.Enactor):
    """Repeat rounds until all vertices are decided."""

    loop = fr.Loop(
        fr.Compute(draw),
        fr.Gather(number, "min", into="lowest", where=undecided),
        fr.Compute(join),
        fr.Gather(joined, "any", into="beside"),
        fr.Filter(drop),
        over="vertices",
        count="round",
    )


def independent_set(g):
    """The problem: ``state`` is IN or OUT for every vertex of an undirected graph without self-loops."""
    p = fr.Problem(
        g,
        state=fr.vertex("int8", UNDECIDED),
        number=fr.vertex("int64"),
        lowest=fr.vertex("int64"),
        beside=fr.vertex("bool"),
        round=fr.scalar("int64"),
        n=fr.scalar("int64", g.num_vertices),
    )
    Luby(p).run()
    return p


def main(arguments=None):
    """Find the set, check it by its definition, and print its size."""
    parser = argparse.ArgumentParser(description="a maximal independent set")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph, directed=False, self_loops="drop") if options.graph else fr.karate()

    p = independent_set(g.to(options.backend))
    state = p.state.tolist()
    for v in range(g.num_vertices):
        around = [state[u] for u in g.targets[g.offsets[v] : g.offsets[v + 1]].tolist()]
        assert state[v] == (OUT if IN in around else IN)
    print(f"{state.count(IN)} of {g.num_vertices} vertices, found in {p.round} rounds")
    return p


if __name__ == "__main__":
    main()
