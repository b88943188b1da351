"""In the client process: ``fr.cluster`` and the handle that it returns."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import weakref
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from frontier.distributed.clusters.dask_workers import DaskWorkers, is_client
from frontier.distributed.clusters.ray_workers import RayWorkers, is_ray
from frontier.distributed.clusters.remote import RemoteArray, RemoteGraph
from frontier.distributed.clusters.serializer import Serializer
from frontier.distributed.clusters.workers import Reply, Workers, devices, lost, values, versions
from frontier.errors import FrontierError, GraphError, RanksError, warn
from frontier.graph.convert_tables import chosen_columns
from frontier.graph.graph import Graph
from frontier.graph.kinds import door
from frontier.results import Result

if TYPE_CHECKING:
    from frontier.graph.topology import Array

__all__ = ["Cluster", "cluster"]

#: Seconds for ranks to stop after Ctrl-C before they are killed.
GRACE = 10.0


def cluster(client: Any, ranks: int | None = None, *, placement: str = "ranks") -> Cluster:
    """Start a rank on each worker of a Dask or Ray cluster, to run primitives and programs on all of them.

    Parameters
    ----------
    client : distributed.Client or "ray"
        A client of Dask; or ``"ray"``, or the module. Call ``ray.init`` before, if it needs arguments.
    ranks : int, optional
        Number of ranks. Default: one on each worker of Dask; one on each GPU of Ray, or on each node if it has none.
    placement : str
        Placement of graphs, such as ``"ranks"``, ``"ranks,cpu"`` or ``"ranks,2d"``; see :meth:`frontier.Graph.to`.

    Returns
    -------
    Cluster
        A handle and context manager. The ranks end with the ``with`` block or ``close()``, when nothing refers to the
        handle any more, and with the client's process.

    Raises
    ------
    RanksError
        If the ranks cannot be started, or do not reach each other.
    FrontierError
        If ``client`` is neither of these, or there are too few workers.

    Notes
    -----
    Each rank is a process beside its worker. Ranks exchange over TCP; where each has a GPU of its own, they compute on
    GPUs and exchange by NCCL if it is installed.

    Examples
    --------
    >>> from distributed import Client  # doctest: +SKIP
    >>> with fr.cluster(Client(n_workers=2)) as c:  # doctest: +SKIP
    ...     ranks = fr.pagerank(c.read("edges/", directed=True)).to_pandas()
    """
    if ranks is not None and (isinstance(ranks, bool) or not isinstance(ranks, int) or ranks < 1):
        raise FrontierError(f"ranks={ranks!r}: the number of ranks is an integer from 1")
    if placement.partition(",")[0] != "ranks":
        raise FrontierError(f"placement={placement!r}: in a cluster, graphs lie in ranks: 'ranks' or 'ranks,2d'")
    token = secrets.token_hex(8)
    workers: Workers
    if is_client(client):
        workers = DaskWorkers(client, ranks, token)
    elif is_ray(client):
        workers = RayWorkers(ranks, token)
    else:
        raise FrontierError(f'fr.cluster takes a distributed.Client or "ray", not {type(client).__name__}')
    return Cluster(workers, placement)


class Cluster:
    """Ranks on the workers of a cluster; started by :func:`cluster`.

    Graphs that :meth:`read` and :meth:`run` return are divided among the ranks, and primitives run there:
    ``fr.pagerank(g)`` returns its usual result, whose long arrays stay in the ranks until they are looked at.

    Attributes
    ----------
    size : int
        Number of ranks.
    placement : str
        Placement of graphs in the ranks.

    Examples
    --------
    >>> c = fr.cluster("ray")  # doctest: +SKIP
    >>> g = c.read("edges/", directed=True)  # doctest: +SKIP
    >>> c.table(fr.pagerank(g))  # doctest: +SKIP
    """

    def __init__(self, workers: Workers, placement: str) -> None:
        self.size, self.placement = len(workers.names), placement
        self._workers, self._lock, self._ended = workers, threading.RLock(), ""
        self._calls, self._serializer = 0, Serializer(self)
        self._end = weakref.finalize(self, _close_aside, workers)
        self._end.atexit = False  # Dask and Ray end their actors themselves
        try:
            self._join()
        except BaseException:
            self.close()
            raise

    def _join(self) -> None:
        """Connect the ranks with each other."""
        workers = self._workers
        found = self._values(workers.ask("listen", each=[(host,) for host in workers.hosts]), "started")
        here = versions()
        for name, each in zip(workers.names, found, strict=True):
            if each["versions"] != here:
                raise RanksError(f"the worker {name} has {each['versions']}, and this program {here}")
        addresses = [(host, each["port"]) for host, each in zip(workers.hosts, found, strict=True)]
        secret = secrets.token_bytes(32)
        own = [(rank, addresses, secret, device) for rank, device in enumerate(devices(found))]
        self._values(workers.ask("connect", each=own), "connected")
        self.processes = [each["process"] for each in found]

    # ---- what users call -------------------------------------------------------------------------------------

    def read(
        self, edges: Any, source: str | None = None, target: str | None = None, weight: str | bool | None = None, *,
        directed: bool | None = None, columns: Iterable[str] | None = None, **options: Any,
    ) -> Graph:  # fmt: skip
        """Read a graph into the ranks, from a file or folder that all workers see, or from a distributed table.

        Parameters
        ----------
        edges : str, os.PathLike, dask.dataframe.DataFrame or ray.data.Dataset
            A path, as for :func:`frontier.read`: each rank reads its share of the rows of a Parquet folder, or of a
            file whose format can be divided. Or a table with a row for each edge: each rank gets some partitions.
        source, target, weight
            Columns, as for :func:`frontier.read` and :func:`frontier.from_pandas`.
        directed : bool, optional
            Default: for files as for :func:`frontier.read`, so True for Parquet files; False for tables.
        columns : iterable of str, optional
            Columns of a table to keep as data of edges.
        **options
            ``num_vertices``, ``duplicates``, ``self_loops`` and ``labels``; for files, all others of
            :func:`frontier.read`. Where the ends of edges in a table are names, or numbers with ``labels=True``, the
            ranks number them together, and each keeps the names of all vertices.

        Returns
        -------
        Graph
            Divided among the ranks. ``graph.to("cpu")`` is a copy in this process.

        Raises
        ------
        GraphError
            As :func:`frontier.read` and :func:`frontier.from_pandas` do.
        RanksError
            If a rank is lost.
        """
        more = {"directed": directed, "placement": self.placement, **options}
        if isinstance(edges, str | os.PathLike):
            from frontier.io import read

            if columns is not None:
                raise GraphError("columns= is for tables: all columns of a file are kept")
            path = os.path.abspath(edges)
            made: Graph = self.run(read, path, source=source, target=target, weight=weight, **more)
            return made
        names = self._workers.columns(edges)
        if names is None:
            raise GraphError(
                "cluster.read takes the path of a file or folder, a DataFrame of Dask where workers are of Dask, or a "
                f"Dataset of Ray, not {type(edges).__name__}: {door(edges) or 'fr.from_edges'} makes a graph here"
            )
        return self._of_table(edges, names, source, target, weight, columns, more)

    def _of_table(
        self, table: Any, names: list[str], source: str | None, target: str | None, weight: str | bool | None,
        columns: Iterable[str] | None, options: dict[str, Any],
    ) -> Graph:  # fmt: skip
        from frontier.distributed.clusters.edges import build_graph

        src, dst, weighs, kept = chosen_columns(names, "cluster.read", source, target, weight, columns)
        name, labels = secrets.token_hex(8), options.pop("labels", None)
        options["directed"] = bool(options["directed"])
        with self._using():
            try:
                self._workers.put(name, table, [*dict.fromkeys([src, dst, *([weighs] if weighs else []), *kept])])
            except RanksError as error:
                self._fail(str(error))
            except BaseException:
                self._workers.ask("discard", name)
                raise
            made: Graph = self.run(build_graph, name, src, dst, weighs, kept, labels, **options)
            return made

    def run(self, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Call a function on every rank, with the same arguments, and return what rank 0 returns.

        Parameters
        ----------
        function : callable
            It is sent with cloudpickle, so lambdas and functions of scripts and notebooks work. All ranks must take the
            same steps in it, as under mpirun.
        *given, **named
            Arguments. A graph of this cluster, or a long array of a result, arrives as the graph or array in parts.

        Returns
        -------
        object
            What rank 0 returns. Graphs in parts and arrays of more than 65,536 values stay in the ranks.

        Raises
        ------
        RanksError
            If a rank is lost. Then the cluster cannot be used any more.
        Exception
            Whatever the function raises on a rank.

        Examples
        --------
        >>> def hops(g):  # doctest: +SKIP
        ...     return int(fr.bfs(g, 0).level.max())
        >>> c.run(hops, g)  # doctest: +SKIP
        """
        name = getattr(function, "__name__", "function")
        with self._using():
            data = self._serializer.dumps((function, given, named))
            self._calls += 1
            try:
                replies = self._workers.ask("call", data, self._calls, self._serializer.dropped())
            except KeyboardInterrupt:
                self._interrupt()
                raise
            said = [reply if reply[0] == "gone" else reply[:-1] for reply in replies]
            for message in dict.fromkeys(each for reply in replies if reply[0] != "gone" for each in reply[-1]):
                warn(message)
            found = self._values(said, f"ran {name}")[0]
            return self._serializer.loads(found)

    def table(self, result: Result) -> Any:
        """Return a result as a distributed table, whose partitions are the rows of each rank.

        Parameters
        ----------
        result : Result
            Result of a primitive that has run on this cluster.

        Returns
        -------
        dask.dataframe.DataFrame or ray.data.Dataset
            With the columns of :meth:`frontier.Result.table`; a DataFrame is indexed by vertex id or slot. A
            short result, or one whose rows are neither vertices nor edges, is one partition.

        Raises
        ------
        RanksError
            If a rank is lost.
        """
        graph = result.input_graph if result.knows_graph else None
        graph = graph if isinstance(graph, RemoteGraph) else None
        remote = any(isinstance(getattr(result, name), RemoteArray) for name in result.present_columns())
        if not remote or not (result.row_kind == "vertex" or (result.row_kind == "slot" and graph is not None)):
            return self._workers.table_of(result.to_pandas())
        from frontier.distributed.clusters.rows import aligned

        with self._using():
            ready = self.run(aligned, result, graph)
            data = self._serializer.dumps((ready, graph))
            found = self._values(self._workers.ask("extent", data), "made a table")
            return self._workers.table(data, [each[:2] for each in found], found[0][2])

    def close(self) -> None:
        """End the ranks, with their graphs and arrays."""
        self._ended = self._ended or "the cluster has been closed"
        if self._end.detach() is not None:
            with contextlib.suppress(Exception):  # the library's cluster may have ended before
                self._workers.close()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Cluster: {self.size} ranks{'; ended' if self._ended else ''}>"

    # ---- replies -----------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _using(self) -> Any:
        """Let one thread use the ranks at a time, if they have not ended."""
        with self._lock:
            if self._ended:
                raise RanksError(f"{self._ended}: fr.cluster starts another")
            yield

    def _values(self, replies: list[Reply], doing: str) -> list[Any]:
        """Return what all ranks have replied; if one is lost, end all."""
        why = lost(replies, doing, self._workers.names)
        if why:
            self._fail(why)
        return values(replies, self._serializer.loads)

    def _fail(self, why: str) -> None:
        """End all ranks and raise RanksError."""
        self._ended = why
        self.close()
        raise RanksError(why)

    def _interrupt(self) -> None:
        """Stop the ranks after Ctrl-C; if one does not stop, end all."""
        if not self._workers.interrupt(GRACE):
            self._ended = f"a rank did not stop within {GRACE:g} s of Ctrl-C, and all have ended"
            self.close()

    def _parts(self, key: str, name: str) -> list[Array]:
        """Return the parts of an array."""
        with self._using():
            return self._values(self._workers.ask("part", key, name), "were asked for an array")


def _close_aside(workers: Workers) -> None:
    """End ranks in a thread: the garbage collector may call this anywhere."""

    def close() -> None:
        with contextlib.suppress(Exception):  # the library's cluster may have ended before
            workers.close()

    threading.Thread(target=close, daemon=True, name="frontier cluster").start()
