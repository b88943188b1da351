"""Lowering of scopes, loops and sequences: storage that is fixed, and decisions alike for all workers."""

from __future__ import annotations

from collections.abc import Callable

from frontier.analysis import effects
from frontier.errors import FrontierError
from frontier.loop import Loop, Sequence, wanted
from frontier.lowering.builder import Builder, Functor
from frontier.lowering.layout import Layout
from frontier.lowering.registers import ALL, QUEUE, Register
from frontier.schedule import ResolvedSchedule, Schedule
from frontier.step import Operator, Step, walk

__all__ = ["Program", "lower"]


class Program(Builder):
    """A builder that knows which register holds the result.

    Attributes
    ----------
    given, result : Register
        The frontier that the program starts with, and the one that it gives.
    into : dict
        Functor -> the field or scalar that gets its values.
    """

    given: Register
    result: Register
    made: Register  # of the scope lowered last
    into: dict[Functor, str]


def lower(
    step: Step,
    layout: Layout,
    schedule: Schedule,
    given: str | None,
    make: Callable[[Layout, ResolvedSchedule], Program] = Program,
) -> Program:
    """The text of one step or loop; ``given`` is the kind of frontier that it starts with, if any.

    ``make`` gives an empty program of the backend's.
    """
    chosen = schedule.resolved()
    program = make(layout, chosen)
    functors = [fn for part in walk(step) for fn, _ in part.functors()]
    program.topology = sorted({name for fn in functors for name in effects(fn).topology})
    program.into = dict(pair for part in walk(step) for pair in part.into_fields())
    resets: list[str] = []
    program.blocks[-1].append(resets)
    program.loops.append(resets)
    program.given = program.register()
    program.given.kinds = frozenset({given} if given else ())
    program.given.dense = _dense((step,), chosen)
    program.result = program.given
    program.want = ""
    _lower_step(program, step, program.given, chosen)
    if given is None and step.own and not step.counted:
        program.result = program.made
    program.leave("DONE")
    return program


def _lower_step(b: Program, step: Step, register: Register, outer: ResolvedSchedule) -> None:
    """Lower one step with the schedule that holds for it."""
    schedule = step.schedule.over(outer) if step.schedule is not None else outer
    b.schedule = schedule
    if isinstance(step, (Loop, Sequence)):
        inner = _scope(b, step, schedule) if step.own else register
        if isinstance(step, Loop):
            _lower_loop(b, step, inner, schedule)
        else:
            _lower_steps(b, step.steps, inner, schedule, "" if step.own else b.want)
        if step.own:
            b.made = inner
        return
    if step.counted:
        _traced(b, step, register, b.count_over(step.over))
        return
    if step.over is not None:
        inner = _scope(b, step, schedule)
        b.want = ""
        _traced(b, step, inner)
        inner.kinds = step.kinds_after(inner.kinds, _piles(b))
        b.made = inner
        return
    _traced(b, step, register)
    register.kinds = step.kinds_after(register.kinds, _piles(b))


def _lower_steps(
    b: Program, steps: tuple[Step, ...], register: Register, schedule: ResolvedSchedule, after: str
) -> None:
    for i, step in enumerate(steps):
        b.want = wanted(steps[i + 1 :], after)
        _lower_step(b, step, register, schedule)


def _traced(b: Program, step: Step, register: Register, count: str = "") -> None:
    """A step between two looks at the clock."""
    number = len(b.steps)
    b.steps.append(repr(step))
    before = count or register.count
    b.line(f"before = {before}", "direction = 0", "seen = 0")
    assert isinstance(step, Operator)
    step.lower(b, register)
    after = count or register.count
    b.line(
        "if tracing and w == 0:",
        f"    now = trace_row(int64_at(ring), {{steps}}, rows, {number}, passes, direction, before, {after}, "
        + "seen, now)",
    )


def _piles(b: Builder) -> dict[str, str]:
    return {name: dtype for name, kind, dtype in b.layout.fields if kind == "pile"}


def _dense(steps: tuple[Step, ...], schedule: ResolvedSchedule) -> bool:
    """Whether a pull on the current frontier of some steps may leave a bitmap."""
    for step in steps:
        own = step.schedule.over(schedule) if step.schedule is not None else schedule
        if step.may_pull(own) or (step.inner() and _dense(step.inner(), own)):
            return True
    return False


def _scope(b: Program, step: Step, schedule: ResolvedSchedule) -> Register:
    """A register of its own, holding what ``over`` names (nothing for loops fed by a pile or a record)."""
    register = b.register()
    register.dense = _dense(step.inner() or (step,), schedule)
    over = step.over
    if over is None:
        b.line(f"{register.count} = 0", f"{register.form} = {QUEUE}", f"{register.side} = 0")
    elif over in ("vertices", "edges"):
        kind = "vertex" if over == "vertices" else "edge"
        register.kinds = frozenset({kind})
        b.line(
            f"{register.form} = {ALL}",
            f"{register.kind} = {int(kind == 'edge')}",
            f"{register.count} = {b.capacity(kind)}",
            f"{register.edges} = {b.capacity('edge')}",
        )
    elif over in _piles(b):
        kind = b.pile(str(over))
        register.kinds = frozenset({kind})
        b.copy(register, kind, f"pile_{over}", f"held_{over}")
    else:
        register.few = not step.uses_queue
        _single(b, register, str(over))
    return register


def _single(b: Program, register: Register, scalar: str) -> None:
    """The vertex that a scalar holds."""
    register.kinds = frozenset({"vertex"})
    b.unless(f"s_{scalar} < 0 or s_{scalar} >= {b.capacity('vertex')}", found := b.label())
    names = [name for name, kind, _ in b.layout.fields if kind == "scalar"]
    b.leave("BAD_VERTEX", str(names.index(scalar)))
    b.place(found)
    b.single(register, f"s_{scalar}")


# ---- loops -------------------------------------------------------------------------------------------------


def _lower_loop(b: Program, loop: Loop, register: Register, schedule: ResolvedSchedule) -> None:
    after = "" if loop.own else b.want
    resets: list[str] = []
    b.blocks[-1].append(resets)
    b.loops.append(resets)
    begun = b.variable("begun")
    left = _begin_feed(b, loop, register)
    if loop.record is not None:
        kind = _one_kind(loop, register, f"record={loop.record!r}")
        b.records[loop.record] = kind
        _declare_record(b, loop.record)
        b.line(f"recorded_{loop.record} = 0", f"filled_{loop.record} = 0")
    b.line(f"{begun} = 0")
    if loop.take is None and loop.replay is None and not loop.unfed:
        register.kinds = loop.kinds_within(register.kinds, _piles(b))
    head, end = b.label(), b.label()
    b.place(head)
    _test_feed(b, loop, register, left, end)
    _boundary(b, loop, begun)
    _feed(b, loop, register, left)
    if loop.record is not None:
        if _makes_one(loop) and register.kinds == {"vertex"}:
            register.record = loop.record
        _keep(b, loop.record, register)
    fed = register.kinds
    _lower_steps(b, loop.steps, register, schedule, wanted(loop.steps, after) or after)
    register.record = ""
    if loop.take is None and loop.replay is None and not loop.unfed:
        register.kinds = fed
    if loop.until is not None:
        b.line(f"if truth({b.decided(loop.until)}):", f"    pc = {end}", "    continue")
    b.goto(head)
    b.blocks.append([f"        if pc == {end}:"])
    b.loops.pop()


def _begin_feed(b: Program, loop: Loop, register: Register) -> str:
    """Before the first pass: the variable that says how many are left, if one does."""
    if loop.times is not None:
        left = b.variable("left")
        b.line(f"{left} = " + (f"s_{loop.times}" if isinstance(loop.times, str) else str(loop.times)))
        return left
    if loop.replay is not None:
        if loop.replay not in b.records:
            raise FrontierError(f"replay={loop.replay!r}: no loop before this one records it")
        left = b.variable("left")
        register.kinds = frozenset({b.records[loop.replay]})
        b.line(f"{left} = recorded_{loop.replay}")
        return left
    if loop.take is not None:
        register.kinds = frozenset({b.pile(loop.take)})
    elif not (register.kinds or loop.unfed):
        raise FrontierError(loop.lacks())
    return ""


def _test_feed(b: Program, loop: Loop, register: Register, left: str, end: int) -> None:
    if left:
        b.unless(f"{left} > 0", end)
    elif loop.take is not None:
        b.unless(f"held_{loop.take} > 0", end)
    elif not loop.unfed:
        b.unless(f"{register.count} > 0", end)


def _boundary(b: Program, loop: Loop, begun: str) -> None:
    """Where a run may stop: nothing of this pass has happened yet, and the block can be entered again."""
    if loop.max_steps is not None:
        b.line(
            f"if {begun} >= {loop.max_steps}:",
            "    code = UNCONVERGED",
            f"    detail = {loop.max_steps}",
            "    break",
        )
    b.line("if stop != 0 or budget == 0:", "    code = PAUSED", "    break")
    b.line("budget -= 1", "passes += 1", f"{begun} += 1")


def _feed(b: Program, loop: Loop, register: Register, left: str) -> None:
    if left:
        b.line(f"{left} -= 1")
    if loop.take is not None:
        b.take(loop.take, register)
    if loop.replay is not None:
        kind = b.records[loop.replay]
        element = b.layout.element(kind)
        marks = f"int64_at(marks_{loop.replay})"
        b.line(
            f"{register.queue} = record_{loop.replay} + {marks}[{left}] * {8 if element.endswith('64') else 4}",
            f"{register.count} = {marks}[{left} + 1] - {marks}[{left}]",
            f"{register.edges} = 0",
            f"{register.form} = {QUEUE}",
            f"{register.kind} = {int(kind == 'edge')}",
        )
        if loop.count is not None:
            b.line(b.assign(loop.count, f"{left} + 1"))
    elif loop.count is not None:
        b.line(b.assign(loop.count, f"s_{loop.count} + 1"))


# ---- records -----------------------------------------------------------------------------------------------


def _one_kind(loop: Loop, register: Register, what: str) -> str:
    if len(register.kinds) != 1:
        raise FrontierError(f"{what}: passes of {loop!r} do not all start with frontiers of one kind")
    return next(iter(register.kinds))


def _declare_record(b: Program, name: str) -> None:
    """Ids one pass after another, and where each pass begins."""
    kind = b.records[name]
    b.input(f"record_{name}", f"{kind}_queue")
    b.input(f"marks_{name}", "marks")
    b.keep(f"recorded_{name}")
    b.keep(f"filled_{name}")


def _makes_one(loop: Loop) -> bool:
    """Whether a pass makes one frontier, from the one that it starts with: then it is written where it is kept."""
    changing = [step for step in loop.steps if not (step.own or step.passes_through)]
    plain = loop.take is None and loop.times is None and all(not step.inner() for step in loop.steps)
    return plain and len(changing) == 1 and changing[0].fills_record


def _keep(b: Program, name: str, register: Register) -> None:
    """Add the frontier to the record, unless it has been written there."""
    kind = b.records[name]
    element = b.layout.element(kind)
    # Asked first: a bitmap is made a queue behind what the record holds.
    b.line(f"if filled_{name} + {register.count} > {b.capacity(kind)}:", "    code = RECORD_FULL", "    break")
    b.sparse(register)
    marks = f"int64_at(marks_{name})"
    b.line(
        "if w == 0:",
        f"    {marks}[recorded_{name}] = filled_{name}",
        f"    {marks}[recorded_{name} + 1] = filled_{name} + {register.count}",
    )
    place = f"record_{name} + filled_{name} * {8 if element.endswith('64') else 4}"
    with b.when(f"{register.queue} != {place} or {register.form} == {ALL}"):
        b.phase(
            f"copy_queue(w, W, {element}_at({register.queue}), {register.form} == {ALL}, "
            f"{element}_at(record_{name}), filled_{name}, {register.count})"
        )
    b.line(f"recorded_{name} += 1", f"filled_{name} += {register.count}")

