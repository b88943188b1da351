"""Execution of a loop function by threads of the CPU."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends import workspace
from frontier.backends.cpu import runtime, threads
from frontier.backends.cpu.compiler import compiled
from frontier.backends.run import LoopExecution
from frontier.frontiers import Frontier
from frontier.lowering.layout import Layout
from frontier.lowering.loops import Program, lower
from frontier.lowering.module import words

if TYPE_CHECKING:
    from frontier.problem import Problem
    from frontier.schedule import Schedule
    from frontier.step import Step

__all__ = ["CpuExecution"]

#: Graphs with fewer vertices and edges are one worker's: waking another takes longer.
SMALL = 1 << 15


@dataclass
class Code:
    """A compiled program."""

    program: Program
    run: Callable[[int, int, int], None]
    at: dict[str, int]


def code_of(step: Step, p: Problem, given: str | None, schedule: Schedule) -> Code:
    """The compiled code for a step on such problems, made once."""
    known = step.__dict__.setdefault("_code", {})
    layout = p.workspace.get("layout") or p.workspace.setdefault("layout", Layout.of(p))
    key = ("cpu", layout, given, schedule)
    if key not in known:
        program = lower(step, layout, schedule, given)
        known[key] = Code(program, compiled(program), words(program))
    return known[key]  # type: ignore[no-any-return]


class CpuExecution(LoopExecution):
    """One run of a step on the CPU."""

    backend = "cpu"

    def __init__(self, step: Step, p: Problem, f: Frontier | None, schedule: Schedule) -> None:
        super().__init__(step, p, f, schedule)
        self._code = code_of(step, p, None if f is None else f.kind, schedule)
        self._program, self._at = self._code.program, self._code.at
        g = p.graph
        small = g.num_vertices + g.num_edges < SMALL
        self._workers = 1 if small or schedule.deterministic else threads.num_threads()
        self._workspace = workspace.take(g, np, address_of)
        self._table = np.zeros(len(self._at), np.int64)
        self._counters = np.zeros(runtime.words(self._workers), np.int64)
        self._prepare()

    def _local(self, name: str, role: str) -> int:
        return self._workspace.address(name, role, self._workers * runtime.LOCAL)

    def _view(self, address: int, dtype: np.dtype[Any], length: int) -> np.ndarray:
        if length == 0:
            return np.empty(0, dtype)
        memory: Any = (ctypes.c_char * (length * dtype.itemsize)).from_address(address)
        return np.asarray(np.frombuffer(memory, dtype))

    def _call(self) -> None:
        address, workers = int(self._table.ctypes.data), self._workers
        if workers == 1:
            self._code.run(address, 0, 1)
        else:
            threads.run(lambda w: self._code.run(address, w, workers), workers)


def address_of(array: np.ndarray) -> int:
    """Where an array lies."""
    return int(array.__array_interface__["data"][0])  # a third of the time of .ctypes
