"""Small graphs from the literature, for examples and tests; they are in the package, and nothing is downloaded."""

from __future__ import annotations

import csv
from importlib import resources

import numpy as np

from frontier.generators import karate
from frontier.graph.build import from_edges
from frontier.graph.graph import Graph

__all__ = ["davis_southern_women", "florentine_families", "karate", "krackhardt_kite", "petersen"]


def florentine_families() -> Graph:
    """Marriages between families of Florence in the 15th century: 15 families, 20 pairs.

    The labels are the names of the families. The Pucci, who have no marriages with the others, are left out.

    Returns
    -------
    Graph
        Undirected, without weights.

    References
    ----------
    R. L. Breiger, P. E. Pattison: Cumulated social roles: the duality of persons and their algebras, Social Networks 8,
    1986; after data of J. F. Padgett.

    Examples
    --------
    >>> import frontier as fr
    >>> g = fr.datasets.florentine_families()
    >>> g.labels[g.out_degree.argmax()]
    np.str_('Medici')
    """
    return _of_pairs("florentine_families")


def davis_southern_women() -> Graph:
    """The attendance of 18 women of Natchez, Mississippi, at 14 events in the 1930s: a bipartite graph.

    The labels are the names of the women, and ``E1`` to ``E14``. The column ``side`` of vertices is 0 for women, which
    come first, and 1 for events.

    Returns
    -------
    Graph
        Undirected, without weights: 32 vertices, 89 edges.

    References
    ----------
    A. Davis, B. B. Gardner, M. R. Gardner: Deep South, University of Chicago Press, 1941.

    Examples
    --------
    >>> g = fr.datasets.davis_southern_women()
    >>> g, g.neighbors("Flora Price")
    (<Graph: undirected, 32 vertices, 89 edges (178 slots), labels, vertex columns side; cpu>, ['E9', 'E11'])
    """
    pairs = _pairs("davis_southern_women")
    women = [*dict.fromkeys(woman for woman, _ in pairs)]
    events = sorted({event for _, event in pairs}, key=lambda event: int(event[1:]))
    side = np.repeat(np.array([0, 1], np.int8), [len(women), len(events)])
    return _labelled(pairs, women + events).with_columns(vertices={"side": side})


def krackhardt_kite() -> Graph:
    """Krackhardt's kite: ten people, of whom degree, closeness and betweenness each find another one most central.

    The labels are their names.

    Returns
    -------
    Graph
        Undirected, without weights: 10 vertices, 18 edges.

    References
    ----------
    D. Krackhardt: Assessing the political landscape: structure, cognition, and power in organizations, Administrative
    Science Quarterly 35, 1990.

    Examples
    --------
    >>> fr.betweenness(fr.datasets.krackhardt_kite()).top(1)
    [('Heather', 14.0)]
    """
    return _of_pairs("krackhardt_kite")


def petersen() -> Graph:
    """The Petersen graph: a pentagon, a pentagram, and an edge from each corner of one to one of the other.

    Returns
    -------
    Graph
        Undirected, without weights: 10 vertices, 15 edges.

    References
    ----------
    J. Petersen: Sur le théorème de Tait, L'Intermédiaire des Mathématiciens 5, 1898.

    Examples
    --------
    >>> fr.diameter(fr.datasets.petersen()).diameter
    2
    """
    corner = np.arange(5)
    src = np.concatenate((corner, corner, corner + 5))
    dst = np.concatenate(((corner + 1) % 5, corner + 5, (corner + 2) % 5 + 5))
    return from_edges(src, dst)


def _of_pairs(name: str) -> Graph:
    """The graph of a file with an edge on each line; labels in the order of the alphabet."""
    pairs = _pairs(name)
    return _labelled(pairs, sorted({end for pair in pairs for end in pair}))


def _labelled(pairs: list[tuple[str, str]], labels: list[str]) -> Graph:
    vertex = {label: v for v, label in enumerate(labels)}
    src, dst = ([vertex[end] for end in ends] for ends in zip(*pairs, strict=True))
    return from_edges(src, dst, labels=labels)


def _pairs(name: str) -> list[tuple[str, str]]:
    """The lines of a file in this folder, but for the names of columns."""
    text = (resources.files("frontier.datasets") / f"{name}.csv").read_text("utf-8")
    return [(source, target) for source, target in csv.reader(text.splitlines())][1:]
