"""What ``frontier doctor`` says about several GPUs and several processes: who reaches whom, and by what."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from frontier.distributed.transport.device_arrays import in_kernels, nccl_missing, wanted
from frontier.errors import FrontierError
from frontier.memory import detection, nvidia, peers
from frontier.memory.detection import named

__all__ = ["mpi", "ranks", "reach", "speaks"]

#: Kinds of MPI, by words in what libraries and launchers say of themselves.
_KINDS = {"Open MPI": "Open MPI", "Intel(R) MPI": "Intel MPI", "MVAPICH": "MVAPICH", "MPICH": "MPICH", "HYDRA": "MPICH"}

#: Launchers of one kind that start processes of another.
_ALIKE = {"MPICH", "Intel MPI", "MVAPICH"}

Line = tuple[str, str, str]


def reach(count: int) -> Iterator[Line]:
    """Lines about which of several GPUs reach each other's memory: one for each kind of connection."""
    kinds: dict[tuple[bool, bool, str], list[peers.Pair]] = {}
    found = peers.pairs(count)
    for pair in found:
        kinds.setdefault((pair.access, pair.atomics, pair.by), []).append(pair)
    for (access, atomics, by), some in kinds.items():
        if len(some) == len(found) and count > 2:
            who = f"each of {count} GPUs with each"
        else:
            who = ", ".join(f"{named(pair.first)} with {named(pair.second)}" for pair in some)
        up = peers.links(some[0].first) if by == "NVLink" else 0
        how = (f"{by} ({up} links)" if up else by) or "by what is not known"
        can = "memory and atomics" if atomics else "memory, no atomics"
        yield "peers", how if access else "no access", f"{who}: {can if access else how}"


def speaks() -> bool:
    """Whether this process prints: of those that mpirun has started on a host, one does."""
    try:
        return bool(importlib.import_module("frontier.distributed.transport.communicators").world().local == 0)
    except (ImportError, RuntimeError, FrontierError):  # there is just this one, and a line says what fails
        return True


def ranks() -> Iterator[Line]:
    """A line about what computes where a program runs on the processes of mpirun or torchrun, by ``"ranks"``."""
    able = [gpu for gpu in nvidia.find().gpus if not nvidia.too_old(gpu)]
    if detection.simulated() or detection.missing() or not able:
        yield "ranks", "on cpu", "processes of mpirun or torchrun compute on the processors of this host"
        return
    who = f"up to {len(able)} processes" if len(able) > 1 else "one process"
    more = "with more, or by 'ranks,cpu', on processors; 'ranks,cuda' shares GPUs"
    yield "ranks", "on cuda", f"{who} of mpirun or torchrun on this host, each on a GPU of its own; {more}"
    yield from exchanges(len(able))
    yield nccl()


def exchanges(count: int) -> Iterator[Line]:
    """A line about where GPUs of ranks exchange, if there are several."""
    found = peers.pairs(count)
    if found and all(pair.access for pair in found):
        off = "" if in_kernels() else "; FRONTIER_RANKS_IN_KERNELS=0 sets it off"
        yield "exchanges", "in kernels", f"of ranks on this host, whose GPUs reach each other's memory{off}"


def nccl() -> Line:
    """A line about what carries long messages between GPUs of ranks."""
    problem = nccl_missing()
    if problem:
        return "nccl", "missing", f"{problem}; messages between GPUs of ranks go through the host"
    number = importlib.import_module("cupy.cuda.nccl").get_version()
    version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
    off = "" if wanted() else "; FRONTIER_RANKS_NCCL=0 sets it off"
    return "nccl", version, f"carries messages between GPUs of ranks{off}"


def mpi() -> Iterator[Line]:
    """Lines about MPI: mpi4py, the library that it finds, and what starts processes."""
    hint = "pip install mpi4py mpich"
    if importlib.util.find_spec("mpi4py") is None:
        yield "mpi4py", "missing", f"{hint}, or mpi4py alone where there is an MPI"
        return
    try:
        import mpi4py

        library = str(importlib.import_module("mpi4py.MPI").Get_library_version())
    except Exception as error:  # ImportError without an MPI; a broken one may raise anything
        yield "mpi4py", "fails", f"{' '.join(str(error).split())}: {hint}"
        return
    told = " ".join(library.replace("\0", "").strip().splitlines()[0].replace(",", " ").split())
    kind = _kind(library)
    yield "mpi4py", mpi4py.__version__, told
    launcher = _launcher()
    if launcher is None:
        yield "mpirun", "missing", f"nothing starts several processes; on a cluster its srun may; otherwise {hint}"
        return
    starts = _kind(_said([launcher, "--version"]))
    other = kind and starts and kind != starts and not {kind, starts} <= _ALIKE
    wrong = f": of {starts}, while mpi4py uses {kind}; each process would be alone" if other else ""
    yield "mpirun", "found" if not other else "another MPI's", f"{launcher}{wrong}"


def _launcher() -> str | None:
    """The mpirun that a shell finds, or that pip has put beside Python."""
    beside = f"{os.environ.get('PATH', '')}{os.pathsep}{Path(sys.executable).parent}"
    return shutil.which("mpirun", path=beside) or shutil.which("mpiexec", path=beside)


def _kind(text: str) -> str:
    return next((kind for word, kind in _KINDS.items() if word in text), "")


def _said(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr
