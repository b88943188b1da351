"""Which fields of a program exchange their arrays: what holds for one name may then hold for another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from frontier.program.step import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from frontier.program.step import Step

__all__ = ["Swaps", "swaps_of", "with_partners"]


@runtime_checkable
class Swaps(Protocol):
    """A step that exchanges two fields."""

    first: str
    second: str


def swaps_of(program: Step) -> list[set[str]]:
    """The pairs of names that a program exchanges."""
    return [{step.first, step.second} for step in walk(program) if isinstance(step, Swaps)]


def with_partners(names: Iterable[str], swaps: Sequence[set[str]]) -> set[str]:
    """Some names, and all that may have their arrays at another time."""
    found = set(names)
    for _ in swaps:  # a name may get its array by way of several others
        for pair in swaps:
            if pair & found:
                found |= pair
    return found
