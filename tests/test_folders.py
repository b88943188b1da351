"""Folders of Frontier graphs that take the place of others: as a whole, and of nothing else."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from test_disk import alike

import frontier as fr
from frontier.io import _folders, _unfinished

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system does not exchange names")

MAKERS = [lambda: fr.write(fr.star(7), "g.frontier"), lambda: fr.convert("g.el", "g.frontier")]


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    fr.write(fr.star(7), "g.el")
    fr.write(fr.path(5), "g.frontier")
    return Path("g.frontier")


def no_rename(*_: Any) -> None:
    raise AssertionError("a name is free for a moment")


@linux
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="Linux says which files are mapped where")
def test_an_open_graph_is_pages_of_its_files(tmp_path: Path) -> None:
    """Which all processes share that have it open, and none can change."""
    fr.write(fr.rmat(14, seed=1, weights=(1, 9), directed=True), tmp_path / "g.frontier")
    g = fr.open(tmp_path / "g.frontier")
    fr.bfs(g, 0)
    mapped = [line.split() for line in Path("/proc/self/maps").read_text("utf-8").splitlines()]
    inside = [each for each in mapped if len(each) == 6 and each[5].startswith(str(tmp_path))]
    assert inside
    for array in (g.targets, g.weights):
        assert not array.flags.writeable
        first = array.__array_interface__["data"][0]
        for each in (first, first + array.nbytes - 1):
            assert any(int(lo, 16) <= each < int(hi, 16) for lo, hi in (line[0].split("-") for line in inside))
    assert all(line[1][1] == "-" for line in inside)  # mapped for reading


@pytest.mark.parametrize("make", MAKERS)
def test_the_name_is_never_free(old: Path, monkeypatch: pytest.MonkeyPatch, make: Any) -> None:
    monkeypatch.setattr(os, "rename", no_rename)
    make()
    alike(fr.open(old, check=True), fr.star(7))
    assert sorted(each.name for each in Path().iterdir()) == ["g.el", "g.frontier"]


@pytest.mark.parametrize("make", MAKERS)
def test_all_is_on_the_disk_before(old: Path, monkeypatch: pytest.MonkeyPatch, make: Any) -> None:
    synced: set[str] = set()
    sync, exchange = _folders.sync, _folders._exchange

    def syncing(path: str) -> None:
        sync(path)
        synced.add(os.path.realpath(path))

    def exchanging(made: str, name: str) -> bool:
        files = {os.path.realpath(os.path.join(made, file)) for file in os.listdir(made)}
        assert {*files, os.path.realpath(made)} <= synced
        return exchange(made, name)

    monkeypatch.setattr(_folders, "sync", syncing)
    monkeypatch.setattr(_folders, "_exchange", exchanging)
    make()
    assert os.path.realpath(".") in synced


def test_systems_that_do_not_exchange(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a killed process has left is deleted, and what somebody else has put there is not."""
    monkeypatch.setattr(_folders, "_exchange", lambda one, other: False)
    beside = Path("g.frontier.part.old")
    fr.write(fr.path(2), "h.frontier")
    Path("h.frontier").rename(beside)
    fr.convert("g.el", old)
    assert not beside.exists()
    beside.mkdir()
    (beside / "precious.txt").write_text("mine")
    with pytest.raises(fr.GraphError, match=r"g\.frontier: cannot be written"):
        fr.convert("g.el", old, directed=False)
    alike(fr.open(old, check=True), fr.star(7))
    (beside / "precious.txt").unlink()
    fr.convert("g.el", old, directed=False)
    assert sorted(each.name for each in Path().iterdir()) == ["g.el", "g.frontier"]


def test_one_that_only_deletes_the_old_graph_is_at_work(old: Path) -> None:
    pytest.importorskip("fcntl", reason="the system has no such locks")
    (old / "state.json").write_text("{}")
    fr.write(fr.path(2), "h.frontier")
    Path("h.frontier").rename("g.frontier.part")
    lock = _unfinished.locked(str(old / "lock"))
    assert lock is not None
    with lock, pytest.raises(fr.GraphError, match=r"another process converts to g\.frontier"):
        fr.convert("g.el", old)
    assert fr.open("g.frontier.part").num_vertices == 2
    fr.convert("g.el", old)
    alike(fr.open(old, check=True), fr.star(7))
    assert sorted(each.name for each in old.iterdir()) == ["graph.json", "offsets.bin", "targets"]
    assert not Path("g.frontier.part").exists()


def test_a_graph_that_somebody_has_called_unfinished_stays(old: Path) -> None:
    fr.write(fr.path(2), "h.frontier")
    Path("h.frontier").rename("g.frontier.part")
    with pytest.raises(fr.GraphError, match="something else than an unfinished conversion"):
        fr.convert("g.el", old)
    assert fr.open("g.frontier.part").num_vertices == 2
