"""What installed packages bring by entry points: primitives, formats, balances, transports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from processes import environment

import frontier as fr


def install(folder: Path, kind: str, text: str, name: str = "brought") -> None:
    """Put a package of one module into a folder, with its entry points, as pip does."""
    (folder / f"{name}.py").write_text(textwrap.dedent(text))
    info = folder / f"{name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[frontier.{kind}]\n{name} = {name}\n")


def started(folder: Path, *arguments: str, **more: str) -> subprocess.Popen[str]:
    env = environment(FRONTIER_QUIET="1", **more)
    env["PYTHONPATH"] = f"{folder}{os.pathsep}{env['PYTHONPATH']}"
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, *arguments], cwd=folder, env=env, text=True, stdout=pipe, stderr=pipe)


def run(folder: Path, *arguments: str, **more: str) -> tuple[int, str, str]:
    """Run Python with the packages of a folder; the exit status, and what it prints."""
    process = started(folder, *arguments, **more)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


DEGREES = """
    from dataclasses import dataclass
    import numpy as np
    import frontier as fr
    from frontier.graph.estimates import register_memory
    from frontier.registry import Argument, primitive

    @dataclass(frozen=True)
    class Degrees:
        degree: np.ndarray

    @primitive(
        "brought_degrees",
        "the number of neighbours, times something",
        arguments=(Argument("--times", "a factor", int),),
        columns=("degree",),
        report=lambda g, r: {"highest": int(r.degree.max())},
    )
    def brought_degrees(g, *, times=1):
        return Degrees(np.diff(np.asarray(g.offsets)) * times)

    register_memory("brought_degrees", 8)
"""


def test_primitives(tmp_path):
    install(tmp_path, "primitives", DEGREES)
    command = "-m", "frontier", "brought_degrees", "karate", "--times", "2", "--output", "degrees.csv", "--json"
    status, out, err = run(tmp_path, *command)
    assert (status, err) == (0, "")
    highest = int(np.diff(fr.karate().offsets).max())
    assert json.loads(out)["result"]["highest"] == 2 * highest
    rows = (tmp_path / "degrees.csv").read_text().split()
    assert len(rows) == 35
    assert rows[1].split(",")[-1] == str(2 * int(fr.karate().out_degree[0]))
    status, out, err = run(tmp_path, "-m", "frontier", "--help")
    assert "the number of neighbours, times something" in out
    ask = "import frontier as fr; print(fr.karate().memory_estimate('brought_degrees').fields)"
    assert run(tmp_path, "-c", ask) == (0, f"{34 * 8}\n", "")


def test_import_frontier_does_not_ask_for_them(tmp_path):
    install(tmp_path, "primitives", "print('imported')")
    assert run(tmp_path, "-c", "import frontier as fr; fr.karate()") == (0, "", "")


def test_formats(tmp_path):
    install(tmp_path, "formats", """
        import frontier as fr
        fr.register_format("dots", suffixes=["dots"], read=lambda file: fr.path(5))
    """)  # fmt: skip
    (tmp_path / "g.dots").write_text("x")
    status, out, err = run(tmp_path, "-m", "frontier", "info", "g.dots", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["vertices"] == 5


def test_balances(tmp_path):
    install(tmp_path, "balances", """
        import frontier as fr
        from frontier.operators.shared.kernels import kernels

        def by_vertex(step, builder, source, target, next_scan):
            print("lowered")
            kernels(builder, "advance").thread.lower(step, builder, source, target, next_scan)

        fr.register_balance("brought", "cpu", by_vertex)
    """)  # fmt: skip
    program = """
        import frontier as fr
        schedule = fr.Schedule(balance="brought", direction="push")
        print(fr.bfs(fr.path(4), 0, schedule=schedule).level.tolist())
        try:
            fr.Schedule(balance="unknown")
        except fr.FrontierError as error:
            print(error)
    """
    status, out, err = run(tmp_path, "-c", textwrap.dedent(program), FRONTIER_CACHE_DIR=str(tmp_path / "cache"))
    assert (status, err) == (0, "")
    *lowered, levels, refused = out.splitlines()
    assert set(lowered) == {"lowered"}
    assert levels == "[0, 1, 2, 3]"
    assert refused.endswith("merge_path, block, brought, degree_classes, twc")


#: Processes that talk by files in a folder: each exchange is one file of each.
FILES = """
    import os, pickle, sys, time
    from pathlib import Path
    import numpy as np
    from frontier.distributed.transport.communicators import Processes
    from frontier.distributed.transport.table import register_transport

    class Files(Processes):
        def __init__(self):
            self.rank, self.size = int(os.environ["FILES_RANK"]), int(os.environ["FILES_SIZE"])
            self._folder, self._turn = Path(os.environ["FILES_FOLDER"]), 0

        def allgather(self, given):
            self._turn += 1
            new = self._folder / f"new-{self.rank}"
            new.write_bytes(pickle.dumps(given))
            new.rename(self._folder / f"{self._turn}-{self.rank}")
            return [self._read(self._folder / f"{self._turn}-{rank}") for rank in range(self.size)]

        def _read(self, path):
            limit = time.monotonic() + 100
            while not path.exists():
                if time.monotonic() > limit:
                    self.end(f"{path.name} does not come")
                time.sleep(0.001)
            return pickle.loads(path.read_bytes())

        def allreduce(self, array):
            array[...] = np.sum(self.allgather(array), 0)

        def alltoall_blocks(self, given, length):
            at = self.rank * length
            return b"".join(each[at : at + length] for each in self.allgather(bytes(given)))

        def alltoall_bytes(self, given, lengths):
            return [each[self.rank] for each in self.allgather([bytes(each) for each in given])]

        def allgather_bytes(self, given, lengths):
            return self.allgather(bytes(given))

        def end(self, why, status=1):
            print(why, file=sys.stderr, flush=True)
            os._exit(status)

    register_transport("files", Files, launcher=["FILES_RANK", "FILES_SIZE"])
    register_transport("broken", Files, missing=lambda: "no pigeons are here")
"""

SEARCH = """
import numpy as np, frontier as fr
g = fr.rmat(7, 4, seed=1, weights=(1, 9))
there = g.to("ranks")
assert np.array_equal(fr.bfs(there, 3).level, fr.bfs(g, 3).level)
assert np.array_equal(fr.sssp(there, 3).distance, fr.sssp(g, 3).distance)
parts = fr.rmat(7, 4, seed=1, weights=(1, 9), placement="ranks")
assert np.array_equal(np.asarray(fr.connected_components(parts).label), fr.connected_components(g).label)
print(there.placement.backend.describe(there.placement))
"""


@pytest.mark.parametrize("asked", [{}, pytest.param({"FRONTIER_RANKS_TRANSPORT": "files"}, marks=pytest.mark.deep)])
def test_transports(tmp_path, asked):
    install(tmp_path, "transports", FILES)
    folder = tmp_path / "exchange"
    folder.mkdir()
    more = {"FILES_SIZE": "2", "FILES_FOLDER": str(folder), "FRONTIER_NUM_THREADS": "1", **asked}
    both = [started(tmp_path, "-c", SEARCH, FILES_RANK=str(rank), **more) for rank in range(2)]
    for rank, process in enumerate(both):
        out, err = process.communicate(timeout=300)
        assert (process.returncode, err) == (0, "")
        assert out == f"2 processes, rank {rank}\n"
    assert len(list(folder.iterdir())) > 10


def test_an_error_that_nobody_handles_names_the_process(tmp_path):
    """By whatever transport: it has the hook of its processes."""
    install(tmp_path, "transports", FILES)
    (tmp_path / "exchange").mkdir()
    text = "import frontier as fr; g = fr.path(9).to('ranks'); fr.bfs(g, 0); raise ValueError('no' + ' more')"
    more = {"FILES_SIZE": "2", "FILES_FOLDER": str(tmp_path / "exchange"), "FRONTIER_NUM_THREADS": "1"}
    both = [started(tmp_path, "-c", text, FILES_RANK=str(rank), **more) for rank in range(2)]
    for rank, process in enumerate(both):
        _, err = process.communicate(timeout=300)
        assert process.returncode == 1
        assert err.startswith(f"rank {rank} of 2:\n")
        assert err.endswith("ValueError: no more\n\n")


def test_a_transport_that_cannot_be_used(tmp_path):
    install(tmp_path, "transports", FILES)
    command = "-m", "frontier", "bfs", "karate", "--backend", "ranks"
    status, out, err = run(tmp_path, *command, FRONTIER_RANKS_TRANSPORT="broken")
    assert (status, out) == (2, "")
    assert err == "frontier: the backend 'ranks' cannot be used: no pigeons are here\n"
    status, out, err = run(tmp_path, *command, FRONTIER_RANKS_TRANSPORT="none")
    assert (status, out) == (2, "")
    assert err == "frontier: FRONTIER_RANKS_TRANSPORT='none': choose from mpi, torchrun, files, broken\n"


def test_launchers_choose_the_transport(monkeypatch):
    from frontier.distributed.transport import table

    monkeypatch.delenv("FRONTIER_RANKS_TRANSPORT", raising=False)
    monkeypatch.setattr(table, "import_installed", lambda kind: None)
    monkeypatch.setattr(table, "_transports", dict(table._transports))
    launcher = ("TORCHELASTIC_RUN_ID", "RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    for name in launcher:
        monkeypatch.delenv(name, raising=False)
    for name in launcher:
        assert table.transport().name == "mpi"
        monkeypatch.setenv(name, "0")
    assert table.transport().name == "torchrun"
    table.register_transport("own", lambda: None, launcher=["OWN_RANK"])
    assert table.transport().name == "torchrun"
    monkeypatch.setenv("OWN_RANK", "0")
    assert table.transport().name == "own"
    monkeypatch.setenv("FRONTIER_RANKS_TRANSPORT", "mpi")
    assert table.transport().name == "mpi"


def test_names_of_transports_are_checked():
    from frontier.distributed.transport.table import register_transport

    with pytest.raises(fr.FrontierError, match="cannot be called 'a b'"):
        register_transport("a b", lambda: None)
    with pytest.raises(fr.FrontierError, match="a list of environment variables"):
        register_transport("ab", lambda: None, launcher="RANK")


@pytest.mark.parametrize(
    ("kind", "command", "status"), [("primitives", ("bfs", "karate"), 0), ("formats", ("info", "g.odd"), 2)]
)
def test_a_broken_package_is_a_warning(tmp_path, kind, command, status):
    install(tmp_path, kind, "raise RuntimeError('out of order')", name="odd")
    (tmp_path / "g.odd").write_text("x")
    found, _, err = run(tmp_path, "-m", "frontier", *command)
    assert found == status
    first, *others = err.splitlines()
    assert first == (
        f"frontier: warning: the {kind} of the package odd are missing, as odd fails: RuntimeError('out of order')"
    )
    assert len(others) == (1 if status else 0)
