"""Operators: what maps one frontier to the next. One file, or folder, for each."""

if __name__ != "frontier.operators":
    raise ImportError(
        "import frontier.operators, not operators: the folder is part of the package frontier"
    )

from typing import Any

from frontier.operators.advance import Advance
from frontier.operators.buckets import Buckets
from frontier.operators.compute import Compute
from frontier.operators.filter import Filter
from frontier.operators.gather import Gather
from frontier.operators.intersect import Intersect
from frontier.operators.reduce import Reduce
from frontier.operators.scan import Scan
from frontier.operators.set import Set
from frontier.operators.split import Split
from frontier.operators.swap import Swap
from frontier.operators.take import Take
from frontier.operators.unique import Unique
from frontier.order import expansion


def _expanded(*given: Any) -> Any:
    """Take the orders out of a program; imported when the first loop with one runs."""
    from frontier.operators.ordered import prepare

    expansion[:] = [prepare]
    return prepare(*given)


expansion[:] = [_expanded]

__all__ = [
    "Advance",
    "Buckets",
    "Compute",
    "Filter",
    "Gather",
    "Intersect",
    "Reduce",
    "Scan",
    "Set",
    "Split",
    "Swap",
    "Take",
    "Unique",
]
