"""When an advance turns from push to pull, and back: the rules among which ``Schedule(switch=...)`` chooses.

A rule adds the decision of every pass to the loop function, made by all workers alike from numbers that all know. It
gives the text of a condition that holds where the pass pulls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from frontier.lowering.registers import ALL, QUEUE, SMALL
from frontier.operators.kernels import kernels
from frontier.operators.phases import indented
from frontier.schedule import ResolvedSchedule

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.registers import Register
    from frontier.operators.advance import Advance

__all__ = ["RULES", "at_loop_start", "hub_inputs", "hub_list"]


def at_loop_start(b: Builder, *lines: str) -> None:
    """Lines that run where the innermost loop begins."""
    b.loops[-1].extend("            " + line for line in lines)


def beamer(step: Advance, b: Builder, source: Register) -> str:
    """Beamer's rule, by the real number of the frontier's edges.

    Pull while the frontier has more than 1/alpha of the edges not yet walked; push again when it
    shrinks below 1/beta of the vertices. Three additions, all measured: no pull where a sweep over all
    vertices costs more than the push, no push where it would walk more edges than a pull does, and with
    the usual constants no pull on small graphs.
    """
    pulling, unexplored, last = b.variable("pulling"), b.variable("unexplored"), b.variable("last")
    n, m = b.capacity("vertex"), b.capacity("edge")
    at_loop_start(b, f"{pulling} = 0", f"{unexplored} = {m}", f"{last} = 0")
    with b.when(f"{source.form} == {QUEUE}"):  # without a scan its edges are not known
        b.scanned(source, step.edges)
    alpha, beta = b.schedule.alpha, b.schedule.beta
    count, edges = source.count, source.edges
    large = f"{m} >= {SMALL} and " if (alpha, beta) == (ResolvedSchedule.alpha, ResolvedSchedule.beta) else ""
    b.line(
        f"if {pulling} != 0:",
        f"    if {count} < {last} and {count} * {beta!r} < {n} and {edges} < ({n} >> 3) + {unexplored}:",
        f"        {pulling} = 0",
        f"elif {large}{edges} * {alpha!r} > {unexplored} and {edges} > {n} >> 3:",
        f"    {pulling} = 1",
        f"{last} = {count}",
        f"{unexplored} -= {edges}",
        f"if {unexplored} <= 0:",  # vertices may be visited again: a new sweep begins
        f"    {unexplored} = {m}" if step.unique != "claimed" else f"    {unexplored} = 0",
    )
    return f"{pulling} != 0"


def gunrock(step: Advance, b: Builder, source: Register) -> str:
    """Gunrock's rule, by numbers of vertices: two estimates, of the edges that a push and a pull would walk.

    Pull if the push's is more than ``do_a`` times the pull's, and while it is more than ``do_b`` times that; then push
    for good.
    """
    state, visited = b.variable("turn"), b.variable("visited")  # state: 0 not yet, 1 pull, 2 push for good
    n, m = b.capacity("vertex"), b.capacity("edge")
    at_loop_start(b, f"{state} = 0", f"{visited} = 0")
    push, pull = b.unique("push"), b.unique("pull")
    schedule = b.schedule
    b.line(
        f"{visited} = min({visited} + {source.count}, {n})",
        # Both times n times the visited, so that nothing is divided by zero.
        f"{push} = 1.0 * {source.count} * {m} * {visited}",
        f"{pull} = 1.0 * ({n} - {visited}) * {n} * {n}",
        f"if {state} == 0 and {push} > {pull} * {schedule.do_a!r}:",
        f"    {state} = 1",
        f"elif {state} == 1 and not {push} > {pull} * {schedule.do_b!r}:",
        f"    {state} = 2",
    )
    return f"{state} == 1"


def hubs(step: Advance, b: Builder, source: Register) -> str:
    """Enterprise's rule: pull from when more than ``gamma`` of all hubs are in the frontier; never back."""
    pulling = b.variable("pulling")
    at_loop_start(b, f"{pulling} = 0")
    least, every = hub_inputs(step, b)
    enough = f"{b.schedule.gamma!r} * {every}"
    # The hubs are counted only where the frontier has vertices enough.
    with b.when(f"{pulling} == 0 and {every} > 0 and {source.count} > {enough}"):
        b.sparse(source)
        parameters = {
            "everything": f"{source.form} == {ALL}",
            "queue": f"{b.layout.ids}_at({source.queue})",
            "total": source.count,
            "offsets": b.lists(step.edges)[0],
            "least": least,
        }
        found = b.counter("EXAMINED")
        b.phase(
            b.function("count_hubs", parameters, _count(b)),
            after=(f"if {found} > {enough}:", f"    {pulling} = 1"),
        )
    return f"{pulling} != 0"


def hub_inputs(step: Advance, b: Builder) -> tuple[str, str]:
    """Texts for the degree that hubs exceed, and for how many vertices do."""
    asked = b.schedule.hub_degree
    if asked != "auto":
        return str(asked), b.input(f"hubs_{step.edges}_{asked}", f"hubs {step.edges} {asked}")
    return (
        b.input(f"hub_degree_{step.edges}", f"hub_degree {step.edges}"),
        b.input(f"hubs_{step.edges}", f"hubs {step.edges}"),
    )


def hub_list(step: Advance, b: Builder) -> str:
    """Text for the hubs' ids."""
    asked = b.schedule.hub_degree
    name, role = f"hub_ids_{step.edges}", f"hub_ids {step.edges}"
    if asked != "auto":
        name, role = f"{name}_{asked}", f"{role} {asked}"
    return b.array(name, role, b.layout.ids)


def _count(b: Builder) -> list[str]:
    """Lines that count the frontier's vertices of a degree above the least."""
    return [
        "found = np.int64(0)",
        "i = w",
        "while i < total:",
        *indented([
            kernels(b, "elementwise").FROM_QUEUE,
            "if np.int64(offsets[x + 1]) - np.int64(offsets[x]) > least:",
            "    found += 1",
            "i += W",
        ]),
        "add_up(C, slot, EXAMINED, found)" if b.backend == "cuda" else "fetch_add(C, slot + EXAMINED, found)",
    ]  # fmt: skip


#: Name in a schedule -> the rule.
RULES: dict[str, Callable[[Advance, Builder, Register], str]] = {"beamer": beamer, "gunrock": gunrock, "hubs": hubs}
