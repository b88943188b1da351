"""Placements: what strings name, what they say of arrays, and that a backend from outside is one like any other."""

from __future__ import annotations

import ast
import copy
import dataclasses
import doctest
import inspect
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import ROOT

import frontier as fr
from frontier.backends import Backend, base, register_backend
from frontier.backends.python import PythonBackend
from frontier.memory import placement
from frontier.memory.arrays import is_device
from frontier.memory.gpu import gpu
from frontier.memory.host import HOST, HostMemory
from frontier.memory.placement import placed


class Counting(PythonBackend):
    """The interpreter under another name; it counts what it is asked to run."""

    name = "counting"

    def __init__(self) -> None:
        self.started: list[str] = []

    def start(self, step: Any, p: fr.Problem, f: fr.Frontier | None, schedule: fr.Schedule) -> Any:
        self.started.append(type(step).__name__)
        return super().start(step, p, f, schedule)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    monkeypatch.setattr(placement, "BACKENDS", dict(placement.BACKENDS))
    monkeypatch.setattr(base, "BACKENDS", placement.BACKENDS)
    made = Counting()
    assert register_backend(made) is made
    return made


# -- strings ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cpu", "python"])
def test_names_of_the_host(name: str) -> None:
    there = fr.Placement.parse(name)
    assert str(there) == there.name == there.backend.name == name
    assert there.memory is HOST
    assert there.residence == {"offsets": "host", "edges": "host", "fields": "host"}
    assert fr.Placement.parse(there) is there
    g = fr.path(3).to(name)
    assert g.placement is there
    assert g.backend == name
    assert repr(g).endswith(f"; {name}>")


def test_names_of_gpus(xp: Any) -> None:
    first, second = fr.Placement.parse("cuda"), fr.Placement.parse("cuda:0")
    assert first is second
    assert str(first) == "cuda"
    assert first.memory is gpu(0)
    assert set(first.residence.values()) == {"device"}
    assert first.massively_parallel
    assert not fr.Placement.parse("cpu").massively_parallel
    if xp.cuda.runtime.getDeviceCount() > 1:
        other = fr.Placement.parse("cuda:1")
        assert str(other) == "cuda:1"
        assert other != first
        assert other.backend is first.backend
        assert fr.path(3).to(other).targets.device.id == 1


@pytest.mark.parametrize("name", ["cpu", "python"])
def test_names_say_where_edges_lie(name: str) -> None:
    """And ``to`` takes them; test_far_edges has those of GPUs."""
    g = fr.path(9)
    there = g.to(name, edges="disk")
    assert str(there.placement) == f"{name}, edges='disk'"
    assert there.placement.name == name
    assert g.to(str(there.placement)).placement is there.placement
    assert repr(there).endswith(f"; {name}, edges in disk memory>")
    assert str(g.to(name, edges="host").placement) == name
    with pytest.raises(fr.GraphError, match=f"edges='moon' is not possible on '{name}'"):
        g.to(f"{name}, edges='moon'")
    with pytest.raises(fr.GraphError, match="there is no backend 'gpu'"):
        g.to("gpu, edges='host'")


@pytest.mark.parametrize(
    "text",
    ["", "gpu", "CPU", "cpu:1", "python:0", "cuda:", "cuda:x", "cuda:-1", "cuda:al", "ranks:", ":", "auto:1", 3, None],
)
def test_what_names_no_placement(text: Any) -> None:
    with pytest.raises(fr.GraphError, match=re.escape(f"there is no backend {text!r}: choose 'cpu', 'python', 'cuda'")):
        fr.path(3).to(text)


def test_equal_hashed_copied_and_pickled() -> None:
    cpu, python = fr.Placement.parse("cpu"), fr.Placement.parse("python")
    assert cpu != python
    assert cpu == fr.Placement(cpu.backend, HOST)
    assert len({cpu, python, fr.Placement(cpu.backend, HOST)}) == 2
    for again in (pickle.loads(pickle.dumps(cpu)), copy.copy(cpu), copy.deepcopy(cpu)):
        assert again is cpu
    assert pickle.loads(pickle.dumps(HOST)) is HOST
    assert pickle.loads(pickle.dumps(gpu(1))) is gpu(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        cpu.name = "other"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        fr.path(3).placement = cpu  # type: ignore[misc]


def test_from_the_placement_of_another_graph(backend: Any) -> None:
    here, other = backend(fr.path(3)), fr.path(5)
    there = other.to(here.placement)
    assert there.placement == here.placement
    assert there.to(here.placement) is there
    assert here.placement.shares_arrays_with(other.placement) == (not is_device(here.targets)) or backend.name == "cuda"
    made = fr.Graph(there.offsets, there.targets, directed=False, placement=there.placement)
    assert made.backend == backend.name


# -- what lies where --------------------------------------------------------------------------------


class Slow(HostMemory):
    """As if on a disk."""

    residence = "disk"


def test_edges_that_lie_elsewhere() -> None:
    """A placement can say so, if the backend reads them there."""
    slow, cpu = Slow(), fr.Placement.parse("cpu")
    with pytest.raises(fr.GraphError, match="'cpu' reads edges from host and disk memory only, not from device memory"):
        fr.Placement(cpu.backend, HOST, edges=Parts(2))

    class Streaming(PythonBackend):
        name = "streaming"
        reads_edges_from = ("disk",)

    there = placed(Streaming(), HOST, slow)
    assert there.residence == {"offsets": "host", "edges": "disk", "fields": "host"}
    assert there.memory_of("edges") is slow
    assert there.memory_of("fields") is there.memory_of("offsets") is HOST
    assert not there.shares_arrays_with(cpu)


def test_arrays_are_moved_by_their_kind() -> None:
    class Noting(Slow):
        def moved(self, values: Any, copy: bool = False) -> Any:
            sizes.append(len(values))
            return super().moved(values, copy)

    class Streaming(PythonBackend):
        name = "streaming"
        reads_edges_from = ("disk",)

    sizes: list[int] = []
    g = fr.from_edges([0, 1, 2], [1, 2, 0], [5, 6, 7], directed=True, vertices={"a": [1, 2, 3, 4]}, num_vertices=4)
    assert len(g.in_edges) == 3  # built, and moved too
    there = g.to(placed(Streaming(), HOST, Noting()))
    assert sizes == [3] * 4  # targets, weights, in-sources, in-edges; not offsets and columns of vertices
    assert fr.bfs(there, 0).level.tolist() == [0, 1, 2, -1]
    assert there.to("cpu").targets is g.targets
    assert g.to(there.placement).targets is there.targets


class Parts(HostMemory):
    """As if in parts on several devices: memory of a kind of its own, named after a colon."""

    residence = "device"

    def __init__(self, count: int) -> None:
        self.part = f":{count}"
        self.moves = 0

    def moved(self, values: Any, copy: bool = False) -> Any:
        self.moves += 1
        return super().moved(values, copy)


def test_a_memory_of_another_kind(counting: Counting) -> None:
    """What several devices need: a string of their own, arrays made and moved by their memory, and back to the host."""
    memory = Parts(3)

    class Several(PythonBackend):
        name = "several"

        def placement(self, part: str = "") -> fr.Placement:
            return placed(self, memory) if part == "3" else super().placement(part)

    register_backend(Several())
    g = fr.from_edges([0, 1, 2], [1, 2, 0], [5, 6, 7], directed=True)
    there = g.to("several:3")
    assert str(there.placement) == there.backend == "several:3"
    assert set(there.placement.residence.values()) == {"device"}
    assert memory.moves == 3
    assert not np.shares_memory(there.targets, g.targets)
    assert g.to("several:3").targets is there.targets
    assert fr.bfs(there, 0).level.tolist() == [0, 1, 2]
    assert there.with_weights([1, 2, 3]).reordered().placement is there.placement
    assert there.in_sources.tolist() == g.in_sources.tolist()
    assert there.to("counting").targets is g.targets
    with pytest.raises(fr.GraphError, match="no backend 'several:4'"):
        g.to("several:4")


# -- backends ---------------------------------------------------------------------------------------


def test_a_backend_from_outside(counting: Counting) -> None:
    g = fr.karate()
    there = g.to("counting")
    assert there.targets is g.targets
    assert (str(there.placement), there.backend) == ("counting", "counting")
    np.testing.assert_array_equal(fr.bfs(there, 0).level, fr.bfs(g, 0).level)
    assert counting.started
    before = len(counting.started)
    p = fr.Problem(there, a=fr.vertex("int64"))
    fr.Compute(touch, over="vertices")(p)
    assert p.a.tolist() == list(range(34))
    assert counting.started[before:] == ["Compute"]
    assert pickle.loads(pickle.dumps(there)).backend == "counting"
    assert there.to("cpu").backend == "cpu"
    with pytest.raises(fr.GraphError, match=r"'ranks:3', 'counting' or 'auto'"):
        g.to("nothing")
    with pytest.raises(fr.GraphError, match="there is no backend 'counting:1'"):
        g.to("counting:1")


def touch(p: Any, v: Any) -> None:
    p.a[v] = v


def test_a_backend_from_outside_on_the_command_line(counting: Counting, capsys: Any) -> None:
    from frontier.cli import main

    assert main(["bfs", "karate", "--backend", "counting", "--verify"]) == 0
    assert "counting" in capsys.readouterr().out
    assert counting.started
    assert main(["bfs", "karate", "--backend", "nothing"]) != 0
    assert "expected auto, cuda:N, cuda, cpu, python, ranks or counting, not 'nothing'" in capsys.readouterr().err


def test_the_example_of_a_backend(counting: Counting) -> None:
    example = doctest.DocTestParser().get_doctest(inspect.getdoc(Backend) or "", {"fr": fr}, "Backend", None, 0)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


def test_one_of_the_same_name_replaces_it(counting: Counting) -> None:
    old = fr.path(3).to("counting")
    new = register_backend(Counting())
    assert fr.path(3).to("counting").placement.backend is new
    assert old.placement.backend is counting
    assert old.to("counting").placement.backend is new


@pytest.mark.parametrize("name", ["cpu", "auto", "cuda", "a b", "a:1", "", None])
def test_names_that_no_backend_can_have(name: Any) -> None:
    made = Counting()
    made.name = name
    with pytest.raises(fr.GraphError, match="a backend cannot be called"):
        register_backend(made)


def test_what_a_backend_must_have() -> None:
    class Nothing(Backend):
        name = "nothing"

    with pytest.raises(TypeError, match="abstract"):
        Nothing()  # type: ignore[abstract]


def test_a_placement_of_a_backend_that_is_not_registered_is_not_unpickled(counting: Counting) -> None:
    data = pickle.dumps(fr.path(2).to("counting"))
    del placement.BACKENDS["counting"]
    with pytest.raises(fr.GraphError, match="there is no backend 'counting'"):
        pickle.loads(data)


# -- nothing else compares names --------------------------------------------------------------------

def comparisons(path: Path) -> Iterator[int]:
    """Lines that compare something with the name of a backend, or look at how it begins."""
    names = {"cpu", "python", "cuda"}
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        parts: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and "with" in node.func.attr:
            parts = node.args
        flat = [each for part in parts for each in (part.elts if isinstance(part, ast.Tuple | ast.Set) else [part])]
        if any(isinstance(each, ast.Constant) and each.value in names for each in flat):
            yield node.lineno


def test_nobody_compares_names_of_backends() -> None:
    found = {
        f"{path.relative_to(ROOT).as_posix()}:{line}"
        for folder in ("frontier", "operators", "primitives")
        for path in (ROOT / folder).rglob("*.py")
        for line in comparisons(path)
    }
    assert found == set()
