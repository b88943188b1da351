"""Ranks beside the workers of a Dask cluster.

Requests to all ranks use ``Client.run``, which does not wait for a free thread of the worker as tasks do: otherwise a
rank whose worker is busy would keep all others waiting. Partitions of tables are tasks, so that Dask knows where they
are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from frontier.display.tables import library, to_pandas
from frontier.distributed.clusters.agent import Agent, agent
from frontier.distributed.clusters.workers import Reply, Workers, share, value
from frontier.errors import FrontierError, RanksError
from frontier.graph.convert_tables import columns_of_table
from frontier.system.launched import patience

__all__ = ["DaskWorkers", "is_client"]


def is_client(value: Any) -> bool:
    """Return whether this is a client of Dask, without importing Dask."""
    return any(each.__name__ == "Client" and each.__module__.startswith("distributed.") for each in type(value).__mro__)


class DaskWorkers(Workers):
    """The first ``ranks`` workers of a Dask cluster, or all."""

    def __init__(self, client: Any, ranks: int | None, token: str) -> None:
        if client.asynchronous:
            raise FrontierError("fr.cluster needs a client of Dask that is not asynchronous: Client(...)")
        found = sorted(client.nthreads())
        if not found or (ranks or 0) > len(found):
            raise FrontierError(f"there are {len(found)} workers in the Dask cluster, too few for {ranks or 1} ranks")
        address = library("distributed.comm.addressing", "Dask")
        self._client, self._token = client, token
        self.names = found[:ranks]
        self.hosts = [self._host(address, each) for each in self.names]
        # Dask drops an actor when this client ends, even by a signal
        self._agents = [
            client.submit(Agent, token, each, workers=[each], actor=True, pure=False) for each in self.names
        ]
        self._wait(self._agents, "started", patience())

    def _wait(self, tasks: list[Any], what: str, seconds: float | None = None) -> None:
        """Wait for tasks, and raise the error of one that fails."""
        distributed = library("distributed", "Dask")
        try:
            distributed.wait(tasks, timeout=seconds)
        except TimeoutError:
            raise RanksError(f"not all ranks were {what} within {seconds:g} s: a worker of Dask is busy") from None
        for task in tasks:
            if task.status != "finished":
                error = task.exception() if task.status == "error" else None
                if isinstance(error, FrontierError):
                    raise error
                raise RanksError(f"not all ranks were {what}: {type(error).__name__}: {error}") from error

    @staticmethod
    def _host(address: Any, name: str) -> str:
        return "127.0.0.1" if name.startswith("inproc://") else str(address.get_address_host(name))

    def ask(self, name: str, *given: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Reply]:
        """Send all ranks a request at the same time, and return their replies."""
        more = dict(zip(self.names, each or [()] * len(self.names), strict=True))
        return self._run(_ask, name, given, more)

    def interrupt(self, seconds: float) -> bool:
        """Stop all ranks like Ctrl-C; return whether none had to be killed."""
        return all(each is True for each in self._run(_interrupt, seconds))

    def _run(self, function: Any, *given: Any) -> list[Any]:
        there = self._client.nthreads()  # Dask would wait half a minute for a worker that is gone
        found = self._client.run(
            function, self._token, *given, workers=[each for each in self.names if each in there], on_error="return"
        )
        missing = RanksError("its worker has left the cluster")
        return [_reply(found.get(name, missing)) for name in self.names]

    def columns(self, table: Any) -> list[str] | None:
        """Return the names of the columns of a DataFrame of Dask."""
        if not (hasattr(table, "dask") and hasattr(table, "to_delayed") and hasattr(table, "columns")):
            return None
        return [str(name) for name in table.columns]

    def put(self, name: str, table: Any, columns: list[str]) -> None:
        """Give each rank its partitions."""
        client, size = self._client, len(self.names)
        kept = [each for each in table.columns if str(each) in columns]
        parts, tasks = table[kept].to_delayed(), []
        for rank, where in enumerate(self.names):
            own = share(len(parts), rank, size)
            pieces = client.compute([parts[place] for place in own], workers=[where], allow_other_workers=True)
            tasks += [
                client.submit(_put, self._token, where, name, place, piece, columns, pure=False, **_at(where))
                for place, piece in zip(own, pieces, strict=True)
            ]
        self._wait(tasks, "given edges")

    def table(self, data: bytes, extents: list[tuple[int, int]], empty: dict[str, Any]) -> Any:
        """Return a result as a DataFrame of Dask."""
        dataframes, delayed = library("dask.dataframe", "Dask's DataFrames"), []
        for where, (first, stop) in zip(self.names, extents, strict=True):
            delayed.append(self._client.submit(_rows, self._token, where, data, first, stop, pure=False, **_at(where)))
        known = all(first < stop for first, stop in extents)
        divisions = (*(first for first, _ in extents), extents[-1][1] - 1) if known else None
        self._wait(delayed, "asked for rows")
        return dataframes.from_delayed(delayed, meta=to_pandas(empty), divisions=divisions, verify_meta=False)

    def table_of(self, table: Any) -> Any:
        """Return a pandas DataFrame as one of Dask."""
        return library("dask.dataframe", "Dask's DataFrames").from_pandas(table, npartitions=1)

    def close(self) -> None:
        """End all ranks."""
        if self._client.status == "running":
            self._run(_close)
        self._agents = []


def _reply(found: Any) -> Any:
    """Return the reply of a worker, or ``gone``."""
    if isinstance(found, FrontierError):
        return "gone", str(found)
    if isinstance(found, Exception):
        return "gone", f"its worker is lost: {type(found).__name__}"
    return found


def _at(where: str) -> dict[str, Any]:
    """Run a task on a worker, or on another if that one is gone: there it fails, instead of waiting for ever."""
    return {"workers": [where], "allow_other_workers": True}


# ---- run on workers ----------------------------------------------------------------------------------------------


async def _ask(
    token: str, name: str, given: tuple[Any, ...], more: dict[str, tuple[Any, ...]], dask_worker: Any
) -> Reply:
    where = dask_worker.address
    return await asyncio.to_thread(agent(token, where).ask, name, *more[where], *given)


async def _interrupt(token: str, seconds: float, dask_worker: Any) -> bool:
    return await asyncio.to_thread(agent(token, dask_worker.address).interrupt, seconds)


async def _close(token: str, dask_worker: Any) -> None:
    await asyncio.to_thread(agent(token, dask_worker.address).close)


def _request(token: str, where: str, name: str, *given: Any) -> Any:
    """Ask the rank beside a worker from a task, which Dask may have moved to another worker."""
    distributed, gone = library("distributed", "Dask"), RanksError("its worker has left the cluster")
    if distributed.get_worker().address == where:
        reply = agent(token, where).ask(name, *given)
    else:
        client = distributed.get_client()
        there = [each for each in client.nthreads() if each == where]
        found = client.run(_ask, token, name, given, {where: ()}, workers=there, on_error="return")
        reply = _reply(found.get(where, gone))
    return value(reply, where)


def _put(token: str, where: str, name: str, place: int, table: Any, columns: list[str]) -> None:
    _request(token, where, "add_partition", name, place, columns_of_table(table, columns))


def _rows(token: str, where: str, data: bytes, first: int, stop: int) -> Any:
    table = to_pandas(_request(token, where, "rows", data))
    table.index = library("pandas", "pandas").RangeIndex(first, stop)
    return table
