"""Where a benchmark runs: the array module, the clock, the high-water mark of memory.

:class:`Cuda` is the GPU by CuPy. :class:`Host` lets NumPy stand in for it, on the cpu backend: small graphs run through
the same program there, to try it out where there is no GPU; its times are not those of a GPU.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

import frontier as fr
from benchmarks import measurement

Array = Any  # of NumPy or CuPy

SPIN = r"""
extern "C" __global__ void spin(long long cycles) {
    long long begin = clock64();
    while (clock64() - begin < cycles) { }
}
"""


@dataclass(frozen=True)
class Timed:
    """A result and the milliseconds that it took: by the host's clock, and by events on the device."""

    result: Any
    wall: float
    device: float


class Host:
    """NumPy and the cpu backend."""

    backend = "cpu"
    gpu = ""  # its name
    xp: Any = np

    def timed(self, call: Callable[[], Any], ahead: bool = False) -> Timed:
        """Call once; both clocks are the same here."""
        start = time.perf_counter()
        result = call()
        wall = (time.perf_counter() - start) * 1e3
        return Timed(result, wall, wall)

    def peak(self, call: Callable[[], Any]) -> tuple[Any, float]:
        """Call once; how many bytes more were in use at most. Not known here."""
        return call(), math.nan

    def wait(self) -> None:
        """Wait until the device has nothing to do."""

    def free(self) -> None:
        """Give back memory that no array uses."""

    def alive(self) -> bool:
        """Whether the device still answers: an illegal access ends it for this process."""
        return True

    def facts(self) -> dict[str, Any]:
        """What a table of times must say of the machine."""
        return {"device": measurement.processor(), "memory": 0, **_versions()}


class Cuda(Host):
    """The current GPU."""

    backend = "cuda"

    def __init__(self) -> None:
        import cupy

        self.xp = self.cupy = cupy
        device = cupy.cuda.Device()  # fails where there is none
        self.gpu = cupy.cuda.runtime.getDeviceProperties(device.id)["name"].decode()
        self.pool = cupy.get_default_memory_pool()
        self._spin: Any = None

    def timed(self, call: Callable[[], Any], ahead: bool = False) -> Timed:
        """Call once, and wait until it is done.

        With ``ahead`` the device is kept busy for a moment first, so that the call has been sent before its turn comes:
        then the events see the device's time alone, if the call does not wait for the device itself.
        """
        begin, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        self.wait()
        if ahead:
            self._keep_busy()
        start = time.perf_counter()
        begin.record()
        result = call()
        end.record()
        end.synchronize()
        self.wait()
        wall = (time.perf_counter() - start) * 1e3
        return Timed(result, wall, float(self.cupy.cuda.get_elapsed_time(begin, end)))

    def _keep_busy(self) -> None:
        if self._spin is None:
            self._spin = self.cupy.RawKernel(SPIN, "spin")
        self._spin((1,), (1,), (np.int64(2_000_000),))  # about a millisecond

    def peak(self, call: Callable[[], Any]) -> tuple[Any, float]:
        """Call once; how many bytes more than before were in use at most, of the pool of CuPy."""
        watch = _watch(self.cupy)
        with watch:
            result = call()
            self.wait()
        return result, float(watch.most)

    def wait(self) -> None:
        self.cupy.cuda.Device().synchronize()

    def free(self) -> None:
        self.pool.free_all_blocks()

    def alive(self) -> bool:
        try:
            self.wait()
            return int(self.cupy.arange(8).sum()) == 28
        except Exception as error:  # whatever it says, the device does not answer
            print(f"  the device does not answer: {error}", flush=True)
            return False

    def facts(self) -> dict[str, Any]:
        runtime = self.cupy.cuda.runtime
        facts = runtime.getDeviceProperties(self.cupy.cuda.Device().id)
        return {
            "device": self.gpu,
            "memory": int(facts["totalGlobalMem"]),
            "multiprocessors": int(facts["multiProcessorCount"]),
            "driver": runtime.driverGetVersion(),
            "runtime": runtime.runtimeGetVersion(),
            "cupy": self.cupy.__version__,
            **_versions(),
        }


def open_device(backend: str) -> Host:
    """The device of a backend: ``cuda``, or ``cpu`` to try the program out."""
    if backend != "cuda":
        return Host()
    try:
        return Cuda()
    except Exception as error:  # no CuPy, no driver, no GPU: each has its own
        raise SystemExit(
            f"no GPU to measure on ({type(error).__name__}: {error}); `frontier doctor` says what is missing, "
            "--backend cpu tries the program out"
        ) from None


def _watch(cupy: Any) -> Any:
    """A hook that follows the bytes in use."""

    class Watch(cupy.cuda.MemoryHook):
        name = "most bytes in use"
        now = most = 0

        def malloc_postprocess(self, **facts: Any) -> None:
            if facts["mem_ptr"]:  # 0 where there was no room
                self.now += facts["mem_size"]
                self.most = max(self.most, self.now)

        def free_postprocess(self, **facts: Any) -> None:
            self.now -= facts["mem_size"]

    return Watch()


def _versions() -> dict[str, Any]:
    commit = measurement.commit() or "unknown"
    return {"frontier": fr.__version__, "commit": commit, "date": date.today().isoformat()}
