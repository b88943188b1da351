"""A kernel that fails takes the GPU with it: one error that names the functors, and one line from then on."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
from processes import environment

import frontier as fr
from frontier.backends.cuda import launch
from frontier.memory import lost
from frontier.memory.gpu import gpu


class DriverError(RuntimeError):
    """As CuPy's."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def far_away(p, v):
    p.level[v + (1 << 40)] = 1


def kernel(error: DriverError) -> launch.Kernel:
    """One that ends with an error."""

    def synchronize() -> None:
        raise error

    made = object.__new__(launch.Kernel)
    stream = SimpleNamespace(ptr=0, synchronize=synchronize)
    program = SimpleNamespace(steps=["Compute(far_away)"], functors={far_away: "fn0_far_away"})
    vars(made).update(
        _stream=lambda: stream, _launch=lambda *_: None, _pointer=0, blocks=1, threads=32, _scratch=0, _index=0,
        _program=program,
    )  # fmt: skip
    return made


@pytest.fixture(autouse=True)
def none_lost(monkeypatch):
    monkeypatch.setattr(lost, "_lost", {})


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (700, "ended with an illegal address on the GPU: most likely an index is outside a field in one of far_away"),
        (702, "a kernel that ran for too long on the GPU: most likely a functor does not end in one of far_away"),
        (719, "a launch that failed"),
    ],
)
def test_the_error_names_the_functors_and_later_ones_are_one_line(xp, status, said):
    with pytest.raises(fr.DeviceLostError, match=said) as caught:
        kernel(DriverError(status, "CUDA_ERROR_OF_SOME_KIND: a raw text"))(SimpleNamespace(parameters=0))
    for part in (f"{__file__}:{far_away.__code__.co_firstlineno}", "FRONTIER_CHECK=1", "g.to('python')", "start a new"):
        assert part in str(caught.value)
    assert "raw" not in str(caught.value)
    for later in (lambda: fr.Placement.parse("cuda"), lambda: fr.path(3).to("cuda"), lambda: gpu(0).synchronize()):
        with pytest.raises(fr.DeviceLostError, match=r"^this process cannot use cuda any more, after a"):
            later()
    assert str(fr.Placement.parse("auto")) == "cpu"


def test_an_error_met_later_is_said_in_our_words_too(xp):
    with pytest.raises(fr.DeviceLostError, match="any more, after an illegal address"), gpu(0).using("a copy"):
        raise DriverError(700, "cudaErrorIllegalAddress: an illegal memory access was encountered")
    with pytest.raises(fr.DeviceLostError), gpu(0).using():
        pytest.fail("not reached")


def test_other_errors_of_the_driver_leave_the_gpu_usable(xp):
    with pytest.raises(fr.FrontierError, match=r"does not run the loop of Compute\(far_away\): CUDA_ERROR_LAUNCH_OUT"):
        kernel(DriverError(701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"))(SimpleNamespace(parameters=0))
    assert str(fr.Placement.parse("cuda")) == "cuda"


SCRIPT = """
import numpy as np
import frontier as fr
from test_lost import far_away

g = fr.path(1000).to("cuda")
p = fr.Problem(g, level=fr.vertex("int32"))
everyone = fr.Frontier.all(g)
for attempt in (lambda: fr.compute(p, everyone, far_away), lambda: fr.bfs(g, 0), lambda: fr.path(3).to("cuda")):
    try:
        attempt()
    except fr.DeviceLostError as error:
        print(error)
print(fr.bfs(fr.path(3).to("auto"), 0).level)
"""


@pytest.mark.gpu
@pytest.mark.unsimulated("its memory is the host's")
def test_an_address_that_is_not_there_on_a_real_gpu():
    variables = environment()
    variables["PYTHONPATH"] += ":" + str(__file__.rpartition("/")[0])
    made = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300, env=variables
    )
    assert made.returncode == 0, made.stdout + made.stderr
    first, second, third, level = made.stdout.splitlines()
    assert "an index is outside a field in one of far_away" in first
    assert second == third == "this process cannot use cuda any more, after an illegal address: start a new one"
    assert level == "[0 1 2]"
