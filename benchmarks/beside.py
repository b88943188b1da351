"""The primitives of this checkout beside those of another one, in one run.

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

from benchmarks.devices import open_device
from benchmarks.graphs import DATA
from benchmarks.measurement import Measurement

__all__ = ["main"]

HERE = Path(__file__).resolve().parents[1]

#: What a process runs: the least milliseconds of every program on every graph.
SCRIPT = """
import json, sys, time
import frontier as fr
from benchmarks import graphs

def least(run, calls):
    run(), run()
    times = []
    for _ in range(calls):
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
    return 1000 * min(times)

backend, calls, *names = sys.argv[1:]
found = {}
for name in names:
    graph = graphs.load(name)
    source = graphs.sources(graph, 1, seed=1)[0]
    graph = graph.to(backend)
    for primitive, run in {
        "bfs": lambda: fr.bfs(graph, source),
        "sssp": lambda: fr.sssp(graph, source),
        "pagerank": lambda: fr.pagerank(graph),
        "cc": lambda: fr.connected_components(graph),
        "bc": lambda: fr.betweenness(graph, sources=[source]),
    }.items():
        found[f"{primitive} {name}"] = least(run, int(calls))
print(json.dumps(found))
"""


def measured(checkout: Path, given: argparse.Namespace) -> dict[str, float]:
    """What one process of a checkout measures."""
    words = [given.backend, given.calls, *given.graphs]
    path = os.pathsep.join(filter(None, (str(checkout), os.environ.get("PYTHONPATH"))))
    made = subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(str, words)],
        env={**os.environ, "PYTHONPATH": path, "FRONTIER_QUIET": "1", "FRONTIER_DATA": str(DATA)},
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
    parser.add_argument("--graphs", nargs="+", default=["rmat:18", "grid:1000x1000"], help="as of benchmarks.run")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    given = parser.parse_args(words)
    rows = []
    rounds = [(measured(given.other.resolve(), given), measured(HERE, given)) for _ in range(given.rounds)]
    print(f"{'ms, median of the least of each process':40s} {'other':>10s} {'this':>10s} {'this/other':>10s}")
    for name in rounds[0][0]:
        other, this = (median(each[side][name] for each in rounds) for side in (0, 1))
        print(f"{name:40s} {other:10.3f} {this:10.3f} {this / other:10.3f}")
        rows.append({"call": name, "other": other, "this": this})
    if given.json:
        gpu = open_device(given.backend).gpu
        subject = "This checkout beside another, median of the least of each process, milliseconds"
        Measurement.now(subject, rows, gpu=gpu).write(given.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
