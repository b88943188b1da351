"""Arrays from outside are looked at before compiled code follows them."""

from __future__ import annotations

import json
import os
import socket
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_disk import alike

import frontier as fr
from frontier.graph import validation
from frontier.graph.packed import PackedIds
from frontier.io import stored


def rewrite(folder: Path, name: str, change: Callable[[Any], Any], honest: bool = False) -> None:
    """Change an array of a stored graph, with the right checksum; ``honest``: with our mark, too."""
    head = json.loads((folder / "graph.json").read_text())
    noted = head["arrays"][name]
    file = folder / noted["file"]
    made = np.asarray(change(np.fromfile(file, noted["dtype"])))
    file.write_bytes(made.tobytes())
    noted.update(dtype=made.dtype.str, length=len(made), crc32=[zlib.crc32(made.tobytes())] if len(made) else [])
    if honest:
        head["mark"] = stored._mark(head)
    (folder / "graph.json").write_text(json.dumps(head))


def put(at: int, value: Any) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        array[at] = value
        return array

    return change


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    g = fr.from_edges([0, 0, 1, 2, 3], [1, 2, 2, 3, 0], weights=[1.0, 2.0, 3.0, 4.0, 5.0], directed=True)
    fr.write(g.with_columns(vertices={"age": np.arange(4)}), tmp_path / "g.frontier")
    return tmp_path / "g.frontier"


WRONG = {
    "a target too large": ("targets", put(1, 10**6), r"targets are vertices from 0 to 3, .* of slot 1 is 1000000"),
    "a negative target": ("targets", put(0, -7), r"targets are vertices from 0 to 3, but that of slot 0 is -7"),
    "targets that fall": ("targets", lambda a: a[[1, 0, 2, 3, 4]], r"targets ascend in each list, .* at slot 1"),
    "uint64 targets": ("targets", lambda a: a.astype("<u8"), r"targets are int32 or int64, not uint64"),
    "offsets that fall": ("offsets", put(1, 4), r"offsets must not fall, but do at vertex 1"),
    "offsets from 1": ("offsets", put(0, 1), r"offsets go from 0 to the number of edge slots, 5, not from 1 to 5"),
    "an in-source too large": ("in_sources", put(0, 4), r"in_sources are vertices from 0 to 3, .* of slot 0 is 4"),
    "other in-sources": ("in_sources", put(0, 2), r"in_sources and in_edges are not those of the edges"),
    "an in-edge too large": ("in_edges", put(0, 99), r"in_sources and in_edges are not those of the edges"),
    "in-edges of others": ("in_edges", lambda a: a[::-1], r"in_sources and in_edges are not those of the edges"),
    "wide in-sources": ("in_sources", lambda a: a.astype("<i8"), r"in_sources have the dtype of targets, int32, not"),
    "a weight that is NaN": ("weights", put(3, np.nan), r"weight 3 is NaN"),
    "complex weights": ("weights", lambda a: a.astype("<c16"), r"weights are integers, float32 or float64, not compl"),
    "halves": ("weights", lambda a: a.astype("<f2"), r"weights are integers, float32 or float64, not float16"),
    "texts": ("weights", lambda a: a.astype("<U4"), r"weights are integers, float32 or float64, not <U4"),
    "structures": ("vertex/age", lambda a: a.view("i4,i4"), r"graph\.json lacks or misstates 'dtype' of the array"),
}


@pytest.mark.parametrize("check", [None, True])
@pytest.mark.parametrize("what", WRONG)
def test_a_folder_with_right_checksums_and_wrong_content(folder: Path, what: str, check: bool | None) -> None:
    name, change, said = WRONG[what]
    rewrite(folder, name, change, honest=check is True)
    with pytest.raises(fr.GraphError, match=said) as error:
        fr.open(folder, check=check)
    assert str(error.value).startswith(f"{folder}: ")
    with pytest.raises(fr.GraphError, match=said):
        fr.read(folder)


def test_an_undirected_folder_has_every_edge_both_ways(tmp_path: Path) -> None:
    fr.write(fr.path(4).with_weights([1, 1, 2, 2, 3, 3]), tmp_path / "g.frontier")
    alike(fr.open(tmp_path / "g.frontier", check=True), fr.path(4).with_weights([1, 1, 2, 2, 3, 3]))
    for name, at, value in (("targets", 0, 2), ("weights", 0, 9)):
        fr.write(fr.path(4).with_weights([1, 1, 2, 2, 3, 3]), tmp_path / "g.frontier")
        rewrite(tmp_path / "g.frontier", name, put(at, value))
        with pytest.raises(fr.GraphError, match="an undirected graph has every edge both ways, with the same weight"):
            fr.open(tmp_path / "g.frontier")


def test_labels_that_come_twice(tmp_path: Path) -> None:
    fr.write(fr.from_edges([0, 1], [1, 2], labels=["a", "b", "c"]), tmp_path / "g.frontier")
    rewrite(tmp_path / "g.frontier", "labels", put(1, "a"))
    with pytest.raises(fr.GraphError, match="labels must be unique"):
        fr.open(tmp_path / "g.frontier")


def test_who_reads_a_large_folder_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With our mark it is not read when opened; without, it is, unless it is said to be trusted."""
    monkeypatch.setattr(stored, "AT_ONCE", 0)
    looked: list[int] = []
    monkeypatch.setattr(stored, "check_edges", lambda *args, **more: looked.append(1))
    cases = ((True, None, 0), (True, True, 1), (False, None, 1), (False, True, 1), (False, False, 0))
    for i, (honest, check, count) in enumerate(cases):
        rewrite(folder, "weights", put(0, i + 7), honest)
        looked.clear()
        fr.open(folder, check=check)
        assert len(looked) == count, (honest, check)


# ---- Graph(...) ------------------------------------------------------------------------------------------------

I4 = np.int32
ARRAYS = {
    "a target too large": ([0, 1, 2], [1, 2], r"targets are vertices from 0 to 1, but that of slot 1 is 2"),
    "a negative one": ([0, 1, 2], [1, -1], r"targets are vertices from 0 to 1, but that of slot 1 is -1"),
    "offsets too far": ([0, 1, 9], [1, 0], r"offsets go from 0 to the number of edge slots, 2, not from 0 to 9"),
    "offsets that fall": ([0, 3, 2], [1, 0], r"offsets must not fall, but do at vertex 1"),
    "no offsets": ([], [], r"offsets have at least one entry"),
    "one way": ([0, 1, 1], [1], r"an undirected graph has every edge both ways"),
}


@pytest.mark.parametrize("what", ARRAYS)
def test_arrays_of_a_graph_are_looked_at(what: str) -> None:
    offsets, targets, said = ARRAYS[what]
    with pytest.raises(fr.GraphError, match=said):
        fr.Graph(np.array(offsets, I4), np.array(targets, I4), directed=False)


def test_kinds_of_arrays() -> None:
    offsets, targets = np.array([0, 1, 2], I4), np.array([1, 0], I4)
    for wrong, said in (
        ({"offsets": [0, 1, 2]}, "offsets must be an array, not list"),
        ({"targets": targets.astype(np.uint32)}, "targets are int32 or int64, not uint32"),
        ({"targets": np.repeat(targets, 2)[::2]}, "targets must lie without gaps"),
        ({"targets": targets.astype(">i4")}, "targets must have a dtype of this machine"),
        ({"targets": targets[:, None]}, "targets must have one dimension, not 2"),
        ({"weights": np.ones(3)}, "weights must have 2 entries, not 3"),
        ({"labels": np.array(["a"])}, "labels must have 2 entries, not 1"),
        ({"labels": np.array(["a", "a"])}, "labels must be unique"),
        ({"vertices": {"x": np.ones(1)}}, "the vertex column 'x' must have 2 entries, not 1"),
        ({"edges": {"x": np.ones(1)}}, "the edge column 'x' must have 2 entries, not 1"),
    ):
        with pytest.raises(fr.GraphError, match=said):
            fr.Graph(**{"offsets": offsets, "targets": targets, "directed": True, **wrong})
    made = fr.Graph(offsets, targets + 5, directed=True, check=False)  # trusted
    assert made.num_slots == 2


@pytest.mark.parametrize("directed", [True, False])
def test_graphs_are_right(directed: bool) -> None:
    """Of one stretch and of several, plain and compressed."""
    g = fr.rmat(6, 6, seed=3, directed=directed, weights=(1, 9))
    for each in (g, g.compressed(), fr.from_edges([], [], directed=directed), fr.star(5)):
        top = each._topology
        fr.Graph(top.offsets, top.ends, top.weights, directed=each.directed)


def test_stretches_and_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "STRETCH", 64)
    monkeypatch.setattr(validation, "WORTH_THREADS", 0)
    g = fr.rmat(7, 6, seed=3, directed=True)
    lists = (g.in_offsets, g.in_sources, g.in_edges)
    validation.check_edges(g.offsets, g.targets, directed=True, in_lists=lists)
    slot = int(g.offsets[g.out_degree.argmax()]) + 1  # its list goes on
    for at in {*range(63, g.num_slots, 64), slot}:
        wrong = g.targets.copy()
        wrong[at] = g.num_vertices
        with pytest.raises(fr.GraphError, match=f"that of slot {at} is {g.num_vertices}"):
            fr.Graph(g.offsets, wrong, directed=True)
        wrong[at] = (g.targets[at] + 1) % g.num_vertices
        with pytest.raises(fr.GraphError, match=r"ascend in each list|are not those of the edges"):
            validation.check_edges(g.offsets, wrong, directed=True, in_lists=lists)
    both = g.targets.copy()
    both[[slot - 1, slot]] = both[[slot, slot - 1]]
    with pytest.raises(fr.GraphError, match=f"do not at slot {slot}"):
        fr.Graph(g.offsets, both, directed=True)


def test_compressed_lists_that_lead_astray() -> None:
    packed = fr.karate().compressed()._topology.ends
    offsets = fr.karate().offsets
    assert isinstance(packed, PackedIds)
    far, falls, least = (packed.frames.copy() for _ in range(3))
    far[2], falls[4], least[1] = 10**6, 0, 33
    for frames, words, said in (
        (far, packed.words, "a block of compressed lists takes 0 to 32 words"),
        (falls, packed.words, "a block of compressed lists takes 0 to 32 words"),
        (packed.frames[:-2], packed.words, "do not have 9 frames"),
        (packed.frames, packed.words[:-3], "compressed lists need 30 words, and there are 27"),
        (packed.frames, packed.words.view(np.int32), "compressed lists are ids in uint32 words"),
        (least, packed.words, "targets are vertices from 0 to 33"),
    ):
        with pytest.raises(fr.GraphError, match=said):
            fr.Graph(offsets, PackedIds(frames, words, len(packed), packed.dtype), directed=False)


# ---- what is no file -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("member", ["graph.json", "targets.bin", "offsets.bin"])
@pytest.mark.parametrize("kind", ["pipe", "socket", "folder", "link", "device"])
def test_members_are_files(folder: Path, member: str, kind: str) -> None:
    """Nobody waits for a pipe, or follows a link out of the folder."""
    path = folder / member
    path.rename(folder.parent / member)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        place = os.open(folder, os.O_RDONLY)
        with socket.socket(socket.AF_UNIX) as made:  # whose names are short
            made.bind(f"/proc/self/fd/{place}/{member}")
        os.close(place)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(folder.parent / member if kind == "link" else "/dev/zero")
    said = {"pipe": "a named pipe", "socket": "a socket", "folder": "a folder", "link": "a link", "device": "a link"}
    with pytest.raises(fr.GraphError, match=rf"cannot be read: it is {said[kind]}, not a file$"):
        fr.open(folder)


def test_heads_that_no_parser_takes(folder: Path) -> None:
    for text in ("[" * 100_000, '{"a": ' * 50_000, "1" * 5000):
        (folder / "graph.json").write_text(text)
        with pytest.raises(fr.GraphError, match=r"graph\.json"):
            fr.open(folder)


def test_what_is_read_has_an_end(tmp_path: Path) -> None:
    for path, said in (("/dev/zero", "a device"), (str(tmp_path), "a folder")):
        with pytest.raises(fr.GraphError, match=rf"{said}"):
            fr.read(path, format="el")
    os.mkfifo(tmp_path / "pipe.el")
    with pytest.raises(fr.GraphError, match=r"pipe\.el: it is a named pipe, not a file, which is read in pieces"):
        fr.convert(tmp_path / "pipe.el", tmp_path / "out.frontier")


@pytest.mark.parametrize("name", ["state.json", "lock"])
def test_nobody_waits_for_an_unfinished_conversion(tmp_path: Path, name: str) -> None:
    (tmp_path / "g.el").write_text("0 1\n")
    (tmp_path / "out.frontier.part").mkdir()
    os.mkfifo(tmp_path / "out.frontier.part" / name)
    with pytest.raises(fr.GraphError, match=r"out\.frontier"):
        fr.convert(tmp_path / "g.el", tmp_path / "out.frontier")
