"""Scans of a graph in parts: each rank has the sums over its own elements, and adds those of the ranks before it.

Vertices and slots of lower ranks are lower, so that is the order of all elements.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.python.view import stored
from frontier.distributed.ranks.grid import ALL
from frontier.distributed.transport.messages import Message
from frontier.distributed.transport.rounds import Note, common
from frontier.errors import FunctorError
from frontier.program.frontiers import Frontier
from frontier.program.problem import scalar

if TYPE_CHECKING:
    from collections.abc import Callable

    from frontier.distributed.ranks.divided_step import Exchange
    from frontier.program.problem import Problem

__all__ = ["accumulated"]

#: A hidden scalar: the sum over this rank's elements.
SUM = "sum_of_scan__"


def accumulated(
    step: Any, p: Problem, f: Frontier, exchange: Exchange, inner: Callable[[Any, Frontier, Problem], Any], checks: bool
) -> Frontier:
    """Run a Scan on this rank's elements, and add what lower ranks have.

    Parameters
    ----------
    step : Scan
    p : Problem
        Of the part.
    f : Frontier
    exchange : Exchange
    inner : function of a step, a frontier and a problem
        Runs a step on the part.
    checks : bool
        Whether values that do not fit are refused, as an interpreter does.
    """
    mirrors = exchange.mirrors
    mirrors.complete(exchange.plans.access.of(step)[ALL])
    mine = mirrors.own(f)
    if exchange.halo is not None:
        exchange.halo.before(step, mine, f.is_all)
    array = p.arrays[step.into]
    there = _with_sum(p, array)
    note = Note()
    try:
        inner(_with_total(step), mine, there)
    except Exception as error:  # whatever it is, all ranks raise it
        note.error = error
    own = there.scalars[SUM]
    _, told = exchange.rounds.allgather(note, Message(own.tobytes()))
    sums = [np.frombuffer(each, own.dtype)[0] for each in told]
    rank = exchange.rounds.comm.rank
    with np.errstate(all="ignore"):
        array[mine.ids] += np.sum(sums[:rank], dtype=own.dtype).astype(array.dtype)
        total = np.sum(sums, dtype=own.dtype)
    mirrors.changed(step.into, mine.ids)
    if step.total is not None:
        target = p.scalars[step.total]
        try:
            target[0] = stored(f"p.{step.total}", total, target.dtype) if checks else total.astype(target.dtype)
        except FunctorError as error:
            raise common(error) from None
    return f


def _with_sum(p: Problem, array: Any) -> Problem:
    """The problem with a scalar for the sum, and what backends keep for that."""
    real = array.dtype.kind == "f"
    made: Problem | None = p.workspace.get(("to scan", real))
    if made is None:
        made = copy.copy(p)
        field = scalar("float64" if real else "int64")
        scalars = {**p.scalars, SUM: np.zeros(1, field.dtype)}  # in the order of fields
        vars(made).update(fields={**p.fields, SUM: field}, workspace={}, scalars=scalars)
        p.workspace["to scan", real] = made
    made.scalars.update(p.scalars)
    return made


def _with_total(step: Any) -> Any:
    made = step.__dict__.get("_summing")
    if made is None:
        made = copy.copy(step)
        made.over, made.total = None, SUM
        step.__dict__["_summing"] = made
    return made
