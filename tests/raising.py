"""Programs whose functors raise in compiled code, everywhere that functors are called. Run as a script: a watchdog.

    python tests/raising.py --kind tuple --seconds 60

runs every program again and again. Each must end with FunctorError; the process ends with an error if one does not,
and with the stacks of all threads if it hangs. ``--interrupt`` presses Ctrl-C all the time meanwhile.
"""

from __future__ import annotations

import argparse
import faulthandler
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from types import FrameType, SimpleNamespace
from typing import Any

import strict_cupy
from compare import workers
from numba import njit

import frontier as fr
from frontier.memory import detection
from frontier.program import execution

__all__ = ["KINDS", "PLACES", "Step", "functors", "problem"]

TABLE = (1, 2, 3)


def by_tuple(x):
    """Two of five are outside."""
    return TABLE[x % 5]


def picky(x, offset=1):
    return TABLE[x % 5 + offset]


def by_keyword(x):
    return picky(offset=0, x=x)


@njit
def compiled_by_the_user(x):
    return TABLE[x % 5]


def by_njit(x):
    return compiled_by_the_user(x)


def by_range(x):
    total = 0
    for i in range(0, 3, min(x % 5, 1)):
        total += i
    return total


def by_raise(x):
    if x % 5 > 2:
        raise ValueError("too large")
    return x


def by_nothing(x):
    if x % 5 < 3:
        return x
    return None


#: Kinds of exceptions -> a function that raises for some of its arguments.
KINDS: dict[str, Callable[..., Any]] = {
    "tuple": by_tuple, "keyword": by_keyword, "njit": by_njit, "range": by_range, "raise": by_raise,
    "nothing": by_nothing,
}  # fmt: skip


def functors(kind: str) -> SimpleNamespace:
    """Functors for every place."""
    fail = KINDS[kind]

    def at_vertex(p, v):
        return fail(v)

    def at_edge(p, src, dst):
        return fail(dst)

    def at_far_end(p, dst):
        return fail(dst)

    def at_near_end(p, src):
        return fail(src)

    def at_common(p, u, v, w):
        return fail(w)

    def of_scalars(p):
        return fail(p.turn)

    def never(p):
        return fail(p.turn) < 0

    return SimpleNamespace(
        vertex=at_vertex, edge=at_edge, far=at_far_end, near=at_near_end, common=at_common, scalars=of_scalars,
        never=never,
    )  # fmt: skip


def anything(p, dst):
    return p.value[dst] >= 0


def grow(p, v):
    p.value[v] += 1


#: Where functors are called -> the step, of a kind's functors. Those before " value" take nothing for no.
PLACES: dict[str, Callable[[SimpleNamespace], fr.Step]] = {
    "push": lambda f: fr.Advance(f.edge, schedule=fr.Schedule(direction="push", balance="merge_path")),
    "push by vertices": lambda f: fr.Advance(f.edge, schedule=fr.Schedule(direction="push", balance="thread")),
    "push, claimed": lambda f: fr.Advance(f.edge, unique="claimed", schedule=fr.Schedule(direction="push")),
    "pull": lambda f: fr.Advance(f.edge, where=f.far, schedule=fr.Schedule(direction="pull")),
    "where": lambda f: fr.Advance(anything, where=f.far, schedule=fr.Schedule(direction="push")),
    "where, pull": lambda f: fr.Advance(anything, where=f.far, schedule=fr.Schedule(direction="pull")),
    "edges": lambda f: fr.Advance(f.edge, output="edge"),
    "sample": lambda f: fr.Advance(f.edge, part=fr.sample(2)),
    "filter": lambda f: fr.Filter(f.vertex),
    "split": lambda f: fr.Split(f.vertex, rest="rest"),
    "compute": lambda f: fr.Compute(f.vertex),
    "nested": lambda f: fr.Loop(fr.Compute(grow), fr.Loop(fr.Compute(f.vertex), times=3, count="turn"), times=4),
    "until": lambda f: fr.Loop(fr.Compute(grow), until=f.never, times=9, count="turn"),
    "gather value": lambda f: fr.Gather(f.edge, "sum", into="sum"),
    "gather where value": lambda f: fr.Gather(anything, "any", into="sum", where=f.near),
    "reduce value": lambda f: fr.Reduce(f.vertex, "min", into="total"),
    "scan value": lambda f: fr.Scan(f.vertex, into="sum", total="total"),
    "buckets value": lambda f: fr.Buckets(f.vertex, ["rest", "late"]),
    "intersect value": lambda f: fr.Intersect(f.common, "sum", into="total", over="edges"),
    "set value": lambda f: fr.Loop(fr.Set(total=f.scalars), fr.Compute(grow), times=9, count="turn"),
}


def problem(g: fr.Graph) -> fr.Problem:
    """What the programs want."""
    return fr.Problem(
        g,
        value=fr.vertex("int64"),
        sum=fr.vertex("int64"),
        turn=fr.scalar("int64"),
        total=fr.scalar("int64"),
        rest=fr.pile(),
        late=fr.pile(),
    )


class Step:
    """A step that raises, and one that does not, on one problem.

    Parameters
    ----------
    kind, place : str
    g : Graph
    """

    def __init__(self, kind: str, place: str, g: fr.Graph) -> None:
        self.name, self.made = f"{kind}, {place}", functors(kind)
        step = PLACES[place](self.made)
        self.step = fr.Sequence(step, over="vertices")
        self.right = fr.Sequence(fr.Compute(grow), over="vertices")
        self.p = problem(g)

    def run(self) -> str:
        """Run it: the message."""
        try:
            execution.run(self.step, self.p)
        except fr.FunctorError as error:
            names = ["by_raise", *(fn.__name__ for fn in vars(self.made).values())]  # that may be refused as it is
            if not any(name in str(error) for name in names):
                raise AssertionError(f"{self.name}: no functor is named: {error}") from error
            return str(error)
        raise AssertionError(f"{self.name}: no error")

    def run_right(self) -> None:
        """Run the step that does not raise: the problem, its workspace and the workers are as good as before."""
        before = int(self.p.value.sum())
        execution.run(self.right, self.p)
        if int(self.p.value.sum()) != before + self.p.graph.num_vertices:
            raise AssertionError(f"{self.name}: what is run after it is wrong")


def places(kind: str) -> list[str]:
    """Where a kind raises: where a number is wanted, if it is to return nothing."""
    return [name for name in PLACES if kind != "nothing" or (name.endswith(" value") and "where" not in name)]


@contextmanager
def interrupted(every: float) -> Iterator[None]:
    """Ctrl-C is pressed again and again, while a step runs: pressed outside of one, it would end this program."""

    def pressed(_: int, frame: FrameType | None) -> None:
        while frame is not None and frame.f_code is not Step.run.__code__:
            frame = frame.f_back
        if frame is not None:
            signal.raise_signal(signal.SIGINT)

    signal.signal(signal.SIGALRM, pressed)
    signal.setitimer(signal.ITIMER_REAL, every, every)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> None:
    """Run the programs of a kind."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--place", choices=PLACES, action="append")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--scale", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=0, help="for so long, once at least")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one run, compiling included")
    parser.add_argument("--interrupt", action="store_true")
    given = parser.parse_args()
    there = strict_cupy.simulated() if given.backend == "cuda" and detection.simulated() else nullcontext()
    with there:
        g = fr.rmat(given.scale, 8, seed=1).to(given.backend)
        steps = [Step(given.kind, place, g) for place in given.place or places(given.kind)]
        print(f"{rounds(steps, given)} rounds of {len(steps)} programs: all raised FunctorError")


def rounds(steps: list[Step], given: argparse.Namespace) -> int:
    """Run all of them until the time is up; how often."""
    begun, count, said = time.monotonic(), 0, {}
    while count == 0 or time.monotonic() - begun < given.seconds:
        for step in steps:
            for number in given.workers:
                faulthandler.dump_traceback_later(given.limit, exit=True)
                with workers(number):
                    said[step.name] = step.run()
                    step.run_right()
                if given.interrupt and count:
                    press(step, number)
        count += 1
    faulthandler.cancel_dump_traceback_later()
    if sys.stdout.isatty() or count == 1:
        for name, message in said.items():
            print(f"{name}: {message}")
    return count


def press(step: Step, number: int) -> None:
    """Runs while Ctrl-C is pressed end with either error, and the next one is as good as ever."""
    with workers(number):
        for every in (0.0003, 0.002):
            with interrupted(every):
                for _ in range(50):
                    with suppress(KeyboardInterrupt):
                        step.run()
        step.run()
        step.run_right()


if __name__ == "__main__":
    main()
