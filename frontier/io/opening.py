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
    path : str or os.PathLike
        The folder.
    check : bool, optional
        When to compare the checksums of edges, and whether to look at what they are: whether targets are vertices, an
        undirected graph has every edge both ways, and the like. True: both now, which reads everything. None (the
        default): checksums now if edges take at most 1 GiB, which takes about a second on two cores, and else when a
        program first reads them; edges are looked at if they take at most 256 MiB, or if Frontier has not written the
        folder, however large it is. False: never; for a folder that you trust. Offsets, labels and columns of vertices,
        which are read anyway, are always compared, and dtypes, lengths and the order of offsets looked at.

    Returns
    -------
    Graph
        On the cpu backend, with the edges on the disk; ``g.to("cpu", edges="host")`` reads all into memory, and
        ``g.to("cuda", edges="host")`` or ``edges="disk"`` runs on a GPU.

    Raises
    ------
    GraphError
        If it is no Frontier graph, of a newer version, incomplete or damaged, or what is in it is no graph; the message
        names the file, and where the damaged block of 64 MiB begins.

    Notes
    -----
    Takes O(n) time, and O(m) where edges are compared, which eight threads do at the rate of the disk or at 4 GB/s a
    core. "When a program first reads them" is all at once on processors, in copies by ``g.to(...)``, and before
    something is derived of them, as ``g.in_edges``. A GPU with ``edges="disk"`` compares the blocks of windows that are
    read whole; of single lists it looks whether the ids are those of vertices.

    Checksums find damage. That Frontier has written a folder is known by a digest in it. Other programs, and earlier
    versions, do not write it, but whoever means to can: against malice there is ``check=True``. Compiled code follows
    wrong edges out of its memory.

    Examples
    --------
    >>> import frontier as fr
    >>> fr.write(fr.karate(), "karate.frontier")
    >>> fr.open("karate.frontier")
    <Graph: undirected, 34 vertices, 78 edges (156 slots); cpu, edges in disk memory>
    """
    return stored.opened(os.fspath(path), check)
