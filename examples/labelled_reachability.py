"""Reachability by paths whose edge labels match a pattern, by a search over pairs of a vertex and a state.

    python examples/labelled_reachability.py [--backend cpu|python|cuda] [GRAPH]

Edges are walks, rides on a train, or flights. Allowed are journeys that begin and end with any number of walks and have
at most one train journey, of any number of rides, in between; in letters w* t* w*. An automaton reads the labels of a
path, and ``g.with_states`` has a vertex for each pair of a vertex and a state; a plain search answers the question.
GRAPH is a file with edge weights that ``fr.read`` knows: labels are the weights modulo 3. The default is Zachary's
karate club.
"""

import argparse

import numpy as np

import frontier as fr

WALK, TRAIN, FLIGHT = 0, 1, 2
#: Where each state leads by each label, -1: nowhere. State 0: no train yet; 1: on a train; 2: walking again.
LEADS = np.array([[0, 1, -1], [2, 1, -1], [2, -1, -1]])
STATES = len(LEADS)


def journeys(g, label, source):
    """Number of edges of the shortest journey from the source to every vertex, -1 if there is none; array of int64."""
    level = fr.bfs(g.with_states(LEADS, label), source * STATES).level
    by_state = np.array(level.tolist()).reshape(-1, STATES)
    shortest = np.where(by_state >= 0, by_state, by_state.max() + 1).min(axis=1)
    return np.where((by_state >= 0).any(axis=1), shortest, -1)


def journeys_one_by_one(g, label, source):
    """The same without the automaton: a search of pairs of a vertex and the kinds of edges used so far, in order."""
    offsets, targets = g.offsets.tolist(), g.targets.tolist()
    seen, level, length = {(source, "w")}, [(source, "w")], [-1] * g.num_vertices
    steps = 0
    while level:
        for v, _ in level:
            length[v] = steps if length[v] < 0 else length[v]
        found = {
            (targets[e], past if past.endswith("wtf"[label[e]]) else past + "wtf"[label[e]])
            for v, past in level
            for e in range(offsets[v], offsets[v + 1])
        }
        level = [pair for pair in found - seen if pair[1] in ("w", "wt", "wtw")]
        seen |= found
        steps += 1
    return length


def main(arguments=None):
    """Find the journeys, check them, and print how many vertices they reach."""
    parser = argparse.ArgumentParser(description="reachability by paths whose labels match a pattern")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph) if options.graph else fr.karate(weights=(1, 100), seed=1)

    label = g.weights.astype(np.int64) % 3
    length = journeys(g.to(options.backend), label, 0)
    assert length.tolist() == journeys_one_by_one(g, label.tolist(), 0)
    every = (fr.bfs(g, 0).level >= 0).sum()
    print(f"{(length >= 0).sum()} of {every} vertices are reached without a flight or a second train;")
    print(f"the longest journey takes {length.max()} edges")
    return length


if __name__ == "__main__":
    main()
