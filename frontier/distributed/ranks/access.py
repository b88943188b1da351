"""Where the functors of a step touch fields: at elements that the part owns, or at those of others too.

A part has the current values of its own elements. Of others it has copies (mirrors), which must be current only where a
functor touches them.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from frontier.distributed.ranks.grid import ALL, AT_ENDS, COLUMN, ROW
from frontier.distributed.ranks.pulls import standing_at_far_ends
from frontier.distributed.ranks.write_set import companions
from frontier.program.effects import effects
from frontier.program.step import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["Access", "at_own", "changed", "reached", "touched"]


def at_own(step: Step, kind: str, indices: Iterable[str]) -> bool:
    """Whether a step's indices into a field of some kind are elements that the part owns which runs the step."""
    return set(indices) <= _owned(step, kind)


def _owned(step: Step, kind: str) -> set[str]:
    if kind == "vertex":
        return {step.near, "v"} if step.far else {step.near, "v", "src"} if step.near == "v" else {step.near}
    if kind == "edge":  # an edge belongs to the owner of its source
        return {"edge", "uv", "uw"} if step.near != "dst" else set()
    return set()


def reached(step: Step, p: Problem, turns: bool) -> dict[str, set[str]]:
    """Fields that a divided step touches at elements of others, and by which edges it gets there.

    These are its ``out``-edges, its ``in``-edges, or ``any``. ``turns`` is whether it may pull.
    """
    found: dict[str, set[str]] = {}
    ends = {"v", "w"} if step.near == "u" else {step.far or "dst"}
    for fn, _ in step.functors():
        made = effects(fn)
        if not made.exact:
            return {name: {"any"} for name in p.arrays}
        for touches in (made.reads, made.writes):
            for name in touches.keys() & p.arrays.keys():
                kind = p.fields[name].kind
                others = touches[name] - _owned(step, kind)
                edges = set()
                if others:
                    edges = {"in" if step.far == "src" else "out"} if others <= ends else {"any"}
                if turns and not at_own(standing_at_far_ends(step), kind, touches[name]):
                    edges.add("in")
                if edges:
                    found[name] = found.get(name, set()) | edges
    return found


class Access:
    """Where the steps of a program touch arrays, and who must therefore be told of what owners have changed.

    Parameters
    ----------
    program : Step
    p : Problem
    turning : collection of Step
        Those that may pull, when they stand at the other ends of edges.
    in_blocks : function of a step
        Whether it runs in a grid.

    Attributes
    ----------
    needed : dict of str to frozenset of str
        For each array the audiences that are told of it after every step: those that see it, or change it otherwise
        than by adding to it. Of an array of which others are not told, they add to copies of their own.
    """

    def __init__(
        self, program: Step, p: Problem, turning: Collection[Step], in_blocks: Callable[[Step], bool]
    ) -> None:
        self._p, self._in_blocks = p, in_blocks
        self._addable = _addable(p)
        self._seen: dict[str, set[str]] = defaultdict(set)
        self.needed: dict[str, frozenset[str]] = {}
        seen, added = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        for step in walk(program):
            if not step.divides or step.counted:
                continue
            self._find(step, seen, added)
            if step in turning and not in_blocks(step):
                self._find(standing_at_far_ends(step), self._seen, defaultdict(set))
        for name, audiences in seen.items():
            self._seen[name] |= audiences
        for name in p.arrays:
            more = set() if _apart(added[name], self._seen[name]) else added[name]
            self.needed[name] = frozenset(seen[name] | more)

    def of(self, step: Step) -> dict[str, frozenset[str]]:
        """For each audience the arrays of which it must be told before a step."""
        seen, added = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        self._find(step, seen, added)
        for name, audiences in added.items():
            if not _apart(audiences, self._seen[name]):
                seen[name] |= audiences
        return {
            audience: frozenset(name for name, found in seen.items() if audience in found)
            for audience in (ALL, ROW, COLUMN)
        }  # fmt: skip

    def adds(self, step: Step, name: str) -> frozenset[str]:
        """The audiences at whose elements a step adds to an array of which it is not told; none if it is."""
        added = defaultdict[str, set[str]](set)
        self._find(step, defaultdict(set), added)
        return frozenset(added[name] if _apart(added[name], self._seen[name]) else ())

    def _find(self, step: Step, seen: dict[str, set[str]], added: dict[str, set[str]]) -> None:
        """Whom it concerns what a step sees and adds to: everybody if that is not known."""
        p = self._p
        for fn, _ in step.functors():
            made = effects(fn)
            if not made.exact:
                for name in p.arrays:
                    seen[name].add(ALL)
                continue
            for name in made.fields & p.arrays.keys():
                adds = made.atomics.get(name) == {"add"} and name not in {**made.answers, **made.stored}
                seen[name] |= self._audiences(step, name, made.reads.get(name, ()))
                there = self._audiences(step, name, made.writes.get(name, ()))
                (added if adds and name in self._addable else seen)[name] |= there
                for other in companions(p, name, name in made.carried):
                    seen[other] |= there

    def _audiences(self, step: Step, name: str, indices: Iterable[str]) -> set[str]:
        """The parts to which elements at some indices may belong; none if they are the part's own."""
        kind = self._p.fields[name].kind
        if self._in_blocks(step):
            known = {"vertex": ("src", "dst"), "edge": ("edge",)}.get(kind, ())
            return {AT_ENDS[index] if index in known else ALL for index in indices}
        return set() if at_own(step, kind, indices) else {ALL}


def _addable(p: Problem) -> frozenset[str]:
    """Names of the arrays to which parts may add, and owners then what these have added."""
    names = {
        name for name, array in p.arrays.items()
        if array.dtype.kind != "b" and p.fields[name].combine in (None, "sum") and p.fields[name].with_ is None
    }  # fmt: skip
    return frozenset(names - {field.with_ for field in p.fields.values() if field.with_ is not None})


def _apart(some: set[str], others: set[str]) -> bool:
    """Whether two sets of audiences have no part in common."""
    return not some or not others or not (ALL in some | others or some & others)


def touched(step: Step, p: Problem) -> frozenset[str]:
    """Names of the arrays that a step touches anywhere."""
    found: set[str] = {name for _, name in step.into_fields()}
    for fn, _ in step.functors():
        made = effects(fn)
        if not made.exact:
            return frozenset(p.arrays)
        found |= made.fields
    return frozenset(found & p.arrays.keys())


def changed(step: Step, p: Problem) -> list[str]:
    """Names of the arrays that a step may change anywhere."""
    made = [effects(fn) for fn, _ in step.functors()]
    if not all(each.writes_known for each in made):
        return list(p.arrays)
    names = {name for each in made for name in each.writes} | {name for _, name in step.into_fields()}
    names |= {pair.other for pair in p._pairs if pair.key in names}
    return [name for name in p.arrays if name in names]
