"""Fuzzer of what functors take from outside: ``python -m tests.fuzz_functors --minutes 3 --seed 1``.

A *world* is a namespace as of a notebook: cells that define constants, enumerations, modules, helpers, closures, and a
functor that uses some of them. One thing after another is changed, as when a cell is run again, and after every change
the functor runs on the backend under test and on python. What differs is code that is older than what it was made of.
Every batch of worlds is run by two processes, one after the other, with one cache: the second finds what the first has
left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from frontier.errors import FunctorError

#: Worlds that one process makes: compiled code is never given back.
BATCH = 25

#: What a world begins with.
BEGIN = """
import enum, types
from collections import namedtuple
import numpy as np
from numba import njit
Point = namedtuple("Point", "x y")
M = types.ModuleType("M")
M.sub = types.ModuleType("sub")
"""

#: What else than a cell is changed.
CHANGES = ["again", "fn", "closure", "default", "code", "module", "name", "member"]

#: Numbers, and names of numbers, that may be exchanged.
LITERAL = re.compile(r"(?<![\w.\[])(\d+|K)(?![\w.\]])(?! =)")

NAMES = ["fn", "class", "naïve", "x" * 300, 'a"""\nraise SystemExit(3)', "{steps}", "\udc80", "", "<lambda>"]


def number(r: random.Random) -> str:
    return r.choice(["0", "1", "2", "7", "-3", "True", "False", "1.0", "0.5", "-2.5", "np.int32(1)", "np.int64(5)",
                     "np.float32(0.5)", "np.float64(1)"])  # fmt: skip


def whole(r: random.Random) -> str:
    return str(r.randint(-9, 9))


#: Name of a cell -> its text, anew each time.
CELLS: dict[str, Callable[[random.Random], str]] = {
    "K": lambda r: f"K = {number(r)}",
    "MODE": lambda r: f"MODE = {r.choice(['a', 'b', ''])!r}",
    "WIDTH": lambda r: f"WIDTH = np.{r.choice(['int8', 'int32', 'int64', 'float64'])}",
    "PAIR": lambda r: f"PAIR = ({number(r)}, ({number(r)}, {number(r)}))",
    "POINT": lambda r: f"POINT = Point({number(r)}, {number(r)})",
    "Colour": lambda r: f"class Colour(enum.IntEnum):\n    A = {whole(r)}\n    B = {whole(r)}",
    "Shade": lambda r: f"class Shade(enum.Enum):\n    X = {whole(r)}\n    Y = {whole(r)}",
    "CHOSEN": lambda r: f"CHOSEN = Colour.{r.choice('AB')}",
    "M.K": lambda r: f"M.K = {number(r)}",
    "M.sub.K": lambda r: f"M.sub.K = {number(r)}",
    "M.h": lambda r: f"def made(x):\n    return x * {whole(r)} + {number(r)}\nM.h = made",
    "h": lambda r: (
        f"def h(x, d={whole(r)}):\n    inner = lambda y: y + {whole(r)}{r.choice(['', ' + K', ' + M.K'])}\n"
        f"    return inner(x) * {whole(r)} + d"
    ),
    "h2": lambda r: f"def h2(x):\n    return h(x) - {r.choice(['h(2 * x, 3)', 'M.h(x)', 'K', 'g(x)', whole(r)])}",
    "g": lambda r: (
        "def make(c):\n    def g(x):\n        return x + c\n    def change(value):\n        nonlocal c\n"
        f"        c = value\n    return g, change\ng, change = make({number(r)})"
    ),
    "j": lambda r: f"j = njit(lambda x: x {r.choice('+-*')} {whole(r)})",
    "abs": lambda r: r.choice([f"def abs(x):\n    return x + {whole(r)}", "globals().pop('abs', None)"]),
}

TERMS = [
    "K", "K / 2", "(K + i) // 2", "(3 if K else 4)", "(1 if MODE == 'a' else 2)", "WIDTH(i * 50)", "PAIR[0]",
    "PAIR[1][1]", "POINT.y", "(Colour.A + i)", "(5 if CHOSEN == Colour.B else 6)", "Shade.X.value", "M.K", "M.sub.K",
    "M.h(i)", "h(i)", "h(i, 2)", "h(i, d=4)", "h2(i)", "g(i)", "j(i)", "abs(i - 2)", "(lambda x: x * 2 + {0})(i)",
    "(lambda x: x + K)(i)", "(lambda x: (lambda y: y - {0})(x) + M.K)(i)", "np.int32({0})", "{0}", "max(K, {0})",
]  # fmt: skip


def functor(r: random.Random) -> str:
    """The functor's cell."""
    terms = [r.choice(TERMS).format(whole(r)) for _ in range(r.randint(1, 4))]
    body = f" {r.choice('+-')} ".join(terms)
    nested = r.random() < 0.3
    head = f"    def inner(x):\n        return x + {r.choice([whole(r), 'K', 'M.K'])}\n" if nested else ""
    return f"def fn(p, i):\n{head}    p.out[i] = {body}{' + inner(i)' if nested else ''}"


class World:
    """A namespace in the making, and what has been done to it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names: dict[str, Any] = {}
        self.texts: dict[str, str] = {}
        self.done: list[str] = []
        self.run(BEGIN)
        for cell in CELLS:
            if cell != "abs":
                self.cell(cell)
        self.cell("fn")

    def run(self, text: str) -> None:
        self.done.append(text)
        exec(text, self.names)

    def cell(self, name: str) -> None:
        """Run a cell again, with another text."""
        self.texts[name] = functor(self.random) if name == "fn" else CELLS[name](self.random)
        self.run(self.texts[name])

    def used(self) -> list[str]:
        """Cells that matter to the functor, itself first."""
        found = ["fn"]
        for name in found:
            words = set(re.findall(r"(?<!\.)\b[\w.]+", self.texts[name]))
            found += [other for other in self.texts if other in words and other not in found]
        return found

    def digit(self, name: str) -> None:
        """Run a cell again in which one number, or one name, is another."""
        text = self.texts[name]
        places = [found for found in LITERAL.finditer(text) if found[0] != "0.0"]
        if places:
            place = self.random.choice(places)
            other = whole(self.random) if place[0].isdigit() else self.random.choice(["K", "M.K", "M.sub.K", "POINT.x"])
            self.texts[name] = f"{text[: place.start()]}({other}){text[place.end() :]}"
        self.run(self.texts[name])

    def change(self) -> str:
        """Change one thing; gives what."""
        r = self.random
        what = r.choice(["digit"] * 6 + ["cell"] * 4 + CHANGES)
        if what == "digit":
            self.digit(r.choice(self.used()))
        elif what == "cell":
            self.cell(r.choice([*self.used()[1:], *CELLS]))
        elif what == "again":
            self.run(self.texts[r.choice(list(self.texts))])
        elif what == "fn":
            self.cell("fn")
        elif what == "closure":
            self.run(f"change({number(r)})")
        elif what == "default":
            self.run(f"h.__defaults__ = ({number(r)},)")
        elif what == "code":
            self.run(f"h.__code__ = (lambda x, d=1: x * d + {whole(r)}{r.choice(['', ' + K'])}).__code__")
        elif what == "module":
            self.run(
                "old, M = M, types.ModuleType('M')\n"
                f"M.__dict__.update(K={number(r)}, h=old.h, sub=types.ModuleType('sub'))\nM.sub.K = {number(r)}"
            )
        elif what == "name":
            self.run(f"fn.__name__ = fn.__qualname__ = {r.choice(NAMES)!r}")
        else:
            self.run(f"Shade.X._value_ = {whole(r)}")
        return what


def steps(world: World, fr: Any) -> Any:
    """A step with the functor as it is now."""
    fn = world.names["fn"]
    return fr.Compute(fn, over=5)


def fuzz(seed: int, changes: int, backend: str) -> dict[str, Any]:
    """Make one world and change it; counts, and the first difference."""
    import frontier as fr

    world = World(seed)
    graphs = [fr.path(2).to(name) for name in ("python", backend)]
    problems = [fr.Problem(g, out=fr.array([0.0] * 5)) for g in graphs]
    kept: list[Any] = []
    runs = 0
    for number_ in range(changes + 1):
        what = world.change() if number_ else "begin"
        kept = [*kept[-1:], steps(world, fr)]
        for age, step in enumerate(reversed(kept)):
            try:
                found = [result(step, p) for p in problems]
            except OverflowError:  # of NumPy, on python: not what is looked for here
                continue
            if None in found:
                continue
            runs += 1
            if found[0] != found[1]:
                differs = [what, age, *found]
                return {"seed": seed, "runs": runs, "changes": number_, "differs": differs, "text": world.done}
    return {"seed": seed, "runs": runs, "changes": changes}


#: Of refusals on one backend alone: sums of bools that are constants, constants divided by zero.
OWN_RULES = ("bools", "by zero")


def result(step: Any, p: Any) -> Any:
    """What a run leaves, or why it is refused; None where Python's own numbers, which constants are, have own rules."""
    p.out = 0.0
    try:
        step(p)
    except FunctorError as error:
        return None if any(words in str(error) for words in OWN_RULES) else str(error)
    return p.out.tolist()


def worker(options: argparse.Namespace) -> int:
    """One batch: a line of JSON for every world."""
    for seed in range(options.seed, options.seed + options.worlds):
        print(json.dumps(fuzz(seed, options.changes, options.backend)), flush=True)
    return 0


def batch(options: argparse.Namespace, seed: int, worlds: int) -> list[dict[str, Any]]:
    """The same worlds in two processes that share a cache."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(__file__).resolve().parents[1]
        environment = {**os.environ, "FRONTIER_CACHE_DIR": str(Path(folder, "cache")), "FRONTIER_QUIET": "1"}
        command = [sys.executable, "-m", "tests.fuzz_functors", "--worker", f"--seed={seed}", f"--worlds={worlds}",
                   f"--changes={options.changes}", f"--backend={options.backend}"]  # fmt: skip
        for _ in range(2):
            done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
            found += [json.loads(line) for line in done.stdout.splitlines()]
            if done.returncode:
                found.append({"seed": seed, "runs": 0, "changes": 0, "differs": done.stderr[-3000:]})
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_functors", description=__doc__)
    parser.add_argument("--minutes", type=float, help="go on for so long")
    parser.add_argument("--worlds", type=int, default=10, help="how many, unless --minutes says otherwise")
    parser.add_argument("--changes", type=int, default=8, help="changes of each")
    parser.add_argument("--seed", type=int, default=0, help="of the first world; the next has the next seed")
    parser.add_argument("--backend", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.worker:
        return worker(options)
    end = time.monotonic() + 60 * (options.minutes or 0)
    seed, found = options.seed, []
    while (time.monotonic() < end) if options.minutes else (seed < options.seed + options.worlds):
        size = BATCH if options.minutes else min(BATCH, options.seed + options.worlds - seed)
        found += batch(options, seed, size)
        seed += size
        wrong = [one for one in found if "differs" in one]
        print(
            f"{seed - options.seed} worlds, {sum(one['changes'] for one in found)} changes, "
            f"{sum(one['runs'] for one in found)} runs, {len(wrong)} differences", flush=True
        )  # fmt: skip
    for one in wrong[:3]:
        print(*one.pop("text", ()), sep="\n")
        print(json.dumps(one))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
