"""A functor that raises in compiled code ends the run with one error, on every number of workers, and never hangs."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
import raising
from compare import workers
from processes import environment

import frontier as fr
from frontier.backends.cpu import compiler
from frontier.program import execution

SCRIPT = Path(raising.__file__)


def run_script(*arguments: str, seconds: float = 400) -> str:
    """What the script prints; if it hangs it ends itself with the stacks of its threads."""
    made = subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=seconds, env=environment()
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return made.stdout


@pytest.mark.parametrize("kind", ["tuple", "raise"])
def test_every_kind_of_exception_in_every_place(kind):
    """On one, two and four workers; CI has the other kinds in a step of its own."""
    run_script("--kind", kind, "--limit", "120")


@pytest.mark.gpu
@pytest.mark.parametrize("kind", raising.KINDS)
def test_every_kind_of_exception_in_every_place_of_a_kernel(kind):
    """In both builds; the GPU is as good as before, for each run is followed by one that is right."""
    run_script("--kind", kind, "--limit", "120", "--backend", "cuda", "--scale", "4", "--workers", "1", "2")


@pytest.mark.gpu
@pytest.mark.unsimulated("a large graph")
def test_many_threads_of_a_gpu_raise_at_once():
    places = [word for name in ("push", "where, pull", "compute", "reduce value") for word in ("--place", name)]
    run_script("--kind", "tuple", "--limit", "120", "--backend", "cuda", "--scale", "18", "--seconds", "10", *places)


def test_ctrl_c_while_functors_raise():
    """Wherever it comes, the run ends, and the next one is as good as ever."""
    places = [word for name in ("push", "pull", "reduce value", "set value") for word in ("--place", name)]
    run_script("--kind", "tuple", "--seconds", "4", "--interrupt", *places)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("tuple", "raised IndexError: tuple index out of range"),
        ("keyword", "raised IndexError: tuple index out of range"),
        ("njit", "raised IndexError: tuple index out of range"),
        ("range", "raised ValueError"),
        ("nothing", "returned nothing, where a number was expected"),
    ],
)
@pytest.mark.parametrize("count", [1, 2])
def test_the_error_names_the_functor_and_what_it_raised(kind, said, count):
    with workers(count):
        step = raising.Step(kind, "reduce value", fr.rmat(8, 4, seed=1))
        line = step.made.vertex.__code__.co_firstlineno
        message = step.run()
        assert message.startswith(f"at_vertex ({SCRIPT}:{line}) {said}")


def outside(p, v):
    return raising.TABLE[p.turn]


def fine(p, v):
    return p.turn


class Growing(fr.Enactor):
    loop = fr.Loop(fr.Reduce(outside, "max", into="total"), over="vertices", times=9, count="turn")


class Right(fr.Enactor):
    loop = fr.Loop(fr.Reduce(fine, "max", into="total"), over="vertices", times=9, count="turn")


@pytest.mark.parametrize("count", [1, 2, 4])
def test_after_it_there_is_nothing_to_go_on_with_and_a_right_program_runs(compiled, count):
    g = compiled(fr.path(70))
    p = raising.problem(g)
    with workers(count):
        for _ in range(2):
            p.turn = 0
            enactor = Growing(p)
            with pytest.raises(fr.FunctorError, match="outside"):
                enactor.run()
            assert not enactor.paused
            assert p.turn == enactor.passes == 3
            with pytest.raises(fr.FrontierError, match="no run to go on with"):
                enactor.resume()
            p.turn = 0
            Right(p).run()
            assert p.total == 9


def test_two_functors_of_a_step_are_told_apart(compiled):
    g = compiled(fr.path(70))
    made = raising.functors("tuple")
    with workers(2):
        for step, name in (
            (fr.Advance(raising.anything, where=made.far), "at_far_end"),
            (fr.Advance(made.edge, where=raising.anything), "at_edge"),
        ):
            with pytest.raises(fr.FunctorError, match=name):
                execution.run(fr.Sequence(step, over="vertices"), raising.problem(g))


def test_nothing_in_a_loops_text_raises(monkeypatch):
    """In machine code that is made of it there is no way out with an error: exceptions of functors are all caught."""
    salt = random.randrange(5**20)  # compiled anew, for what is kept on disk has lost its text

    def fail(x):
        return raising.TABLE[(x + salt) % 5]

    def noted(name, *given):
        made[name] = library(name, *given)
        return made[name]

    made, library = {}, compiler.library
    monkeypatch.setattr(compiler, "library", noted)
    monkeypatch.setitem(raising.KINDS, "salted", fail)
    g = fr.rmat(6, 4, seed=1)
    for name in ("push", "where, pull", "split", "gather value", "reduce value", "buckets value", "set value"):
        made.clear()
        raising.Step("salted", name, g).run()
        ((symbol, found),) = made.items()
        head = rf"^define internal [^@\n]*@{symbol}\.loop[^\n]*\n"
        (body,) = re.findall(head + "(.*?)^}", found.get_llvm_str(), re.MULTILINE | re.DOTALL)
        assert set(re.findall(r"^  ret [^\n]*$", body, re.MULTILINE)) == {"  ret void"}, name
