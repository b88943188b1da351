"""The benchmarks run, and every system in them computes the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import frontier as fr
from benchmarks import graphs
from benchmarks.run import PRIMITIVES
from benchmarks.systems import SYSTEMS

ROOT = Path(__file__).resolve().parents[1]


def test_run(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="SciPy is not installed, so there is nothing to compare with")
    command = [sys.executable, "-m", "benchmarks.run", "--graphs", "karate", "grid:20x30", "no-such-graph"]
    command += ["--runs", "2", "--json", str(tmp_path / "rows.json")]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ}, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "left out: no-such-graph" in done.stdout
    rows = json.loads((tmp_path / "rows.json").read_text("utf-8"))["rows"]
    assert all(row["agrees"] for row in rows)
    assert {row["primitive"] for row in rows if row["system"] == "frontier"} == set(PRIMITIVES)
    assert {row["system"] for row in rows} == {name for name, kind in SYSTEMS.items() if kind.version()}


def test_weights_are_the_same_both_ways() -> None:
    g = graphs.load("karate")
    w = {(u, v): x for u, v, x in zip(g.sources.tolist(), g.targets.tolist(), g.weights.tolist(), strict=True)}
    assert all(w[u, v] == w[v, u] for u, v in w)
    assert g.weights.dtype == np.float32
    assert w[0, 1] == ((1 * 40503) >> 7) % 64 + 1


def test_sources_have_edges() -> None:
    g = fr.from_edges([3], [5], num_vertices=100)
    assert set(graphs.sources(g, 8, seed=1)) <= {3, 5}
