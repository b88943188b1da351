"""Random programs leave the same on a copy in order of degree, or stay on the graph."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compare import host
from test_by_degree import AS_GIVEN, BY_DEGREE, renumbers

import frontier as fr
from frontier.program import numbering

PROGRAMS = 120

#: What an expression is made of, where ``{v}`` is a vertex at hand: these do not tell ids, ...
BLIND = (*("p.x[{v}]", "p.y[{v}]") * 2, "fr.degree(p, {v})", "p.turn", "p.table[p.turn % 8]", "3", "p.n")
#: ... and these, which are in few programs, do.
SEEING = (
    "{v}", "p.x[0]", "p.x[p.y[{v}] % p.n]", "p.x[({v} + 1) % p.n]", "p.table[{v} % 8]", "fr.hash({v}) % 16",
    "fr.degree(p, p.x[{v}] % p.n)", "helped(p, {v})",
)  # fmt: skip

HELPER = """def helped(p, u):
    w = u
    return p.x[w] + (1 if w > 5 else 0)
"""


class Writer:
    """Writes the functors of one program, and makes its steps."""

    def __init__(self, seed: int) -> None:
        self.rng, self.sees, self.count = np.random.default_rng(seed), False, 0
        self.seed, self.known = seed, {"fr": fr}
        self._made("helper", HELPER)

    def pick(self, options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def _made(self, name: str, text: str) -> None:
        file = f"<program {self.seed}, {name}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compile(text, file, "exec"), self.known)

    def value(self, *vertices: str) -> str:
        parts = [self.pick(BLIND) for _ in range(int(self.rng.integers(1, 4)))]
        if self.rng.random() < 0.04:
            parts.append(self.pick(SEEING))
        text = "".join(self.pick([" + ", " - ", " * ", " ^ "]) + part.format(v=self.pick(vertices)) for part in parts)
        return f"(p.x[{vertices[0]}]{text}) % 1009"

    def functor(self, arguments: str, *lines: str) -> Callable[..., Any]:
        self.count += 1
        name = f"f{self.count}"
        self._made(name, f"def {name}(p, {arguments}):\n" + "".join(f"    {line}\n" for line in lines))
        made: Callable[..., Any] = self.known[name]  # type: ignore[assignment]
        return made

    def gather(self) -> fr.Step:
        edges, far = self.pick([("in", "src"), ("out", "dst")])
        arguments = self.pick([(far,), ("src", "dst"), (far, "weight")])
        ends = [name for name in arguments if name != "weight"]
        value = self.value(*ends) + (" * weight" if "weight" in arguments else "")
        keeps = self.functor(far, f"return {self.value(far)} % 3 != 0") if self.rng.random() < 0.3 else None
        op = self.pick(["sum", "min", "max", "or", "mode"] if self.rng.random() < 0.95 else ["argmin", "argmax"])
        return fr.Gather(self.functor(", ".join(arguments), f"return {value}"), op, "got", edges, where=keeps)

    def compute(self) -> fr.Step:
        field = self.pick(["x", "y"])
        lines = [f"p.{field}[v] = (p.got[v] + {self.value('v')}) % 1009"]
        if self.rng.random() < 0.3:
            lines.append(f"fr.atomic_add(p.histogram, p.{field}[v] % 8, 1)")
        return fr.Compute(self.functor("v", *lines))

    def reduce(self) -> fr.Step:
        return fr.Reduce(self.functor("v", f"return {self.value('v')}"), self.pick(["sum", "max"]), into="total")

    def along_edges(self) -> fr.Step:
        return fr.Reduce(self.functor("src, dst", f"return {self.value('src', 'dst')}"), "sum", "total", over="edges")

    def step(self) -> fr.Step:
        makers = (self.gather, self.gather, self.compute, self.compute, self.reduce, self.along_edges)
        made: fr.Step = self.pick([*makers, lambda: fr.Swap("x", "y")])()
        return made

    def program(self) -> fr.Step:
        before = [fr.Sequence(self.step(), over="vertices") for _ in range(int(self.rng.integers(2)))]
        inside = [self.step() for _ in range(int(self.rng.integers(2, 5)))]
        return fr.Sequence(*before, fr.Loop(*inside, times=3, count="turn", over="vertices"))


def problem(seed: int) -> fr.Problem:
    """A skewed graph that is not in order of degree, whose vertices can be told by what they hold."""
    rng = np.random.default_rng(seed)
    g = fr.rmat(5, 4, seed=seed, directed=bool(seed % 2), weights=(1, 9)).to("python")
    values = {name: fr.vertex("int64", rng.integers(0, 1009, g.num_vertices)) for name in ("x", "y", "got")}
    numbers = {name: fr.scalar("int64") for name in ("turn", "total")}
    arrays = {name: fr.array(rng.integers(0, 9, 8)) for name in ("table", "histogram")}
    return fr.Problem(g, **values, **numbers, **arrays, n=fr.scalar("int64", g.num_vertices))


def differs(seed: int) -> tuple[bool, bool]:
    """Whether a program runs on a copy, and whether it leaves something else there."""
    step, given, other = Writer(seed).program(), problem(seed), problem(seed)
    fr.Sequence(step, schedule=AS_GIVEN)(given)
    moved = renumbers(lambda: fr.Sequence(step, schedule=BY_DEGREE)(other))
    same = all(np.array_equal(host(getattr(given, name)), host(getattr(other, name))) for name in given.fields)
    return moved, not same


def test_they_leave_the_same() -> None:
    found = [differs(seed) for seed in range(PROGRAMS)]
    assert not [seed for seed, (_, different) in enumerate(found) if different]
    assert PROGRAMS / 4 < sum(moved for moved, _ in found) < PROGRAMS


def test_a_wrong_permutation_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    permute = numbering.Renumbered._permute

    def wrong(self: Any, here: Any, there: Any, ids: Any, names: list[str]) -> None:
        permute(self, here, there, self._made.old, names)  # also on the way back

    monkeypatch.setattr(numbering.Renumbered, "_permute", wrong)
    seen = [different for moved, different in map(differs, range(PROGRAMS // 4)) if moved]
    assert sum(seen) > len(seen) / 2  # the others change no vertex field


def test_a_functor_that_sees_ids_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbering, "_does_more", lambda found, fields: "")
    assert any(different for _, different in map(differs, range(PROGRAMS)))
