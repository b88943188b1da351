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

__all__ = ["begun", "mpirun", "processes"]

ROOT = Path(__file__).resolve().parent.parent
MPIRUN = shutil.which("mpirun", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
processes = pytest.mark.skipif(
    MPIRUN is None or importlib.util.find_spec("mpi4py") is None, reason="no mpi4py and mpirun: pip install .[ranks]"
)


def begun(count: int, folder: Path, program: str | list[str], **environment: str) -> subprocess.Popen[str]:
    """Start processes of Python: with a program's text, or arguments."""
    if isinstance(program, str):
        file = folder / "program.py"
        file.write_text(textwrap.dedent(program))
        program = [str(file)]
    where = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}", **environment}
    command = [str(MPIRUN), "-n", str(count), sys.executable, *program]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=where, cwd=folder)


def mpirun(
    count: int, folder: Path, program: str | list[str], **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run processes of Python to their end."""
    run = begun(count, folder, program, **environment)
    out, err = run.communicate(timeout=200)
    return subprocess.CompletedProcess(run.args, run.returncode, out, err)
