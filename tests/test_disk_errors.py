"""Edges on a disk when something goes wrong: killed, full, changed, without pinned memory; one clear error each."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import programs
import pytest
from test_disk import alike

import frontier as fr
from frontier.backends.cpu.execution import CpuExecution
from frontier.io import _folders, external
from frontier.memory import detection, disk, pinned

FULL = OSError(28, "No space left on device")

KILLED = """
import os, sys
import frontier as fr
from frontier.backends.cpu.execution import CpuExecution
from frontier.io import external
append, left = external.Unfinished.append, int(sys.argv[1])
def killing(self, file, values):
    global left
    append(self, file, values)
    left -= 1
    if left == 0:
        with open(self.at(file), "ab") as out:
            out.write(b"torn")
        os._exit(9)
external.Unfinished.append = killing
fr.convert("g.wel", "g.frontier", memory=1 << 14, directed=True)
"""


def test_a_conversion_that_is_killed_goes_on(tmp_path: Path) -> None:
    """The process ends in the middle of a write, twice; nothing half-made is taken for whole."""
    fr.write(fr.rmat(7, 8, seed=5, directed=True, weights=(1, 9)), tmp_path / "g.wel")
    paths = os.pathsep.join([os.getcwd(), *sys.path])
    for count in (20, 40):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(count)], cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths},
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 9, done.stderr
        assert not (tmp_path / "g.frontier").exists()
        with pytest.raises(fr.GraphError, match="there is no such folder"):
            fr.open(tmp_path / "g.frontier")
        with pytest.raises(fr.GraphError, match=r"there is no graph\.json"):
            fr.open(tmp_path / "g.frontier.part")
    fr.convert(tmp_path / "g.wel", tmp_path / "g.frontier", memory=1 << 14, directed=True)
    alike(fr.open(tmp_path / "g.frontier", check=True), fr.read(tmp_path / "g.wel", directed=True))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["g.frontier", "g.wel"]


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_conversion_that_is_killed_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchanges: bool
) -> None:
    """Wherever it stops while files are deleted and renamed, nothing is lost, and no graph is half there."""
    if not exchanges:
        monkeypatch.setattr(_folders, "_exchange", lambda one, other: False)
    elif not sys.platform.startswith("linux"):
        pytest.skip("the system does not exchange names")
    source, out = tmp_path / "g.el", tmp_path / "g.frontier"
    fr.write(fr.path(3), out)
    fr.write(fr.rmat(5, 8, seed=5, directed=True), source)
    expected = fr.read(source, directed=True)

    def kill(name: str, after: int) -> bool:
        """Whether it ended before a function was called so many times."""
        real, left = getattr(os, name), after

        def killing(*given: Any, **options: Any) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            real(*given, **options)

        with monkeypatch.context() as patch:
            patch.setattr(os, name, killing)
            try:
                fr.convert(source, out, directed=True)
            except KeyboardInterrupt:
                return False
        return True

    stops = 0
    for name in ("rename", "unlink"):
        for after in (0, 1, 3, 5, 8, 11, 14):
            stops += not kill(name, after)
            if exchanges or out.exists():
                assert fr.open(out, check=True).num_vertices in (3, 32)
    assert stops >= (3 if exchanges else 5)
    assert kill("unlink", 10**9)
    alike(fr.open(out, check=True), expected)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["g.el", "g.frontier"]


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says so; with room again, it goes on."""
    g = fr.rmat(6, 4, seed=5, directed=True)
    fr.write(g, tmp_path / "g.el")
    append, left = external.Unfinished.append, 9

    def filling(self: Any, file: str, values: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise FULL
        append(self, file, values)

    with monkeypatch.context() as patch:
        patch.setattr(external.Unfinished, "append", filling)
        with pytest.raises(fr.GraphError, match=r"g\.frontier: cannot be written: No space left on device"):
            fr.convert(tmp_path / "g.el", tmp_path / "g.frontier", memory=1 << 14, directed=True)
    fr.convert(tmp_path / "g.el", tmp_path / "g.frontier", memory=1 << 14, directed=True)
    alike(fr.open(tmp_path / "g.frontier"), fr.read(tmp_path / "g.el", directed=True))

    def full(*_: Any) -> None:
        raise FULL

    monkeypatch.setattr(disk.os, "posix_fallocate", full)
    with pytest.raises(fr.GraphError, match=r"bytes cannot be written to .*No space left.*FRONTIER_SPILL_DIR"):
        g.to("cpu", edges="disk")


def test_a_file_that_changes_while_it_is_converted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fr.write(fr.path(5), tmp_path / "g.el")
    take = external._take

    def changing(*given: Any) -> None:
        take(*given)
        os.utime(tmp_path / "g.el", ns=(1, 1))

    monkeypatch.setattr(external, "_take", changing)
    with pytest.raises(fr.GraphError, match=r"g\.el: the file has changed while it was read"):
        fr.convert(tmp_path / "g.el", tmp_path / "g.frontier")
    assert not (tmp_path / "g.frontier").exists()


@pytest.mark.parametrize("name", ["cpu", "python"])
def test_a_file_that_has_changed_since_it_was_opened(tmp_path: Path, name: str) -> None:
    fr.write(fr.path(50), tmp_path / "g.frontier")
    g = fr.open(tmp_path / "g.frontier").to(name, edges="disk")
    assert fr.bfs(g, 0).level[49] == 49
    os.truncate(tmp_path / "g.frontier" / "targets.bin", 100)
    with pytest.raises(fr.GraphError, match=r"targets\.bin: the file has changed since it was opened"):
        fr.bfs(g, 0)


@pytest.mark.parametrize("name", ["cpu", "python"])
@pytest.mark.parametrize("how", ["cut off", "changed"])
def test_a_file_that_changes_during_a_run(tmp_path: Path, name: str, how: str) -> None:
    """The next pass does not begin, and the run is over. (The page that is cut off here is still mapped.)"""
    fr.write(fr.path(50), tmp_path / "g.frontier")
    file = tmp_path / "g.frontier" / "targets.bin"
    p = programs.bfs_problem(fr.open(tmp_path / "g.frontier").to(name, edges="disk"), 0)
    seen = []

    def change(enactor: Any) -> None:
        seen.append(enactor.passes)
        if enactor.passes == 3:
            os.truncate(file, 100) if how == "cut off" else os.utime(file, ns=(1, 1))

    with pytest.raises(fr.GraphError, match=r"targets\.bin: the file has changed since it was opened"):
        programs.BFS(p).run(fr.Frontier(p.graph, [0]), on_step=change)
    assert seen == [1, 2, 3]


def test_a_file_that_changes_in_the_last_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was computed is not given out."""
    fr.write(fr.path(50), tmp_path / "g.frontier")
    g = fr.open(tmp_path / "g.frontier").to("cpu", edges="disk")
    call = CpuExecution._call

    def changing(self: Any) -> None:
        call(self)
        os.utime(tmp_path / "g.frontier" / "targets.bin", ns=(1, 1))

    monkeypatch.setattr(CpuExecution, "_call", changing)
    with pytest.raises(fr.GraphError, match=r"targets\.bin: the file has changed since it was opened"):
        fr.bfs(g, 0)


def test_what_lies_there_needs_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph that is opened is not written again, so the disk may be full."""
    fr.write(fr.path(50), tmp_path / "g.frontier")
    g = fr.open(tmp_path / "g.frontier")
    monkeypatch.setattr(disk.DiskMemory, "small", 0)
    monkeypatch.setattr(disk.DiskMemory, "left", lambda self, enough=None: (0, ""))
    assert g.to("python", edges="disk").targets is g.targets
    with pytest.raises(fr.FrontierMemoryError, match="0 are free"):
        fr.path(50).to("cpu", edges="disk")


def test_no_pinned_memory_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise RuntimeError("cudaErrorMemoryAllocation: out of memory")

    cupy = SimpleNamespace(cuda=SimpleNamespace(PinnedMemory=refuse))
    monkeypatch.setattr(detection, "simulated", lambda: False)
    monkeypatch.setattr(detection, "runtime", lambda: SimpleNamespace(hostRegister=refuse))
    monkeypatch.setattr(detection, "cupy", lambda: cupy)
    for size in (7, pinned.IN_PLACE):
        with pytest.raises(fr.FrontierMemoryError, match=rf"{size:,} bytes .* cannot be pinned .*ulimit -l"):
            pinned.buffer(size)
    with pytest.raises(fr.FrontierMemoryError, match="cannot be pinned"):
        pinned.mapped(np.arange(3), 0)


#: What reads the edges of a graph, or makes others of them.
READERS: dict[str, Callable[[fr.Graph], Any]] = {
    "triangles": fr.triangles,
    "k_truss": lambda g: fr.k_truss(g, 3),
    "max_flow": lambda g: fr.max_flow(g, 0, 5),
    "jaccard": fr.jaccard,
    "color": fr.color,
    "louvain": fr.louvain,
    "spanning forest": fr.minimum_spanning_forest,
    "sources": lambda g: g.sources,
    "in_edges": lambda g: g.in_edges,
    "compressed": lambda g: g.compressed(),
    "reordered": lambda g: g.reordered(),
    "induced": lambda g: g.induced([0, 1, 2]),
    "contracted": lambda g: g.contracted(np.arange(g.num_vertices) // 2),
    "with_weights": lambda g: g.with_weights(np.ones(g.num_slots)),
    "to the host": lambda g: g.to("cpu", edges="host"),
    "to python": lambda g: g.to("python"),
    "to ranks": lambda g: g.to("ranks:2"),
    "to_scipy": lambda g: g.to_scipy(),
    "to_networkx": lambda g: g.to_networkx(),
    "to_pandas": lambda g: g.to_pandas(),
    "write": lambda g: fr.write(g, "g.csv"),
    "write npz": lambda g: fr.write(g, "g.npz"),
    "write, stored": lambda g: fr.write(g, "h.frontier"),
    "verify": lambda g: fr.verify.bfs(g, fr.bfs(g.to("cpu", edges="host"), 0)),
}


@pytest.mark.parametrize("what", READERS)
@pytest.mark.parametrize("how", ["cut off", "changed"])
def test_whatever_reads_a_file_that_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, how: str
) -> None:
    """No results of it, no files made of it, and no signal."""
    monkeypatch.chdir(tmp_path)
    fr.write(fr.rmat(6, 4, seed=1, weights=(1, 9)), "g.frontier")
    g = fr.open("g.frontier")
    with open("g.frontier/targets.bin", "r+b") as file:
        file.seek(40)
        file.write(bytes([5, 0, 0, 0] * 6))
        if how == "cut off":
            file.truncate(0)
    os.utime("g.frontier/targets.bin", ns=(1, 1))  # however coarse the system's clock is
    with pytest.raises(fr.GraphError, match=r"targets\.bin: the file has changed since it was opened"):
        READERS[what](g)
    assert [each.name for each in tmp_path.iterdir()] == ["g.frontier"]


@pytest.mark.parametrize(
    "what", ["write", "write npz", "write, stored", "reordered", "to_scipy", "triangles", "to the host"]
)
def test_whatever_reads_a_file_while_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """It is looked at again when all is read, and before anything takes the place of another file."""
    monkeypatch.chdir(tmp_path)
    fr.write(fr.rmat(6, 4, seed=1, weights=(1, 9)), "g.frontier")
    g, seen = fr.open("g.frontier"), disk.File._seen
    left = 3 if what == "write, stored" else 2  # there it is looked at twice before

    def changing(self: disk.File) -> tuple[int, int]:
        nonlocal left
        left -= self._name.endswith("targets.bin")
        if left == 0:
            os.utime("g.frontier/targets.bin", ns=(1, 1))
        return seen(self)

    monkeypatch.setattr(disk.File, "_seen", changing)
    with pytest.raises(fr.GraphError, match=r"targets\.bin: the file has changed since it was opened"):
        READERS[what](g)
    assert [each.name for each in tmp_path.iterdir()] == ["g.frontier"]
