"""The memory that a call of a primitive needs, from its fields and programs, without running or allocating anything.

Programs are lowered as for a run. Their inputs say what they take from the workspace, and whether they use in-edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from frontier.backends.base import Backend
from frontier.backends.run import field_copies, worker_tables
from frontier.backends.run.workspace import buffer_length, roles
from frontier.graph.copies import outline
from frontier.graph.estimates import Needs
from frontier.lowering.inputs import Buffer, FieldCopies, GraphArray, HasInLists, WorkerArray, WorkerTable
from frontier.lowering.module import words
from frontier.memory.placement import backend_named
from frontier.native import threads
from frontier.program.execution import lowered
from frontier.program.layout import Layout
from frontier.program.problem import Problem

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.lowering.builder import Builder
    from frontier.program.enactor import Enactor
    from frontier.program.problem import Field
    from frontier.program.schedule import Schedule

__all__ = ["footprint"]

#: An array of the workspace: its name, its role and its length.
Array = tuple[str, str, int]


class Outline(Problem):
    """A problem without the arrays of its vertices and edges, and with weights of float64 if the graph has none."""

    def __init__(self, graph: Graph, /, **fields: Field) -> None:
        super().__init__(graph, **fields)
        self._weigh()

    def _add(self, fields: dict[str, Field]) -> None:
        super()._add(fields)
        self._weigh()

    def _weigh(self) -> None:
        if self.graph.weights is None:
            self.workspace["layout"] = Layout.of(self).with_weights("float64")

    def _check_room(self, fields: dict[str, Field]) -> None:
        pass  # there is always room for nothing

    def _make(self, name: str, made: Field) -> None:
        if made.kind not in ("vertex", "edge"):
            super()._make(name, made)


def footprint(
    g: Graph, fields: Mapping[str, Field], runs: Sequence[tuple[type[Enactor], Schedule | None]], copies: int = 1
) -> Needs:
    """Count the bytes of a problem and of the programs that run on it, one after another.

    Parameters
    ----------
    g : Graph
        Where it has no weights, a program that reads weights is counted as with some of float64.
    fields : mapping of str to Field
        Of the problem.
    runs : sequence of (Enactor, Schedule or None)
    copies : int
        In how many copies of the graph; if in several, their rows are counted with the fields.
    """
    own, g = g, g if copies == 1 else outline(g, copies)
    p = Outline(g, **fields)
    programs = [_program(enactor, p, schedule) for enactor, schedule in runs]
    made = roles(g)
    # Runs on a graph use the same workspace, so what several of them want is there once.
    arrays = {array for program in programs for array in _arrays(program, g)}
    walking = [program for program in programs if _walks(program, g)]
    found = Needs(
        sum(length * made[role][0].itemsize for _, role, length in arrays) + _bytes(p),
        in_edges=bool(walking),
        edge_ids=any(GraphArray("in_edges") in program.inputs.values() for program in walking),
        spread=_bytes_spread(p),
    )
    if g is own:
        return found
    weighted = any(GraphArray("weights") in program.inputs.values() for program in programs)
    return replace(found, fields=found.fields + _rows(g, found, weighted))


def _rows(g: Graph, needs: Needs, weighted: bool) -> int:
    """Bytes of a graph's rows, and of its in-edges where they are needed and not the same."""
    lists = g.offsets.nbytes + g._topology.ends.nbytes
    found = lists if g.symmetric or not needs.in_edges else 2 * lists
    if needs.in_edges and needs.edge_ids:
        found += g.num_slots * g.offsets.itemsize
    return found + (g.weights.nbytes if weighted and g.weights is not None else 0)


def _program(enactor: type[Enactor], p: Outline, schedule: Schedule | None) -> Builder:
    backend = p.graph.placement.backend
    makes = type(backend).program is not Backend.program
    made: Builder = lowered(enactor.program(), p, schedule, backend if makes else backend_named("cpu"))
    return made


def _bytes(p: Outline) -> int:
    """Of the fields, also of those that the program of an ordered loop has added."""
    lengths = {"vertex": p.graph.num_vertices, "edge": p.graph.num_slots}
    lengths |= {name: len(array) for name, array in p.arrays.items()}
    lengths |= {name: lengths[made.kind] * made.width for name, made in p.fields.items() if made.width}
    sizes = [(made.dtype, lengths.get(name, lengths.get(made.kind, 0))) for name, made in p.fields.items()]
    return sum(dtype.itemsize * length for dtype, length in sizes if isinstance(dtype, np.dtype))


def _bytes_spread(p: Outline) -> int:
    """Of the fields of vertices of which each of several GPUs has a part."""
    fields = {name: made.dtype for name, made in p.fields.items() if made.dtype is not None}
    each = [dtype for name, dtype in fields.items() if p._store.spreads(p.graph, name, p.fields[name], p._pairs)]
    return p.graph.num_vertices * sum(dtype.itemsize for dtype in each)


def _arrays(program: Builder, g: Graph) -> Iterator[Array]:
    """What a program takes from the workspace; without the threads' own memory that does not grow with the graph."""
    made = roles(g)
    workers = threads.num_threads()  # for a small graph there is one, so this is the most
    for name, given in program.inputs.items():
        match given:
            case WorkerTable("all"):  # for in-lists as for out-lists, because these would have to be made
                yield name, "marks", workers * 2 * worker_tables.of_thread(g, "out")
            case FieldCopies():
                yield name, "marks", field_copies.words_of(given, g, workers)
            case WorkerArray("places"):
                yield name, "places", made["places"][1] * workers
            case Buffer(role):
                yield name, role, buffer_length(given, g)
    variables = words(program)
    for name, kind in program.layout.of_kind("pile"):
        if f"pile:{name}" in variables:
            for what, role in ((f"pile_{name}", f"{kind}_queue"), (f"stamps_{name}", f"{kind}_stamps")):
                yield what, role, made[role][1]


def _walks(program: Builder, g: Graph) -> bool:
    """Whether a program walks in-edges, or may."""
    may = any(isinstance(each, HasInLists) for each in program.inputs.values())
    return program.needs_in or (may and g.placement.backend.may_pull(g))
