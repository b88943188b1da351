"""The reads and writes of a phase: fields by the effects of its functors, graph and frontiers by its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from frontier.lowering.builder import Builder
from frontier.lowering.inputs import Buffer, GraphArray, Input
from frontier.lowering.ir import Assign, Call, Counter, Expr, Phase, Together, Var, walk
from frontier.lowering.variables import SLOT
from frontier.lowering.words import Words
from frontier.program.effects import effects
from frontier.program.order import display_name

__all__ = ["called", "read_by", "touched"]

#: What of the graph is read, by a call's arrays: the first whose arrays are all there.
_GRAPH = (
    (("offsets", "targets"), "out-edges"),
    (("in_offsets", "in_sources"), "in-edges"),
    (("offsets",), "out-degrees"),
    (("in_offsets",), "in-degrees"),
    (("targets",), "targets of edges"),
    (("sources",), "sources of edges"),
    (("weights",), "weights"),
    (("in_edges",), "numbers of the in-edges"),
)


def called(fn: Callable[..., Any]) -> str:
    """A functor as its first line has it."""
    code = fn.__code__
    return f"{fn.__name__}({', '.join(code.co_varnames[: code.co_argcount])})"


def read_by(fn: Callable[..., Any]) -> list[str]:
    """What a functor reads."""
    return _places(effects(fn).reads)


def touched(program: Builder, words: Words, phase: Phase) -> tuple[list[str], list[str]]:
    """What a phase reads, and what it writes."""
    reads: dict[str, set[str]] = {}
    writes: dict[str, set[str]] = {name: {"v"} for name in phase.writes}
    atomics: dict[str, set[str]] = {}
    others = {pair.key: pair.other for pair in program.layout.pairs}
    for fn in phase.functors:
        found = effects(fn)
        for target, source in ((reads, found.reads), (writes, found.writes), (atomics, found.atomics)):
            for name, places in source.items():
                target.setdefault(name, set()).update(places)
        for name in found.carried:
            writes.setdefault(others[name], set()).update(found.writes[name])
            atomics.setdefault(others[name], set()).add(f"with {display_name(name)}")
    arguments = [each for call in phase.calls for each in _arguments(call, program)]
    written = []
    for name in sorted(writes):
        note = f" (atomic {', '.join(sorted(atomics[name]))})" if name in atomics else ""
        written += [place + note for place in _places({name: writes[name]})]
    piles, given, kept = _elsewhere(program, words, phase, arguments)
    moved = piles if phase.functors else []
    return (
        [*_places(reads), *_of_graph(program, arguments), *(pile for pile in piles if not phase.functors)],
        [*written, *moved, *given, *kept],
    )


def _arguments(call: Call, program: Builder) -> list[Expr]:
    """All parts of what a phase is called with, but for the problem that functors get."""
    found: list[Expr] = []
    for each in call.arguments:
        if not (isinstance(each, Call) and each.function == "P"):
            found += walk(each)
    return found


def _of_graph(program: Builder, arguments: list[Expr]) -> list[str]:
    """What of the graph is among a call's arguments."""
    keys = {each: key for key, each in program.table().items() if key in program.inputs}
    given = {program.inputs[keys[each]] for each in arguments if isinstance(each, Var) and each in keys}
    arrays = {each.name for each in given if isinstance(each, GraphArray)}
    found = []
    for wanted, name in _GRAPH:
        if arrays.issuperset(wanted):
            found.append(name)
            arrays.difference_update(wanted)
    return found


def _elsewhere(
    program: Builder, words: Words, phase: Phase, arguments: list[Expr]
) -> tuple[list[str], list[str], list[str]]:
    """Piles among a call's arguments; frontiers and records that are written; results that are kept for later."""
    named = {var: key for key, var in program.table().items()}
    keys = [named[each] for each in arguments if isinstance(each, Var) and each in named]
    piles = [display_name(key.partition(":")[2]) for key in keys if key.startswith("pile:")]
    records = [f"record {key.partition(':')[2]}" for key in keys if key.startswith("record:")]
    given: list[str] = []
    kept: list[str] = []
    for node in phase.after:
        if not isinstance(node, Assign | Together):
            continue
        part = words.part(node.target)
        if part is not None and part[1] in ("queue", "bits", "form"):
            new = "the next " * (part[1] in ("queue", "bits") and not isinstance(node.value, Counter))
            line = f"{new}{words.frontier(part[0])}"
            if not any(words.frontier(part[0]) in other for other in given):
                given.append(line)
        if isinstance(node.value, Counter) and part is None and node.value.word != "EXAMINED":
            continue
        if any(_calls(each, "kept_int", "kept_float") for each in walk(node.value)):
            kept = ["one result"]
        elif node.value is SLOT or any(_calls(each, *_KEPT) for each in walk(node.value)):
            kept = [f"partial results of the {program.sharers}"]
    if records:
        given = list(dict.fromkeys(records))
    if not (given or kept or phase.functors):
        given = [f"the bitmap of {words.frontier(r)}" for r in words.frontiers(phase.call) if r.bits in arguments]
    if not (given or kept):
        given = _by_role({program.inputs[key] for key in keys if key in program.inputs}, phase)
    return list(dict.fromkeys(piles)), given, kept


def _calls(made: Expr, *functions: str) -> bool:
    return isinstance(made, Call) and made.function in functions


def _by_role(given: set[Input], phase: Phase) -> list[str]:
    """What is written that belongs to no frontier."""
    roles = {each.role for each in given if isinstance(each, Buffer)}
    if phase.call.function in ("fill_bits", "set_bits") and "vertex_queue" in roles:
        return ["a bitmap"]
    if roles & {"vertex_stamps", "bits"}:
        return ["marks of vertices"]
    if "vertex_queue" in roles and not phase.functors:
        return ["queues of its own"]
    if phase.after and not phase.functors:
        return ["a count"]
    return []


#: Functions that combine the partial results of a phase.
_KEPT = ("combined_int", "combined_float", "partial_total")


def _places(fields: dict[str, set[str]]) -> list[str]:
    """Fields with the indices at which they are touched."""
    return [
        f"{display_name(name)}[{index}]" if index else display_name(name)
        for name in sorted(fields)
        for index in sorted(fields[name])
    ]
