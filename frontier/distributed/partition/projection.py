"""The time that a divided graph would take on many GPUs: a formula with constants measured on four.

A projection is arithmetic on paper, not a measurement. It says which part of the time would be work, which exchange,
and which waiting, so that partitions can be compared before there are machines to run them on.
"""

from __future__ import annotations

from dataclasses import dataclass

from frontier.distributed.partition.arguments import integer, number
from frontier.distributed.partition.cuts import most_square
from frontier.errors import GraphError

__all__ = ["TASKS", "Machine", "Projection", "projected"]

TASKS = ("bfs", "pagerank")


@dataclass(frozen=True, slots=True)
class Machine:
    """What hosts with several GPUs can do. The defaults were measured in November 2026 on four H200 with NVLink.

    Attributes
    ----------
    gpus_per_host : int
        GPUs that reach each other's memory. Measured: 4.
    barrier : float
        Seconds of a barrier of the GPUs of a host inside a kernel. Measured: 4.0 us, with 132 blocks on each.
    peer_bandwidth : float
        Bytes a second that a GPU stores into its peers' memory, in order. Measured: 340 GB/s.
    collective : float
        Seconds of a small exchange among hosts. Measured with NCCL 2.28 among four GPUs of one host: 29 us for an
        allreduce of 1 KB back to back, 45 us with a wait. Among hosts it is longer; that has not been measured.
    host_bandwidth : float
        Bytes a second between a GPU and other hosts. Not measured: 50 GB/s are the nominal 400 Gb/s of one network
        adapter for each GPU.
    bfs_rate : float
        Edge slots of the graph per second of a search on one GPU, with the edges that it skips. Measured: R-MAT of
        scale 26, 2.10 billion slots in 4.97 ms.
    pagerank_rate : float
        Edge slots a second of PageRank on one GPU. Measured on the same graph: 50.9 ms for an iteration.
    """

    gpus_per_host: int = 4
    barrier: float = 4.0e-6
    peer_bandwidth: float = 340e9
    collective: float = 45e-6
    host_bandwidth: float = 50e9
    bfs_rate: float = 2.10e9 / 4.97e-3
    pagerank_rate: float = 2.10e9 / 50.9e-3


@dataclass(frozen=True, slots=True)
class Projection:
    """A time computed on paper, not measured; made by :func:`projected`.

    Attributes
    ----------
    task : str
        ``"bfs"``, a whole search, or ``"pagerank"``, one iteration.
    rows, columns : int
        The grid of parts.
    work, exchange, waiting : float
        Seconds of work on edges, of moving bytes, and of synchronisation.
    bytes : float
        Bytes that each part sends.
    """

    task: str
    rows: int
    columns: int
    work: float
    exchange: float
    waiting: float
    bytes: float

    @property
    def seconds(self) -> float:
        """The whole time."""
        return self.work + self.exchange + self.waiting


def projected(
    vertices: int,
    slots: int,
    parts: int,
    *,
    rows: int | None = None,
    task: str = "bfs",
    machine: Machine | None = None,
    levels: int = 7,
    dense: int = 3,
    imbalance: float = 1.0,
) -> Projection:
    r"""Project the time of a search, or of an iteration of PageRank, from measured constants.

    With n vertices, m edge slots and P parts in R rows and C columns::

        seconds  = work + exchange + waiting
        work     = imbalance * m / (P * rate)
        bytes    = unit * (R - 1 + C - 1) / P                  that each part sends
        exchange = inside / peer_bandwidth + (bytes - inside) / host_bandwidth
        inside   = unit * (min(R, H) - 1 + min(C, max(H // R, 1)) - 1) / P
        waiting  = rounds * ([R > 1] + [C > 1]) * (barrier if P <= H else collective)

    Here H is the number of GPUs of a host, and consecutive parts, which are those of a column, lie on the same host as
    far as possible. For PageRank, ``rounds`` is 1 and ``unit`` is 4 n bytes: a float32 for each vertex. For a search,
    ``rounds`` is the number of levels, and ``unit`` is n / 8 bytes for each dense level: a bitmap of all vertices; the
    lists of the other levels are neglected. The three are added up, as if nothing overlapped, but it is assumed that
    work is divided without loss. The notes on partitions compare projected and measured times.

    Parameters
    ----------
    vertices, slots : int
        Size of the graph. An undirected edge has two slots.
    parts : int
        Number of GPUs.
    rows : int, optional
        Rows of the grid, a divisor of ``parts``; 1 is a 1-D partition. Default: the grid that is nearest to a square.
    task : {"bfs", "pagerank"}
        What is computed.
    machine : Machine, optional
        The constants.
    levels, dense : int
        Levels of a search, and how many of these exchange bitmaps; 7 and 3 are typical of R-MAT graphs.
    imbalance : float
        Most edges of a part over the mean.

    Returns
    -------
    Projection
        The time and what it consists of.

    Raises
    ------
    GraphError
        If there is no such task, ``rows`` does not divide ``parts``, ``machine`` is not a machine, or a number is less
        than 0; or less than 1 of ``parts``, ``rows`` and ``imbalance``.
    """
    if task not in TASKS:
        raise GraphError(f"task must be one of {', '.join(map(repr, TASKS))}, not {task!r}")
    if not isinstance(machine, Machine | None):
        raise GraphError(f"machine must be a Machine, not {machine!r}")
    made = machine or Machine()
    for what, value in (("vertices", vertices), ("slots", slots), ("levels", levels), ("dense", dense)):
        number(value, what, 0)
    number(imbalance, "imbalance", 1)
    parts = integer(parts, "parts", 1)
    high = most_square(parts) if rows is None else integer(rows, "rows", 1)
    if parts % high:
        raise GraphError(f"{parts} parts cannot be in {high} rows of equally many")
    wide, near = parts // high, made.gpus_per_host
    rate, rounds = (made.bfs_rate, levels) if task == "bfs" else (made.pagerank_rate, 1)
    unit = dense * vertices / 8 if task == "bfs" else 4 * vertices

    moved = unit * (high - 1 + wide - 1) / parts
    inside = unit * (min(high, near) - 1 + min(wide, max(near // high, 1)) - 1) / parts
    step = made.barrier if parts <= near else made.collective
    return Projection(
        task,
        high,
        wide,
        work=imbalance * slots / (parts * rate),
        exchange=inside / made.peer_bandwidth + (moved - inside) / made.host_bandwidth,
        waiting=rounds * ((high > 1) + (wide > 1)) * step,
        bytes=moved,
    )
