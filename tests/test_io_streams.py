"""Pipes, standard input and open files are read as streams."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from processes import environment

import frontier as fr

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are there on POSIX only")

FORMATS = ["mtx", "wel", "txt", "csv", "gr", "graph", "npz", "wel.gz", "npz.gz"]


def written(folder: Path, format: str) -> tuple[fr.Graph, bytes]:
    """A graph whose file is larger than what a pipe holds."""
    graph = fr.rmat(12, weights=(1, 64), seed=1)
    fr.write(graph, folder / f"written.{format}")
    return graph, (folder / f"written.{format}").read_bytes()


def check(got: fr.Graph, graph: fr.Graph) -> None:
    assert got.directed == graph.directed
    assert got.offsets.tolist() == graph.offsets.tolist()
    assert got.targets.tolist() == graph.targets.tolist()
    assert got.weights.tolist() == graph.weights.tolist()


@needs_pipes
@pytest.mark.parametrize("format", FORMATS)
def test_named_pipe(tmp_path: Path, format: str) -> None:
    graph, data = written(tmp_path, format)
    assert len(data) > 2**16
    for name in ("pipe", f"pipe.{format}"):
        pipe = tmp_path / name
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(data,), daemon=True)
        writer.start()
        check(fr.read(pipe, format=format if name == "pipe" else None), graph)
        writer.join(60)


@needs_pipes
def test_empty_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=(b"",), daemon=True).start()
    with pytest.raises(fr.GraphError, match=r"pipe\.csv:1: expected a graph, found an empty file"):
        fr.read(pipe)


@needs_pipes
def test_faults_in_a_pipe_have_lines(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.el"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=(b"0 1\n" * 99999 + b"0 x\n",), daemon=True).start()
    with pytest.raises(fr.GraphError, match=r"pipe\.el:100000: .*found 'x'"):
        fr.read(pipe, progress=True)


@pytest.mark.parametrize("format", FORMATS)
def test_open_files(tmp_path: Path, format: str) -> None:
    graph, data = written(tmp_path, format)
    with (tmp_path / f"written.{format}").open("rb") as file:
        check(fr.read(file), graph)  # its name says what it is
    check(fr.read(io.BytesIO(data), format), graph)


def test_open_files_that_are_none() -> None:
    with pytest.raises(fr.GraphError, match=r"<stream>: expected a file open for reading bytes, found StringIO"):
        fr.read(io.StringIO("0 1\n"), "el")
    with pytest.raises(fr.GraphError, match=r"<stream>: expected a name that ends in"):
        fr.read(io.BytesIO(b"0 1\0\n"))
    with pytest.raises(fr.GraphError, match=r"<stream>:1: expected a graph, found an empty file"):
        fr.read(io.BytesIO(b""), "el")


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="there is no /dev/stdin")
@pytest.mark.parametrize("name", ["'/dev/stdin'", "sys.stdin", "sys.stdin.buffer"])
@pytest.mark.parametrize("format", ["csv", "csv.gz", "npz"])
def test_standard_input(name: str, format: str) -> None:
    data: bytes = b"0,1\n1,2\n"
    if format == "csv.gz":
        data = gzip.compress(data)
    elif format == "npz":
        import numpy as np

        out = io.BytesIO()
        np.savez(out, src=[0, 1], dst=[1, 2])
        data = out.getvalue()
    code = f"import sys, frontier as fr\nprint(fr.read({name}, {format!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(), input=data, capture_output=True, check=False, timeout=300,
    )  # fmt: skip
    assert b"3 vertices" in done.stdout, done.stderr
