"""Memory of GPUs that nobody uses any more, kept for what comes next.

That is blocks over several GPUs, each for the next array that is alike: to map memory takes about a millisecond, and
every search makes its fields anew. And it is what others have that can be freed, such as the queues of past runs
(:func:`also`). All of it counts as free: whoever finds too little memory calls :func:`release`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

__all__ = ["MOST", "also", "bytes_on", "idle_on", "put", "release", "take"]

#: Blocks that are kept at most.
MOST = 8


class Block(Protocol):
    """What is kept.

    Attributes
    ----------
    sizes : dict of int to int
        Its bytes on each GPU.
    most : dict of int to int
        How many bytes may be kept there, of all blocks together.
    """

    sizes: dict[int, int]
    most: dict[int, int]


#: What they are, size, cuts and GPUs, and the blocks; the oldest first. Blocks come whenever garbage is collected, in
#: any thread, also while one of the functions below runs. So these change the list by single operations only.
_kept: list[tuple[object, Block]] = []

#: Whether blocks have come since it was last looked whether there are too many.
_more_came = False

#: What others keep: functions that count the bytes of a GPU, and that free all.
_more: list[tuple[Callable[[int], int], Callable[[], None]]] = []


def also(count: Callable[[int], int], free: Callable[[], None]) -> None:
    """Let more be freed when memory is short: ``count(index)`` gives its bytes on a GPU, and ``free()`` drops it."""
    _more.append((count, free))


def put(key: object, block: Block) -> None:
    """Keep a block.

    This frees nothing: it is called when garbage is collected, perhaps while a kernel waits for one that this thread is
    to launch, and to free memory is to wait for kernels. :func:`take` drops what is too much.
    """
    global _more_came
    _kept.append((key, block))
    _more_came = True


def _trim() -> None:
    """Drop the oldest blocks if there are too many, or if they take too much of a GPU."""
    while _kept and (len(_kept) > MOST or any(bytes_on(each) > most for each, most in _kept[-1][1].most.items())):
        try:
            _kept.pop(0)
        except IndexError:  # another thread has released all
            return


def take(key: object) -> Block | None:
    """Return a block of this kind, which is kept no longer; None if there is none. GPUs may still be using it."""
    global _more_came
    if _more_came:
        _more_came = False
        _trim()
    for each in reversed(list(_kept)):
        if each[0] == key:
            try:
                _kept.remove(each)
            except ValueError:  # another thread has it
                continue
            return each[1]
    return None


def bytes_on(index: int) -> int:
    """Return how many bytes of a GPU the blocks take that are kept."""
    return sum(block.sizes.get(index, 0) for _, block in list(_kept))


def idle_on(index: int) -> int:
    """Return how many bytes of a GPU :func:`release` gives back, to the driver or to CuPy's pool."""
    return bytes_on(index) + sum(count(index) for count, _ in _more)


def release() -> None:
    """Give all of it back."""
    _kept.clear()
    for _, free in _more:
        free()
