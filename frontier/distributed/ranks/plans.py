"""What is known of the steps of a program before they run: what each is dealt, and who is told of which fields."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from frontier.distributed.ranks.access import Access, at_own, touched
from frontier.distributed.ranks.changes import stays
from frontier.distributed.ranks.grid import ALL, COLUMN, ROW
from frontier.distributed.ranks.grid_steps import runs_in_blocks
from frontier.distributed.ranks.write_set import written
from frontier.program.step import walk
from frontier.program.swapping import swaps_of, with_partners

if TYPE_CHECKING:
    from collections.abc import Collection

    from frontier.distributed.merge import Written
    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["Plan", "Plans"]


@dataclass(frozen=True)
class Plan:
    """What is known of a step before it runs.

    Attributes
    ----------
    sent : list of Written
        Fields that it writes at elements of others.
    own : list of Written
        Fields that it writes at the part's own elements alone.
    others : dict of str to frozenset of str
        Fields that it touches at elements of others, for each audience.
    finds : bool
        Whether the next frontier may have elements of others.
    folds : dict of str to Reduction
        Fields that get reductions over lists, of which each part has reduced some edges.
    in_blocks : bool
        Whether it runs on the blocks of a grid.
    """

    sent: list[Written]
    own: list[Written]
    others: dict[str, frozenset[str]]
    finds: bool
    folds: dict[str, Any]
    in_blocks: bool

    @property
    def sends(self) -> bool:
        """Whether anything is sent to owners."""
        return self.finds or bool(self.sent or self.folds)


class Plans:
    """The plans of a program's steps.

    Parameters
    ----------
    program : Step
    p : Problem
    turning : collection of Step
        Those that may pull.
    grid : bool
        Whether the parts lie in a grid.

    Attributes
    ----------
    ends : Ends
    mirrored : dict of str to list of str
        For each audience the fields of which it is told what has changed, after each step.
    """

    def __init__(self, program: Step, p: Problem, turning: Collection[Step], grid: bool) -> None:
        self._program, self._p, self._grid = program, p, grid
        self._in_blocks: dict[Step, bool] = {}
        self.access = Access(program, p, turning, self.in_blocks)
        self.mirrored = _by_audience(self.access.needed)
        self._made: dict[Step, Plan] = {}

    def elsewhere(self) -> frozenset[str]:
        """The arrays that the program may touch at elements of others, all if that is not known."""
        p = self._p
        found = {name for name, audiences in self.access.needed.items() if audiences}
        for step in walk(self._program):
            order = getattr(step, "order", None)
            if order is not None and isinstance(order.key, str):
                found.add(order.key)
            if step.divides and not step.counted and not self._grid:
                found |= {each.name for each in self.of(step).sent}
            else:
                found |= touched(step, p)
        return frozenset(with_partners(found, swaps_of(self._program)) & p.arrays.keys())

    def in_blocks(self, step: Step) -> bool:
        """Whether a step runs on the blocks of a grid."""
        if not self._grid:
            return False
        if step not in self._in_blocks:
            self._in_blocks[step] = runs_in_blocks(step, self._p)
        return self._in_blocks[step]

    def of(self, step: Step) -> Plan:
        """The plan of a step."""
        if step not in self._made:  # once in a run: it takes longer than an exchange
            self._made[step] = self._of(step)
        return self._made[step]

    def _of(self, step: Step) -> Plan:
        p, several = self._p, self.in_blocks(step)
        folds = dict(step.folds()) if several else {}
        fields = [each for each in written(step, p, several) if each.name not in folds]
        own = [] if several else [each for each in fields if self._is_own(step, each)]
        sent = [self._dealt(step, each) for each in fields if each not in own]
        finds = bool(step.far) and not step.passes_through
        return Plan(sent, own, self.access.of(step), finds, folds, several)

    def _dealt(self, step: Step, each: Written) -> Written:
        added = self.access.adds(step, each.name)
        return replace(each, added=added, combine="sum" if added else each.combine)

    def _is_own(self, step: Step, each: Written) -> bool:
        return at_own(step, self._p.fields[each.name].kind, each.indices) or stays(self._p, each.name)


def _by_audience(needed: dict[str, frozenset[str]]) -> dict[str, list[str]]:
    """Fields by who is told of them; where all are, no row or column needs to be."""
    made: dict[str, list[str]] = {ALL: [], ROW: [], COLUMN: []}
    for name, audiences in needed.items():
        for audience in [ALL] if ALL in audiences else audiences:
            made[audience].append(name)
    return {audience: names for audience, names in made.items() if names}
