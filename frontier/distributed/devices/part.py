"""What one of several GPUs does of a run: its part of the program, with tables of where the arrays of all GPUs lie."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier import tracing
from frontier.backends.cuda import launch
from frontier.backends.cuda.execution import CudaExecution, _blame, build_of
from frontier.backends.run import workspace
from frontier.backends.run.execution import LoopExecution
from frontier.backends.run.workspace import Code, Workspace
from frontier.compile import codes
from frontier.distributed.devices.exchange_pass import program_of_part
from frontier.distributed.devices.inputs import (
    BOX,
    Base,
    Bound,
    Box,
    Field,
    Group,
    InputArray,
    Packed,
    SharedArray,
    Table,
)
from frontier.distributed.devices.meeting_words import (
    COMPUTED,
    LOST,
    MERGED,
    RECEIVED,
    WAITED,
    box_words,
    sums_at,
)
from frontier.distributed.devices.own_frontiers import OwnFrontiers
from frontier.errors import DeviceLostError
from frontier.lowering.inputs import Buffer, HasInLists, Input
from frontier.memory import detection
from frontier.memory.arrays import to_host
from frontier.program.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frontier.backends.cuda.program import CudaProgram
    from frontier.distributed.devices.replicas import Replica
    from frontier.distributed.devices.touches import Touches
    from frontier.graph.graph import Graph
    from frontier.memory.base import Memory
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["Part"]

#: Runs whose addresses of all arrays a table keeps.
KNOWN = 4

#: Words of the table for the addresses of fields on all GPUs, and what these are addresses of.
_FIELD_TABLES: dict[str, type[Field] | type[Base]] = {"fields": Field, "bases": Base}


class _PeersTable(launch.Exchange):
    """The table of a run with what it knows of the other GPUs, which later runs find.

    Attributes
    ----------
    rows : dict of str to int
        Keys of the arrays whose addresses on all GPUs a program needs, each with its number.
    fixed : dict of str to int
        Where arrays of this GPU lie that are the same in all runs.
    known : dict
        By where the arrays of all GPUs lie: an array on this GPU of these addresses, row by row, and what to write to
        words of the table for it. Fields lie elsewhere as long as somebody has the results of the last run; then they
        often lie where they did in the run before.
    """

    def __init__(self, at: dict[str, int], scalars: list[Any]) -> None:
        super().__init__(at, scalars)
        self.rows: dict[SharedArray, int] = {}
        self.fixed: dict[SharedArray, int] = {}
        self.known: dict[tuple[tuple[int, ...], ...], tuple[Any, dict[int, int]]] = {}


class Part(CudaExecution):
    """What one GPU does."""

    def __init__(
        self,
        step: Step,
        replica: Replica,
        f: Frontier | None,
        schedule: ResolvedSchedule,
        touches: Touches,
        memories: Sequence[Memory],
    ) -> None:
        self.memory, self._replica, self._touches = replica.memory, replica, touches
        self._count = len(memories)
        self._share = sum(each is replica.memory for each in memories)
        self._threads_error: BaseException | None = None
        self._launched: Any = None
        p, g = replica.whole, replica.whole.graph
        with self.memory.using("a run on several GPUs"):
            mine = None if f is None else replica.owned(replica.copied(f))
            LoopExecution.__init__(self, step, p, mine, schedule)
            code = _code_of(step, p, None if f is None else f.kind, schedule, touches)
            work = workspace.take(g) or Workspace(g, self.memory.xp, launch.address_of)
            stream = launch.current_stream()
            self._stream = stream if work.stream in (None, stream) else None
            work.stream = stream
            known = code.tables.get(work)
            self._begin(code, work, known or _PeersTable(code.at, list(p.scalars.values())))
            work.clock = (0, 0)
            if known is None:
                self._fill(self._counters())
            self._prepare()
            if f is not None:
                frontiers = self._program.frontiers
                assert isinstance(frontiers, OwnFrontiers)
                count, _ = frontiers.peers.size(self._program.given)
                self._words[self._at[count.name]] = len(f)
            self._clear_counters_and_box()

    def again(self, f: Frontier | None) -> bool:
        """Begin on the same problem once more; see LoopExecution."""
        work = self._workspace
        with self.memory.using("a run on several GPUs"):
            self._stream = launch.current_stream()
            if self._lost or work.stream != self._stream:
                return False
            work.clock = (0, 0)
            if not LoopExecution.again(self, f):
                return False
            self._clear_counters_and_box()
        return True

    def give_up(self) -> None:
        """Give back the memory of a run that has begun again, and does not go on."""
        self._workspace.give_back(self._p.graph)

    def _clear_counters_and_box(self) -> None:
        """Before GPUs meet: clear what they count, and the box in which others leave words."""
        work = self._workspace
        _clear(self._counters())
        _clear(self._box())
        if work.kept.get("running"):  # a run before this one has not come to its end
            self._forget_marks()
        work.kept["running"] = True

    @property
    def piles(self) -> list[str]:
        """Names of the piles that the program uses."""
        return self._code.piles

    def pile(self, name: str) -> Frontier:
        """What this GPU has of a pile."""
        return self._p.piles[name]

    @property
    def complete(self) -> bool:
        """Whether its code has everything that the program defers."""
        return self._code.whole is None

    def complete_code(self) -> None:
        """Compile what the program defers, unless it is there."""
        if not self.complete:
            with self.memory.using():
                self._code.complete()

    @property
    def in_lists(self) -> list[int]:
        """Whether it has the in-lists that pulls want, which are made when one first does."""
        return [self._get(name) for name, given in self._program.inputs.items() if isinstance(given, HasInLists)]

    def forget_in_lists(self) -> None:
        """Let the next pull want them: where some GPUs lack them, all must leave their kernels at the same places."""
        for name, given in self._program.inputs.items():
            if isinstance(given, HasInLists):
                self._set(name, 0)

    @property
    def simulated(self) -> bool:
        """Whether kernels run in threads of Python."""
        return isinstance(self._code.run, launch.SimulatedKernel)

    @property
    def alone(self) -> bool:
        """Whether no other part runs on the same GPU: then this one runs on the current stream."""
        return self._share == 1

    @property
    def in_order(self) -> bool:
        """Whether all that it has been given, and its kernel, are on one stream, as was what used its memory before."""
        with self.memory.using():
            return self.alone and not self.simulated and launch.current_stream() == self._stream

    @property
    def lost(self) -> bool:
        """Whether the GPU cannot be used any more."""
        return self._lost

    def _behind(self) -> list[str]:
        """Words that say of which fields elements are marked that other GPUs were not told of."""
        keys = [f"behind:{name}" for name in self._touches.claimed]
        return [key for key in keys if key in self._at and self._get(key)]

    def _forget_marks(self) -> None:
        """Clear the marks that say which elements have changed, of whatever program has left them."""
        for (_, role, _), array in self._workspace.arrays.items():
            if role in ("touched", "claimed"):
                _clear(array)

    # ---- arrays that others read -----------------------------------------------------------------------------

    def _box(self) -> Any:
        return self._workspace.array("box", "words", box_words(self._count))

    def _array(self, shared: SharedArray) -> Any:
        """An array that a table has the addresses of."""
        match shared:
            case Box():
                return self._box()
            case Packed():
                return self.packed(shared)
            case Field(name):
                return self._p.arrays[name]
            case Base(name):
                return self.base(name)
            case InputArray(key):
                buffer = self._program.inputs[key]
                assert isinstance(buffer, Buffer)
                return self._workspace.array(key, buffer.role)

    def packed(self, where: Packed) -> Any:
        """Where values that this GPU tells of lie side by side; those of each four blocks have a place of their own."""
        dtype, (first, end) = self._p.arrays[where.field].dtype, self._replica.own["vertex"]
        fours = -(-(-(-end // codes.BLOCK) - first // codes.BLOCK) // 4)
        size = fours * 4 * codes.BLOCK * dtype.itemsize
        return self._workspace.array(f"packed {where.field} {where.side} {dtype}", "words", -(-size // 8))

    def base(self, name: str) -> Any:
        """What a field to which others add had when they began."""
        array = self._p.arrays[name]
        key = f"base {name} {array.dtype}"
        if key not in self._workspace.kept:
            self._workspace.kept[key] = self._workspace.xp.empty(len(array), array.dtype)
        return self._workspace.kept[key]

    def _shared(self) -> list[SharedArray]:
        """The arrays that there are tables for."""
        tables = [given.array for given in self._program.inputs.values() if isinstance(given, Table)]
        fields = [
            stem(name)
            for word, stem in _FIELD_TABLES.items()
            for name in self._p.arrays
            if f"{word}:{name}" in self._at
        ]
        return list(dict.fromkeys([BOX, *tables, *fields]))

    def _input(self, name: str, given: Input) -> int:
        work = self._workspace
        match given:
            case Bound(kind, end):
                return int(self._replica.own[kind][end])
            case Group("blocks"):
                return codes.blocks(self._p.graph.num_vertices)
            case Group("starts"):
                return work.address_of(work.array("starts", "words", self._count + 1))
            case Group(what):
                return self._replica.rank if what == "rank" else self._count
            case Box():
                return work.address_of(self._box())
            case Packed():
                return work.address_of(self.packed(given))
            case Table():
                return 0  # until the GPUs are connected
        return super()._input(name, given)

    @property
    def _listed(self) -> Graph:
        """The graph of whose lists windows and heads are made: those of the vertices that this GPU owns."""
        return self._replica.rows

    def places(self) -> list[int]:
        """Where the arrays lie that there are tables for; only fields lie elsewhere in another run."""
        work, table, made = self._workspace, self._table, []
        fixed = table.fixed
        with self.memory.using("what GPUs exchange"):
            if not table.rows:
                table.rows = {each: row for row, each in enumerate(self._shared())}
            for shared in table.rows:
                if isinstance(shared, Field):
                    made.append(work.address_of(self._array(shared)))
                    continue
                if shared not in fixed:
                    none = isinstance(shared, Base) and shared.name not in self._touches.summed
                    fixed[shared] = 0 if none else work.address_of(self._array(shared))
                made.append(fixed[shared])
        return made

    def connect(self, places: list[list[int]], starts: list[int]) -> None:
        """Note where the arrays of all GPUs lie, of each as its :meth:`places` says, and what each owns."""
        table, kept, where = self._table, self._workspace.kept, tuple(map(tuple, places))
        if where not in table.known or kept.get("starts") != starts:
            with self.memory.using("a run on several GPUs"):
                _write(self._workspace.array("starts", "words", self._count + 1), np.array(starts, np.int64))
                kept["starts"] = starts
                peers = self._workspace.xp.empty(self._count * len(table.rows), np.int64)
                _write(peers, np.array(places, np.int64).T.ravel())
                while len(table.known) >= KNOWN:
                    del table.known[next(iter(table.known))]
                table.known[where] = peers, self._words_for(peers)
        for at, address in table.known[where][1].items():
            self._words[at] = address

    def _words_for(self, peers: Any) -> dict[int, int]:
        """What words of the table are to be for these addresses of the arrays of all GPUs."""
        at, address_of, made = self._at, self._workspace.address_of, {}
        tables = {
            shared: address_of(peers) + row * self._count * peers.itemsize for shared, row in self._table.rows.items()
        }
        for name, given in self._program.inputs.items():
            if isinstance(given, Table):
                made[at[name]] = tables[given.array]
        for word, stem in _FIELD_TABLES.items():
            made |= {at[f"{word}:{x}"]: tables[stem(x)] for x in self._p.arrays if f"{word}:{x}" in at}
        based = (name for name in self._touches.summed if f"base:{name}" in at)
        return made | {at[f"base:{name}"]: address_of(self.base(name)) for name in based}

    # ---- running ---------------------------------------------------------------------------------------------

    def load(self, p: Problem) -> None:
        """Take over what piles hold, and note what fields to which others add have now."""
        if not (self._code.piles or self._touches.summed or self._touches.claimed):
            return
        with self.memory.using("a run on several GPUs"):
            for (_, role, _), array in self._workspace.arrays.items():
                if role == "claimed":  # fields may have been changed since
                    _clear(array)
            if self._behind():  # all have fields as they are now
                self._forget_marks()
                for key in self._behind():
                    self._set(key, 0)
            for name in self._code.piles:
                self._p.piles[name] = self._replica.owned(self._replica.copied(p.piles[name]))
                self._fill_pile(name)
                self._set(f"all_held:{name}", len(p.piles[name]))
            for name in self._touches.summed:
                if f"base:{name}" in self._at:
                    self.base(name)[...] = self._p.arrays[name]

    def begin_trace(self) -> Any:
        """Ask for rows of a trace."""
        with self.memory.using() if tracing.active() else nullcontext():
            return self._begin_trace()

    def end_trace(self, ring: Any) -> None:
        """Take over the rows of a trace, of which those of the first GPU are shown."""
        with self.memory.using():
            if self._replica.rank == 0:
                self._end_trace(ring)
            else:
                self._note_read(to_host(ring))
                ring[:] = 0

    def total(self) -> tracing.RankTotal:
        """What this GPU has done in a run."""
        with self.memory.using():
            sums = to_host(self._box()[sums_at(self._count) :]).tolist()
        computed, merged, waited = (sums[word] / 1e9 for word in (COMPUTED, MERGED, WAITED))
        return tracing.RankTotal(
            self._replica.rank, self._get("meetings"), 0.0, computed, merged, waited, sums[RECEIVED], self.read
        )

    def _give_table(self, budget: int) -> None:
        self._workspace.clock = None
        self._set("budget", budget)
        self._table.give(list(self._p.scalars.values()))

    def begin(self, budget: int) -> None:
        """Launch the kernel."""
        with self.memory.using():
            self._give_table(budget)
            with _stream(self.memory, self._replica.rank) if self._share > 1 else nullcontext():
                self._launched = self._code.run.begin(self._table, self._share)

    def simulate(self, budget: int) -> None:
        """Run the kernel in threads; an error is raised by :meth:`end`."""
        self._give_table(budget)
        try:
            self._code.run(self._table)
        except BaseException as error:
            self._threads_error = error

    def end(self) -> None:
        """Wait for the end of the kernel."""
        if self.simulated:
            error, self._threads_error = self._threads_error, None
            if error is not None:
                raise error
        else:
            with self.memory.using():
                stream, self._launched = self._launched, None
                try:
                    self._code.run.wait(stream, self._table)
                except DeviceLostError:
                    self.done = self._lost = True
                    raise
        self._table.take(list(self._p.scalars.values()))
        self._workspace.clock = (self._get("t"), self._get("arrivals"))

    def code(self) -> int:
        """Why the kernel has returned."""
        return self._get("code")

    def failed(self) -> bool:
        """Whether this GPU has found a reason to end, such as a functor that raised; others may not know it yet."""
        if self.code() == LOST:
            return False
        untold = self._get("failed")  # since all met last, before they left together for another reason
        if untold:
            self._set("code", untold)
            return True
        if self.code() < codes.FUNCTOR_FAILED:
            return False
        with self.memory.using():
            counters = self._counters()[: codes.INDEX + 2]
            return bool(int(to_host(counters)[codes.FAILED]))

    def handle(self) -> bool:
        """Act on why the kernel has returned; whether it is at a pass boundary."""
        with self.memory.using():
            return self._handle()

    def give(self) -> None:
        """Bring back what the kernel has kept."""
        with self.memory.using():
            self._give()
        whole = self.done and self.code() == codes.DONE and not self._behind()
        self._workspace.kept["running"] = not whole

    def _current(self) -> Frontier | None:
        """The elements of the current frontier that this GPU owns."""
        made = super()._current()
        return None if made is None else self._replica.owned(made)


def _clear(array: Any) -> None:
    """Set all to 0, on a GPU without a kernel of CuPy's."""
    if isinstance(array, np.ndarray):
        array.fill(0)
    else:
        array.data.memset_async(0, array.nbytes)


def _write(array: Any, values: Any) -> None:
    """Write values of the host to an array."""
    if isinstance(array, np.ndarray):
        array[:] = values
    else:
        array.set(values)


def _code_of(step: Step, p: Problem, given: str | None, schedule: ResolvedSchedule, touches: Touches) -> Code:
    """The compiled code of a step for a GPU that runs a part of it: to find it among all takes ten microseconds."""
    found, key = touches.codes.get(p.graph), (given, tracing.active())
    if found is None:
        found = touches.codes.setdefault(p.graph, {})
    if key not in found:
        found[key] = _made_for(step, p, given, schedule, touches)
    return found[key]


def _made_for(step: Step, p: Problem, given: str | None, schedule: ResolvedSchedule, touches: Touches) -> Code:
    """The same, made once for problems and graphs of this kind."""
    known = step.__dict__.setdefault("_code", {})
    layout = Layout.of(p)
    build = build_of(p.graph, step, schedule)
    build = type(build)(
        bounded=build.bounded, dense=build.dense, traced=build.traced, streams=build.streams, lanes=build.lanes,
        short=p.graph.traits.short_lists,
    )  # fmt: skip
    captures = step._captures
    assert captures is not None
    key = ("peers", p.graph.placement.memory, layout, given, schedule, build, captures.key, touches.key)
    code = known.get(key)
    if code is None:
        program = program_of_part(step, layout, schedule, given, build, touches)
        program.captures = captures.parts

        def make(program: CudaProgram) -> Any:
            return launch.kernel(program, lambda: _blame(step, layout, schedule, given))

        code = known[key] = workspace.code_for(program, p.graph, make, lambda: launch.is_known(program))
    made: Code = code
    return made


@cache
def _stream(memory: Memory, rank: int) -> Any:
    """A stream for one of several kernels on a GPU."""
    with memory.using():
        return detection.cupy().cuda.Stream(non_blocking=True)
