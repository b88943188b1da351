"""The folder of an unfinished conversion: files that grow piece by piece, and a note of how far it has come."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import IO, Any

import numpy as np

from frontier.display.progress import Task
from frontier.errors import GraphError
from frontier.graph.topology import Array
from frontier.io._folders import HEAD
from frontier.io._lock import locked
from frontier.io._sync import sync
from frontier.io.stored import opened
from frontier.memory.disk import mapped
from frontier.system.regular_files import open_regular

__all__ = ["LOCK", "NOTE", "Unfinished", "noted_options"]

#: The file that says how far it has come.
NOTE = "state.json"

#: The note while it is written.
NEW = "state.new"

#: Seconds after which a note is written; to bring all files to the disk takes a while if there are many.
EVERY = 1.0

#: The file that the process at work has locked.
LOCK = "lock"

#: What a note has, whatever else.
NOTED = {"options": dict, "stage": int, "done": int, "sizes": dict}


class Unfinished:
    """The folder, whose files are as they were when the last note was written, whatever happened since.

    A note is written when a stage ends, and else after a piece if a second has passed since the last.

    As a context manager it lets no other process work in the folder.

    Parameters
    ----------
    target : str
        The graph that it becomes.
    options : dict
        What was asked for; if something else was asked for before, what is there is deleted.
        But a folder that is not of a conversion is refused.
    task : function of what is done, in how many steps, and what these are
        For progress.

    Attributes
    ----------
    path : str
        The folder, ``NAME.frontier.part``.
    state : dict
        ``stage`` and ``done``, the stage and its pieces done; ``sizes``, bytes of each file then, which is on the disk
        before the note is; and what is known.
    """

    def __init__(self, target: str, options: dict[str, Any], task: Callable[[str, int, str], Task]) -> None:
        self.target, self.path, self.task = target, f"{target}.part", task
        self.memory = int(options["memory"])
        self.state: dict[str, Any] = {"options": options, "stage": 0, "done": 0, "sizes": {}}
        self._new: dict[str, int] = {}
        self._changed: set[str] = set()
        self._used: list[str] = []
        self._due = 0.0
        self._lock: IO[Any] | None = None

    def __enter__(self) -> Unfinished:
        self._check()
        with suppress(FileExistsError):
            os.mkdir(self.path)
        ended = os.path.join(self.target, LOCK)  # of one that has only the old graph to delete, if there is one
        try:
            if os.path.exists(ended) and (lock := locked(ended)) is not None:
                lock.close()
            self._lock = locked(self.at(LOCK))
        except BlockingIOError:
            raise GraphError(f"another process converts to {self.target}") from None
        try:
            self._resume()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            self._lock.close()

    def _resume(self) -> None:
        """Take up what an earlier call has noted; begin anew if there is nothing, another one, or not all of it."""
        state = self._noted()
        if state is not None and state["options"] == self.state["options"]:
            if self._is_whole():
                self.state = state
                return
            if all(self._has(file, size) for file, size in state["sizes"].items()):
                self.state = state
        if self.state is not state:
            self.note(0, 0)
        self._sweep()
        for file, size in self.state["sizes"].items():
            os.truncate(self.at(file), size)

    def _is_whole(self) -> bool:
        """Whether the graph is complete, and needs its name only."""
        if not os.path.exists(self.at(HEAD)):
            return False
        try:
            opened(self.path, check=False)
        except GraphError:
            return False
        return True

    def _has(self, file: str, size: int) -> bool:
        """Whether a file is as long as it was; to make it longer would fill it with zeros."""
        return os.path.isfile(self.at(file)) and os.path.getsize(self.at(file)) >= size

    def _sweep(self) -> None:
        """Delete files of which nothing is noted."""
        for file in os.listdir(self.path):
            if file not in (NOTE, LOCK) and file not in self.state["sizes"]:
                os.unlink(self.at(file))

    def _check(self) -> None:
        """Refuse a folder or a file that is not of a conversion, and so not to be deleted."""
        if not os.path.lexists(self.path) or self._noted() is not None:
            return
        there = set(os.listdir(self.path)) if os.path.isdir(self.path) else {""}
        # A note in the place of the graph is of a conversion that was killed while it deleted the old graph here.
        is_old = HEAD in there and os.path.exists(os.path.join(self.target, NOTE))
        if there - {NEW, LOCK} and not is_old:
            what = "there is something else than an unfinished conversion, which is not deleted"
            raise GraphError(f"{self.path}: {what}; delete or move it to convert")

    def _noted(self) -> dict[str, Any] | None:
        """Return what an earlier call has noted; None if there is no note, or none that a conversion writes."""
        return _noted(self.at(NOTE))

    def at(self, file: str) -> str:
        """Return the path of a file."""
        return os.path.join(self.path, file)

    def append(self, file: str, values: Array) -> None:
        """Append numbers to a file; what an interrupted piece has appended is cut off when it is resumed."""
        with open(self.at(file), "ab") as out:
            out.truncate(self.state["sizes"].setdefault(file, 0) + self._new.get(file, 0))
            out.write(np.ascontiguousarray(values).data)
        self._new[file] = self._new.get(file, 0) + values.nbytes

    def each(
        self, stage: int, pieces: int, do: Callable[[int], None], what: str, used: tuple[str, ...] = ()
    ) -> None:
        """Do what is left of a stage, after which the files are dropped whose names begin as in ``used``."""
        if self.state["stage"] > stage:
            return
        with self.task(what, pieces, "pieces") as task:
            for i in range(self.state["done"], pieces):
                self._new = {}
                task.at(i)
                do(i)
                self.note(stage, i + 1)
            task.at(pieces)
        self._new = {}
        self.drop(*used)
        self.note(stage + 1, 0)

    def note(self, stage: int, done: int) -> None:
        """Note how far it has come."""
        for file, size in self._new.items():
            self.state["sizes"][file] = self.state["sizes"].get(file, 0) + size
        self._changed |= self._new.keys()
        self._new = {}
        self.state.update(stage=stage, done=done)
        if done == 0 or time.monotonic() >= self._due:
            self._write()
            self._due = time.monotonic() + EVERY

    def _write(self) -> None:
        """Write the note, when what it says is on the disk; then delete what was dropped."""
        for file in self._changed - set(self._used):
            sync(self.at(file))
        self._changed = set()
        with open(self.at(NEW), "w", encoding="utf-8") as out:
            json.dump(self.state, out)
        sync(self.at(NEW))
        os.replace(self.at(NEW), self.at(NOTE))
        sync(self.path)
        for file in self._used:
            with suppress(FileNotFoundError):
                os.unlink(self.at(file))
        self._used = []

    def drop(self, *begins: str) -> None:
        """Let the next note say that files are no longer needed, by how their names begin; then they are deleted."""
        dropped = [file for file in self.state["sizes"] if file.startswith(begins)]
        for file in dropped:
            del self.state["sizes"][file]
        self._used += dropped

    def array(self, file: str, dtype: Any) -> Array:
        """Return a file as an array."""
        size = self.state["sizes"].get(file, 0)
        return mapped(self.at(file), dtype, size // np.dtype(dtype).itemsize)


def noted_options(target: str) -> dict[str, Any] | None:
    """Return what was asked for when an unfinished conversion was begun; None if there is none."""
    state = _noted(os.path.join(f"{target}.part", NOTE))
    return None if state is None else state["options"]


def _noted(path: str) -> dict[str, Any] | None:
    """Return what a note says; None if there is no note, or none that a conversion writes."""
    try:
        with open_regular(path) as file:
            state = json.load(file)
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return None
    except OSError as error:
        raise GraphError(f"{path}: cannot be read: {error.strerror or error}") from None
    if not isinstance(state, dict) or not all(isinstance(state.get(key), kind) for key, kind in NOTED.items()):
        return None
    return state
