"""Code that another user may have put, or may put, where it is looked for is not run."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from frontier.native import cache, folders
from frontier.system import leftovers

pytestmark = pytest.mark.skipif(not folders._WITHIN, reason="folders have descriptors on POSIX only")


@pytest.fixture(autouse=True)
def closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is open from before, and nothing stays open."""
    monkeypatch.setattr(folders, "_held", {})
    monkeypatch.setattr(folders, "_swept", set())
    cache.say_once.cache_clear()
    yield
    for handle, *_ in folders._held.values():
        os.close(handle)


def mine(path: Path) -> Path:
    path.mkdir(0o755)
    path.chmod(0o755)
    return path


def place(monkeypatch: pytest.MonkeyPatch, folder: Path) -> cache.Place:
    monkeypatch.setenv("FRONTIER_CACHE_DIR", str(folder))
    return cache.place.__wrapped__()


def test_a_link_that_is_pointed_elsewhere_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was looked at is used as long as the process lives, whatever has its name by now."""
    first, second, link = mine(tmp_path / "first"), mine(tmp_path / "second"), tmp_path / "link"
    link.symlink_to(first)
    assert place(monkeypatch, link) == cache.Place(link, "kept")
    assert cache.keep(link / "a.code", b"ours")
    cache.keep(second / "a.code", b"theirs")
    cache.keep(second / "b.code", b"theirs")
    link.unlink()
    link.symlink_to(second)
    assert cache.kept(link / "a.code") == b"ours"
    assert cache.kept(link / "b.code") is None
    assert cache.keep(link / "c.code", b"new")
    assert (first / "c.code").exists()
    with cache.once(link / "d.code"):
        assert (first / "d.code.lock").exists()


def test_files_are_looked_at_as_they_are_open(tmp_path: Path) -> None:
    folder = mine(tmp_path / "cache")
    assert cache.keep(folder / "a.code", b"code")
    assert cache.kept(folder / "a.code") == b"code"
    (folder / "link.code").symlink_to(folder / "a.code")
    assert cache.kept(folder / "link.code") is None
    os.mkfifo(folder / "pipe.code")
    assert cache.kept(folder / "pipe.code") is None  # and nobody waits
    for mode in (0o664, 0o646):
        (folder / "a.code").chmod(mode)
        assert cache.kept(folder / "a.code") is None
    assert cache.keep(folder / "a.code", b"again")  # takes its place
    assert cache.kept(folder / "a.code") == b"again"


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
def test_files_of_others(tmp_path: Path) -> None:
    folder = mine(tmp_path / "cache")
    assert cache.keep(folder / "a.code", b"code")
    os.chown(folder / "a.code", 12345, -1)
    assert cache.kept(folder / "a.code") is None


@pytest.mark.parametrize(
    ("mode", "why"),
    [(0o777, "others may write to"), (0o775, "its group may write to"), (0o1777, ""), (0o1775, ""), (0o755, "")],
)
def test_folders_above(
    mode: int, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    above = mine(tmp_path / "above")
    folder = mine(mine(above / "more") / "cache")
    above.chmod(mode)
    made = place(monkeypatch, folder)
    assert made.state == ("temporary" if why else "kept")
    said = f"frontier: {folder} is not used: {why} {above}; compiled code is kept until this process ends\n"
    assert capsys.readouterr().err == (said if why else "")


def test_a_link_in_a_shared_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may change the link says where code is looked for."""
    shared, folder = mine(tmp_path / "shared"), mine(tmp_path / "cache")
    (shared / "link").symlink_to(folder)
    (tmp_path / "other").symlink_to(shared / "link")
    shared.chmod(0o777)
    for link in (shared / "link", tmp_path / "other"):
        assert place(monkeypatch, link).why == f"{link} is not used: others may write to {shared}"


def test_a_folder_within_is_no_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, other = mine(tmp_path / "cache"), mine(tmp_path / "other")
    (folder / "cpu").symlink_to(other)
    made = place(monkeypatch, folder)
    monkeypatch.setattr(cache, "place", lambda: made)
    assert cache.cache_folder.__wrapped__("cpu").parent == cache._private()
    assert cache.cache_folder.__wrapped__("effects") == folder / "effects"


def test_a_descriptor_that_somebody_has_closed(tmp_path: Path) -> None:
    """As a daemon closes all; its number may be that of another folder by now."""
    folder, other = mine(tmp_path / "cache"), mine(tmp_path / "other")
    assert cache.keep(folder / "a.code", b"ours")
    cache.keep(other / "a.code", b"theirs")
    number = folders._held[folder][0]
    taken = os.open(other, os.O_RDONLY)
    os.dup2(taken, number)
    assert cache.kept(folder / "a.code") == b"ours"
    os.close(taken)
    os.close(number)


def test_a_folder_that_is_opened_to_others_meanwhile(tmp_path: Path) -> None:
    folder = mine(tmp_path / "cache")
    assert cache.keep(folder / "a.code", b"code")
    folder.chmod(0o777)
    assert cache.kept(folder / "a.code") is None
    assert not cache.keep(folder / "b.code", b"code")


def test_what_killed_processes_have_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = mine(tmp_path / "cache")
    old, new, other = (folder / name for name in ("a.code.12.0a1b2c3d.tmp", "a.code.13.0a1b2c3d.tmp", "b.tmp"))
    for path in (old, new, other):
        path.write_bytes(b"x")
    for path in (old, other):
        os.utime(path, (time.time() - 2 * folders._LEFT,) * 2)
    assert cache.keep(folder / "a.code", b"code")
    assert sorted(os.listdir(folder)) == ["a.code", new.name, "b.tmp"]
    # and private folders
    left = tmp_path / leftovers.unfinished("frontier-code")
    (mine(left) / "cpu").mkdir()
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(tmp_path))
    made, lock = cache._new_private()
    assert not left.exists()
    other_made, other_lock = cache._new_private()
    assert made.is_dir()
    for handle in (lock, other_lock):
        assert handle is not None
        os.close(handle)
    assert other_made.stat().st_mode & 0o777 == 0o700


def test_without_descriptors_of_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows: by names."""
    monkeypatch.setattr(folders, "_WITHIN", False)
    assert place(monkeypatch, tmp_path / "cache") == cache.Place(tmp_path / "cache", "kept")
    path = tmp_path / "cache" / "a.code"
    with cache.once(path):
        assert cache.keep(path, b"code")
    assert cache.kept(path) == b"code"
    assert cache.is_kept(path)
    cache.drop(path)
    assert not cache.is_kept(path)
    assert not folders._held
