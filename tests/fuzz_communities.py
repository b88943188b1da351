"""Communities of random small graphs against exact arithmetic: python -m tests.fuzz_communities [--graphs 10000].

Weights are integers of up to 2^62 in sum, or floats from 1e-310 to 1e300. Of what Louvain and Leiden find, modularity
is computed in fractions of integers, and so is what it gains if any vertex moves; Leiden's communities are connected.
The verifier is asked, too.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np

import frontier as fr

__all__ = ["campaign", "graph_of"]

#: Of a modularity, which is a sum of a few terms in float64; and of what a move gains by rounding.
CLOSE = 1e-13


def graph_of(seed: int) -> fr.Graph:
    """A graph of a few vertices: any edges, or cliques with some edges between them; loops and parallel edges too."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 25))
    m = int(rng.integers(0, 3 * n + 1))
    src = rng.integers(0, n, m)
    dst = rng.integers(0, n, m)
    if rng.random() < 0.5:  # mostly within parts
        parts = int(rng.integers(1, 5))
        inside = rng.random(m) < 0.8
        dst = np.where(inside, np.minimum(dst // parts * parts + src % parts, n - 1), dst)
    weights = _weights(rng, m)
    duplicates = "keep" if rng.random() < 0.3 else "first"
    return fr.from_edges(src, dst, weights, num_vertices=n, directed=False, duplicates=duplicates)


def _weights(rng: np.random.Generator, m: int) -> Any:
    """No weights, small integers, integers of a sum of up to 2^62 in both directions, or floats of any size."""
    kind = rng.integers(5)
    if kind == 0:
        return None
    if kind == 1:
        return rng.integers(0, 4, m)
    spread = rng.random(m) ** float(rng.integers(1, 8))
    if kind == 4:
        return spread * 10.0 ** float(rng.integers(-310, 301))
    total = 2.0 ** (61 if kind == 2 else float(rng.integers(2, 62))) * (1 - 1e-9)
    return np.floor(spread / max(spread.sum(), 1e-300) * total).astype(np.int64)


def _exact(g: fr.Graph) -> tuple[list[dict[int, Fraction]], list[Fraction]]:
    """The weights between each vertex and each other one, and those of vertices, where a loop counts twice."""
    between: list[dict[int, Fraction]] = [defaultdict(Fraction) for _ in range(g.num_vertices)]
    total = [Fraction(0)] * g.num_vertices
    weights = [1] * g.num_slots if g.weights is None else g.weights.tolist()
    for u, v, weight in zip(g.sources.tolist(), g.targets.tolist(), weights, strict=True):
        between[u][v] += Fraction(weight)
        total[u] += Fraction(weight) * (2 if u == v else 1)
    return between, total


def exact_modularity(g: fr.Graph, label: list[int], resolution: float) -> tuple[Fraction, Fraction]:
    """The modularity of communities, and the most that it gains if one vertex moves."""
    between, total = _exact(g)
    whole = sum(total, Fraction(0))
    if not whole:
        return Fraction(0), Fraction(0)
    r = Fraction(resolution)
    community: dict[int, Fraction] = defaultdict(Fraction)
    for v, c in enumerate(label):
        community[c] += total[v]
    inside = sum(
        (w * (2 if u == v else 1) for u, row in enumerate(between) for v, w in row.items() if label[u] == label[v]),
        Fraction(0),
    )
    best = Fraction(0)
    for v, row in enumerate(between):
        to: dict[int, Fraction] = defaultdict(Fraction)
        for u, w in row.items():
            if u != v:
                to[label[u]] += w
        stay = to[label[v]] - r * total[v] * (community[label[v]] - total[v]) / whole
        others = [w - r * total[v] * community[c] / whole for c, w in to.items() if c != label[v]]
        best = max(best, 2 * (max([Fraction(0), *others]) - stay) / whole)
    return inside / whole - r * sum(c * c for c in community.values()) / whole**2, best


def pieces(g: fr.Graph, label: list[int]) -> int:
    """Number of connected pieces of all communities, by edges of positive weight."""
    above = list(range(g.num_vertices))

    def root(v: int) -> int:
        while above[v] != v:
            v = above[v]
        return v

    weights = [1] * g.num_slots if g.weights is None else g.weights.tolist()
    for u, v, weight in zip(g.sources.tolist(), g.targets.tolist(), weights, strict=True):
        if weight > 0 and label[u] == label[v]:
            above[root(u)] = root(v)
    return sum(above[v] == v for v in range(g.num_vertices))


def campaign(graphs: int, seed: int = 0, tolerance: float = 1e-9) -> dict[str, Any]:
    """Look at so many graphs; return what is wrong, and the moves that are left: what they gain, and in which graph."""
    found: dict[str, Any] = {"wrong": [], "left": {"louvain": [], "leiden": []}}
    for number in range(seed, seed + graphs):
        g = graph_of(number)
        resolution = (1.0, 1.0, 0.5, 2.0)[number % 4]
        for find in (fr.louvain, fr.leiden):
            result = find(g, resolution=resolution, seed=number)
            label = result.label.tolist()
            modularity, gain = exact_modularity(g, label, resolution)
            wrong = sorted(set(label)) != list(range(result.count))
            wrong |= not abs(result.modularity - modularity) <= CLOSE
            wrong |= find is fr.leiden and pieces(g, label) != result.count
            report = fr.verify.communities(g, result, connected=find is fr.leiden, tolerance=tolerance)
            wrong |= bool(report) != (gain <= tolerance)
            if wrong:
                found["wrong"].append((number, find.__name__, str(report), float(modularity), float(gain)))
            if gain > tolerance:
                found["left"][find.__name__].append((float(gain), number))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tolerance", type=float, default=1e-9)
    given = parser.parse_args()
    found = campaign(given.graphs, given.seed, given.tolerance)
    for line in found["wrong"][:20]:
        print("wrong:", *line)
    print(f"{given.graphs} graphs, {len(found['wrong'])} wrong results")
    for name, left in found["left"].items():
        most = f": {max(left)[0]:.3g} in graph {max(left)[1]}" if left else ""
        print(f"{name} leaves a move that gains more than {given.tolerance:g} in {len(left)} graphs{most}")
    raise SystemExit(bool(found["wrong"]))


if __name__ == "__main__":
    main()
