"""Programs under mpirun, for the tests."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

__all__ = ["MPIRUN", "begun", "environment", "missing", "mpich", "mpirun", "processes"]

ROOT = Path(__file__).resolve().parent.parent
MPIRUN = shutil.which("mpirun", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
#: Tests that start processes: ``pytest -m processes``.
processes = pytest.mark.processes


def missing() -> str:
    """Why such tests cannot run here; empty if they can."""
    there = MPIRUN is not None and importlib.util.find_spec("mpi4py") is not None
    return "" if there else "no mpi4py and mpirun: pip install .[ranks]"


def mpich() -> bool:
    """Whether mpirun is that of MPICH."""
    return "HYDRA" in subprocess.run([str(MPIRUN), "--version"], capture_output=True, text=True).stdout


def environment(**more: str) -> dict[str, str]:
    """The environment of a process that imports this repository's packages."""
    path = f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    rooted = dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1")  # as in containers
    return {"FRONTIER_RANKS_TIMEOUT": "100", "FRONTIER_QUIET": "1", **rooted, **os.environ, "PYTHONPATH": path, **more}


def begun(count: int, folder: Path, program: str | list[str], **more: str) -> subprocess.Popen[str]:
    """Start processes of Python: with a program's text, or arguments."""
    if isinstance(program, str):
        file = folder / "program.py"
        file.write_text(textwrap.dedent(program))
        program = [str(file)]
    command = [str(MPIRUN), "-n", str(count), sys.executable, *program]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment(**more), cwd=folder)


def mpirun(
    count: int, folder: Path, program: str | list[str], **more: str
) -> subprocess.CompletedProcess[str]:
    """Run processes of Python to their end; ranks that wait say so before the test gives up."""
    run = begun(count, folder, program, **more)
    try:
        out, err = run.communicate(timeout=200)
    except subprocess.TimeoutExpired:
        run.terminate()  # mpirun ends its processes
        out, err = run.communicate(timeout=10)
        pytest.fail(f"mpirun has not ended within 200 s:\n{out}{err}")
    return subprocess.CompletedProcess(run.args, run.returncode, out, err)
