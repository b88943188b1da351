"""The host's cores beside a GPU that reads the edges from the host's memory: PageRank by C++ and OpenMP."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr
from frontier.memory.arrays import to_host

CODE = Path(__file__).with_name("pagerank_host.cpp")


def compiled_iteration(g: fr.Graph, times: int) -> tuple[float, Any] | None:
    """Milliseconds of one iteration of the compiled program, and the ranks after the first ones; None: no compiler."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        print("  left out: no g++ or clang++ for PageRank in C++")
        return None
    offsets, targets = to_host(g.offsets).astype(np.int64), np.ascontiguousarray(to_host(g.targets), np.int32)
    n = len(offsets) - 1
    rank, share = np.empty(n, np.float32), np.empty(n, np.float32)
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "pagerank_host.so"
        flags = ["-O3", "-march=native", "-fopenmp", "-shared", "-fPIC"]
        subprocess.run([compiler, *flags, str(CODE), "-o", str(library)], check=True)
        call = ctypes.CDLL(str(library)).pagerank
    arrays = [ctypes.c_void_p(each.ctypes.data) for each in (offsets, targets, rank, share)]

    def run(count: int) -> float:
        start = time.perf_counter()
        call(ctypes.c_int64(n), *arrays, ctypes.c_int(count))
        return (time.perf_counter() - start) * 1e3

    run(1)
    took = (-run(1) + run(1 + times)) / times
    run(times)
    return took, rank
