"""The interpreter's walk through a program whose steps run elsewhere, as one kernel each on a GPU, and whose fields do.

What is not an element's business, such as conditions and scalars, the host decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frontier.backends.python.interpreter import Context
from frontier.backends.python.view import View
from frontier.memory.arrays import to_host
from frontier.program.schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from frontier.program.problem import Problem

__all__ = ["Hosted", "alone", "fetching", "same"]


class Hosted(Context):
    """The walk; a subclass says how a step runs."""

    def _plain_lists(self) -> Any:
        return None  # the host looks at no edges

    def refresh(self) -> None:
        """Look at the fields anew: functors that the host calls read single elements."""
        self._view = fetching(self.problem, self.problem.arrays)


def fetching(p: Problem, arrays: Mapping[str, Any]) -> View:
    """What a functor sees that the host calls: of fields on a GPU it reads single elements."""
    return View(same(p, arrays={name: _Fetched(array) for name, array in arrays.items()}))


class _Fetched:
    """A field on a GPU of which the host reads single elements."""

    def __init__(self, array: Any) -> None:
        self._array, self.dtype, self.ndim = array, array.dtype, array.ndim

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, index: int) -> Any:
        return to_host(self._array[index : index + 1])[0]


def alone(step: Any, way: str) -> Any:
    """The step without a frontier of its own, for it gets a part of that, and with a direction."""
    kept = step.__dict__.setdefault("_ways", {})
    made = kept.get(way)
    if made is None:
        made = step.without_over()
        made.schedule = (Schedule() if step.schedule is None else step.schedule).replace(direction=way)
        for name in ("_builds", "_code", "_ways", "_touches"):
            made.__dict__.pop(name, None)
        made = kept.setdefault(way, made)  # the first, if several threads make it
    return made


def same(p: Problem, **changes: Any) -> Problem:
    """A problem with the same arrays, which ``copy.copy`` might lay anew, and some attributes changed."""
    made: Problem = object.__new__(type(p))
    vars(made).update({**vars(p), **changes})
    return made
