"""Time to the first result, in fresh processes, with nothing compiled and with everything on disk.

``python -m benchmarks.startup`` takes the README's example, every tutorial, every command of the command line and the
first call of each primitive. Each runs first with an empty cache of compiled code (a new folder), then with the one
that this left. The times are those of whole processes, from starting Python to its end: by the clock, and in seconds
of processor time, which other work on the machine hardly changes.

``--before CHECKOUT`` measures another checkout too, in turn with this one: cold, cold, warm, warm.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.devices import open_device
from benchmarks.measurement import Measurement

ROOT = Path(__file__).resolve().parents[1]

#: Python code that needs no more than the package.
CODE = {
    "import numpy": "import numpy",
    "import frontier": "import frontier",
    "where= alone": """
import frontier as fr
def visit(p, src, dst):
    return fr.atomic_cas(p.parent, dst, -1, src) == -1
def unvisited(p, dst):
    return p.parent[dst] == -1
g = fr.karate().to(BACKEND)
p = fr.Problem(g, parent=fr.vertex("int32", -1))
fr.advance(p, fr.Frontier(g, [0]), visit, where=unvisited)
""",
    "fr.bfs": "import frontier as fr; fr.bfs(fr.karate().to(BACKEND), 0)",
    "fr.sssp": "import frontier as fr; fr.sssp(fr.karate(weights=(1, 9)).to(BACKEND), 0)",
    "fr.connected_components": "import frontier as fr; fr.connected_components(fr.karate().to(BACKEND))",
    "fr.pagerank": "import frontier as fr; fr.pagerank(fr.karate().to(BACKEND))",
    "fr.betweenness": "import frontier as fr; fr.betweenness(fr.karate().to(BACKEND), sources=[0])",
}

#: Arguments of the command line; in the last folder, ``two.txt`` holds two edges and ``small.mtx`` a graph.
COMMANDS = {
    f"frontier {words}": words.split()
    for words in (
        "bfs rmat:10", "sssp rmat:10", "cc rmat:10", "pagerank rmat:10", "bc rmat:10", "bfs two.txt",
        "info two.txt", "info small.mtx", "convert small.mtx made.npz", "generate rmat 10 made.mtx", "doctor",
    )
}  # fmt: skip

EXAMPLES = ("bfs", "sssp", "components", "pagerank", "betweenness", "kcore", "triangles", "reuse")


@dataclass
class Times:
    """What one program took in one checkout: by the clock and of processor time."""

    cold: list[tuple[float, float]] = field(default_factory=list)
    warm: list[tuple[float, float]] = field(default_factory=list)

    def medians(self) -> dict[str, float]:
        """Name of a column -> seconds."""
        made = {}
        for name, times in (("cold", self.cold), ("warm", self.warm)):
            made[f"{name} wall"], made[f"{name} cpu"] = (statistics.median(each) for each in zip(*times, strict=True))
        return made


def programs(root: Path, backend: str) -> dict[str, list[str]]:
    """Name of a program -> the arguments of Python that run it from a checkout."""
    readme = re.search(r"```python\n(.*?)```", (root / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert readme is not None
    made = {"README": ["-c", readme[1]]}
    for name in EXAMPLES:
        made[f"examples/{name}.py"] = [str(root / "examples" / f"{name}.py"), "--backend", backend]
    made |= {name: ["-c", f"BACKEND = {backend!r}\n{text}"] for name, text in CODE.items()}
    return made | {name: ["-m", "frontier", *words] for name, words in COMMANDS.items()}


def seconds(root: Path, arguments: list[str], cache: Path, folder: Path) -> tuple[float, float]:
    """Run a program in a new process: its time by the clock, and of processors."""
    path = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
    env = {**os.environ, "PYTHONPATH": path, "FRONTIER_CACHE_DIR": str(cache), "PYTHONSAFEPATH": "1"}
    env.pop("NUMBA_CACHE_DIR", None)
    before, start = os.times(), time.perf_counter()
    ended = subprocess.run([sys.executable, *arguments], env=env, cwd=folder, capture_output=True, text=True)
    took, after = time.perf_counter() - start, os.times()
    if ended.returncode:
        raise SystemExit(f"{' '.join(arguments)}\n{ended.stderr}")
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return took, used


def measure(roots: list[Path], arguments: list[list[str]], runs: int, folder: Path) -> list[Times]:
    """Times of one program in each checkout, in turn."""
    found = [Times() for _ in roots]
    for _ in range(runs):
        caches = [Path(tempfile.mkdtemp(dir=folder)) for _ in roots]
        for kind in ("cold", "warm"):
            for root, words, cache, times in zip(roots, arguments, caches, found, strict=True):
                getattr(times, kind).append(seconds(root, words, cache, folder))
        for cache in caches:
            shutil.rmtree(cache)
    return found


def main() -> None:
    """Measure, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1, help="of each kind; the table shows medians")
    parser.add_argument("--backend", default="cpu", help="where graphs of programs in Python lie: cpu, cuda")
    parser.add_argument("--only", metavar="WORDS", default="", help="programs whose names hold one of these, by commas")
    parser.add_argument("--before", metavar="CHECKOUT", type=Path, help="another checkout to measure beside this one")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    options = parser.parse_args()
    roots = [*([options.before.resolve()] if options.before else []), ROOT]
    each = [programs(root, options.backend) for root in roots]
    names = [name for name in each[-1] if any(word in name for word in options.only.split(","))]
    if not names:
        parser.error(f"no program's name holds one of {options.only!r}")
    heads = [f"{when}{kind}" for kind in ("cold ", "warm ") for when in (["before ", ""] if options.before else [""])]
    print("".join([f"{'seconds: by the clock / of processors':38}", *(f"{head:>17}" for head in heads)]), flush=True)
    found = {}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "two.txt").write_text("0 1\n1 2\n")
        (folder / "small.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n")
        for name in names:
            times = [one.medians() for one in measure(roots, [one[name] for one in each], options.runs, folder)]
            found[name] = dict(zip(("before ", "") if options.before else ("",), times, strict=True))
            cells = [f"{one[f'{k} wall']:8.2f} / {one[f'{k} cpu']:5.2f}" for k in ("cold", "warm") for one in times]
            print("".join([f"{name:38}", *(f"{cell:>17}" for cell in cells)]), flush=True)
    if options.json:
        rows = [
            {"program": name, **{f"{when}{kind}": x for when, one in times.items() for kind, x in one.items()}}
            for name, times in found.items()
        ]
        gpu = open_device(options.backend).gpu
        Measurement.now("Whole processes that make one call, seconds", rows, gpu=gpu).write(options.json)


if __name__ == "__main__":
    main()
