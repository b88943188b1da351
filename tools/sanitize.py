"""Run every kind of kernel on small graphs under NVIDIA's compute-sanitizer, which must be on the path.

``python tools/sanitize.py`` runs memcheck, racecheck and synccheck side by side, and prints for each program what was
reported while it ran. The exit status is 1 if anything was found that ``races.py`` does not explain, or an answer was
not that of the cpu backend. All programs run without a tool first, in processes side by side, which compiles them. For
racecheck kernels know the lines of their source, by which races are known, where NVVM compiles them so.
``--tools none --backend cpu`` tries the programs out on a machine without a GPU.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import programs  # noqa: E402
from races import explained, findings  # noqa: E402

import frontier as fr  # noqa: E402
from frontier.memory import arrays, detection  # noqa: E402
from frontier.native.cache import cache_folder  # noqa: E402

TOOLS = ("memcheck", "racecheck", "synccheck")
REFUSED = "without lines:"
BALANCES = ("thread", "block", "twc", "merge_path", "degree_classes")

Run = Callable[[fr.Graph], Any]


def common(p, u, v, w):  # type: ignore[no-untyped-def]
    """Count a triangle at its third vertex."""
    fr.atomic_add(p.count, w, 1)
    return 1


def number(p, v):  # type: ignore[no-untyped-def]
    """The vertex itself."""
    return v


def thirds(p, v):  # type: ignore[no-untyped-def]
    """One of three buckets."""
    return v % 3


def meet(p, src, dst):  # type: ignore[no-untyped-def]
    """Count a visit of dst."""
    fr.atomic_add(p.count, dst, 1)
    return True


def _steps(g: fr.Graph, *steps: fr.Step, over: str = "vertices") -> Any:
    p = fr.Problem(g, count=fr.vertex("int64"), total=fr.scalar("int64"), a=fr.pile(), b=fr.pile())
    fr.Sequence(*steps, over=over)(p)
    return p.count


def _search(g: fr.Graph, unique: str, dedup: str) -> Any:
    p = programs.bfs_problem(g, 0)
    step = fr.Advance(programs.visit, where=programs.unvisited, unique=unique)
    fr.Loop(step, count="depth", schedule=fr.Schedule(direction="push", dedup=dedup))(p, fr.Frontier(g, [0]))
    return p.level


def _core(g: fr.Graph) -> Any:
    p = programs.kcore_problem(g)
    programs.KCore(p).run()
    return p.core


def adopt(p, src, dst, weight):  # type: ignore[no-untyped-def]
    """A shorter path, and the vertex before, which is stored under a lock."""
    new = p.distance[src] + weight
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new, src)


def _tree(g: fr.Graph) -> Any:
    p = fr.Problem(g, distance=fr.vertex("float64", np.inf, combine="min"), parent=fr.vertex("int32", with_="distance"))
    p.distance[0] = 0
    fr.Loop(fr.Advance(adopt))(p, fr.Frontier(g, [0]))
    return p.distance


def _registered(g: fr.Graph) -> Any:
    fr.register_reduction("xor", lambda total, value: total ^ value, identity=0, exact="biuf")
    steps = fr.Gather(across, "xor", into="count"), fr.Reduce(number, "xor", into="total")
    return _steps(g, *steps)


def across(p, src):  # type: ignore[no-untyped-def]
    """What a vertex gathers."""
    return src


def _level(**options: Any) -> Run:
    return lambda g: fr.bfs(g, 0, schedule=fr.Schedule(**options)).level


PROGRAMS: dict[str, Run] = {
    **{f"push, {name}": _level(direction="push", balance=name) for name in BALANCES},
    "auto": _level(),
    "pull": _level(direction="pull"),
    "scan": _level(queue="scan"),
    "shrinking": _level(direction="pull", queue="scan"),
    "gunrock": _level(switch="gunrock"),
    "hubs": _level(switch="hubs"),
    "hub cache": _level(direction="pull", hub_cache=True),
    "unfused": _level(fuse=False),
    "claim": lambda g: _search(g, "exact", "claim"),
    "bitmap": lambda g: _search(g, "exact", "bitmap"),
    "culling": lambda g: _search(g, "cull", "auto"),
    "sssp": lambda g: fr.sssp(g, 0).distance,
    "sssp, float32": lambda g: fr.sssp(g, 0, dtype="float32").distance,
    "locks": _tree,
    "registered": _registered,
    "pagerank": lambda g: fr.pagerank(g).rank,
    "components": lambda g: fr.connected_components(g).label,
    "betweenness": lambda g: fr.betweenness(g, [0]).centrality,
    "betweenness, copies": lambda g: fr.betweenness(g, [0, 1]).centrality,
    "k-core": _core,
    "intersect": lambda g: _steps(g, fr.Intersect(common, "sum", into="total"), over="edges"),
    "scan of values": lambda g: _steps(g, fr.Scan(number, into="count")),
    "buckets": lambda g: _steps(g, fr.Buckets(thirds, ["a", "b"]), fr.Advance(meet)),
    "sample": lambda g: _steps(g, fr.Advance(meet, part=fr.sample(2))),
    "edges": lambda g: _steps(g, fr.Advance(meet, output="edge"), fr.Advance(meet)),
}


def graphs(backend: str) -> dict[str, fr.Graph]:
    """One with hubs, for full builds, and one with short lists, for narrow ones."""
    rng = np.random.default_rng(1)
    made = {}
    for name, g in (("R-MAT", fr.rmat(7, 16, seed=1)), ("grid", fr.grid(9, 9))):
        low, high = np.minimum(g.sources, g.targets), np.maximum(g.sources, g.targets)
        weights = (rng.integers(1, 9, g.num_vertices)[low] + high % 5 + 1).astype(np.float32)
        made[name] = fr.Graph(g.offsets, g.targets, weights, directed=False).to(backend)
    return made


def with_lines() -> None:
    """Let kernels that are compiled from here on know the lines of their source, those of inlined functions too."""
    os.environ["FRONTIER_CACHE_DIR"] = str(cache_folder() / "lines")
    cuda = importlib.import_module("numba.cuda")
    for name in ("jit", "compile"):
        setattr(cuda, name, functools.partial(getattr(cuda, name), lineinfo=True))


def inside(backend: str, only: list[str], lines: bool) -> int:
    """Run the programs, a line before each; how many answers were wrong."""
    if backend == "cuda" and not detection.simulated():
        import cupy

        cupy.cuda.set_allocator(None)  # every array by itself: the sanitizer knows where it ends
        if lines:
            with_lines()
    wrong = 0
    for shape, g in graphs(backend).items():
        plain = g.to("cpu")
        for title in (title for title in only if title.endswith(f"@{shape}")):
            print(f"@@ {title}", flush=True)
            run = PROGRAMS[title.partition("@")[0]]
            try:
                found = arrays.to_host(run(g))
            except fr.FrontierError as error:
                if not lines or not any(name in str(error) for name in ("ERROR_COMPILATION", "INVALID_PTX")):
                    raise
                print(f"{REFUSED} {title}", flush=True)  # NVVM, or the driver, does not like the names of symbols
                continue
            right = np.allclose(found, run(plain), rtol=1e-5, equal_nan=True)
            wrong += not right
            if not right:
                print(f"WRONG: {title}", flush=True)
    print("@@ end", flush=True)
    return wrong


def command(arguments: argparse.Namespace, titles: list[str], lines: bool) -> list[str]:
    """What runs these programs in a process of its own."""
    own = [sys.executable, __file__, "--tools", "none", "--backend", arguments.backend, "--only", ";".join(titles)]
    return [*own, "--lines"] if lines else own


def compiled(arguments: argparse.Namespace, titles: list[str]) -> tuple[bool, list[str]]:
    """Run all programs without a tool, which compiles them: if they are right, and which do not compile with lines."""
    calls = [command(arguments, [title], lines) for title in titles for lines in (False, True)]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        ended = list(threads.map(lambda call: subprocess.run(call, capture_output=True, text=True), calls))
    for process in ended:
        if process.returncode:
            print(process.stdout[-300:], process.stderr[-1500:])
    refused = [title for title in titles if any(f"{REFUSED} {title}\n" in process.stdout for process in ended)]
    return all(process.returncode == 0 for process in ended), refused


def report(tool: str, text: str) -> bool:
    """Print what a tool found, program by program; whether all of it is known to be harmless."""
    fine = "@@ end" in text and "WRONG" not in text
    print(f"{tool}: {'all programs ran' if fine else 'NOT all programs ran, or some were wrong'}")
    for part in f"before all programs\n{text}".split("@@ "):
        title, _, rest = part.partition("\n")
        known, others = [], []
        for finding in findings(rest):
            benign = explained(finding) if tool.startswith("racecheck") else None
            if benign is None:
                others.append(finding)
            else:
                known.append(benign)
        for benign in dict.fromkeys(known):
            print(f"  {title}: {known.count(benign)} in {benign.name}: {benign.reason}")
        if others:
            print(f"  {title}: {len(others)} NOT EXPLAINED, as\n    " + "\n    ".join(others[0]))
        fine = fine and not others
    return fine


def main() -> int:
    """Run the tools, all at once."""
    titles = [f"{name}@{shape}" for shape in ("R-MAT", "grid") for name in PROGRAMS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", default=",".join(TOOLS), help="of " + ",".join(TOOLS) + "; none runs without any")
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--timeout", type=float, default=500.0, help="seconds for a tool")
    parser.add_argument("--only", default=";".join(titles), help="programs, with semicolons between them")
    parser.add_argument("--lines", action="store_true", help="compile kernels with their lines")
    arguments = parser.parse_args()
    titles = arguments.only.split(";")
    if arguments.tools == "none":
        return int(inside(arguments.backend, titles, arguments.lines) > 0)
    if shutil.which("compute-sanitizer") is None:
        parser.error("compute-sanitizer, which comes with the CUDA toolkit, is not on the path")
    fine, refused = compiled(arguments, titles)
    runs = {}
    for tool in arguments.tools.split(","):
        if tool == "racecheck":
            runs[f"{tool}, with lines"] = command(arguments, [title for title in titles if title not in refused], True)
        if tool != "racecheck" or refused:
            runs[tool] = command(arguments, titles if tool != "racecheck" else refused, False)
    running = {}
    for name, call in runs.items():
        tool = name.partition(",")[0]
        running[name] = subprocess.Popen(
            ["compute-sanitizer", "--tool", tool, "--print-limit", "10000", *call],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "CI": "1"},
        )  # fmt: skip
    for name, process in running.items():
        try:
            text, _ = process.communicate(timeout=arguments.timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            text, _ = process.communicate()
        fine = report(name, text) and fine
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
