"""``fr.open``: a graph whose edges stay on the disk."""

from __future__ import annotations

import os

from frontier.graph.graph import Graph
from frontier.io import stored

__all__ = ["open"]


def open(path: str | os.PathLike[str], *, check: bool | None = None) -> Graph:
    """Open a Frontier graph, a folder ``NAME.frontier`` that :func:`write` or :func:`convert` has made.

    The arrays with one entry per edge are mapped: what a program reads comes from the disk, and the system keeps it in
    memory as long as there is room. So the graph may be larger than memory.

    Parameters
    ----------
    path : str or path
        The folder.
    check : bool, optional
        When to compare the checksums of edges. True: now, which reads everything once. None (the default): now if these
        are at most 1 GiB, which takes about a second on two cores, and else when a program first reads them. False:
        never. Offsets, labels and columns of vertices, which are read anyway, are always compared.

    Returns
    -------
    Graph
        On the cpu backend, with the edges on the disk; ``g.to("cpu", edges="host")`` reads all into memory, and
        ``g.to("cuda", edges="host")`` or ``edges="disk"`` runs on a GPU.

    Raises
    ------
    GraphError
        If it is no Frontier graph, of a newer version, incomplete or damaged; the message names the file, and where the
        damaged block of 64 MiB begins.

    Notes
    -----
    Takes O(n) time, and O(m) where edges are compared, which eight threads do at the rate of the disk or at 4 GB/s a
    core. "When a program first reads them" is all at once on processors, in copies by ``g.to(...)``, and before
    something is derived of them, as ``g.in_edges``. A GPU with ``edges="disk"`` compares the blocks of windows that are
    read whole; of single lists it looks whether the ids are those of vertices. Checksums find damage, not malice:
    arrays are trusted as those of a program.

    Examples
    --------
    >>> import frontier as fr
    >>> fr.write(fr.karate(), "karate.frontier")
    >>> fr.open("karate.frontier")
    <Graph: undirected, 34 vertices, 78 edges (156 slots); cpu, edges in disk memory>
    """
    return stored.opened(os.fspath(path), check)
