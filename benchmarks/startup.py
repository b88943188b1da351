"""Time to the first result, in fresh processes: importing, and the first call of each primitive.

``python -m benchmarks.startup`` measures with an empty cache of compiled code (in a new folder) and then with
the warm one that this left. The time of a call includes starting Python, importing, making the graph (the karate club)
and moving it to the backend; it ends with the result, before Python does.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CALLS = {
    "bfs": "fr.bfs(g, 0)",
    "sssp": "fr.sssp(g, 0)",
    "cc": "fr.connected_components(g)",
    "pagerank": "fr.pagerank(g)",
    "betweenness": "fr.betweenness(g, sources=[0])",
}


def seconds(code: str, cache: str) -> float:
    """Run code in a new process; the time until it is done."""
    # both caches in one folder: Frontier's own of loops, numba's of the kernels that build graphs
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    env = {**os.environ, "PYTHONPATH": path, "FRONTIER_CACHE_DIR": cache, "NUMBA_CACHE_DIR": cache}
    start = time.time()  # the same clock in both processes
    command = [sys.executable, "-c", f"{code}\nimport time; print(time.time())"]
    ended = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True)
    return float(ended.stdout) - start


def main() -> None:
    """Measure, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="processes for each warm time")
    parser.add_argument("--backend", default="cpu", help="where the graph lies: cpu, cuda")
    parser.add_argument("--primitives", default=",".join(CALLS), help="of " + ",".join(CALLS))
    parser.add_argument("--json", metavar="FILE", help="write the times as JSON")
    arguments = parser.parse_args()
    names = arguments.primitives.split(",")
    if unknown := [name for name in names if name not in CALLS]:
        parser.error(f"no primitive {', '.join(unknown)}: choose of {','.join(CALLS)}")
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as nothing:
        for code in ("pass", "import numpy", "import frontier"):
            found[code] = {"warm": _median(code, nothing, arguments.runs)}
    for name in names:
        call = CALLS[name]
        weights = "weights=(1, 9)" if name == "sssp" else ""
        code = f"import frontier as fr; g = fr.karate({weights}).to({arguments.backend!r}); {call}"
        with tempfile.TemporaryDirectory() as cache:
            empty = seconds(code, cache)
            found[name] = {"empty": empty, "warm": _median(code, cache, arguments.runs)}
    print(f"{'':16} {'empty cache':>12} {'warm':>8}")
    for name, times in found.items():
        empty_text = f"{times['empty']:10.2f} s" if "empty" in times else ""
        print(f"{name:16} {empty_text:>12} {times['warm']:6.2f} s")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(found, indent=1))


def _median(code: str, cache: str, runs: int) -> float:
    return statistics.median(seconds(code, cache) for _ in range(runs))


if __name__ == "__main__":
    main()
