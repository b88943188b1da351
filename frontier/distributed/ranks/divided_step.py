"""The class Exchange: a divided step on one part, and what the parts tell each other after it.

1. Before the step, the others' elements that it is going to touch are made current, if they are not.
2. The step runs on the part's own elements. What it has changed or found among the elements of others is *dealt*: to
   each owner what is the owner's, who merges it.
3. Owners *share* with all what they have changed of fields that some step of the program touches at elements of others.
   Other fields stay with their owners to the end of the run.

Steps that touch only a part's own elements need no second item, and tell the others about errors, scalars and sizes in
the third.

In a grid, a step along edges runs on the block of each part (``in_blocks``). Before it, owners tell their elements of
the frontier to the parts that hold edges of these. After a step they tell what they have changed to their row, to their
column, or to all, as steps touch the field at targets of edges, at sources, or elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frontier.distributed.merge import merge, merge_scalars
from frontier.distributed.ranks.changes import changes, distinct, places, stays, values_of
from frontier.distributed.ranks.grid import ALL, AT_ENDS
from frontier.distributed.ranks.local_frontier import LocalFrontier, ascending
from frontier.distributed.ranks.mirrors import Mirrors
from frontier.distributed.ranks.partial_reductions import fold, partial
from frontier.distributed.ranks.plans import Plans
from frontier.distributed.ranks.pulls import standing_at_far_ends
from frontier.distributed.ranks.readers import Readers, read_at_ends
from frontier.distributed.ranks.selective_mirrors import READERS, SelectiveMirrors
from frontier.distributed.transport.messages import NOTHING, Section, packed, unpacked
from frontier.distributed.transport.rounds import Note, Rounds
from frontier.memory.host import HOST
from frontier.memory.shortage import explained
from frontier.program.frontiers import Frontier

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

    from frontier.distributed.merge import Change
    from frontier.distributed.ranks.grid import Grid
    from frontier.distributed.ranks.halo_updates import HaloUpdates
    from frontier.distributed.ranks.plans import Plan
    from frontier.distributed.ranks.step_problem import StepProblem
    from frontier.distributed.transport.communicators import Communicator
    from frontier.graph.graph import Graph
    from frontier.program.step import Operator, Step

__all__ = ["Exchange"]


class _Outcome(NamedTuple):
    """What a step has done on one part: the next frontier, and what has changed of fields that are merged."""

    frontier: Frontier
    changed: dict[str, Change]


class Exchange:
    """One part's side of what the parts of a run tell each other.

    Parameters
    ----------
    program : Step
    placed : StepProblem
        The problem in the memory in which steps run.
    comm : Communicator
    starts : ndarray
        First vertex of every part, and the number of vertices.
    turning : collection of Step
        Those that may pull.
    halo : HaloUpdates, optional
        Of edges of other ranks, on a graph in parts.
    grid : Grid, optional
        In which the parts lie.
    """

    def __init__(
        self, program: Step, placed: StepProblem, comm: Communicator, starts: NDArray[Any], turning: Collection[Step],
        halo: HaloUpdates | None = None, grid: Grid | None = None,
    ) -> None:  # fmt: skip
        self._program, self._placed, self._turning = program, placed, turning
        self._p = p = placed.problem
        self._rank, self._parts = comm.rank, comm.size
        self._memory = p.graph.placement.memory
        self.rounds = Rounds(comm, self._memory)
        selects = grid is None and placed.host.graph.placement.memory is HOST  # who reads what, the host looks up
        self.mirrors = (SelectiveMirrors if selects else Mirrors)(placed, self.rounds, starts, grid)
        self.plans = Plans(program, p, turning, grid is not None)
        #: Steps whose frontiers others have asked for, and the audience: they tell these at once from then on.
        self._spreads: dict[Step, set[str]] = {}
        #: A program of one step ends with it: then all is told at once.
        self._single = not program.inner()
        self.halo = halo
        self._begun = False

    def run(
        self, step: Operator, f: Frontier, here: Graph, inner: Callable[[Frontier], Any], plain: Any,
        pull: bool = False,
    ) -> Frontier:  # fmt: skip
        """Run a step on this part and exchange what it did.

        Parameters
        ----------
        step : Operator
        f : Frontier
        here : Graph
            With the edges that this part has.
        inner : function of a frontier
            Runs the step on this part's elements.
        plain : function
            Makes functions of registered reductions callable.
        pull : bool
            Whether the part's own vertices look for neighbours in the frontier of all.
        """
        if not self._begun:
            self._begin()
        step = standing_at_far_ends(step) if pull else step
        plan, kept = self.plans.of(step), self._kept(step)
        taken, stood = self._standing(step, plan, f, here, pull)
        mine, at = (Frontier._of(here, each.kind, ids=each.ids) for each in (taken, stood))
        note, made = Note(counts=[0] * (1 + len(step.fills()))), _Outcome(self._nothing(f.kind), {})
        note.scalars = [self._p.scalars[name] for name, _ in step.partial()]
        try:
            made = self._here(step, plan, mine, at, inner)
            note.scalars = [self._p.scalars[name].copy() for name, _ in step.partial()]
        except Exception as error:  # whatever it is, all parts raise it
            note.error = error
            if isinstance(error, MemoryError):  # here, where memory is short
                note.error = explained(error, f"running {step!r} on rank {self._rank} of {self._parts}")
            self._unsure(step, plan)
        try:
            return self._among(step, plan, f, note, made, plain)
        except BaseException:
            self._restore(*kept)  # all parts go on from the same, if they go on
            raise

    def as_first(self, names: Collection[str]) -> None:
        """Let all parts have the first one's values of some fields, and of scalars.

        They have run the same step as a whole, but GPUs add up, and decide by atomics, in orders of their own.
        """
        p, memory, comm = self._p, self._memory, self.rounds.comm
        arrays = [p.arrays[name] for name in names if not stays(p, name)]
        given = (Section(0, len(each), memory.xp.arange(len(each)), each) for each in arrays)
        _, told = self.rounds.allgather(Note(), NOTHING if comm.rank else packed(given))
        scalars = comm.allgather(p.scalars)[0]
        if comm.rank:
            found = unpacked(told[0], [(0, len(each), each, False) for each in arrays], memory)
            for array, (_, values) in zip(arrays, found, strict=True):
                array[...] = values
            for name, value in scalars.items():
                p.scalars[name][...] = value

    def _begin(self) -> None:
        """Find out who reads what, before the first step."""
        self._begun = True
        if self._single or self._parts == 1 or not isinstance(self.mirrors, SelectiveMirrors):
            return
        comm, told = self.rounds.comm, self.plans.mirrored.get(ALL, [])
        names, edges = read_at_ends(self._program, self._p, told, self._turning, self.plans)
        if names:
            readers = Readers.of(self._placed.host.graph, comm, self.mirrors.bounds("vertex"), edges)
            if readers.few:
                self.mirrors.select(names, readers)
                self.plans.mirrored = {ALL: [each for each in told if each not in names], READERS: sorted(names)}

    def _standing(
        self, step: Operator, plan: Plan, f: Frontier, here: Graph, pull: bool
    ) -> tuple[Frontier, Frontier]:
        """On which elements the step runs here, and at which it stands, whose fields are current then."""
        mirrors, blocks = self.mirrors, plan.in_blocks
        asked = [f] if pull and isinstance(f, LocalFrontier) else []
        whole = [] if blocks else mirrors.touching(plan.others[ALL], asked)
        on = f if f.kind == "vertex" or not step.far else self._ends_of(step, f)
        if blocks and on.kind == "edge":  # the step refuses them
            nothing = Frontier(self._p.graph, (), "edge")
            return nothing, nothing
        if blocks:
            audience = AT_ENDS[step.near]
            if isinstance(on, LocalFrontier) and on.maker is not None:
                self._spreads.setdefault(on.maker, set()).add(audience)
            members = mirrors.current(plan.others, on, audience)
            return members, members
        own = mirrors.own(Frontier.all(here) if pull else on)
        if self.halo is not None and not pull:
            self.halo.before(step, own, f.is_all)
        return whole[0] if whole else f if pull else own, own

    # ---- on this part ----------------------------------------------------------------------------------------

    def _here(
        self, step: Operator, plan: Plan, mine: Frontier, at: Frontier, inner: Callable[[Frontier], Any]
    ) -> _Outcome:
        """Run the step on ``mine``; ``at`` are the elements at which it stands, and next to which it writes."""
        p, mirrors = self._p, self.mirrors
        looked = [each for each in plan.own if self.plans.access.needed[each.name] and not stays(p, each.name)]
        folded = {name: p.arrays[name][at.ids] for name in plan.folds}
        before = values_of(p, step, [*plan.sent, *looked], at, mirrors.others)
        piles = {name: p.piles[name] for name in step.fills()}
        for name, pile in piles.items():
            p.piles[name] = Frontier(p.graph, (), pile.kind)
        try:
            after = inner(mine)
            changed = changes(p, before, {each.name for each in looked})
            changed |= {name: partial(p, name, reduction, at) for name, reduction in plan.folds.items()}
        except Exception:
            changes(p, before)
            p.piles.update(piles)
            for name, values in folded.items():
                p.arrays[name][at.ids] = values
            raise
        for name, pile in piles.items():
            own, added = mirrors.own(pile).ids, p.piles[name].ids
            both = self._memory.xp.concatenate([own, added])
            p.piles[name] = LocalFrontier.of(p.graph, pile.kind, distinct(both), 0)
        for each in plan.own:
            if each in looked:
                mirrors.changed(each.name, changed.pop(each.name)[0])
            else:
                mirrors.changed(each.name, places(step, each, at))
        next_ = self._nothing(mine.kind) if step.passes_through else self._ascending(after)
        return _Outcome(next_, changed)

    def _nothing(self, kind: str) -> Frontier:
        return Frontier._of(self._p.graph, kind, ids=self._memory.xp.empty(0, np.int64))

    def _kept(self, step: Operator) -> tuple[dict[str, Any], dict[str, Frontier]]:
        """Scalars and piles that a step writes, as they are before it."""
        p = self._p
        return {name: p.scalars[name].copy() for name, _ in step.partial()}, {n: p.piles[n] for n in step.fills()}

    def _restore(self, scalars: dict[str, Any], piles: dict[str, Frontier]) -> None:
        for name, value in scalars.items():
            self._p.scalars[name][...] = value
        self._p.piles.update(piles)

    def _unsure(self, step: Operator, plan: Plan) -> None:
        """After an error: note what parts on which there was none have noted."""
        p = self._p
        for each in plan.own:
            self.mirrors.changed(each.name, None)
        for name in step.fills():  # so that this part has as many counts to tell as others
            p.piles[name] = LocalFrontier.of(p.graph, p.piles[name].kind, self.mirrors.own(p.piles[name]).ids, 0)

    def _ascending(self, f: Frontier) -> Frontier:
        ids = self._memory.xp.flatnonzero(f.mask) if f._ids is None else ascending([f.ids], 0, f.capacity)
        return Frontier._of(self._p.graph, f.kind, ids=ids)

    # ---- among parts -----------------------------------------------------------------------------------------

    def _among(self, step: Operator, plan: Plan, f: Frontier, note: Note, made: _Outcome, plain: Any) -> Frontier:
        p, mirrors, piles = self._p, self.mirrors, step.fills()
        found, notes = made.frontier.ids, list[Note]()
        note.counts = [len(found), *(len(p.piles[name].ids) for name in piles)]
        if plan.sends:
            notes, found = self._deal(plan, note, made, f)
        mirrored = {ALL: mirrors.results()} if self._single else self.plans.mirrored
        names = {audience: mirrors.untold(some, audience) for audience, some in mirrored.items()}
        counting = plan.finds and any(each.counts[0] for each in notes)  # several parts may have found the same
        next_ = LocalFrontier.of(p.graph, made.frontier.kind, found, 0)
        next_.maker = step
        portions: dict[str, list[Frontier]] = {}
        if not step.passes_through and (self._single or counting or not plan.sends):
            portions = {audience: [next_] for audience in ([ALL] if self._single else self._spreads.get(step, ()))}
        told: list[Frontier] = []
        if not plan.sends or any(names.values()) or counting or portions:
            after, whole = mirrors.tell(Note(counts=[len(found)]) if plan.sends else note, names, portions)
            told = whole.pop(ALL, [])
            next_.spread = {audience: each for audience, (each,) in whole.items()}
            notes = notes or after
            if plan.finds:
                next_.total = _sum(after, 0)
        if not plan.finds:
            next_.total = _sum(notes, 0)
        for at, name in enumerate(piles, 1):
            p.piles[name] = LocalFrontier.of(p.graph, p.piles[name].kind, p.piles[name].ids, _sum(notes, at))
        merge_scalars(p, step, [each.scalars for each in notes], plain)
        return f if step.passes_through else told[0] if told else next_

    def _deal(self, plan: Plan, note: Note, made: _Outcome, f: Frontier) -> tuple[list[Note], NDArray[Any]]:
        """Give to owners what is theirs; the notes of all, and which of its own elements this part now has."""
        p, mirrors, found = self._p, self.mirrors, made.frontier.ids
        names = [*(each.name for each in plan.sent), *plan.folds]
        bounds = [mirrors.bounds_of(name) for name in names]
        given: list[Any] = [made.changed.get(name, (found[:0], p.arrays[name][:0])) for name in names]
        if plan.finds:
            bounds.insert(0, mirrors.bounds(made.frontier.kind))
            given.insert(0, (found, None))
        note.changed = sum(len(ids) for ids, _ in given)
        notes, told = self._to_owners(note, given, bounds)
        if plan.finds:
            found = self._mine([each.pop(0)[0] for each in told], bounds[0])
        if plan.sent and any(each.changed for each in notes):
            merge(p.arrays, plan.sent, [dict(zip(names, each, strict=True)) for each in told])
            united: dict[tuple[int, ...], Any] = {}  # the same elements of several fields are the same objects
            for at, name in enumerate(each.name for each in plan.sent):
                parts = [each[at][0] for each in told]
                key = tuple(map(id, parts))
                if key not in united:
                    united[key] = self._mine(parts, mirrors.bounds_of(name))
                mirrors.changed(name, united[key])
        for name, reduction in plan.folds.items():
            own = self._memory.xp.sort(mirrors.own(f).ids)
            fold(p.arrays[name], reduction, own, [each[names.index(name)] for each in told])
            mirrors.changed(name, own)
        return notes, found

    def _ends_of(self, step: Operator, f: Frontier) -> Frontier:
        """The vertices at which a step along edges stands that is given edges; they may belong to others."""
        ends = step.stands_on(self.mirrors.own(f))
        if ends.kind == "edge":  # the step refuses them
            return f
        ids = distinct(ends.ids).astype(np.int64)
        bounds = self.mirrors.bounds("vertex")
        _, told = self._to_owners(Note(), [(ids, None)], [bounds])
        return LocalFrontier.of(self._p.graph, "vertex", self._mine([ids for ((ids, _),) in told], bounds), 0)

    def _mine(self, parts: list[NDArray[Any]], bounds: NDArray[Any]) -> NDArray[Any]:
        first, end = bounds[self._rank : self._rank + 2].tolist()
        return ascending(parts, first, end - first)

    def _to_owners(
        self, note: Note, given: list[tuple[NDArray[Any], Any]], bounds: list[NDArray[Any]]
    ) -> tuple[list[Note], list[Any]]:
        """Deal elements, and values of them, to their owners: what all have noted, and what is this part's."""
        edges = [each.tolist() for each in bounds]
        moved, search = self._memory.moved, self._memory.xp.searchsorted
        cuts = [search(ids, moved(each)).tolist() for (ids, _), each in zip(given, bounds, strict=True)]

        def sections(rank: int) -> list[Section]:
            made = []
            for (ids, values), edge, cut in zip(given, edges, cuts, strict=True):
                part = slice(cut[rank], cut[rank + 1])
                made.append(Section(edge[rank], edge[rank + 1] - edge[rank], ids[part], _cut(values, part)))
            return made

        messages = [NOTHING if rank == self._rank else packed(sections(rank)) for rank in range(self._parts)]
        notes, came = self.rounds.alltoall(note, messages)
        own = sections(self._rank)
        like = [(each.first, each.length, each.values, False) for each in own]
        told = [unpacked(message, like, self._memory) for message in came]
        told[self._rank] = [(each.ids, each.values) for each in own]
        return notes, told


def _sum(notes: list[Note], at: int) -> int:
    return sum(each.counts[at] for each in notes)


def _cut(values: Any, part: slice) -> Any:
    return None if values is None else values[part]
