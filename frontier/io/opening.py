"""``fr.open``: a graph whose edges stay on the disk."""

from __future__ import annotations

import os

from frontier.graph.graph import Graph
from frontier.io import stored

__all__ = ["open"]


def open(path: str | os.PathLike[str], *, check: bool = False) -> Graph:
    """Open a Frontier graph, a folder ``NAME.frontier`` that :func:`write` or :func:`convert` has made.

    The arrays with one entry per edge are mapped: what a program reads comes from the disk, and the system keeps it in
    memory as long as there is room. So the graph may be larger than memory.

    Parameters
    ----------
    path : str or path
        The folder.
    check : bool
        Whether to read everything once and compare checksums. Offsets, labels and columns of vertices, which are read
        anyway, are always compared.

    Returns
    -------
    Graph
        On the cpu backend, with the edges on the disk; ``g.to("cpu", edges="host")`` reads all into memory, and
        ``g.to("cuda", edges="host")`` or ``edges="disk"`` runs on a GPU.

    Raises
    ------
    GraphError
        If it is no Frontier graph, of a newer version, incomplete or damaged.

    Notes
    -----
    Takes O(n) time. Arrays are trusted as those of a program: do not open what others made without ``check=True``,
    which finds damage, though not malice.

    Examples
    --------
    >>> import frontier as fr
    >>> fr.write(fr.karate(), "karate.frontier")
    >>> fr.open("karate.frontier")
    <Graph: undirected, 34 vertices, 78 edges (156 slots); cpu, edges in disk memory>
    """
    return stored.opened(os.fspath(path), check)
