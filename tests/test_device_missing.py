"""What a GPU lacks: memory, a driver, libraries, the GPU itself, in whose place there may be a simulated one."""

from __future__ import annotations

import gc
import importlib
import re
import sys
import types
from typing import Any

import numpy as np
import pytest
from device_tools import Capsuled, rich_graph, same
from strict_cupy import module, pool

import frontier as fr
from frontier.cli import doctor
from frontier.memory import detection, nvidia
from frontier.memory.gpu import GpuMemory, gpu
from frontier.memory.host import HostMemory

A100, P100 = nvidia.Gpu("A100", 1 << 36, (8, 0)), nvidia.Gpu("P100", 1 << 34, (6, 0))
DRIVER = nvidia.Driver((12, 8), (A100,))


def placed(name: str) -> str:
    return str(fr.Placement.parse(name))


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    monkeypatch.setattr(detection, "_ready", False)  # or nothing is simulated any more


# -- memory ------------------------------------------------------------------------------------------


def test_what_does_not_fit_is_said_before(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = fr.grid(10, 10)
    there = graph.to("cuda")
    monkeypatch.setattr(HostMemory, "small", 1)
    monkeypatch.setattr(GpuMemory, "small", 1)
    monkeypatch.setattr(GpuMemory, "left", lambda *_: (100, " on cuda"))
    with pytest.raises(fr.DeviceMemoryError, match=r"100 are free on cuda .*Graph.to\('cpu'\)"):
        fr.grid(10, 11).to("cuda")
    with pytest.raises(fr.DeviceMemoryError, match="fields of a problem: at least 400 bytes"):
        fr.Problem(there, a=fr.vertex("int32"))
    with pytest.raises(fr.DeviceMemoryError, match="the rows of 100 edges"):
        fr.from_edges(xp.arange(100), xp.arange(100))
    with pytest.raises(fr.DeviceMemoryError, match="another order of 360 edge slots: at least 8,640 bytes"):
        there.reordered()
    monkeypatch.undo()
    same(there.out_degree, graph.out_degree)


def all_of(xp: Any) -> list[Any]:
    """Take what the pool may still give: blocks beside others that are in use stay in it."""
    taken, size = [], 1 << 40
    while size > 100_000:
        try:
            taken.append(xp.empty(size, "uint8"))
        except xp.cuda.memory.OutOfMemoryError:
            size //= 2
    return taken


def test_memory_that_is_used_up(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = fr.grid(300, 300).to("cuda")
    used = xp.get_default_memory_pool()
    if xp is module:
        monkeypatch.setattr(pool, "limit", 100_000)
    else:
        gc.collect()
        used.free_all_blocks()
        used.set_limit(used.total_bytes() + 100_000)
    try:
        taken = [] if xp is module else all_of(xp)
        with pytest.raises(fr.DeviceMemoryError, match=r"fields of a problem: at least [\d,]+ bytes .* free on cuda"):
            fr.Problem(graph, a=fr.vertex("float64", 1.5))
        with pytest.raises(fr.DeviceMemoryError, match="the out degree of a graph"):
            _ = graph.out_degree
    finally:
        if xp is module:
            monkeypatch.undo()
        else:
            used.set_limit(0)
    del taken
    assert int(graph.out_degree.max()) == graph.max_degree == 4


def test_memory_of_which_nobody_says_how_much_is_needed(xp: Any) -> None:
    """As libraries of CUDA do."""
    said = pytest.raises(fr.DeviceMemoryError, match=r"^a sort: memory ran out, [\d,]+ bytes are free on cuda")
    with said, gpu(0).using("a sort"):
        raise MemoryError("std::bad_alloc: cudaErrorMemoryAllocation: out of memory")


# -- what is missing ---------------------------------------------------------------------------------


class CudaRuntimeError(RuntimeError):
    """As CuPy's."""


class Runtime(types.SimpleNamespace):
    """``cupy.cuda.runtime`` of a CuPy built for CUDA 12, with an old GPU and a new one."""

    CUDARuntimeError = CudaRuntimeError
    built, current = 12000, 0
    gpus = ((b"P100", (6, 0)), (b"A100", (8, 0)))

    def runtimeGetVersion(self) -> int:
        return self.built

    def getDevice(self) -> int:
        return self.current

    def getDeviceCount(self) -> int:
        return len(self.gpus)

    def getDeviceProperties(self, index: int) -> dict[str, bytes]:
        return {"name": self.gpus[index][0]}

    def deviceGetAttribute(self, number: int, index: int) -> int:
        return self.gpus[index][1][number - 75]


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Runtime:
    """A driver, and a CuPy that computes nothing, as if both were installed."""
    made = Runtime()
    cupy = types.ModuleType("cupy")
    cupy.__dict__["cuda"] = types.SimpleNamespace(runtime=made)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
    monkeypatch.setattr(detection, "_ready", False)
    monkeypatch.setattr(nvidia, "find", lambda: DRIVER)
    monkeypatch.setattr(nvidia, "find_spec", lambda name: name)
    monkeypatch.setattr(detection, "cupy", lambda: importlib.import_module("cupy"))  # as before it was imported
    return made


@pytest.mark.parametrize(
    ("driver", "absent", "built", "message"),
    [
        (nvidia.Driver(problem="there is no NVIDIA driver"), (), 13, "there is no NVIDIA driver"),
        (nvidia.Driver((12, 8), problem="no GPU to this process"), (), 13, "no GPU to this process"),
        (nvidia.Driver((11, 4), (A100,)), (), 13, "runs CUDA 11.4, and 12.0 is needed"),
        (nvidia.Driver((12, 8), (P100,)), (), 13, "P100 has compute capability 6.0, and 7.0 is needed"),
        (DRIVER, ("cupy",), 13, r'CuPy is not installed: pip install "cupy-cuda12x>=13.6" "numba-cuda\[cu12\]>='),
        (nvidia.Driver((13, 0), (A100,)), ("cupy",), 13, r'pip install "cupy-cuda13x>=13.6" "numba-cuda\[cu13\]>='),
        (DRIVER, (), 13, "built for CUDA 13, and the NVIDIA driver runs CUDA 12.8: pip uninstall cupy-cuda13x, then"),
        (DRIVER, ("numba_cuda",), 12, "numba-cuda is not installed"),
    ],
)
def test_what_is_missing(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch,
    driver: nvidia.Driver, absent: tuple[str, ...], built: int, message: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(nvidia, "find", lambda: driver)
    monkeypatch.setattr(nvidia, "find_spec", lambda name: None if name in absent else name)
    runtime.built = built * 1000
    with pytest.raises(fr.BackendUnavailableError, match=f"the backend 'cuda' is not there: .*{message}"):
        fr.path(3).to("cuda")
    assert fr.path(3).to("auto").backend == "cpu"
    assert not detection.available()


def test_a_cupy_that_does_not_work(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> int:
        raise CudaRuntimeError("long\ncudaErrorSystemNotReady: system not yet initialized")

    monkeypatch.setattr(runtime, "getDeviceCount", fails, raising=False)
    assert detection.missing() == "CuPy does not reach the GPU (cudaErrorSystemNotReady: system not yet initialized)"
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert detection.missing().startswith("CuPy cannot be imported (import of cupy halted")


def test_only_some_gpus_are_too_old(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "find", lambda: nvidia.Driver((12, 8), (P100, A100)))
    too_old = "'cuda' cannot be used: P100 has compute capability 6.0, and 7.0 is needed; choose 'cuda:1'"
    assert detection.available()
    for name in ("cuda", "cuda:0"):
        with pytest.raises(fr.BackendUnavailableError, match=too_old):
            fr.Placement.parse(name)
    assert placed("cuda:1") == placed("auto") == "cuda:1"
    runtime.current = 1
    assert placed("cuda") == placed("auto") == "cuda:1"
    runtime.gpus = ((b"A100", (8, 0)), (b"H100", (9, 0)))
    assert placed("auto") == "cuda:1"  # the current one
    with pytest.raises(fr.BackendUnavailableError, match="this process sees 2 GPUs, 'cuda' to 'cuda:1'"):
        fr.Placement.parse("cuda:2")


def said_by_doctor() -> dict[str, tuple[str, str]]:
    return {found.what: (found.state, found.note) for found in doctor._cuda()}


def test_doctor_without_a_gpu(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = nvidia.Driver(problem="there is no NVIDIA driver (x is not found)")
    monkeypatch.setattr(nvidia, "find", lambda: driver)
    monkeypatch.setattr(doctor, "version_of", lambda name: "")
    assert said_by_doctor() == {
        "gpu": ("none", "there is no NVIDIA driver (x is not found)"),
        "cupy": ("missing", "only of use with a GPU"),
        "numba-cuda": ("missing", "only of use with a GPU"),
    }
    assert "there is no NVIDIA driver" in str([*doctor._backends()])


def test_doctor_without_cupy(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "find", lambda: nvidia.Driver((12, 8), (A100, P100)))
    monkeypatch.setattr(nvidia, "find_spec", lambda name: None)
    monkeypatch.setattr(doctor, "version_of", {"numba-cuda": "0.30.4"}.get)
    assert [(found.what, found.state, found.note) for found in doctor._cuda()] == [
        ("driver", "CUDA 12.8", ""),
        ("gpu", "A100", "64 GiB, compute capability 8.0"),
        ("gpu", "P100", "16 GiB, compute capability 6.0: too old"),
        ("cupy", "missing", 'pip install "cupy-cuda12x>=13.6" "numba-cuda[cu12]>=0.30" "numpy<2.5"'),
        ("numba-cuda", "0.30.4", ""),
    ]
    assert 'CuPy is not installed: pip install "cupy-cuda12x>=13.6" ' in str([*doctor._backends()])


def test_doctor_with_a_cupy_for_another_cuda(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime.built = 13000
    monkeypatch.setattr(doctor, "version_of", {"cupy-cuda13x": "14.2.0"}.get)
    assert said_by_doctor()["cupy"] == ("14.2.0", "cupy-cuda13x")
    assert "pip uninstall cupy-cuda13x, then pip install" in str([*doctor._backends()])


@pytest.mark.parametrize(
    ("nvvm", "nvjitlink", "note"),
    [
        ("13.0.88", "", ""),
        ("12.9.86", "12.9.86", ""),
        ("13.5.37", "13.5.37", r"newer than the driver: kernels are linked by nvJitLink 13\.5\.37"),
        ("13.5.37", "", r'does not read the PTX.*not installed.*"cupy-cuda13x>=.* "cuda-toolkit<13\.1"'),
        ("14.0.1", "14.0.1", r"nvJitLink does not help \(that of CUDA 14\.0\.1 makes code for newer drivers\)"),
    ],
)
def test_doctor_on_a_toolkit(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, nvvm: str, nvjitlink: str, note: str
) -> None:
    versions = {"nvidia-nvvm": nvvm, "nvidia-nvjitlink": nvjitlink}
    monkeypatch.setattr(nvidia, "find", lambda: nvidia.Driver((13, 0), (A100,)))
    monkeypatch.setattr(doctor, "version_of", lambda name: versions.get(name, ""))
    state, said = said_by_doctor()["cuda-toolkit"]
    assert state == nvvm
    assert re.search(note, said) if note else said == ""


def test_arrays_where_no_gpu_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detection, "missing", lambda: "there is no driver")
    with pytest.raises(fr.BackendUnavailableError, match="lies on a GPU, and the backend 'cuda' is not there: there"):
        fr.from_edges(Capsuled(None), [1])


def test_gpus_by_number(xp: Any) -> None:
    with pytest.raises(fr.BackendUnavailableError, match="there is no backend 'cuda:99': this process sees"):
        fr.path(3).to("cuda:99")
    with pytest.raises(fr.GraphError, match="no backend 'cuda:x'"):
        fr.path(3).to("cuda:x")
    assert [detection.named(i) for i in (0, 1, 12)] == ["cuda", "cuda:1", "cuda:12"]


# -- simulated ---------------------------------------------------------------------------------------


def test_numpy_stands_in_for_cupy(simulated: None) -> None:
    graph = rich_graph()
    there = graph.to("auto")
    assert there.backend == "cuda"
    assert type(there.targets) is np.ndarray
    assert not np.shares_memory(there.targets, graph.targets)
    for name in ("sources", "in_degree", "in_offsets", "in_sources", "in_edges"):
        np.testing.assert_array_equal(getattr(there, name), getattr(graph, name))
    p = fr.Problem(there, level=fr.vertex("int32", -1), depth=fr.scalar("int32"))
    p.level[0] = 0
    assert p.level.tolist() == [0, -1, -1, -1]
    assert sorted(fr.Frontier(there, [1, 2]) - fr.Frontier(there, [1])) == [2]
    with pytest.raises(fr.BackendUnavailableError, match="'cuda:1': this process sees one GPU, 'cuda'"):
        graph.to("cuda:1")


def test_memory_that_is_used_up_simulated(simulated: None) -> None:
    with pytest.raises(fr.DeviceMemoryError, match="a thing: memory ran out"), gpu(0).using("a thing"):
        raise MemoryError
