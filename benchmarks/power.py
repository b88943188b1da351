"""Energy of the GPU, by NVML: for edges a second and watt. Needs ``nvidia-ml-py`` (the module ``pynvml``)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any


class Meter:
    """Reads the energy counter of a GPU; samples its power where it has none.

    Parameters
    ----------
    bus : str
        PCI bus id, which says the same GPU whatever is visible to CUDA.
    """

    def __init__(self, bus: str) -> None:
        import pynvml

        self.nvml: Any = pynvml
        pynvml.nvmlInit()
        self.handle = pynvml.nvmlDeviceGetHandleByPciBusId(bus.encode())
        try:
            pynvml.nvmlDeviceGetTotalEnergyConsumption(self.handle)
            self.counts = True
        except pynvml.NVMLError:  # older than Volta
            self.counts = False

    def watts(self, work: Callable[[], Any], seconds: float) -> tuple[float, int, float]:
        """Repeat some work for a while: mean watts, repetitions, and the seconds that they took."""
        if self.counts:
            begin = self._millijoules()
            times, elapsed = _repeat(work, seconds)
            return (self._millijoules() - begin) / 1e3 / elapsed, times, elapsed
        samples: list[float] = []
        done = threading.Event()
        sampler = threading.Thread(target=self._sample, args=(samples, done))
        sampler.start()
        try:
            times, elapsed = _repeat(work, seconds)
        finally:
            done.set()
            sampler.join()
        return sum(samples) / max(len(samples), 1), times, elapsed

    def _millijoules(self) -> int:
        return int(self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.handle))

    def _sample(self, samples: list[float], done: threading.Event) -> None:
        while not done.wait(0.02):
            samples.append(self.nvml.nvmlDeviceGetPowerUsage(self.handle) / 1e3)


def _repeat(work: Callable[[], Any], seconds: float) -> tuple[int, float]:
    start, times = time.perf_counter(), 0
    while (elapsed := time.perf_counter() - start) < seconds:
        work()
        times += 1
    return times, elapsed
