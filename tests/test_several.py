"""What doctor says of several GPUs and of MPI, with doubles of the driver, of NVML, and of launchers."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from frontier.cli import doctor, several
from frontier.distributed.transport import device_arrays
from frontier.memory import nvidia, peers


class Cuda:
    """The driver of a host: which GPUs reach which, in both directions."""

    def __init__(self, reaches: Any, atomics: bool = True) -> None:
        self._reaches, self._atomics = reaches, atomics

    def cuInit(self, flags: int) -> int:
        return 0

    def cuDeviceCanAccessPeer(self, out: Any, a: int, b: int) -> int:
        out._obj.value = int(self._reaches(a, b))
        return 0

    def cuDeviceGetP2PAttribute(self, out: Any, attribute: int, a: int, b: int) -> int:
        assert attribute == 3
        out._obj.value = int(self._atomics)
        return 0

    def cuDeviceGetPCIBusId(self, out: Any, length: int, index: int) -> int:
        out.value = f"0000:{index:02x}:00.0".encode()
        return 0


class Nvml:
    """NVML, which counts the GPUs of the host from the last one on."""

    def __init__(self, linked: Any, level: int = 50, links: int = 18) -> None:
        self._linked, self._level, self._links = linked, level, links

    def nvmlInit_v2(self) -> int:
        return 0

    def nvmlDeviceGetHandleByPciBusId_v2(self, place: Any, out: Any) -> int:
        out._obj.value = 100 - int(place.value.split(b":")[1], 16)
        return 0

    def nvmlDeviceGetP2PStatus(self, a: Any, b: Any, what: int, out: Any) -> int:
        assert what == 2
        out._obj.value = 0 if self._linked(100 - a.value, 100 - b.value) else 5
        return 0

    def nvmlDeviceGetTopologyCommonAncestor(self, a: Any, b: Any, out: Any) -> int:
        out._obj.value = self._level
        return 0

    def nvmlDeviceGetNvLinkState(self, device: Any, link: int, out: Any) -> int:
        out._obj.value = 1
        return 0 if link < self._links else 3


def libraries(monkeypatch: pytest.MonkeyPatch, cuda: Cuda | None, nvml: Nvml | None) -> None:
    def load(name: str) -> Any:
        found = nvml if "ml" in name else cuda
        if found is None:
            raise OSError(name)
        return found

    monkeypatch.setattr(peers.ctypes, "CDLL", load)


def always(*_: int) -> bool:
    return True


def never(*_: int) -> bool:
    return False


def test_gpus_joined_by_nvlink(monkeypatch: pytest.MonkeyPatch) -> None:
    libraries(monkeypatch, Cuda(always), Nvml(always))
    assert [*several.reach(4)] == [("peers", "NVLink (18 links)", "each of 4 GPUs with each: memory and atomics")]
    assert [*several.reach(2)] == [("peers", "NVLink (18 links)", "cuda with cuda:1: memory and atomics")]
    assert [*several.reach(1)] == []


def test_gpus_in_two_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    def together(a: int, b: int) -> bool:
        return a // 2 == b // 2

    libraries(monkeypatch, Cuda(together), Nvml(together, links=4))
    assert [*several.reach(4)] == [
        ("peers", "NVLink (4 links)", "cuda with cuda:1, cuda:2 with cuda:3: memory and atomics"),
        ("peers", "no access", "cuda with cuda:2, cuda with cuda:3, cuda:1 with cuda:2, cuda:1 with cuda:3: "
         "PCIe, two processors"),
    ]  # fmt: skip


def test_gpus_on_a_bus(monkeypatch: pytest.MonkeyPatch) -> None:
    libraries(monkeypatch, Cuda(always, atomics=False), Nvml(never, level=10, links=0))
    assert [*several.reach(2)] == [("peers", "PCIe, one switch", "cuda with cuda:1: memory, no atomics")]
    libraries(monkeypatch, Cuda(lambda a, b: a < b), None)  # one direction is not enough
    assert [*several.reach(2)] == [("peers", "no access", "cuda with cuda:1: by what is not known")]
    libraries(monkeypatch, None, None)
    assert [*several.reach(2)] == []


def test_doctor_tells_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = nvidia.Gpu("H200", 1 << 37, (9, 0))
    monkeypatch.setattr(nvidia, "find", lambda: nvidia.Driver((13, 0), (gpu, gpu)))
    libraries(monkeypatch, Cuda(always), Nvml(always))
    assert "NVLink (18 links)" in [found.state for found in doctor._cuda() if found.what == "peers"]


# ---- MPI ------------------------------------------------------------------------------------------------


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Make it so that an MPI, and a launcher, say of themselves what is given."""

    def make(library: str | Exception, launcher: str | None) -> list[tuple[str, str, str]]:
        def load(name: str) -> Any:
            if isinstance(library, Exception):
                raise library
            return types.SimpleNamespace(Get_library_version=lambda: library)

        monkeypatch.setattr(several.importlib.util, "find_spec", lambda name: name)
        monkeypatch.setitem(sys.modules, "mpi4py", types.SimpleNamespace(__version__="4.1.1"))
        monkeypatch.setattr(several.importlib, "import_module", load)
        monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
        monkeypatch.setenv("PATH", str(tmp_path))
        if launcher is not None:
            file = tmp_path / "mpirun"
            file.write_text(f"#!/bin/sh\necho '{launcher}'\n")
            file.chmod(0o755)
        return [*several.mpi()]

    return make


def test_mpi_and_its_launcher(installed: Any, tmp_path: Path) -> None:
    found = installed("MPICH Version:      5.0.2\nMPICH Release date: x\0", "HYDRA build details:")
    assert found == [
        ("mpi4py", "4.1.1", "MPICH Version: 5.0.2"),
        ("mpirun", "found", str(tmp_path / "mpirun")),
    ]
    _, (_, state, note) = installed("Open MPI v5.0.8, package: x", "HYDRA build details:")
    assert state == "another MPI's"
    assert note.endswith("of MPICH, while mpi4py uses Open MPI; each process would be alone")
    assert installed("Intel(R) MPI Library 2021.1", "HYDRA build details:")[1][1] == "found"


def test_what_is_missing(installed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert installed("Open MPI v5.0.8", None)[1][:2] == ("mpirun", "missing")
    (line,) = installed(RuntimeError("cannot load MPI library\nlibmpi.so"), None)
    assert line[:2] == ("mpi4py", "fails")
    assert line[2].startswith("cannot load MPI library libmpi.so: pip install")
    monkeypatch.setattr(several.importlib.util, "find_spec", lambda name: None)
    assert [line[:2] for line in several.mpi()] == [("mpi4py", "missing")]


# ---- ranks ----------------------------------------------------------------------------------------------


def test_where_gpus_of_ranks_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    libraries(monkeypatch, Cuda(always), Nvml(always))
    said = "of ranks on this host, whose GPUs reach each other's memory"
    assert [*several.exchanges(2)] == [("exchanges", "in kernels", said)]
    assert [*several.exchanges(1)] == []
    monkeypatch.setenv("FRONTIER_RANKS_IN_KERNELS", "0")
    ((_, _, off),) = several.exchanges(2)
    assert off == f"{said}; FRONTIER_RANKS_IN_KERNELS=0 sets it off"
    libraries(monkeypatch, Cuda(lambda a, b: a < b), None)
    assert [*several.exchanges(2)] == []


@pytest.mark.parametrize("version", [12080, 13010])
def test_nccl_that_fits_the_installed_cupy(monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    runtime = types.SimpleNamespace(runtimeGetVersion=lambda: version)
    cuda = types.SimpleNamespace(runtime=runtime)
    modules = {"cupy": types.SimpleNamespace(cuda=cuda), "cupy.cuda.nccl": types.SimpleNamespace(available=False)}
    monkeypatch.setattr(device_arrays.detection, "simulated", lambda: False)
    monkeypatch.setattr(device_arrays.importlib, "import_module", modules.__getitem__)
    assert device_arrays.nccl_missing() == f"CuPy finds no NCCL: pip install nvidia-nccl-cu{version // 1000}"


def test_what_ranks_compute_on(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = (nvidia.Gpu("H200", 1 << 37, (9, 0)), nvidia.Gpu("K40", 1 << 34, (3, 5)))
    monkeypatch.setattr(nvidia, "find", lambda: nvidia.Driver((13, 0), gpus))
    monkeypatch.setattr(several.detection, "simulated", lambda: False)
    monkeypatch.setattr(several.detection, "missing", lambda: "")
    monkeypatch.setattr(several, "nccl_missing", lambda: "CuPy finds none")
    line, beside = several.ranks()
    assert line[:2] == ("ranks", "on cuda")
    assert line[2].startswith("one process of mpirun or torchrun on this host")
    assert beside[:2] == ("nccl", "missing")
    module = types.SimpleNamespace(get_version=lambda: 22809)
    monkeypatch.setattr(several, "nccl_missing", lambda: "")
    monkeypatch.setattr(several.importlib, "import_module", lambda name: module)
    monkeypatch.setenv("FRONTIER_RANKS_NCCL", "0")
    said = "carries messages between GPUs of ranks; FRONTIER_RANKS_NCCL=0 sets it off"
    assert several.nccl() == ("nccl", "2.28.9", said)
    monkeypatch.undo()
    monkeypatch.setattr(nvidia, "find", lambda: nvidia.Driver((13, 0), gpus))
    monkeypatch.setattr(several.detection, "simulated", lambda: False)
    monkeypatch.setattr(several.detection, "missing", lambda: "no CuPy")
    assert [line[:2] for line in several.ranks()] == [("ranks", "on cpu")]
