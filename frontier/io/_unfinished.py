"""The folder of an unfinished conversion: files that grow piece by piece, and a note of how far it has come."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np

from frontier.graph.topology import Array
from frontier.io._source import Bar
from frontier.memory.disk import mapped

__all__ = ["NOTE", "Unfinished"]

#: The file that says how far it has come.
NOTE = "state.json"


class Unfinished:
    """The folder, whose files are as they were when the last piece was noted, whatever happened since.

    Parameters
    ----------
    path : str
    options : dict
        What was asked for; if something else was asked for before, what is there is deleted.
    bar : function of what is done and in how many steps
        Returns a progress bar.

    Attributes
    ----------
    state : dict
        ``stage`` and ``done``, the stage and its pieces done; ``sizes``, bytes of each file then; and what is known.
    """

    def __init__(self, path: str, options: dict[str, Any], bar: Callable[[str, int], Bar]) -> None:
        self.path, self.bar = path, bar
        self.memory = int(options["memory"])
        self.state: dict[str, Any] = {"options": options, "stage": 0, "done": 0, "sizes": {}}
        self._new: dict[str, int] = {}
        try:
            with open(self.at(NOTE), encoding="utf-8") as file:
                state = json.load(file)
        except (OSError, ValueError):
            state = None
        if state is not None and state["options"] == options:
            self.state = state
            for file, size in state["sizes"].items():
                if os.path.exists(self.at(file)):  # parts that were used are deleted
                    os.truncate(self.at(file), size)
        else:
            shutil.rmtree(path, ignore_errors=True)
            os.mkdir(path)

    def at(self, file: str) -> str:
        """Return the path of a file."""
        return os.path.join(self.path, file)

    def append(self, file: str, values: Array) -> None:
        """Append numbers to a file; what an interrupted piece has appended is cut off when it is resumed."""
        with open(self.at(file), "ab") as out:
            out.truncate(self.state["sizes"].setdefault(file, 0) + self._new.get(file, 0))
            out.write(np.ascontiguousarray(values).data)
        self._new[file] = self._new.get(file, 0) + values.nbytes

    def each(self, stage: int, pieces: int, do: Callable[[int], None], what: str) -> None:
        """Do what is left of a stage."""
        if self.state["stage"] > stage:
            return
        bar = self.bar(what, pieces)
        for i in range(self.state["done"], pieces):
            self._new = {}
            bar.show(i)
            do(i)
            self.note(stage, i + 1)
        bar.show(pieces)
        bar.finish()
        self._new = {}
        self.note(stage + 1, 0)

    def note(self, stage: int, done: int) -> None:
        """Note how far it has come."""
        for file, size in self._new.items():
            self.state["sizes"][file] = self.state["sizes"].get(file, 0) + size
        self._new = {}
        self.state.update(stage=stage, done=done)
        with open(self.at("state.new"), "w", encoding="utf-8") as out:
            json.dump(self.state, out)
        os.replace(self.at("state.new"), self.at(NOTE))

    def drop(self, begin: str) -> None:
        """Delete files that are no longer needed, by how their names begin."""
        for file in os.listdir(self.path):
            if file.startswith(begin):
                os.unlink(self.at(file))

    def array(self, file: str, dtype: Any) -> Array:
        """Return a file as an array."""
        size = self.state["sizes"].get(file, 0)
        return mapped(self.at(file), dtype, size // np.dtype(dtype).itemsize)
