"""The class Exchange: a divided step on one part, and what the parts tell each other after it.

1. Before the step, the others' elements that it is going to touch are made current, if they are not.
2. The step runs on the part's own elements. What it has changed or found among the elements of others is *dealt*: to
   each owner what is the owner's, who merges it.
3. Owners *share* with all what they have changed of fields that some step of the program touches at elements of others.
   Other fields stay with their owners to the end of the run.

Steps that touch only a part's own elements need no second item, and tell the others about errors, scalars and sizes in
the third.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.ranks.ends import added_to, at_own, mirrored, of_others
from frontier.backends.ranks.exchange import changes, distinct, merge, places, stays, values_of
from frontier.backends.ranks.messages import Section, packed, unpacked
from frontier.backends.ranks.mirrors import Mirrors
from frontier.backends.ranks.portion import Portion, ascending
from frontier.backends.ranks.pulling import standing_at_far_ends
from frontier.backends.ranks.rounds import Note, Rounds
from frontier.backends.ranks.writes import written
from frontier.memory.shortage import explained
from frontier.program.frontiers import Frontier

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

    from frontier.backends.ranks.borrowing import Borrowing
    from frontier.backends.ranks.communicators import Communicator
    from frontier.backends.ranks.exchange import Change, Written
    from frontier.graph.graph import Graph
    from frontier.program.problem import Problem
    from frontier.program.step import Operator, Step

__all__ = ["Exchange"]


@dataclass(frozen=True)
class _Plan:
    """What is known of a step before it runs.

    Attributes
    ----------
    dealt : list of Written
        Fields that it writes at elements of others.
    own : list of Written
        Fields that it writes at the part's own elements alone.
    others : frozenset of str
        Fields that it touches at elements of others.
    finds : bool
        Whether the next frontier may have elements of others.
    """

    dealt: list[Written]
    own: list[Written]
    others: frozenset[str]
    finds: bool

    @property
    def deals(self) -> bool:
        """Whether anything is dealt to owners."""
        return self.finds or bool(self.dealt)


@dataclass
class _Outcome:
    """What a step has done on this part: changes of fields, and the elements that it has found."""

    changed: dict[str, Change] = field(default_factory=dict)
    ids: NDArray[Any] = field(default_factory=lambda: np.empty(0, np.int64))
    kind: str = "vertex"


class Exchange:
    """One part's side of what the parts of a run tell each other.

    Parameters
    ----------
    program : Step
    p : Problem
    comm : Communicator
    starts : ndarray
        First vertex of every part, and the number of vertices.
    turning : collection of Step
        Those that may pull.
    borrowing : Borrowing, optional
        Of edges of other ranks, on a graph in parts.
    """

    def __init__(
        self, program: Step, p: Problem, comm: Communicator, starts: NDArray[Any], turning: Collection[Step],
        borrowing: Borrowing | None = None,
    ) -> None:  # fmt: skip
        self._p, self._rank, self._parts = p, comm.rank, comm.size
        self.rounds = Rounds(comm)
        self.mirrors = Mirrors(p, self.rounds, starts)
        self._added = added_to(program, p, turning)
        #: Fields of which all are told what has changed, after each step.
        self._mirrored = mirrored(program, p) - self._added
        #: A program of one step ends with it: then all is told at once.
        self._single = not program.inner()
        self._plans: dict[Step, _Plan] = {}
        self.borrowing = borrowing

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
        step = standing_at_far_ends(step) if pull else step
        plan = self._plan(step)
        whole = self.mirrors.complete(plan.others, [f] if pull and isinstance(f, Portion) else [])
        kept = self._kept(step)
        on = f if f.kind == "vertex" or not step.far else self._ends(step, f)
        own = self.mirrors.own(Frontier.all(here) if pull else on)
        if self.borrowing is not None and not pull:
            self.borrowing.before(step, own, f.is_all)
        taken = whole[0] if whole else f if pull else own
        mine, at = (Frontier._of(here, on.kind, ids=each.ids) for each in (taken, own))
        note, made = Note(counts=[0] * (1 + len(step.fills()))), _Outcome(kind=f.kind)
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
            return self._there(step, plan, f, note, made, plain)
        except BaseException:
            self._restore(*kept)  # all parts go on from the same, if they go on
            raise

    def _plan(self, step: Operator) -> _Plan:
        if step not in self._plans:  # once in a run: it takes longer than an exchange
            p = self._p
            fields = written(step, p)
            own = [
                each for each in fields
                if at_own(step, p.fields[each.name].kind, each.indices) or stays(p, each.name)
            ]
            dealt = [replace(each, added=each.name in self._added) for each in fields if each not in own]
            finds = bool(step.far) and not step.passes_through
            self._plans[step] = _Plan(dealt, own, of_others(step, p) - self._added, finds)
        return self._plans[step]

    # ---- on this part ----------------------------------------------------------------------------------------

    def _here(
        self, step: Operator, plan: _Plan, mine: Frontier, at: Frontier, inner: Callable[[Frontier], Any]
    ) -> _Outcome:
        """Run the step on ``mine``; ``at`` are the elements at which it stands, and next to which it writes."""
        p, mirrors = self._p, self.mirrors
        looked = [each for each in plan.own if each.name in self._mirrored and not stays(p, each.name)]
        before = values_of(p, step, [*plan.dealt, *looked], at)
        piles = {name: p.piles[name] for name in step.fills()}
        for name, pile in piles.items():
            p.piles[name] = Frontier(p.graph, (), pile.kind)
        try:
            after = inner(mine)
            changed = changes(p, before, {each.name for each in looked})
            for each in plan.dealt:
                if each.added:
                    ids, values = changed[each.name]
                    changed[each.name] = ids, values - p.arrays[each.name][ids]
        except Exception:
            changes(p, before)
            p.piles.update(piles)
            raise
        for name, pile in piles.items():
            own, added = mirrors.own(pile).ids, p.piles[name].ids
            p.piles[name] = Portion.of(p.graph, pile.kind, distinct(np.concatenate([own, added])), 0)
        for each in plan.own:
            if each in looked:
                mirrors.changed(each.name, changed.pop(each.name)[0])
            else:
                mirrors.changed(each.name, places(step, each, at))
        if step.passes_through:
            return _Outcome(changed, kind=mine.kind)
        return _Outcome(changed, self._ascending(after), after.kind)

    def _kept(self, step: Operator) -> tuple[dict[str, Any], dict[str, Frontier]]:
        """Scalars and piles that a step writes, as they are before it."""
        p = self._p
        return {name: p.scalars[name].copy() for name, _ in step.partial()}, {n: p.piles[n] for n in step.fills()}

    def _restore(self, scalars: dict[str, Any], piles: dict[str, Frontier]) -> None:
        for name, value in scalars.items():
            self._p.scalars[name][...] = value
        self._p.piles.update(piles)

    def _unsure(self, step: Operator, plan: _Plan) -> None:
        """After an error: note what parts on which there was none have noted."""
        p = self._p
        for each in plan.own:
            self.mirrors.changed(each.name, None)
        for name in step.fills():  # so that this part has as many counts to tell as others
            p.piles[name] = Portion.of(p.graph, p.piles[name].kind, self.mirrors.own(p.piles[name]).ids, 0)

    def _ascending(self, f: Frontier) -> NDArray[Any]:
        if f._ids is None:
            return np.flatnonzero(f.mask)
        return ascending([f.ids], 0, f.capacity)

    # ---- among parts -----------------------------------------------------------------------------------------

    def _there(self, step: Operator, plan: _Plan, f: Frontier, note: Note, made: _Outcome, plain: Any) -> Frontier:
        p, mirrors, piles = self._p, self.mirrors, step.fills()
        note.counts = [len(made.ids), *(len(p.piles[name].ids) for name in piles)]
        found, notes = made.ids, list[Note]()
        if plan.deals:
            notes, found = self._deal(plan, note, made)
        names = mirrors.untold(p.arrays if self._single else self._mirrored)
        counting = plan.finds and any(each.counts[0] for each in notes)  # several parts may have found the same
        next_ = Portion.of(p.graph, made.kind, found, 0)
        told: list[Frontier] = [next_] if self._single and not step.passes_through else []
        if not plan.deals or names or counting or told:
            message = b"" if note.error else packed([*mirrors.sections(told), *mirrors.told(names)])
            after, messages = self.rounds.share(Note(counts=[len(found)]) if plan.deals else note, message)
            told = mirrors.take(names, [each.kind for each in told], messages)
            notes = notes or after
            if plan.finds:
                next_.total = _sum(after, 0)
        if not plan.finds:
            next_.total = _sum(notes, 0)
        for at, name in enumerate(piles, 1):
            p.piles[name] = Portion.of(p.graph, p.piles[name].kind, p.piles[name].ids, _sum(notes, at))
        for at, (name, reduction) in enumerate(step.partial()):
            scalar = p.scalars[name]
            scalar[0] = reduction.merged([each.scalars[at][0] for each in notes], scalar.dtype, plain)
        return f if step.passes_through else told[0] if told else next_

    def _deal(self, plan: _Plan, note: Note, made: _Outcome) -> tuple[list[Note], NDArray[Any]]:
        """Give to owners what is theirs; the notes of all, and which of its own elements this part now has."""
        p, mirrors = self._p, self.mirrors
        names = [each.name for each in plan.dealt]
        bounds = [mirrors.bounds_of(name) for name in names]
        given: list[Any] = [made.changed.get(name, (made.ids[:0], p.arrays[name][:0])) for name in names]
        if plan.finds:
            bounds.insert(0, mirrors.bounds(made.kind))
            given.insert(0, (made.ids, None))
        note.changed = sum(len(ids) for ids, _ in given)
        notes, told = self._to_owners(note, given, bounds)
        found = made.ids
        if plan.finds:
            found = self._mine([each.pop(0)[0] for each in told], bounds[0])
        if names and any(each.changed for each in notes):
            merge(p, plan.dealt, [dict(zip(names, each, strict=True)) for each in told])
            united: dict[tuple[int, ...], Any] = {}  # the same elements of several fields are the same objects
            for at, name in enumerate(names):
                parts = [each[at][0] for each in told]
                key = tuple(map(id, parts))
                if key not in united:
                    united[key] = self._mine(parts, mirrors.bounds_of(name))
                mirrors.changed(name, united[key])
        return notes, found

    def _ends(self, step: Operator, f: Frontier) -> Frontier:
        """The vertices at which a step along edges stands that is given edges; they may belong to others."""
        ends = step.stands_on(self.mirrors.own(f))
        if ends.kind == "edge":  # the step refuses them
            return f
        ids = distinct(ends.ids).astype(np.int64)
        bounds = self.mirrors.bounds("vertex")
        _, told = self._to_owners(Note(), [(ids, None)], [bounds])
        return Portion.of(self._p.graph, "vertex", self._mine([ids for ((ids, _),) in told], bounds), 0)

    def _mine(self, parts: list[NDArray[Any]], bounds: NDArray[Any]) -> NDArray[Any]:
        first, end = bounds[self._rank : self._rank + 2].tolist()
        return ascending(parts, first, end - first)

    def _to_owners(
        self, note: Note, given: list[tuple[NDArray[Any], Any]], bounds: list[NDArray[Any]]
    ) -> tuple[list[Note], list[Any]]:
        """Deal elements, and values of them, to their owners: what all have noted, and what is this part's."""
        edges = [each.tolist() for each in bounds]
        cuts = [np.searchsorted(ids, each).tolist() for (ids, _), each in zip(given, bounds, strict=True)]

        def sections(rank: int) -> list[Section]:
            made = []
            for (ids, values), edge, cut in zip(given, edges, cuts, strict=True):
                part = slice(cut[rank], cut[rank + 1])
                made.append(Section(edge[rank], edge[rank + 1] - edge[rank], ids[part], _cut(values, part)))
            return made

        messages = [b"" if rank == self._rank else packed(sections(rank)) for rank in range(self._parts)]
        notes, came = self.rounds.deal(note, messages)
        own = sections(self._rank)
        like = [(each.first, each.length, None if each.values is None else each.values.dtype) for each in own]
        told = [unpacked(message, like) for message in came]
        told[self._rank] = [(each.ids, each.values) for each in own]
        return notes, told


def _sum(notes: list[Note], at: int) -> int:
    return sum(each.counts[at] for each in notes)


def _cut(values: Any, part: slice) -> Any:
    return None if values is None else values[part]
