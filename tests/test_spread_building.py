"""Graphs that several GPUs build together: the same as built in one piece."""

from __future__ import annotations

import numpy as np
import pytest
import strict_cupy
from conftest import COUNT, GPUS

import frontier as fr
from frontier.distributed.devices import building, choice, spreading
from frontier.memory import detection
from frontier.memory.arrays import to_host

pytestmark = pytest.mark.gpu

SIMULATED = detection.simulated()


@pytest.fixture(params=["cuda:0,0,0", GPUS])
def several(request, monkeypatch):
    """A placement on several GPUs, which build even small graphs, in many pieces."""
    monkeypatch.setattr(spreading, "LEAST", 1)
    monkeypatch.setattr(building, "PIECE", 50)
    monkeypatch.setattr(building, "BLOCK", 60)
    if SIMULATED:
        with strict_cupy.simulated():
            yield request.param
    else:
        if request.param == GPUS and len(detection.every()) < COUNT:
            pytest.skip("there is one GPU only")
        yield request.param


def same(made, expected):
    assert made._topology.spread is not None
    assert (made.directed, made.num_edges) == (expected.directed, expected.num_edges)
    arrays = [(getattr(made, name), getattr(expected, name)) for name in ("offsets", "targets", "weights")]
    assert made.edges.keys() == expected.edges.keys()
    for found, wanted in [*arrays, *((made.edges[name], expected.edges[name]) for name in expected.edges)]:
        if wanted is None:
            assert found is None
            continue
        assert found.dtype == wanted.dtype
        assert np.array_equal(to_host(found), wanted)


@pytest.mark.parametrize("make", [fr.rmat, fr.urand])
@pytest.mark.parametrize(
    "options", [{}, {"weights": (1, 9)}, {"weights": (0.5, 2.0), "directed": True}], ids=["", "weights", "directed"]
)
def test_generators(several, make, options):
    same(make(7, 4, seed=3, placement=several, **options), make(7, 4, seed=3, **options))


@pytest.mark.parametrize("duplicates", ["first", "last", "min", "max", "sum", "keep"])
@pytest.mark.parametrize("directed", [False, True])
def test_edges_with_weights_and_columns(several, duplicates, directed):
    rng = np.random.default_rng(1)
    src, dst, weights = rng.integers(0, 70, 400), rng.integers(0, 70, 400), rng.integers(0, 9, 400)
    options = {"duplicates": duplicates, "directed": directed, "edges": {"time": np.arange(400)}}
    for loops in ("keep", "drop"):
        options["self_loops"] = loops
        given = src, dst, weights
        same(fr.from_edges(*given, placement=several, **options), fr.from_edges(*given, **options))
    same(fr.from_edges(src, dst, placement=several), fr.from_edges(src, dst))


def test_what_is_wrong_with_edges(several):
    """The same messages as for one piece."""
    for src, dst, options in (
        ([0, 3, 5, 3], [1, 4, 1, 4], {"duplicates": "error"}),
        ([0, 3], [1, 3], {"self_loops": "error"}),
        ([0, 3], [1, 9], {"num_vertices": 5}),
    ):
        said = []
        for more in ({}, {"placement": several}):
            with pytest.raises(fr.GraphError) as error:
                fr.from_edges(src, dst, **options, **more)
            said.append(str(error.value))
        assert said[0] == said[1] or "self-loop" in said[1]


def test_files(several, tmp_path):
    """Also those that have every edge from both ends, which is checked."""
    for number, directed in enumerate((False, True)):
        g = fr.rmat(6, 4, seed=3, weights=(1, 9), directed=directed)
        for suffix in ("mtx", "npz", "gr"):
            name = str(tmp_path / f"{number}.{suffix}")
            fr.write(g, name)
            same(fr.read(name, placement=several), fr.read(name))
    path = tmp_path / "0.gr"
    path.write_text(path.read_text().rstrip() + "9\n")  # another weight of the last edge
    with pytest.raises(fr.GraphError, match="both ways"):
        fr.read(str(path), placement=several)


def test_small_graphs_and_all_gpus(several, monkeypatch):
    """What is too small is made on the host; ``"cuda:all"`` makes large graphs in parts."""
    monkeypatch.setattr(spreading, "LEAST", 1 << 22)
    made = fr.rmat(6, 4, placement=several)
    assert made._topology.spread is None
    assert made.backend == several
    if SIMULATED or len(detection.every()) > 1:
        monkeypatch.setattr(choice, "LEAST", 1)
        same(fr.rmat(6, 4, seed=2, placement="cuda:all"), fr.rmat(6, 4, seed=2))
