"""Operators: each maps a frontier to the next one.

An operator is a class with its meaning on the python backend and its lowering. Its kernels for the other backends are
in ``cpu.py`` and ``cuda.py`` beside it. ``advance``, ``gather``, ``intersect``, ``scan`` and ``buckets`` have a
folder each; ``elementwise`` contains Compute, Filter, Put, Reduce and Split, whose kernels are similar, and ``fields``
contains Set, Swap and Take.

``order`` rewrites loops with an order to loops of other steps, ``eager`` has the functions ``fr.advance`` and so on,
and ``shared`` has code that several operators need.
"""

if __name__ != "frontier.operators":
    raise ImportError(
        "import frontier.operators, not operators: the folder is part of the package frontier"
    )

from typing import Any

from frontier.operators.advance import Advance
from frontier.operators.advance.unique import Unique
from frontier.operators.buckets import Buckets
from frontier.operators.elementwise.compute import Compute
from frontier.operators.elementwise.filter import Filter
from frontier.operators.elementwise.put import Put
from frontier.operators.elementwise.reduce import Reduce
from frontier.operators.elementwise.split import Split
from frontier.operators.fields.set import Set
from frontier.operators.fields.swap import Swap
from frontier.operators.fields.take import Take
from frontier.operators.gather import Gather
from frontier.operators.intersect import Intersect
from frontier.operators.scan import Scan
from frontier.program.order import expansion


def _expanded(*given: Any) -> Any:
    """Take the orders out of a program; imported when the first loop with one runs."""
    from frontier.operators.order.loops import prepare, remarks

    expansion[:] = [prepare, remarks]
    return prepare(*given)


expansion[:] = [_expanded]

__all__ = [
    "Advance",
    "Buckets",
    "Compute",
    "Filter",
    "Gather",
    "Intersect",
    "Put",
    "Reduce",
    "Scan",
    "Set",
    "Split",
    "Swap",
    "Take",
    "Unique",
]
