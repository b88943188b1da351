"""Ranks beside actors of Ray: one on each GPU of the cluster, or on each node if there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from frontier.display.tables import library, to_arrow
from frontier.distributed.clusters.agent import Agent
from frontier.distributed.clusters.workers import Reply, Workers, share, value
from frontier.errors import RanksError
from frontier.graph.convert_tables import columns_of_table
from frontier.system.launched import patience

__all__ = ["RayWorkers", "is_ray"]

#: Concurrent calls of an actor: a request to the rank, and one that interrupts it.
CALLS = 8


def is_ray(value: Any) -> bool:
    """Return whether this is ``"ray"``, or the module."""
    return (value if isinstance(value, str) else getattr(value, "__name__", None)) == "ray"


class RayWorkers(Workers):
    """Actors of Ray, by default one on each GPU, or on each node if there is none."""

    def __init__(self, ranks: int | None, token: str) -> None:
        self._ray = ray = library("ray", "Ray")
        if not ray.is_initialized():
            ray.init()
        nodes = [node for node in ray.nodes() if node["Alive"]]
        gpus = [node for node in nodes for _ in range(int(node["Resources"].get("GPU", 0)))]
        each_gpu = bool(gpus) and (ranks is None or ranks <= len(gpus))
        places = gpus if each_gpu else nodes
        size = len(places) if ranks is None else ranks
        # ranks of one node are neighbours
        places = [places[len(places) * rank // size] for rank in range(size)]
        strategy = library("ray.util.scheduling_strategies", "Ray").NodeAffinitySchedulingStrategy
        made = ray.remote(Actor)
        self._actors = [
            made.options(
                num_cpus=0, num_gpus=int(each_gpu), max_concurrency=CALLS,
                scheduling_strategy=strategy(node["NodeID"], soft=False),
            ).remote(token, str(rank))
            for rank, node in enumerate(places)
        ]  # fmt: skip
        try:
            self.hosts = ray.get([actor.host.remote() for actor in self._actors], timeout=patience())
        except ray.exceptions.RayError as error:
            raise RanksError(f"no rank could be started by Ray: {_first_line(error)}") from error
        self.names = [f"node {host}" for host in self.hosts]

    def ask(self, name: str, *given: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Reply]:
        """Send all ranks a request at the same time, and return their replies."""
        more = each or [()] * len(self._actors)
        asked = [actor.ask.remote(name, *own, *given) for actor, own in zip(self._actors, more, strict=True)]
        return [self._reply(one) for one in asked]

    def interrupt(self, seconds: float) -> bool:
        """Stop all ranks like Ctrl-C; return whether none had to be killed."""
        asked = [actor.interrupt.remote(seconds) for actor in self._actors]
        return all(self._reply(one) is True for one in asked)

    def _reply(self, asked: Any) -> Any:
        try:
            return self._ray.get(asked)
        except self._ray.exceptions.RayError as error:
            return "gone", f"its actor of Ray is lost: {type(error).__name__}"

    def columns(self, table: Any) -> list[str] | None:
        """Return the names of the columns of a Dataset of Ray."""
        if not (hasattr(table, "to_arrow_refs") and hasattr(table, "select_columns")):
            return None
        return [str(name) for name in table.columns()]

    def put(self, name: str, table: Any, columns: list[str]) -> None:
        """Give each rank its blocks."""
        blocks, size, tasks = table.select_columns(columns).to_arrow_refs(), len(self._actors), []
        for rank, actor in enumerate(self._actors):
            for place in share(len(blocks), rank, size):
                tasks.append(actor.put.remote(name, place, blocks[place], columns))
        try:
            self._ray.get(tasks)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            raise RanksError(f"not all ranks were given edges: {_first_line(error)}") from None

    def table(self, data: bytes, extents: list[tuple[int, int]], empty: dict[str, Any]) -> Any:
        """Return a result as a Dataset of Ray."""
        rows = [actor.rows.remote(data) for actor in self._actors]
        return library("ray.data", "Ray's datasets").from_arrow_refs(rows)

    def table_of(self, table: Any) -> Any:
        """Return a pandas DataFrame as a Dataset of Ray."""
        return library("ray.data", "Ray's datasets").from_pandas(table)

    def close(self) -> None:
        """End all ranks."""
        if self._ray.is_initialized():
            for actor in self._actors:
                self._ray.kill(actor)
        self._actors = []


class Actor(Agent):
    """An agent that is an actor of Ray."""

    def host(self) -> str:
        """Return the address of its node."""
        return str(library("ray.util", "Ray").get_node_ip_address())

    def put(self, name: str, place: int, table: Any, columns: list[str]) -> None:
        """Give the rank a block of a table."""
        value(self.ask("add_partition", name, place, columns_of_table(table, columns)), "an actor of Ray")

    def rows(self, data: bytes) -> Any:
        """Return the rank's rows of a result, as a table of Arrow."""
        return to_arrow(value(self.ask("rows", data), "an actor of Ray"))


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
