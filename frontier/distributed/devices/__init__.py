"""Several GPUs of one process: the steps of a program, and the edges of its graph, divided among them.

``spreading`` copies graphs to the memories of several GPUs, each with the edges of its own vertices, ``building`` makes
them there, ``numbering`` gives vertices other numbers for it (``numbering_kernels``), and ``deriving`` makes in-edges.
Fields of vertices lie on the first GPU; large ones are spread, too (``spread_fields``). ``replicas`` is what each GPU
has of a graph and a problem while a program runs. Most programs are one kernel on each GPU: ``touches`` finds which can
be, and what their steps touch at elements of other GPUs. They are lowered as for one GPU, but with ``own_frontiers``;
then ``exchange_pass`` adds what GPUs exchange, by what ``peers`` says of them. ``inputs`` are what the host gives
programs, ``printer`` prints kernels, ``phases`` are the parts of these that exchange (with ``block_phases``,
``combining_phases`` and ``packing_phases``), ``barriers`` finds where they meet, ``meeting`` is the barrier of all
GPUs, and ``meeting_words`` what they tell each other there. ``claims`` finds steps, such as those of searches, of which
GPUs tell each other bits instead of values; ``claim_exchange`` adds that, and ``claim_phases`` are their phases.
``fused`` runs the kernels, of which ``part`` is one, and ``loading`` gives the other GPUs the fields before, and brings
them back. ``on_rank`` runs the same kernels in processes with a GPU each; ``rank_graph`` is what each has of the graph,
and ``rank_fields`` of the fields.

Other programs the host divides: the GPUs are members of a :mod:`frontier.distributed.ranks.group`, in which the cuda
backend runs the steps. ``choice`` finds programs that one GPU runs faster, ``compaction`` what is not usual in an
array, and ``together`` lets all GPUs work at the same time.

Edges may lie in the host's memory or on a disk. Then every GPU reads those of its own vertices over its own link, as a
single GPU does: kernels bring windows of them, or read them where they are. From a disk the host reads them, and it
divides every program.

``g.to("cuda:0,1")`` uses two GPUs, and ``g.to("cuda:all")`` all that this process sees, for programs that several run
faster. A GPU that is named twice stands for two: so programs are tested on a single one.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast

from frontier.backends.base import Backend
from frontier.backends.cuda import elsewhere
from frontier.distributed.devices import choice, spreading
from frontier.distributed.devices.choice import alone, worthwhile
from frontier.errors import GraphError
from frontier.memory import detection, spread
from frontier.memory.gpu import gpu
from frontier.memory.placement import Placement, backend_named, placed, unknown
from frontier.program.field_store import FieldStore

if TYPE_CHECKING:
    from frontier.distributed.transport.communicators import Communicator
    from frontier.graph.graph import Graph
    from frontier.graph.shares import Shares
    from frontier.lowering.builder import Builder
    from frontier.memory.base import Memory
    from frontier.program.execution import Execution
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["BACKEND", "DevicesBackend"]


class DevicesBackend(Backend):
    """Divides the steps of a program among GPUs; arrays of graphs and problems lie on the first one.

    Parameters
    ----------
    devices : tuple of int
        Their numbers, one for each part.
    chooses : bool
        Whether programs that one GPU runs faster run on the first one alone.
    """

    massively_parallel = True
    reads_edges_from: tuple[str, ...] = ("host", "disk")
    keeps_pairs = True

    def __init__(self, devices: tuple[int, ...] = (), chooses: bool = False) -> None:
        self.devices, self.chooses = devices, chooses
        self.divides = not chooses
        self.name = "cuda:all" if chooses else f"cuda:{','.join(map(str, devices))}"
        self.memories = [gpu(index) for index in devices]

    def start(self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule) -> Execution:
        """Begin to run a step."""
        if self.chooses and not worthwhile(step, p, len(self.devices)):
            run: Execution = alone(step, p, f, schedule)
            return run
        from frontier.distributed.devices.fused import FusedExecution
        from frontier.distributed.devices.replicas import members_of
        from frontier.distributed.devices.touches import OneKernelError
        from frontier.distributed.ranks.group import Group
        from frontier.distributed.transport.threads import Threads

        try:
            return FusedExecution(step, p, f, schedule, self.memories)
        except OneKernelError:
            p._store.look_at(p, p.arrays)
            members = Threads(len(self.devices), lambda: None).members
            return cast("Execution", Group(step, members_of(p, self.memories), f, schedule, members))

    def field_store(self, g: Graph) -> FieldStore:
        """Return the store of one problem: where edges are spread, fields may be."""
        from frontier.distributed.devices.spread_fields import SpreadFields

        return FieldStore() if g._topology.spread is None else SpreadFields()

    def program(self, step: Step, p: Problem, given: str | None, schedule: ResolvedSchedule) -> Builder:
        """Lower a step as the cuda backend does: here each step of it is a program of its own."""
        made: Builder = backend_named("cuda").program(step, p, given, schedule)
        return made

    def placement(self, part: str = "") -> Placement:
        """Return the placement on some GPUs by their numbers, or on all that this process sees."""
        if part == "all":
            detection.usable()  # or it says what is missing
            devices = detection.every()
            return placed(_backend(devices, True), gpu(devices[0])) if len(devices) > 1 else Placement.parse("cuda")
        numbers = part.split(",")
        if not all(number.isascii() and number.isdigit() for number in numbers):
            raise unknown(f"cuda:{part}")
        devices = tuple(detection.usable(int(number)) for number in numbers)
        return placed(_backend(devices, False), gpu(devices[0]))

    def residing(self, graph: Graph, placement: Placement, edges: str | None, memory: int | str | None) -> Placement:
        """Return the placement of a graph whose edges are in the GPUs' memories, the host's, both, or on a disk."""

        def share() -> float:
            found = spreading.share_of(graph, self.memories, memory)
            if 0 < found < 1 and not spread.possible(self.devices):
                raise GraphError(
                    f"edges='auto' is not possible on {placement.name!r}, whose GPUs do not reach each other's memory "
                    "at one range of addresses; edges='host' is"
                )
            return found

        return elsewhere(placement, edges, memory, share)

    def missing(self) -> str:
        """Say what GPUs lack here to be used."""
        return detection.missing()

    def describe(self, placement: Placement) -> str:
        """Return the names of the GPUs."""
        return ", ".join(detection.device_name(index) for index in self.devices)

    def among(
        self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule, comm: Communicator,
        inner: Placement,
    ) -> Execution | None:  # fmt: skip
        """Begin to run a step on ranks whose GPUs reach each other's memory; None: they must exchange between steps.

        All ranks call this together.
        """
        from frontier.distributed.devices.on_rank import agreed
        from frontier.distributed.ranks.mapped_memory import reach

        found = reach(comm, int(getattr(inner.memory, "index", 0)))
        return None if found is None else agreed(step, p, f, schedule, comm, inner, found)

    def parts_for(self, num_slots: int, edges: Memory | None = None) -> tuple[Memory, ...]:
        """Return the memories of all GPUs, unless there are few slots, or they do not reach each other's memory.

        All GPUs reach ``edges`` that lie elsewhere.
        """
        if edges is not None:
            return tuple(self.memories)
        least = choice.LEAST if self.chooses else spreading.LEAST
        return () if num_slots < least or not spread.possible(self.devices) else tuple(self.memories)

    def spread(self, graph: Graph, placement: Placement) -> Graph:
        """Return a copy of a graph of which each GPU has the edges of its own vertices."""
        return spreading.spread_graph(graph, placement, self.parts_for(graph.num_slots, placement.edges))

    def build(self, shares: Shares, placement: Placement, **options: Any) -> Graph:
        """Build a graph of which each GPU makes a part; one that is small, or lies elsewhere, is made on the host."""
        from frontier.distributed.devices import building

        memories = self.parts_for(shares.count)
        if not memories or placement.edges is not None:
            return building.whole(shares, **options).to(placement)
        return building.build(shares, placement, memories, **options)

    def may_pull(self, g: Graph) -> bool:
        """Whether lists are not all short: where they are, every pass pushes."""
        return super().may_pull(g) and not g.traits.short_lists


BACKEND = DevicesBackend()


@cache
def _backend(devices: tuple[int, ...], chooses: bool) -> DevicesBackend:
    return DevicesBackend(devices, chooses)
