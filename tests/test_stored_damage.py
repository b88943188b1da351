"""Frontier graphs that are damaged: one clear error each when they are opened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import equal
from test_disk import alike

import frontier as fr
from frontier.io import stored
from frontier.memory import checksums, disk
from frontier.memory.disk import DISK

Head = dict[str, Any]


@pytest.fixture
def graph() -> fr.Graph:
    g = fr.rmat(4, 4, seed=1, directed=True, weights=(1, 9))
    return g.with_columns(vertices={"age": np.arange(g.num_vertices)})


@pytest.fixture
def path(tmp_path: Path, graph: fr.Graph) -> Path:
    fr.write(graph, tmp_path / "g.frontier")
    return tmp_path / "g.frontier"


def put(key: str, value: Any) -> Callable[[Head], None]:
    return lambda head: head.update({key: value})


def put_of(array: str, key: str, value: Any) -> Callable[[Head], None]:
    return lambda head: head["arrays"][array].update({key: value})


def without(*names: str) -> Callable[[Head], None]:
    return lambda head: [head["arrays"].pop(name) for name in names] and None


HEADS = {
    "'arrays'": [put("arrays", None), put("arrays", [1]), put("arrays", "x")],
    "'vertices'": [put("vertices", -1), put("vertices", "16"), put("vertices", True)],
    "'slots'": [put("slots", None), put("slots", 1.5)],
    "'directed'": [put("directed", "no")],
    "'file' of the array 'targets'": [put_of("targets", "file", 3), lambda h: h["arrays"].update(targets=[1])],
    "'length' of the array 'targets'": [put_of("targets", "length", -1)],
    "'dtype' of the array 'targets'": [put_of("targets", "dtype", each) for each in ("zz", "O", "<f4", None)],
    "'dtype' of the array 'weights'": [put_of("weights", "dtype", "O")],
    "'crc32' of the array 'targets'": [put_of("targets", "crc32", "abc")],
    "the array 'targets'": [without("targets")],
    "the array 'in_sources'": [without("in_sources")],
    "the array 'in_offsets'": [without("in_offsets", "in_sources")],
    "the array 'in_edges'": [without("in_edges")],
    "the name of the array 'else/x'": [lambda h: h["arrays"].update({"else/x": h["arrays"]["targets"]})],
}


@pytest.mark.parametrize("what", HEADS)
def test_a_head_that_misstates(path: Path, what: str) -> None:
    whole = json.loads((path / "graph.json").read_text())
    for change in HEADS[what]:
        head = json.loads(json.dumps(whole))
        change(head)
        (path / "graph.json").write_text(json.dumps(head))
        for check in (False, True):
            with pytest.raises(fr.GraphError) as error:
                fr.open(path, check=check)
            assert str(error.value) == f"{path}: not a Frontier graph: graph.json lacks or misstates {what}"


def test_checksums_that_are_too_few(path: Path) -> None:
    for noted in ([], [1, 2], ["x"]):
        head = json.loads((path / "graph.json").read_text())
        put_of("targets", "crc32", noted)(head)
        (path / "graph.json").write_text(json.dumps(head))
        with pytest.raises(fr.GraphError) as error:
            fr.open(path, check=True)
        assert str(error.value) == f"{path}/targets.bin: damaged, the checksum is wrong from byte 0 on"


@pytest.mark.parametrize("name", ["offsets", "in_offsets", "vertex_age"])
def test_what_is_read_is_compared(path: Path, graph: fr.Graph, name: str) -> None:
    """A bit is found in any byte of what is read as a whole, whatever is asked for."""
    file = path / f"{name}.bin"
    whole = file.read_bytes()
    for at in (0, 5, len(whole) // 2, len(whole) - 1):
        data = bytearray(whole)
        data[at] ^= 4
        file.write_bytes(data)
        with pytest.raises(fr.GraphError, match=rf"{name}\.bin: damaged, the checksum is wrong from byte 0 on"):
            fr.open(path, check=False)
    file.write_bytes(whole)
    alike(fr.open(path, check=True), graph)


EDGES = ("targets", "weights", "in_sources", "in_edges", "edge_kind")


def damage(file: Path, at: int) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 4
    file.write_bytes(data)


@pytest.fixture
def blocks(tmp_path: Path, graph: fr.Graph, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The graph with a column of edges, and checksums of blocks of 64 bytes."""
    monkeypatch.setattr(checksums, "BLOCK", 64)
    monkeypatch.setattr(checksums, "PIECE", 24)
    graph = graph.with_columns(edges={"kind": np.arange(graph.num_slots)})
    fr.write(graph, tmp_path / "b.frontier")
    return tmp_path / "b.frontier"


@pytest.mark.parametrize("name", EDGES)
def test_damage_of_edges(blocks: Path, name: str) -> None:
    """It is found when a graph is opened, unless this is not wanted; the message names the file and the block."""
    file = blocks / f"{name}.bin"
    whole = file.read_bytes()
    for at in (0, 64, len(whole) // 2, len(whole) - 1):
        damage(file, at)
        for check in (None, True):
            with pytest.raises(fr.GraphError) as error:
                fr.open(blocks, check=check)
            assert str(error.value) == f"{file}: damaged, the checksum is wrong from byte {at // 64 * 64:,} on"
        fr.open(blocks, check=False)
        file.write_bytes(whole)
    fr.open(blocks)


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("use", ["cpu", "python", "copy", "write"])
def test_damage_of_many_edges(
    blocks: Path, graph: fr.Graph, monkeypatch: pytest.MonkeyPatch, name: str, use: str
) -> None:
    """Of graphs with more edges it is found when these are first read, whatever reads them, and always again."""
    uses: dict[str, Callable[[fr.Graph], Any]] = {
        "cpu": lambda g: fr.bfs(g, 0),
        "python": lambda g: fr.bfs(g.to("python", edges="disk"), 0),
        "copy": lambda g: g.to("cpu", edges="host"),
        "write": lambda g: fr.write(g, blocks.parent / "again.frontier"),
    }
    monkeypatch.setattr(stored, "AT_ONCE", 0)
    g = fr.open(blocks)
    equal(fr.bfs(g, 0).level, fr.bfs(graph, 0).level)
    alike(g.to("cpu", edges="host"), fr.open(blocks, check=True))
    size = (blocks / f"{name}.bin").stat().st_size
    damage(blocks / f"{name}.bin", size - 1)
    g = fr.open(blocks)
    for _ in range(2):
        with pytest.raises(fr.GraphError) as error:
            uses[use](g)
        first = (size - 1) // 64 * 64
        assert str(error.value) == f"{blocks}/{name}.bin: damaged, the checksum is wrong from byte {first:,} on"
    assert not (blocks.parent / "again.frontier").exists()


def test_checksums_are_compared_once(blocks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "AT_ONCE", 0)
    compared = []
    crc_of = checksums.crc_of

    def counting(read_into: Any, first: int, stop: int) -> int:
        compared.append((first, stop))
        return crc_of(read_into, first, stop)

    g = fr.open(blocks)
    monkeypatch.setattr(checksums, "crc_of", counting)
    for _ in range(3):
        fr.bfs(g, 0)
        fr.sssp(g.to("cpu", edges="host"), 0)
    sizes = [(blocks / f"{name}.bin").stat().st_size for name in EDGES]
    assert sum(stop - first for first, stop in compared) == sum(sizes)


@pytest.mark.parametrize(
    ("file", "value"),
    [("targets", name) for name in ("in_edges", "in_degree", "in_sources", "num_edges")]
    + [("weights", name) for name in ("min_weight", "max_weight", "out_weight")],
)
@pytest.mark.parametrize("backend", ["cpu", "python"])
def test_damage_of_what_is_derived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, value: str, backend: str
) -> None:
    """It is found before a graph says anything of edges; what is made of offsets needs none."""
    directed = value in ("in_degree", "in_sources")
    path = tmp_path / "c.frontier"
    fr.write(fr.rmat(4, 4, seed=1, weights=(1, 9), directed=directed), path)
    head = json.loads((path / "graph.json").read_text())
    for name in ("in_offsets", "in_sources", "in_edges"):  # as folders may have none
        head["arrays"].pop(name, None)
    head["mark"] = stored._mark(head)
    (path / "graph.json").write_text(json.dumps(head))
    damage(path / f"{file}.bin", 5)
    monkeypatch.setattr(stored, "AT_ONCE", 0)
    g = fr.open(path)
    there = g if backend == "cpu" else g.to(backend, edges="disk")
    assert int(there.out_degree.sum()) == len(there.sources) == there.num_slots
    with pytest.raises(fr.GraphError, match=f"{file}.bin: damaged"):
        getattr(there, value)


FORKING = """
import os, signal, sys
import frontier as fr
from frontier.io import stored
fr.open(sys.argv[1])
stored.AT_ONCE = 0
late = fr.open(sys.argv[1])
child = os.fork()
if child == 0:
    signal.alarm(60)  # which ends it if it waits for a thread that is not there
    fr.open(sys.argv[1], check=True)
    fr.bfs(late.to("python", edges="disk"), 0)
    os._exit(0)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forked processes")
def test_forked_children_compare(path: Path) -> None:
    """They have none of the threads that have compared files in the parent."""
    command = [sys.executable, "-c", FORKING, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


def test_offsets_of_other_slots(path: Path) -> None:
    fr.write(fr.path(3), path.parent / "small.frontier")
    small = path.parent / "small.frontier"
    head = json.loads((small / "graph.json").read_text())
    put("slots", 2)(head)
    put_of("targets", "length", 2)(head)
    (small / "graph.json").write_text(json.dumps(head))
    os.truncate(small / "targets.bin", 8)
    with pytest.raises(fr.GraphError, match="offsets go from 0 to the number of edge slots, 2, not from 0 to 4"):
        fr.open(small)


def test_files_that_cannot_be_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path / "weights.bin").rename(path / "hidden")
    (path / "weights.bin").mkdir()
    with pytest.raises(fr.GraphError, match=r"the file of 'weights' (has|cannot be read)"):
        fr.open(path)
    (path / "weights.bin").rmdir()
    (path / "hidden").rename(path / "weights.bin")

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("frontier.io.stored.mapped_file", refuse)
    with pytest.raises(fr.GraphError, match=r"the file of '\w+' cannot be read: Permission denied"):
        fr.open(path)
    monkeypatch.setattr(disk.tempfile, "TemporaryFile", refuse)
    with pytest.raises(fr.GraphError, match=r"20 bytes cannot be written to .*: Permission denied; .*SPILL_DIR"):
        DISK.full(5, 7, np.int32)
