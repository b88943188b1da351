"""Ranks beside the workers of a Dask cluster.

What all ranks do at the same time is asked for by ``Client.run``, which waits for no thread of a worker, as tasks do:
otherwise a rank whose worker is busy would keep all others waiting. Rows of tables are tasks, so that Dask knows where
they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from frontier.clusters.agent import Agent, agent
from frontier.clusters.workers import Reply, Workers, share
from frontier.errors import FrontierError, RanksError
from frontier.graph.convert_tables import columns_of_table
from frontier.launched import patience
from frontier.tables import library, to_pandas

__all__ = ["DaskWorkers", "is_client"]


def is_client(value: Any) -> bool:
    """Whether this is a client of Dask; without importing it."""
    return any(each.__name__ == "Client" and each.__module__.startswith("distributed.") for each in type(value).__mro__)


class DaskWorkers(Workers):
    """Some workers of a Dask cluster; ``ranks`` of them, or all."""

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
        # an actor is dropped when this client has ended, however it has
        self._agents = [
            client.submit(Agent, token, each, workers=[each], actor=True, pure=False) for each in self.names
        ]
        self._wait(self._agents, "started", patience())

    def _wait(self, tasks: list[Any], what: str, seconds: float | None = None) -> None:
        """Wait for tasks; if one fails, raise why."""
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
        """Let all ranks do something at the same time."""
        more = dict(zip(self.names, each or [()] * len(self.names), strict=True))
        return self._run(_ask, name, given, more)

    def interrupt(self, seconds: float) -> bool:
        """Stop what the ranks do."""
        return all(each is True for each in self._run(_interrupt, seconds))

    def _run(self, function: Any, *given: Any) -> list[Any]:
        there = self._client.nthreads()  # for one that is gone Dask would wait half a minute
        found = self._client.run(
            function, self._token, *given, workers=[each for each in self.names if each in there], on_error="return"
        )
        missing = RanksError("its worker has left the cluster")
        return [_reply(found.get(name, missing)) for name in self.names]

    def columns(self, table: Any) -> list[str] | None:
        """Return the names of the columns of a table of this library."""
        if not (hasattr(table, "dask") and hasattr(table, "to_delayed") and hasattr(table, "columns")):
            return None
        return [str(name) for name in table.columns]

    def put(self, name: str, table: Any, columns: list[str]) -> None:
        """Hand over columns of a table."""
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
        """Return the rows of a result."""
        dataframes, delayed = library("dask.dataframe", "Dask's DataFrames"), []
        for where, (first, stop) in zip(self.names, extents, strict=True):
            delayed.append(
                self._client.submit(_rows, self._token, where, data, first, stop, pure=False, **_at(where))
            )
        known = all(first < stop for first, stop in extents)
        divisions = (*(first for first, _ in extents), extents[-1][1] - 1) if known else None
        self._wait(delayed, "asked for rows")
        return dataframes.from_delayed(delayed, meta=to_pandas(empty), divisions=divisions, verify_meta=False)

    def table_of(self, table: Any) -> Any:
        """Return a table of a pandas DataFrame."""
        return library("dask.dataframe", "Dask's DataFrames").from_pandas(table, npartitions=1)

    def close(self) -> None:
        """End all ranks."""
        if self._client.status == "running":
            self._run(_close)
        self._agents = []


def _reply(found: Any) -> Any:
    """What a worker has replied, or that it is gone."""
    if isinstance(found, FrontierError):
        return "gone", str(found)
    if isinstance(found, Exception):
        return "gone", f"its worker is lost: {type(found).__name__}"
    return found


def _at(where: str) -> dict[str, Any]:
    """Let a task run on a worker, and on another only if that one is gone: there it says so, instead of waiting."""
    return {"workers": [where], "allow_other_workers": True}


# ---- what workers run ----------------------------------------------------------------------------------------------


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
    """Ask the rank beside a worker, from a task; Dask may have moved that to another worker."""
    distributed, gone = library("distributed", "Dask"), RanksError("its worker has left the cluster")
    if distributed.get_worker().address == where:
        reply = agent(token, where).ask(name, *given)
    else:
        client = distributed.get_client()
        there = [each for each in client.nthreads() if each == where]
        found = client.run(_ask, token, name, given, {where: ()}, workers=there, on_error="return")
        reply = _reply(found.get(where, gone))
    kind, *said = reply
    if kind == "error":
        raise said[0]
    if kind != "value":
        raise RanksError(f"the rank on {where} is lost: {said[0]}")
    return said[0]


def _put(token: str, where: str, name: str, place: int, table: Any, columns: list[str]) -> None:
    _request(token, where, "put", name, place, columns_of_table(table, columns))


def _rows(token: str, where: str, data: bytes, first: int, stop: int) -> Any:
    table = to_pandas(_request(token, where, "rows", data))
    table.index = library("pandas", "pandas").RangeIndex(first, stop)
    return table
