"""GPUs that have become unusable for this process: after some kernel errors, CUDA answers every call with an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from frontier.errors import DeviceLostError, FrontierError
from frontier.functors.functor import location

__all__ = ["check", "explained", "noted", "some"]

#: CUDA's errors after which only a new process can use the GPU (cuda.h; the runtime has the same numbers).
_LASTING = {
    700: "an illegal address", 702: "a kernel that ran for too long", 709: "a context that was destroyed",
    710: "an assertion", 714: "an error of its stack", 715: "an illegal instruction", 716: "a misaligned address",
    717: "an address of another space", 718: "an invalid program counter", 719: "a launch that failed",
}  # fmt: skip

#: Number of a GPU -> what became of it.
_lost: dict[int, str] = {}


def some() -> bool:
    """Whether a GPU is lost."""
    return bool(_lost)


def check(index: int) -> None:
    """Raise DeviceLostError if a GPU cannot be used any more."""
    if index in _lost:
        raise DeviceLostError(_lost[index])


def noted(error: BaseException, index: int) -> DeviceLostError | None:
    """What is to be raised in place of an error after which the GPU is lost; None for others."""
    what = _LASTING.get(getattr(error, "status", 0))
    if what is None:
        return None
    name = f"cuda:{index}" if index else "cuda"
    _lost.setdefault(index, f"this process cannot use {name} any more, after {what}: start a new one")
    return DeviceLostError(_lost[index])


def explained(
    error: BaseException, index: int, steps: Iterable[str], functors: Iterable[Callable[..., Any]]
) -> FrontierError:
    """The error for a kernel that the GPU has not run to its end."""
    loop = ", ".join(steps)
    lost = noted(error, index)
    if lost is None:
        return FrontierError(f"the driver does not run the loop of {loop}: {error}")
    what = _LASTING[getattr(error, "status", 0)]
    names = ", ".join(location(fn) for fn in functors)
    reason = "an index is outside a field" if getattr(error, "status", 0) != 702 else "a functor does not end"
    return DeviceLostError(
        f"the loop of {loop} ended with {what} on the GPU: most likely {reason} in one of {names}; FRONTIER_CHECK=1 or "
        f"g.to('python') shows which. {lost}"
    )
