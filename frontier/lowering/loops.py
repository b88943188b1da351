"""Lowering of programs, loops and sequences: their scopes, and what begins and ends a pass."""

from __future__ import annotations

from collections.abc import Callable

from frontier.errors import FrontierError
from frontier.lowering.builder import Builder
from frontier.lowering.frontier_state import QUEUE, FrontierState, form
from frontier.lowering.inputs import Buffer
from frontier.lowering.ir import (
    Assign,
    Branch,
    Call,
    Const,
    Expr,
    Item,
    Node,
    Region,
    Var,
    both,
    differ,
    either,
    equal,
    expression,
)
from frontier.lowering.variables import (
    BEFORE,
    BROUGHT,
    BUDGET,
    DIRECTION,
    NOW,
    PASSES,
    RING,
    ROWS,
    SEEN,
    STOP,
    TRACING,
    WORKER,
    pointer,
)
from frontier.program.effects import effects
from frontier.program.layout import Layout
from frontier.program.loop import Loop, Sequence, wanted
from frontier.program.schedule import ResolvedSchedule, Schedule
from frontier.program.step import Operator, Step, walk

__all__ = ["lower"]


def lower(
    step: Step,
    layout: Layout,
    schedule: Schedule,
    given: str | None,
    make: Callable[[Layout, ResolvedSchedule], Builder] = Builder,
) -> Builder:
    """The program of one step or loop; ``given`` is the kind of frontier that it starts with, if any.

    ``make`` gives an empty program of the backend's.
    """
    chosen = schedule.resolved()
    program = make(layout, chosen)
    functors = [fn for part in walk(step) for fn, _ in part.functors()]
    program.topology = sorted({name for fn in functors for name in effects(fn).topology})
    program.needs_in = "in_offsets" in program.topology
    program.whole = step
    program.into = dict(pair for part in walk(step) for pair in part.into_fields())
    _begin_loop(program)
    program.given = program.frontiers.new()
    program.given.kinds = frozenset({given} if given else ())
    program.given.dense = _dense((step,), chosen)
    program.result = program.given
    program.next_scan = ""
    _lower_step(program, step, program.given, chosen)
    if given is None and step.own and not step.counted:
        program.result = program.made
    program.leave("DONE")
    program.number_of_steps.value = len(program.steps)
    return program


def _begin_loop(b: Builder) -> None:
    """A place for what is to run where a loop, or the program, begins; what that is turns out later."""
    begin = Region("")
    b.add(begin)
    b.loops.append(begin.body)


def _lower_step(b: Builder, step: Step, current: FrontierState, outer: ResolvedSchedule) -> None:
    """Lower one step with the schedule that holds for it."""
    schedule = step.schedule.over(outer) if step.schedule is not None else outer
    b.schedule = schedule
    if isinstance(step, (Loop, Sequence)):
        inner = _scope(b, step, schedule) if step.own else current
        if isinstance(step, Loop):
            _lower_loop(b, step, inner, schedule)
        else:
            _lower_steps(b, step.steps, inner, schedule, "" if step.own else b.next_scan)
        if step.own:
            b.made = inner
        return
    if step.counted:
        _traced(b, step, current)
        return
    if step.over is not None:
        inner = _scope(b, step, schedule)
        b.next_scan = ""
        _traced(b, step, inner)
        inner.kinds = step.kinds_after(inner.kinds, _piles(b))
        b.made = inner
        return
    _traced(b, step, current)
    current.kinds = step.kinds_after(current.kinds, _piles(b))


def _lower_steps(
    b: Builder, steps: tuple[Step, ...], current: FrontierState, schedule: ResolvedSchedule, after: str
) -> None:
    for i, step in enumerate(steps):
        b.next_scan = wanted(steps[i + 1 :], after)
        _lower_step(b, step, current, schedule)


def _traced(b: Builder, step: Step, current: FrontierState) -> None:
    """A step between two looks at the clock."""
    number = len(b.steps)
    b.steps.append(repr(step))

    def size() -> Expr:
        return expression(b.count_over(step.over)) if step.counted else current.count

    region = Region(repr(step))
    b.add(region)
    with b.inside(region.body):
        with b.locally():
            b.set(BEFORE, size())
            b.set(DIRECTION, 0)
            b.set(SEEN, 0)
            b.set(BROUGHT, 0)
        assert isinstance(step, Operator)
        if step.chooses_direction:  # it adds the phases of each direction as its work
            step.lower(b, current)
        else:
            with b.locally(step, current):
                step.lower(b, current)
        row = Call(
            "trace_row", pointer("int64", RING), b.number_of_steps, ROWS, number, PASSES, DIRECTION, BEFORE, size(),
            SEEN, BROUGHT, NOW,
        )  # fmt: skip
        with b.locally():
            b.add(Branch(both(TRACING, equal(WORKER, 0)), [Assign(NOW, row)]))


def _piles(b: Builder) -> dict[str, str]:
    return {name: dtype for name, kind, dtype in b.layout.fields if kind == "pile"}


def _dense(steps: tuple[Step, ...], schedule: ResolvedSchedule) -> bool:
    """Whether a pull on the current frontier of some steps may leave a bitmap."""
    for step in steps:
        own = step.schedule.over(schedule) if step.schedule is not None else schedule
        if step.may_pull(own) or (step.inner() and _dense(step.inner(), own)):
            return True
    return False


def _scope(b: Builder, step: Step, schedule: ResolvedSchedule) -> FrontierState:
    """A frontier of its own, holding what ``over`` names (nothing for loops fed by a pile or a record)."""
    current = b.frontiers.new()
    current.dense = _dense(step.inner() or (step,), schedule)
    over = step.over
    if over is None:
        b.set(current.count, 0)
        b.set(current.form, form(QUEUE))
        b.set(current.side, 0)
    elif over in ("vertices", "edges"):
        kind = "vertex" if over == "vertices" else "edge"
        current.kinds = frozenset({kind})
        current.whole = not step.inner() or all(map(_keeps_frontier, step.inner()))
        b.frontiers.make_everything(current, kind)
    elif step.row_field:
        kind = b.layout.kind(step.row_field)
        current.kinds = frozenset({kind})
        b.frontiers.make_everything(current, kind)
    elif (name := str(over)) in _piles(b):
        kind = b.pile(name)
        current.kinds = frozenset({kind})
        if isinstance(step, Operator) and step is not b.whole and name not in step.fills():
            b.frontiers.borrow(current, kind, name)
            return current
        b.frontiers.copy(current, kind, name)
    else:
        current.few = step.once_each  # what begins with one vertex does not grow
        _single(b, current, name)
    return current


def _keeps_frontier(step: Step) -> bool:
    """Whether a step leaves the current frontier as it is."""
    if step.own:
        return True
    if isinstance(step, Loop) and not step.unfed and (step.take is not None or step.replay is not None):
        return False
    return all(map(_keeps_frontier, step.inner())) if step.inner() else step.passes_through


def _single(b: Builder, current: FrontierState, scalar: str) -> None:
    """The vertex that a scalar holds."""
    current.kinds = frozenset({"vertex"})
    vertex = b.scalars[scalar]
    with b.when(either(vertex < 0, vertex >= b.capacity("vertex"))):
        b.leave("BAD_VERTEX", list(b.scalars).index(scalar))
    b.frontiers.single(current, vertex)


# ---- loops -------------------------------------------------------------------------------------------------


def _lower_loop(b: Builder, loop: Loop, current: FrontierState, schedule: ResolvedSchedule) -> None:
    after = "" if loop.own else b.next_scan
    _begin_loop(b)
    begun = b.variable("begun", "passes")
    left = _begin_feed(b, loop, current)
    if loop.record is not None:
        b.records[loop.record] = _one_kind(loop, current, f"record={loop.record!r}")
        b.set(_recorded(b, loop.record), 0)
        b.set(b.frontiers.filled(loop.record), 0)
    b.set(begun, 0)
    if loop.take is None and loop.replay is None and not loop.unfed:
        current.kinds = loop.kinds_within(current.kinds, _piles(b))
    with b.loop(repr(loop), begun):
        _test_feed(b, loop, current, left)
        _boundary(b, loop, begun)
        _feed(b, loop, current, left)
        if loop.record is not None:
            if _makes_one(loop) and current.kinds == {"vertex"}:
                current.record = loop.record
            with b.locally():
                _keep(b, loop.record, current)
        fed = current.kinds
        _lower_steps(b, loop.steps, current, schedule, wanted(loop.steps, after) or after)
        current.record = ""
        if loop.take is None and loop.replay is None and not loop.unfed:
            current.kinds = fed
        if loop.until is not None:
            b.leave_loop(when=Call("truth", b.decided(loop.until)))
    b.loops.pop()


def _begin_feed(b: Builder, loop: Loop, current: FrontierState) -> Var | None:
    """Before the first pass: the variable that says how many are left, if one does."""
    if loop.times is not None:
        left = b.variable("left", "passes_left")
        b.set(left, b.scalars[loop.times] if isinstance(loop.times, str) else b.parameter(loop.times))
        return left
    if loop.replay is not None:
        if loop.replay not in b.records:
            raise FrontierError(f"replay={loop.replay!r}: no loop before this one records it")
        left = b.variable("left", "passes_left")
        current.kinds = frozenset({b.records[loop.replay]})
        b.set(left, _recorded(b, loop.replay))
        return left
    if loop.take is not None:
        current.kinds = frozenset({b.pile(loop.take)})
    elif not (current.kinds or loop.unfed):
        raise FrontierError(loop.lacks())
    return None


def _test_feed(b: Builder, loop: Loop, current: FrontierState, left: Var | None) -> None:
    if left is not None:
        b.leave_loop(unless=left > 0)
    elif loop.take is not None:
        b.leave_loop(unless=b.state[f"held:{loop.take}"] > 0)
    elif not loop.unfed:
        b.leave_loop(unless=current.count > 0)


def _boundary(b: Builder, loop: Loop, begun: Var) -> None:
    """Where a run may stop: nothing of this pass has happened yet, and the block can be entered again."""
    if loop.max_steps is not None:
        with b.when(begun >= loop.max_steps):
            b.leave("UNCONVERGED", loop.max_steps)
    with b.when(either(differ(STOP, 0), equal(BUDGET, 0))):
        b.leave("PAUSED")
    b.set(BUDGET, BUDGET - 1)
    b.set(PASSES, PASSES + 1)
    b.set(begun, begun + 1)


def _feed(b: Builder, loop: Loop, current: FrontierState, left: Var | None) -> None:
    if left is not None:
        b.set(left, left - 1)
    if loop.take is not None:
        b.frontiers.take(loop.take, current)
    if loop.replay is not None:
        assert left is not None
        kind, marks = b.records[loop.replay], _marks(b, loop.replay)
        size = Item(marks, left + 1) - Item(marks, left)
        b.frontiers.replay(current, kind, b.frontiers.recorded(loop.replay, Item(marks, left)), size)
        if loop.count is not None:
            b.add(b.assign(loop.count, left + 1))
    elif loop.count is not None:
        b.add(b.assign(loop.count, b.scalars[loop.count] + 1))


# ---- records -----------------------------------------------------------------------------------------------


def _one_kind(loop: Loop, current: FrontierState, what: str) -> str:
    if len(current.kinds) != 1:
        raise FrontierError(f"{what}: passes of {loop!r} do not all start with frontiers of one kind")
    return next(iter(current.kinds))


def _marks(b: Builder, name: str) -> Expr:
    """Where each pass of a record begins."""
    return pointer("int64", b.input(f"marks:{name}", Buffer("marks"), f"record {name}"))


def _recorded(b: Builder, name: str) -> Var:
    """Number of passes in a record."""
    return b.keep(f"recorded:{name}", f"{name}.passes")


def _makes_one(loop: Loop) -> bool:
    """Whether a pass makes one frontier, from the one that it starts with: then it is written where it is kept."""
    changing = [step for step in loop.steps if not (step.own or step.passes_through)]
    plain = loop.take is None and loop.times is None and all(not step.inner() for step in loop.steps)
    return plain and len(changing) == 1 and changing[0].fills_record


def _keep(b: Builder, name: str, current: FrontierState) -> None:
    """Add the frontier to the record, unless it has been written there."""
    kind = b.records[name]
    element, filled = b.layout.element(kind), b.frontiers.filled(name)
    passes, marks = _recorded(b, name), _marks(b, name)
    # Converted first: a bitmap becomes a queue behind the content of the record.
    with b.when(filled + current.count > b.capacity(kind)):
        b.leave("RECORD_FULL")
    b.frontiers.sparse(current)
    first: list[Node] = [Assign(Item(marks, passes), filled), Assign(Item(marks, passes + 1), filled + current.count)]
    b.add(Branch(equal(WORKER, 0), first))
    with b.when(either(differ(current.queue, b.frontiers.recorded(name, filled)), b.frontiers.everything(current))):
        b.phase(
            b.divided(
                "copy_queue", pointer(element, current.queue), b.frontiers.everything(current),
                pointer(element, b.frontiers.recorded(name, Const(0))), filled, current.count,
            ),
            title=f"add the frontier to record {name}",
            work=current.count,
        )  # fmt: skip
    b.set(passes, passes + 1)
    b.set(filled, filled + current.count)
