"""NetworkX alone, and with Frontier as its backend: with conversion, and with a graph that is converted already.

``python -m benchmarks.networkx [PATH.npz ...]`` takes graphs as ``fr.read`` does, by default an R-MAT graph. Calls of
NetworkX alone that take longer than ``--limit`` seconds are ended, in a process of their own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import networkx as nx
from networkx.utils import backends

import frontier as fr
from benchmarks.measurement import Measurement
from frontier.nx_backend.information import DEFAULTS, information

__all__ = ["main"]

COLUMNS = ("NetworkX", "with conversion", "converted before")

#: Name -> what is called, of a graph and a node of it.
CALLS: dict[str, Callable[..., Any]] = {
    "pagerank": lambda G, v, **more: nx.pagerank(G, **more),
    "single_source_shortest_path_length": lambda G, v, **more: nx.single_source_shortest_path_length(G, v, **more),
    "core_number": lambda G, v, **more: nx.core_number(G, **more),
    "triangles": lambda G, v, **more: nx.triangles(G, **more),
    "connected_components": lambda G, v, **more: [*nx.connected_components(G, **more)],
    "betweenness_centrality k=16": lambda G, v, **more: nx.betweenness_centrality(G, k=16, seed=1, **more),
    "louvain_communities": lambda G, v, **more: nx.community.louvain_communities(G, seed=1, **more),
}


def register() -> None:
    """Let NetworkX know the backend where this checkout is not installed with its entry points."""
    if "frontier" in backends.backends:
        return
    backends.backends["frontier"] = EntryPoint(
        "frontier", "frontier.nx_backend.interface:backend", "networkx.backends"
    )
    backends.backend_info["frontier"] = information()
    nx.config.backends = nx.utils.Config(**nx.config.backends, frontier=nx.utils.Config(**DEFAULTS))
    backends._dispatchable.__call__ = backends._dispatchable._call_if_any_backends_installed


def seconds(call: Callable[[], Any]) -> float:
    """How long a call takes."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def limited(call: Callable[[], Any], limit: float) -> float | None:
    """How long a call takes in a process that is ended at the limit; None if it is."""
    ours, others = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=lambda: others.send(seconds(call)))
    process.start()
    found: float | None = ours.recv() if ours.poll(limit) else None
    process.terminate()
    process.join()
    return found


def measured(name: str, graph: Any, node: Any, limit: float) -> list[float | None]:
    """Seconds of NetworkX alone, with conversion, and the least of three calls without."""
    call = CALLS[name]
    alone = limited(lambda: call(graph, node), limit) if limit else None
    call(graph, node, backend="frontier")  # compiles
    graph.__networkx_cache__.clear()
    first = seconds(lambda: call(graph, node, backend="frontier"))
    return [alone, first, min(seconds(lambda: call(graph, node, backend="frontier")) for _ in range(3))]


def main() -> int:
    """Print a table for each graph."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", default=["rmat:14"], help="files, or rmat:SCALE")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a call of NetworkX alone; 0: none")
    parser.add_argument("--calls", nargs="+", choices=CALLS, default=[*CALLS])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    given = parser.parse_args()
    rows = []
    register()
    nx.config.warnings_to_ignore.add("cache")
    for path in given.graphs:
        scale = path.removeprefix("rmat:")
        g = fr.rmat(int(scale), seed=1) if scale != path else fr.read(path)
        graph = nx.Graph(g.to_networkx())
        graph.remove_edges_from([*nx.selfloop_edges(graph)])
        node = max(graph, key=graph.degree)
        print(f"\n{path}: {len(graph):,} nodes, {graph.number_of_edges():,} edges; seconds")
        print(f"| | {' | '.join(COLUMNS)} |\n|---|---|---|---|")
        for name in given.calls:
            row = measured(name, graph, node, given.limit)
            print(f"| {name} | {' | '.join('-' if each is None else f'{each:.3g}' for each in row)} |", flush=True)
            rows.append({"graph": Path(path).stem, "call": name, **dict(zip(COLUMNS, row, strict=True))})
    if given.json and rows:
        note = f"NetworkX alone was given up after {given.limit:g} s." if given.limit else ""
        Measurement.now("NetworkX alone, and with Frontier as its backend, seconds", rows, note=note).write(given.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
