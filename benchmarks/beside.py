"""Breadth-first search, shortest paths and PageRank of this checkout beside those of another one, in one run.

``python -m benchmarks.beside /path/to/other/checkout --backend cuda`` runs a process of either in turns, several times,
so that what the machine does otherwise hits both alike. The figure to look at is the last column.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

__all__ = ["main"]

HERE = Path(__file__).resolve().parents[1]

#: What a process runs: the least milliseconds of every program on every graph.
SCRIPT = """
import json, sys, time
import frontier as fr

def least(run, calls):
    run(), run()
    times = []
    for _ in range(calls):
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
    return 1000 * min(times)

backend, calls, rmat, grid = sys.argv[1], *map(int, sys.argv[2:5])
graphs = {
    f"rmat:{rmat}": fr.rmat(rmat, 16, seed=1, weights=(1, 64)),
    f"grid:{grid}": fr.grid(grid, grid, seed=1, weights=(1, 64)),
}
found = {}
for name, graph in graphs.items():
    source = int(graph.targets[0])
    graph = graph.to(backend)
    found[f"bfs {name}"] = least(lambda: fr.bfs(graph, source), calls)
    found[f"sssp {name}"] = least(lambda: fr.sssp(graph, source), calls)
    found[f"pagerank {name}"] = least(lambda: fr.pagerank(graph), calls)
print(json.dumps(found))
"""


def measured(checkout: Path, given: argparse.Namespace) -> dict[str, float]:
    """What one process of a checkout measures."""
    words = [given.backend, given.calls, given.rmat, given.grid]
    path = os.pathsep.join(filter(None, (str(checkout), os.environ.get("PYTHONPATH"))))
    made = subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(str, words)],
        env={**os.environ, "PYTHONPATH": path, "FRONTIER_QUIET": "1"},
        cwd=checkout,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(made.stdout)
    return found


def main(words: list[str] | None = None) -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path, help="another checkout")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each")
    parser.add_argument("--calls", type=int, default=20, help="timed calls of a process")
    parser.add_argument("--rmat", type=int, default=18, help="scale of the R-MAT graph")
    parser.add_argument("--grid", type=int, default=1000, help="side of the grid")
    given = parser.parse_args(words)
    rounds = [(measured(given.other.resolve(), given), measured(HERE, given)) for _ in range(given.rounds)]
    print(f"{'ms, median of the least of each process':40s} {'other':>10s} {'this':>10s} {'this/other':>10s}")
    for name in rounds[0][0]:
        other, this = (median(each[side][name] for each in rounds) for side in (0, 1))
        print(f"{name:40s} {other:10.3f} {this:10.3f} {this / other:10.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
