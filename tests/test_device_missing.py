"""What a GPU lacks: memory, a driver, libraries, the GPU itself, in whose place there may be a simulated one."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from device_tools import Capsuled, rich_graph, same
from strict_cupy import module, pool

import frontier as fr
from frontier import device, gpus, memory

A100 = gpus.Gpu("A100", 1 << 36, (8, 0))
DRIVER = gpus.Driver((12, 8), (A100,))


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    monkeypatch.setattr(device, "_ready", False)  # or nothing is simulated any more


# -- memory ------------------------------------------------------------------------------------------


def test_what_does_not_fit_is_said_before(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = fr.grid(10, 10)
    there = graph.to("cuda")
    monkeypatch.setattr(memory, "SMALL", 1)
    monkeypatch.setattr(device, "free_memory", lambda *_: 100)
    with pytest.raises(fr.DeviceMemoryError, match=r"100 are free on cuda .*Graph.to\('cpu'\)"):
        fr.grid(10, 11).to("cuda")
    with pytest.raises(fr.DeviceMemoryError, match="fields of a problem: at least 400 bytes"):
        fr.Problem(there, a=fr.vertex("int32"))
    with pytest.raises(fr.DeviceMemoryError, match="the rows of 100 edges"):
        fr.from_edges(xp.arange(100), xp.arange(100))
    monkeypatch.undo()
    same(there.out_degree, graph.out_degree)


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
        with pytest.raises(fr.DeviceMemoryError, match=r"fields of a problem: at least [\d,]+ bytes .* free on cuda"):
            fr.Problem(graph, a=fr.vertex("float64", 1.5))
        with pytest.raises(fr.DeviceMemoryError, match="the out degree of a graph"):
            _ = graph.out_degree
    finally:
        if xp is module:
            monkeypatch.undo()
        else:
            used.set_limit(0)
    assert int(graph.out_degree.max()) == graph.max_degree == 4


# -- what is missing ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("driver", "absent", "built", "message"),
    [
        (gpus.Driver(problem="there is no NVIDIA driver"), (), 13, "there is no NVIDIA driver"),
        (gpus.Driver((12, 8), problem="no GPU to this process"), (), 13, "no GPU to this process"),
        (gpus.Driver((11, 4), (A100,)), (), 13, "runs CUDA 11.4, and 12.0 is needed"),
        (gpus.Driver((12, 8), (gpus.Gpu("P100", 1, (6, 0)),)), (), 13, "P100 has compute capability 6.0"),
        (DRIVER, ("cupy",), 13, r'CuPy is not installed: pip install "frontier-gpu\[cuda12\]"'),
        (gpus.Driver((13, 0), (A100,)), ("cupy",), 13, r'pip install "frontier-gpu\[cuda13\]"'),
        (DRIVER, (), 13, "built for CUDA 13, and the NVIDIA driver runs CUDA 12.8: pip uninstall cupy-cuda13x, then"),
        (DRIVER, ("numba_cuda",), 12, "numba-cuda is not installed"),
    ],
)
def test_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, driver: gpus.Driver, absent: tuple[str, ...], built: int, message: str
) -> None:
    pytest.importorskip("cupy", reason="CuPy's own version is asked for")
    import cupy

    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
    monkeypatch.setattr(device, "_ready", False)
    monkeypatch.setattr(gpus, "find", lambda: driver)
    monkeypatch.setattr(gpus, "find_spec", lambda name: None if name in absent else name)
    monkeypatch.setattr(cupy.cuda.runtime, "runtimeGetVersion", lambda: built * 1000)
    with pytest.raises(fr.BackendUnavailableError, match=f"the backend 'cuda' is not there: .*{message}"):
        fr.path(3).to("cuda")
    assert fr.path(3).to("auto").backend == "cpu"
    assert not device.available()


def test_arrays_where_no_gpu_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "missing", lambda: "there is no driver")
    with pytest.raises(fr.BackendUnavailableError, match="lies on a GPU, and the backend 'cuda' is not there: there"):
        fr.from_edges(Capsuled(None), [1])


def test_gpus_by_number(xp: Any) -> None:
    with pytest.raises(fr.BackendUnavailableError, match="there is no backend 'cuda:99': this process sees"):
        fr.path(3).to("cuda:99")
    with pytest.raises(fr.GraphError, match="no backend 'cuda:x'"):
        fr.path(3).to("cuda:x")
    assert [device.index_of(device.named(i)) for i in (0, 1, 12)] == [0, 1, 12]


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
    with pytest.raises(fr.DeviceMemoryError, match="a thing: at least 0 bytes"), device.using("cuda", "a thing"):
        raise MemoryError
