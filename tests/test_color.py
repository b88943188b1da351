"""Colourings: neighbours differ, and the colours are those of a greedy algorithm by the same order."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from compare import equal, host, workers
from conftest import Backend
from hypothesis import given
from strategies import SIMULATED, graphs, random_graphs

import frontier as fr
from frontier.primitives import _coloring_gathered as gathered
from frontier.primitives import _coloring_pushed as told
from frontier.primitives import _coloring_small as small


def use(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Let a program colour all graphs."""
    module = sys.modules[fr.color.__module__]
    known: dict[str, Any] = {"ColoringGathered": gathered.fields, "ColoringPacked": lambda g: small.PACKED}
    known["ColoringOfLowDegrees"] = lambda g: small.LOW
    fields = known.get(program, told.fields)
    monkeypatch.setattr(module, "_variant", lambda g: (getattr(module, program), fields(g)))


def check(g: fr.Graph, seed: int = 0) -> fr.primitives.color.ColorResult:
    """Neighbours have different colours, and every vertex has neighbours of all lower ones."""
    result = fr.color(g, seed=seed)
    color, here = host(result.color), g.to("cpu")
    assert color.shape == (g.num_vertices,)
    assert color.dtype == g.targets.dtype
    assert result.count == color.max(initial=-1) + 1
    src, dst = here.sources, here.targets
    proper = src != dst
    assert (color >= 0).all()
    assert (color[src] != color[dst])[proper].all()
    pairs = np.concatenate([np.stack([src, color[dst]], 1), np.stack([dst, color[src]], 1)])
    proper = np.concatenate([color[dst] < color[src], color[src] < color[dst]])
    below = np.unique(pairs[proper], axis=0)
    equal(np.bincount(below[:, 0].astype(np.int64), minlength=g.num_vertices), color)
    return result


def test_many_graphs(backend: Backend) -> None:
    count, largest = (100, 200) if backend.name != "python" and not SIMULATED else (20, 30)
    for i, g in enumerate(random_graphs(count, seed=84, max_vertices=largest, weights=None, parallel=True)):
        check(backend(g), seed=i)


@given(g=graphs(weights=None))
def test_any_graph(backend: Backend, g: fr.Graph) -> None:
    check(backend(g))


def test_the_same_colours_on_all_backends(backend: Backend) -> None:
    g = fr.small_world(36, 4, 0.2, seed=1)
    expected = fr.color(g, seed=5)
    with workers(3):
        equal(fr.color(backend(g), seed=5).color, expected.color)
    assert (host(fr.color(backend(g), seed=6).color) != expected.color).any()


def test_special_graphs(backend: Backend) -> None:
    assert check(backend(fr.from_edges([], [], num_vertices=0))).count == 0
    assert check(backend(fr.from_edges([], [], num_vertices=3))).color.tolist() == [0, 0, 0]
    assert check(backend(fr.from_edges([0, 0, 0], [0, 0, 1], duplicates="keep"))).count == 2
    assert check(backend(fr.star(9))).color.tolist() == [0] + [1] * 8
    assert check(backend(fr.from_edges([0, 1, 0], [1, 2, 2], directed=True))).count == 3


def test_more_colours_than_bits(backend: Backend) -> None:
    """A number has 62 of them."""
    for n in (63,) if SIMULATED else (62, 63, 64, 130):
        assert check(backend(fr.complete(n))).count == n


@pytest.mark.parametrize("name", ["ColoringOfLowDegrees", "ColoringPacked", "ColoringWithoutHubs", "ColoringGathered"])
def test_all_programs(backend: Backend, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """For few edges at a vertex, with vertices that tell their colours, and with gathers: all give the same colours."""
    given = list(random_graphs(5, seed=85, max_vertices=30, weights=None, parallel=True))
    expected = [fr.color(g).color for g in given]
    if name != "ColoringGathered" and backend(given[0]).placement.divides:
        pytest.skip("parts of a graph cannot set bits of each other's vertices")
    use(monkeypatch, name)
    for g, colors in zip(given, expected, strict=True):
        equal(check(backend(g)).color, colors)
    for n in {"ColoringOfLowDegrees": (62,), "ColoringPacked": (24, 25, 127)}.get(name, (62, 63, 64)):
        assert check(backend(fr.complete(n))).count == n


def test_parts() -> None:
    g = fr.rmat(7, 4, seed=3)
    equal(check(g.to("ranks:2")).color, check(g).color)


@pytest.mark.unsimulated("large graphs")
@pytest.mark.parametrize("name", ["email-Enron", "ego-Twitter"])
def test_real_graphs(compiled: Backend, real_graph: Any, name: str) -> None:
    with workers(2):
        check(compiled(real_graph(name)))


@pytest.mark.parametrize("seed", [1] if SIMULATED else [1, 2, 3, 4])
def test_hubs(backend: Backend, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Part by part they get the colours that they get one by one."""
    monkeypatch.setattr(told, "HUB", 1)
    g = fr.rmat(5 if SIMULATED or backend.name == "python" else 8, 6, seed=seed)
    expected = fr.color(g, seed=seed).color
    there = backend(g)
    if not there.placement.divides:
        use(monkeypatch, "Coloring")
        assert told.classes(there) > 0
    equal(check(there, seed=seed).color, expected)
