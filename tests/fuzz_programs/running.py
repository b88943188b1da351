"""Runs one program on the python backend and on others, and says where they differ."""

from __future__ import annotations

import linecache
import os
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

import frontier as fr
from frontier.errors import FrontierError, NotConvergedError
from frontier.io._divisible import in_parts
from frontier.memory.arrays import to_host
from frontier.memory.placement import Placement
from frontier.program.execution import start

from .fields import graph, problem
from .steps import Program, smaller

__all__ = ["Case", "Found", "compare", "corners", "inside", "load", "reproduction", "shrunk"]


#: What the python backend may refuse: what does not fit a field, and what Python's own numbers do not do.
_REFUSED = ("overflow", "by zero", "negative shift count", "too large to convert", "out of bounds", "must be in range")


@dataclass(frozen=True)
class Case:
    """One run: a seed for graph, values and frontier, the backend and its number of workers, and whether it pauses."""

    seed: int
    backend: str
    workers: int
    pauses: bool


@dataclass(frozen=True)
class Found:
    """What differed, and in which case."""

    case: Case
    what: str


@contextmanager
def corners(local: int, least: int) -> Iterator[None]:
    """Small limits, so that small graphs meet full buffers and many pieces of work."""
    from frontier.backends.cpu import execution, runtime
    from frontier.distributed.devices import claims
    from frontier.distributed.ranks import halo, readers, selective_mirrors
    from frontier.operators.advance.cpu import edges, merge_path, pull, thread
    from frontier.operators.buckets import cpu as buckets
    from frontier.operators.elementwise import cpu as elementwise
    from frontier.operators.gather import cpu as gathering
    from frontier.operators.intersect import cpu as intersect
    from frontier.operators.scan import cpu as scan

    # On ranks, readers alone are told whatever changes twice, and ghosts come piece by piece.
    # On several GPUs, some pushes claim at the owners, and some do not.
    given = [
        (execution, "SMALL", 0), (execution, "GRAIN", 4), (execution, "WAKING", 0), (execution, "CORES", 4),
        (claims, "FEW", 20),
        (readers, "FEW", 10), (selective_mirrors, "TIMES", 1), (halo, "PIECE", 50),
    ]  # fmt: skip
    # Every module has the constants that it imports: all must agree how long a worker's arrays are.
    for module in (runtime, elementwise, buckets, gathering, intersect, scan, edges, merge_path, pull, thread):
        given += [(module, name, to) for name, to in (("LOCAL", local), ("LEAST", least)) if hasattr(module, name)]
    before = [(module, name, getattr(module, name)) for module, name, _ in given]
    for module, name, value in given:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def load(text: str) -> ModuleType:
    """A module of a program's text, whose lines errors can show."""
    folder = os.path.join(tempfile.gettempdir(), "frontier-fuzz")
    name = f"{folder}/program_{abs(hash(text)):x}.py"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = ModuleType("program")
    exec(compile(text, name, "exec"), module.__dict__)
    return module


def _given(p: fr.Problem, kind: str | None, seed: int) -> fr.Frontier | None:
    if kind is None:
        return None
    rng = np.random.default_rng(seed + 1)
    if rng.random() < 0.3:
        return fr.Frontier.all(p.graph, kind)
    size = p.graph.num_vertices if kind == "vertex" else len(p.graph.targets)
    return fr.Frontier(p.graph, rng.permutation(size)[: rng.integers(0, size + 1)], kind=kind)


def _left(p: fr.Problem, f: fr.Frontier | None, note: str) -> dict[str, Any]:
    """All that a run has left behind, on the host."""
    made: dict[str, Any] = {name: to_host(array) for name, array in p.arrays.items()}
    made |= {name: array.copy() for name, array in p.scalars.items()}
    made |= {name: np.array(sorted(pile.host_ids().tolist())) for name, pile in p.piles.items()}
    made = {name: values for name, values in made.items() if not name.endswith("__")}  # an ordered loop's own
    made["frontier"] = None if f is None else (f.kind, sorted(f.host_ids().tolist()))
    made["error"] = note
    return made


def placed(g: fr.Graph, backend: str) -> fr.Graph:
    """The graph on a backend; ``"divided:3"`` is three ranks of which each has only its part of the graph."""
    if not backend.startswith("divided:"):
        return g.to(backend)
    return in_parts(g, Placement.parse(backend.replace("divided", "ranks")))()


def _begun(module: ModuleType, program: Program, case: Case, backend: str) -> tuple[fr.Problem, Any]:
    rng = np.random.default_rng(case.seed)
    several = "cuda" in case.backend and "," in case.backend
    g = placed(graph(rng, program.weights, program.directed, several), backend)
    p = problem(g, program.fields, case.seed, program.wild)
    schedule = module.SCHEDULE
    if "cuda" in backend:
        schedule = schedule.replace(deterministic=False)  # which it refuses
    return p, start(module.STEP, p, _given(p, program.kind, case.seed), schedule)


def inside(program: Program, module: ModuleType, case: Case) -> bool:
    """Whether a program is one kernel on each of several GPUs, which exchange inside it."""
    from frontier.distributed.devices.fused import FusedExecution

    return isinstance(_begun(module, program, case, case.backend)[1], FusedExecution)


def _run(module: ModuleType, program: Program, case: Case, backend: str) -> dict[str, Any]:
    p, run = _begun(module, program, case, backend)
    note = ""
    try:
        while not run.done:
            run.proceed(1 + case.seed % 3 if case.pauses else None)
    except NotConvergedError:
        note = "not converged"
    return _left(p, run.frontier if run.done and not note else None, note)


def _difference(expected: dict[str, Any], found: dict[str, Any], exact: bool) -> str:
    for name, before in expected.items():
        after = found[name]
        if isinstance(before, np.ndarray):
            if before.shape == after.shape and before.dtype.kind == "f":
                bits = 1e-9 if before.itemsize == 8 else 1e-4
                same = np.array_equal(before, after, equal_nan=True) or (
                    not exact and np.allclose(before, after, rtol=bits, equal_nan=True)
                )
            else:
                same = np.array_equal(before, after)
            if not same:
                at = np.flatnonzero(~((before == after) | ((before != before) & (after != after)))) if (
                    before.shape == after.shape) else []
                return f"{name}{list(at[:5])}: python {_short(before, at)}, here {_short(after, at)}"
        elif before != after:
            return f"{name}: python {before}, here {after}"
    return ""


def _short(values: Any, at: Any) -> str:
    return str((values[at] if len(at) else values).tolist()[:8])


def compare(program: Program, module: ModuleType, case: Case, expected: dict[str, Any] | None = None) -> Any:
    """What a program leaves on the python backend, and a :class:`Found` if another differs.

    Where the python backend refuses the run (an overflow, say) there is nothing to compare: then the first is None.
    """
    if expected is None:
        try:
            expected = _run(module, program, case, "python")
        except FrontierError as error:
            expected_of = any(words in str(error) for words in _REFUSED)
            return None, None if expected_of else Found(case, f"python refuses: {error}")
        except Exception:
            return None, Found(case, f"python raises: {traceback.format_exc(limit=-3)}")
    fr.set_num_threads(case.workers)
    try:
        found = _run(module, program, case, case.backend)
    except Exception as error:
        if "the graph is in parts" in str(error):  # it needs edges of other ranks, and says so
            return None, None
        return expected, Found(case, f"{case.backend} raises: {traceback.format_exc(limit=-3)}")
    difference = _difference(expected, found, case.backend == "cpu")
    return expected, Found(case, difference) if difference else None


def shrunk(program: Program, case: Case, seconds: float) -> tuple[Program, Found | None]:
    """The smallest program near by that still differs, as far as the time allows."""
    end, found, again = time.monotonic() + seconds, None, True
    while again and time.monotonic() < end:
        again = False
        for less in smaller(program):
            if time.monotonic() > end:
                break
            _, differs = compare(less, load(less.text()), case)
            if differs is not None and not differs.what.startswith("python"):
                program, found, again = less, differs, True
                break
    return program, found


def reproduction(program: Program, found: Found) -> str:
    """A script that shows the difference."""
    return f'''{program.text()}
if __name__ == "__main__":
    from tests.fuzz_programs.fields import *
    from tests.fuzz_programs.running import *
    from tests.fuzz_programs.steps import *
    import sys
    # {found.what.splitlines()[-1][:150]}
    with corners(local=3, least=1):
        fields = frozenset({set(program.fields)!r})
        root = Node("Sequence", fields=fields)
        given = Program(root, {program.kind!r}, {program.weights!r}, {program.directed!r}, "", {program.wild!r})
        print(compare(given, sys.modules["__main__"], {found.case!r})[1])
'''
