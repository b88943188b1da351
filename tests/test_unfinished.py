"""The folder of an unfinished conversion: whose it is, who works in it, and what of it is gone on with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_disk import alike

import frontier as fr
from frontier.cli import main
from frontier.io import _unfinished, external
from frontier.memory import limits

HOLDING = """
import sys, time
import frontier as fr
from frontier.io import external
def holding(*given):
    print("at work", flush=True)
    time.sleep(600)
external._describe = holding
fr.convert("g.el", "g.frontier")
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("g.el").write_text("0 1\n1 2\n")
    return "g.el"


# ---- whose folders -----------------------------------------------------------------------------------------


def test_what_is_no_graph_is_not_replaced(source: str) -> None:
    folder, file = Path("mine.frontier"), Path("file.frontier")
    folder.mkdir()
    (folder / "precious.txt").write_text("mine")
    file.write_text("mine, too")
    for target in (folder, file):
        with pytest.raises(fr.GraphError, match="something else than a Frontier graph, which is not replaced"):
            fr.convert(source, target)
        assert main(["convert", source, str(target), "--memory", "1MiB"]) == 2
    assert (folder / "precious.txt").read_text() == "mine"
    assert file.read_text() == "mine, too"
    assert sorted(each.name for each in Path().iterdir()) == ["file.frontier", "g.el", "mine.frontier"]


def test_what_comes_meanwhile_is_not_replaced(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    describe = external._describe

    def late(*given: object) -> None:
        describe(*given)  # type: ignore[arg-type]
        Path("g.frontier").write_text("mine")

    monkeypatch.setattr(external, "_describe", late)
    with pytest.raises(fr.GraphError, match="which is not replaced"):
        fr.convert(source, "g.frontier")
    assert Path("g.frontier").read_text() == "mine"


@pytest.mark.parametrize("target", ["plain", "g.npz", "g.frontier.old", ""])
def test_the_name_says_what_it_is(source: str, target: str) -> None:
    with pytest.raises(fr.GraphError, match=r"a folder whose name ends in \.frontier"):
        fr.convert(source, target)
    assert [each.name for each in Path().iterdir()] == ["g.el"]


@pytest.mark.parametrize("note", [None, "[]", "{}", "null", '"x"', '{"options": 1}', "{", '{"options": {}}'])
def test_a_folder_of_somebody_else(source: str, note: str | None) -> None:
    """A note that no conversion writes is no note."""
    part = Path("g.frontier.part")
    part.mkdir()
    (part / "precious.txt").write_text("mine")
    if note is not None:
        (part / "state.json").write_text(note)
    with pytest.raises(fr.GraphError, match=r"g\.frontier\.part: .* unfinished conversion, which is not deleted"):
        fr.convert(source, "g.frontier")
    assert (part / "precious.txt").read_text() == "mine"


def test_no_folder_is_made_above(source: str) -> None:
    with pytest.raises(fr.GraphError, match=r"none/g\.frontier: cannot be written: No such file or directory"):
        fr.convert(source, "none/g.frontier")
    assert not Path("none").exists()


def test_a_file_in_the_way(source: str) -> None:
    Path("g.frontier.part").write_text("mine")
    with pytest.raises(fr.GraphError, match="which is not deleted"):
        fr.convert(source, "g.frontier")
    assert Path("g.frontier.part").read_text() == "mine"


def test_a_folder_that_was_only_just_made(source: str) -> None:
    Path("g.frontier.part").mkdir()
    (Path("g.frontier.part") / "state.new").write_text("{")
    fr.convert(source, "g.frontier")
    alike(fr.open("g.frontier", check=True), fr.read(source))


# ---- who works there ---------------------------------------------------------------------------------------


def test_two_at_once(source: str) -> None:
    """The second is refused, and touches nothing; when the first is killed, the same call goes on."""
    pytest.importorskip("fcntl", reason="the system has no such locks")
    paths = os.pathsep.join([os.path.dirname(os.path.dirname(fr.__file__)), *sys.path])
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING], env={**os.environ, "PYTHONPATH": paths}, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "at work\n"
        before = sorted(each.name for each in Path("g.frontier.part").iterdir())
        for options in ({}, {"memory": "1MiB"}):
            with pytest.raises(fr.GraphError, match=r"another process converts to g\.frontier"):
                fr.convert(source, "g.frontier", **options)  # type: ignore[arg-type]
        assert sorted(each.name for each in Path("g.frontier.part").iterdir()) == before
        first.kill()
    fr.convert(source, "g.frontier")
    alike(fr.open("g.frontier", check=True), fr.read(source))
    assert not {"lock", "state.json"} & {each.name for each in Path("g.frontier").iterdir()}
    assert not Path("g.frontier.part").exists()


def test_an_error_ends_the_work(source: str) -> None:
    Path("bad.el").write_text("0 1\n0 x\n")
    for _ in range(2):
        with pytest.raises(fr.GraphError, match="found 'x'"):
            fr.convert("bad.el", "g.frontier")
    fr.convert(source, "g.frontier")


@pytest.mark.parametrize("how", ["no module", "no locks"])
def test_systems_without_locks(source: str, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    fcntl = pytest.importorskip("fcntl", reason="the system has no such locks")

    def unknown(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    if how == "no module":
        monkeypatch.setitem(sys.modules, "fcntl", None)
    else:
        monkeypatch.setattr(fcntl, "flock", unknown)
    fr.convert(source, "g.frontier")
    alike(fr.open("g.frontier", check=True), fr.read(source))


# ---- what is gone on with ----------------------------------------------------------------------------------


OPTIONS: dict[str, Any] = {"memory": 1 << 14, "directed": True}


@pytest.fixture
def part(source: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A conversion that has ended while it sorts its edges, for the number of times that is asked for."""
    fr.write(fr.rmat(7, 8, seed=5, directed=True, weights=(1, 9)), "g.wel")
    monkeypatch.setattr(_unfinished, "EVERY", 0)
    note = external.Unfinished.note

    def noted(self: Any, stage: int, done: int) -> None:
        note(self, stage, done)
        if (stage, done) == (2, 3):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(external.Unfinished, "note", noted)
        with pytest.raises(KeyboardInterrupt):
            fr.convert("g.wel", "g.frontier", **OPTIONS)
    return Path("g.frontier.part")


def converted() -> None:
    fr.convert("g.wel", "g.frontier", **OPTIONS)
    alike(fr.open("g.frontier", check=True), fr.read("g.wel", directed=True))
    assert not Path("g.frontier.part").exists()


def stages(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The stages of which pieces are noted from now on."""
    found: set[int] = set()
    note = external.Unfinished.note

    def noted(self: Any, stage: int, done: int) -> None:
        if done:
            found.add(stage)
        note(self, stage, done)

    monkeypatch.setattr(external.Unfinished, "note", noted)
    return found


def test_all_that_is_noted_is_there(part: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was used is gone, and what is left is neither longer nor shorter; other files do not matter."""
    noted = json.loads((part / "state.json").read_text())["sizes"]
    found = {each.name: each.stat().st_size for each in part.iterdir() if each.name not in ("state.json", "lock")}
    assert found == noted
    assert not {"src", "dst", "out_part_0_first"} & found.keys()
    (part / "out_part_0_first").write_text("used, and not yet deleted")
    with open(part / "targets", "ab") as file:
        file.write(b"torn")
    done = stages(monkeypatch)
    converted()
    assert 0 not in done


def test_it_goes_on_with_the_memory_that_was_chosen(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Less is free the second time, so that by itself it would begin anew with another number of parts."""
    fr.write(fr.rmat(7, 8, seed=5, directed=True, weights=(1, 9)), "g.wel")
    monkeypatch.setattr(_unfinished, "EVERY", 0)
    monkeypatch.setattr(external, "LEAST", 1)

    def free(size: int) -> None:
        monkeypatch.setattr(limits, "free", lambda: (size * external.ONE_IN, ""))

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    free(1 << 14)
    with monkeypatch.context() as patch:
        patch.setattr(external, "_describe", stop)
        with pytest.raises(KeyboardInterrupt):
            fr.convert("g.wel", "g.frontier", directed=True)
    free(1 << 13)
    done = stages(monkeypatch)
    fr.convert("g.wel", "g.frontier", directed=True)
    assert not done
    alike(fr.open("g.frontier"), fr.read("g.wel", directed=True))
    fr.convert("g.wel", "g.frontier", directed=True)
    assert 0 in done


@pytest.mark.parametrize("how", ["shorter", "missing"])
def test_what_is_not_there_is_made_anew(part: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    noted = json.loads((part / "state.json").read_text())["sizes"]
    lost = part / max(name for name in noted if name.startswith("out_part_") and noted[name])
    if how == "shorter":
        os.truncate(lost, noted[lost.name] - 4)
    else:
        lost.unlink()
    done = stages(monkeypatch)
    converted()
    assert 0 in done


def test_a_whole_graph_with_a_file_that_is_too_short(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is it given its name."""
    fr.write(fr.rmat(6, 8, seed=5, directed=True, weights=(1, 9)), "g.wel")

    def ended(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(external, "_finish", ended)
        with pytest.raises(KeyboardInterrupt):
            fr.convert("g.wel", "g.frontier", **OPTIONS)
    os.truncate(Path("g.frontier.part") / "targets", 8)
    converted()


def test_what_is_noted_is_on_the_disk(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are brought there before the note that speaks of them, and that before its name is changed."""
    fr.write(fr.rmat(7, 8, seed=5, directed=True, weights=(1, 9)), "g.wel")
    append, replace, sync = external.Unfinished.append, os.replace, _unfinished.sync
    dirty: set[str] = set()

    def appending(self: Any, file: str, values: Any) -> None:
        append(self, file, values)
        dirty.add(file)

    def syncing(path: str) -> None:
        sync(path)
        dirty.discard(os.path.basename(path))

    def replacing(old: Any, new: Any) -> None:
        if os.path.basename(new) == "state.json":
            assert not dirty & json.loads(Path(old).read_text())["sizes"].keys()
        replace(old, new)

    monkeypatch.setattr(external.Unfinished, "append", appending)
    monkeypatch.setattr(_unfinished, "sync", syncing)
    monkeypatch.setattr(os, "replace", replacing)
    converted()
