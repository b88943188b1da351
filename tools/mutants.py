"""Plant faults in copies of the repository, one at a time, and see whether the short suite finds each.

``python tools/mutants.py [NAME ...]`` runs, for each fault, those tests of the short suite that stand beside it here;
they must fail. ``--whole`` runs the whole short suite up to its first failure instead, and ``--every`` every test.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Mutant:
    """One planted fault: in a file, a text that occurs once becomes another; and who is to find it."""

    path: str
    before: str
    after: str
    tests: str
    #: Whether only kernels that run can show it, so that the simulator's step of ``.ci/run`` finds it.
    simulated: bool = False


MUTANTS = {
    "pull: the last vertex": Mutant(
        "operators/advance/cpu/pull.py", "min((i + 1) << 6, n)):", "min((i + 1) << 6, n - 1)):", "advance bfs"
    ),
    "push: one edge too many of part=": Mutant(
        "operators/advance/cpu/thread.py", "first + at_most)", "first + at_most + 1)", "advance"
    ),
    "gather: -1 without edges": Mutant(
        "operators/gather/cpu.py", "result if result != LAST else -1", "result", "words"
    ),
    "gather: in-edges by their own number": Mutant(
        "operators/gather/cpu.py",
        "vertices, edges = over_vertices(), over_part(where, renumbered, weighted)",
        "vertices, edges = over_vertices(), over_part(where, False, weighted)",
        "gather",
    ),
    "scan: a worker forgets one before it": Mutant(
        "operators/scan/cpu.py", "for other in range(w):", "for other in range(w - 1):", "scan"
    ),
    "buckets: bucket 1 stays": Mutant("operators/buckets/cpu.py", "not bucket >= 1", "not bucket > 1", "buckets"),
    "intersect: parallel edges once": Mutant(
        "operators/intersect/cpu.py", "k -= 1\n", "k -= 2\n", "intersect triangles"
    ),
    "loop: one turn too few": Mutant("frontier/lowering/loops.py", "unless=left > 0)", "unless=left > 1)", "loops"),
    "replay: the number of a pass": Mutant(
        "frontier/lowering/loops.py", "b.assign(loop.count, left + 1)", "b.assign(loop.count, left)", "loops bc"
    ),
    "exact order: no least key": Mutant(
        "operators/order/exact.py", 'Reduce(names.key, "min", into=names["least"])',
        'Reduce(names.key, "max", into=names["least"])', "order",
    ),
    "frontier: difference": Mutant(
        "frontier/program/frontiers.py", '"setdiff1d"', '"intersect1d"', "frontiers"
    ),
    "build: the last of duplicates": Mutant(
        "frontier/graph/build_arrays.py", "heads[:-1] = heads[1:].copy()", "heads[1:] = heads[:-1].copy()",
        "build graph",
    ),
    "pagerank: dangling rank is lost": Mutant(
        "primitives/pagerank.py", "return 0.0 if p.degree[v] > 0 else p.rank[v]", "return 0.0", "pagerank"
    ),
    "betweenness: the source counts": Mutant(
        "primitives/bc.py", "p.ends if p.level[v] > 0 else", "p.ends if p.level[v] >= 0 else", "bc"
    ),
    "components: one that is not a root counts": Mutant(
        "primitives/cc.py", "return 1 if p.label[v] == v else 0", "return 1 if p.label[v] <= v else 0", "cc"
    ),
    "cores: those of the last level stay": Mutant(
        "primitives/core_numbers.py", "return p.degree[v] == p.k\n", "return p.degree[v] == p.k + 1\n", "core_numbers"
    ),
    "matrix market: a negated reverse": Mutant(
        "frontier/io/matrix_market.py", "np.concatenate((weights, -weights))", "np.concatenate((weights, weights))",
        "io_formats io_roundtrip io_whole",
    ),
    "edge list: swapped columns": Mutant(
        "frontier/io/edge_list.py", "made = Edges(rows.src, rows.dst, rows.weights, count, directed=True",
        "made = Edges(rows.dst, rows.src, rows.weights, count, directed=True", "io_formats io_roundtrip",
    ),
    "ranks: the wrong part wins": Mutant(
        "frontier/distributed/merge.py", "return ids[first], keys[first] % len(parts)",
        "return ids[first], keys[first] % len(parts) * 0", "merging",
    ),
    "ranks: what a part adds counts twice": Mutant(
        "frontier/distributed/ranks/changes.py", "found[name] = at, new[changed] - old[changed]",
        "found[name] = at, new[changed]", "ranks_merging ranks",
    ),
    "ranks: ghosts from a wrong slot": Mutant(
        "frontier/distributed/ranks/halo.py", "array[slots] = part", "array[slots[::-1]] = part", "ghosts"
    ),
    "devices: stretches of another GPU": Mutant(
        "frontier/distributed/devices/spreading.py", "[cuts[part] : cuts[part + 1]], value",
        "[cuts[part] + 1 : cuts[part + 1]], value", "spread_fields", simulated=True,
    ),
    "python: an ordered loop drops what comes back": Mutant(
        "frontier/backends/python/interpreter.py", "waiting = (waiting - taken) | after", "waiting = waiting - taken",
        "order",
    ),
}  # fmt: skip


def main() -> int:
    """Try the faults; 1 if one is not found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*MUTANTS, []], metavar="NAME")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--every", action="store_true")
    given = parser.parse_args()
    missed = 0
    for name in given.names or MUTANTS:
        found = tried(MUTANTS[name], given.whole or given.every, given.every)
        print(f"{'found ' if found else 'MISSED'} {name}{f': {found}' if found else ''}", flush=True)
        missed += not found
    return int(missed > 0)


def tried(mutant: Mutant, whole: bool, every: bool) -> str:
    """The first test that fails where a fault is planted; empty if none does."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "repository")
        listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(listing, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        for each in listed.stdout.splitlines():
            target = copy / each
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / each, target)
        path = copy / mutant.path
        text = path.read_text()
        if text.count(mutant.before) != 1:
            raise SystemExit(f"{mutant.path}: {mutant.before!r} occurs {text.count(mutant.before)} times, not once")
        path.write_text(text.replace(mutant.before, mutant.after))
        tests = [] if whole else [f"tests/test_{each}.py" for each in mutant.tests.split()]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-rf", *(["-m", ""] if every else []), *tests]
        variables = {**os.environ, "PYTHONPATH": str(copy), "FRONTIER_CACHE_DIR": str(Path(folder, "cache"))}
        if mutant.simulated:
            variables["NUMBA_ENABLE_CUDASIM"] = "1"
            command += ["-m", "gpu"]
        if whole:
            command += ["-n", "auto"]
        run = subprocess.run(command, cwd=copy, env=variables, capture_output=True, text=True)
        if run.returncode not in (0, 1):
            raise SystemExit(f"pytest ended with status {run.returncode}:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
        failed = [line.split(" - ")[0] for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return failed[0] if run.returncode else ""


if __name__ == "__main__":
    sys.exit(main())
