"""NetworkX's own tests with Frontier as the backend: how many calls ran here, which fell back and why, what failed.

``python tools/networkx_suite.py [PATTERN ...]`` runs the modules of NetworkX whose paths contain a pattern, by default
all below ``algorithms``. Tests that fail for a reason that is known are listed in ``EXPECTED``; the exit status is 1 if
others fail. Every call for which Frontier has a function goes there, however small its graph.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

#: Pattern of a test -> why it fails. None of these results is wrong.
EXPECTED = {
    r"test_louvain.py::test_(karate|undirected_selfloops|none_weight)":
        "a partition of NetworkX's for a seed; ours has no less modularity",
    r"test_louvain.py::test_directed_partition": "the same communities in another order",
    r"test_dag.py::TestDAG::test_topological_sort6": "a graph that changes while it is sorted: here it is converted",
    r"test_cycles.py::TestMinimumCycleBasis::test_(un)?weighted_diamond": "the same cycles, begun at another node",
    r"test_weighted.py::.*::test_find_negative_cycle_(longer|single)": "the same cycle, begun at another node",
    r"test_dominating_set.py::.*::test_min_edge_dominating_set":
        "the test looks at the first ends of edges only; the set dominates",
    r"test_mis.py::test_random_seed": "the very set of NetworkX's for a seed",
}

#: Where the plugin leaves what it has counted.
_COUNTED = "FRONTIER_NETWORKX_COUNTED"


class Counting:
    """A plugin of pytest: counts calls of the backend."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.ran: Counter[str] = Counter()
        self.fell_back: Counter[str] = Counter()
        self.raised: Counter[str] = Counter()
        self.tests: Counter[str] = Counter()

    def pytest_configure(self) -> None:
        """Put itself before the backend's functions."""
        from frontier.nx_backend.interface import Backend

        found, can_run = Backend.__getattr__, Backend.can_run

        def counted(backend: Any, name: str) -> Any:
            function = found(backend, name)

            def call(*args: Any, **kwargs: Any) -> Any:
                try:
                    result = function(*args, **kwargs)
                except NotImplementedError as error:
                    self.fell_back[f"{name}: {error}"] += 1
                    raise
                except Exception as error:
                    self.raised[f"{name}: {type(error).__name__}"] += 1
                    raise
                self.ran[name] += 1
                return result

            return call

        def asked(name: str, args: Any, kwargs: Any) -> bool | str:
            answer: bool | str = can_run(name, args, kwargs)
            if isinstance(answer, str):
                self.fell_back[f"{name}: {answer}"] += 1
            return answer

        Backend.__getattr__ = counted  # type: ignore[method-assign]
        Backend.can_run = staticmethod(asked)  # type: ignore[method-assign]

    def _calls(self) -> int:
        return self.ran.total() + self.raised.total()

    def pytest_runtest_setup(self) -> None:
        """Note how many calls there were before a test."""
        self._before = self._calls()

    def pytest_runtest_teardown(self) -> None:
        """Count a test that has called the backend."""
        self.tests["call Frontier"] += self._calls() > self._before

    def pytest_unconfigure(self) -> None:
        """Leave the counts."""
        counts = {"tests": self.tests, "ran": self.ran, "fell back": self.fell_back, "raised": self.raised}
        Path(self.path).write_text(json.dumps(counts), "utf-8")


def pytest_configure(config: Any) -> None:
    """Register the plugin, in the process that runs the tests."""
    counting = Counting(os.environ[_COUNTED])
    config.pluginmanager.register(counting)


def entry_points(folder: Path) -> None:
    """Write the entry points of pyproject.toml into a folder for PYTHONPATH, as if this checkout were installed."""
    import tomllib

    info = folder / "frontier_networkx_suite-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: frontier-networkx-suite\nVersion: 0\n", "utf-8")
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in entries.items()) for group, entries in groups.items()]
    (info / "entry_points.txt").write_text("\n".join(lines), "utf-8")


def suite(patterns: list[str], folder: Path) -> tuple[str, dict[str, dict[str, int]]]:
    """Run NetworkX's tests; what pytest prints, and the counts."""
    import networkx

    tests = sorted(Path(networkx.__file__).parent.rglob("test_*.py"))
    chosen = [str(path) for path in tests if any(pattern in path.as_posix() for pattern in patterns)]
    counted = folder / "counted.json"
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT), str(ROOT / "tools")]),
        "NETWORKX_TEST_BACKEND": "frontier",
        "NETWORKX_FALLBACK_TO_NX": "True",
        _COUNTED: str(counted),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "networkx_suite", "-p", "no:cacheprovider", "-rfE"]
    command += ["--tb=short", "-c", os.devnull, "--rootdir", str(Path(networkx.__file__).parents[1])]
    made = subprocess.run(
        [*command, *chosen], cwd=folder, env=environment, text=True, capture_output=True, check=False
    )
    return made.stdout + made.stderr, json.loads(counted.read_text("utf-8"))


def main() -> int:
    """Print the counts and what failed; the exit status."""
    patterns = sys.argv[1:] or ["algorithms/"]
    with tempfile.TemporaryDirectory() as name:
        entry_points(Path(name))
        printed, counts = suite(patterns, Path(name))
    failed = re.findall(r"^(?:FAILED|ERROR) (?:.*?site-packages/)?(\S+::\S+(?:\[.*?\])?)", printed, re.MULTILINE)
    unexpected = [test for test in failed if not any(re.search(pattern, test) for pattern in EXPECTED)]
    if unexpected:
        print(printed)
    reached = counts.pop("tests").get("call Frontier", 0)
    for kind, found in counts.items():
        print(f"\n{kind}: {sum(found.values()):,} calls")
        for what, count in sorted(found.items(), key=lambda item: -item[1]):
            print(f"{count:8,}  {what}")
    for pattern, why in EXPECTED.items():
        for test in failed:
            if re.search(pattern, test):
                print(f"expected: {test}: {why}")
    print(printed.strip().splitlines()[-1])
    if reached:
        print(f"{reached:,} tests call Frontier, of which {100 * (1 - len(failed) / reached):.2f} % pass")
    print(f"{len(unexpected)} unexpected failures", *unexpected, sep="\n")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
