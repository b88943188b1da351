"""The Graph500 benchmark on GPUs: its edges are those of the host, and every broken rule is found there too."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import strict_cupy
from conftest import COUNT, GPUS

import frontier as fr
from frontier.cli import main
from frontier.distributed.devices import building, choice, spreading
from frontier.errors import VerificationError
from frontier.graph500 import run
from frontier.graph500.generator import generate
from frontier.graph500.on_gpus import OnGpus, _make, table_of
from frontier.graph500.roots import with_neighbor
from frontier.graph500.validation import (
    Tree,
    bfs_tree,
    check_edges,
    check_joined,
    sssp_tree,
    validate_bfs,
    validate_sssp,
)
from frontier.memory import detection
from frontier.memory.arrays import to_host
from frontier.memory.placement import Placement

pytestmark = pytest.mark.gpu

SIMULATED = detection.simulated()


@pytest.fixture(params=["cuda", "cuda:0,0,0", GPUS])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Placement]:
    """One GPU, or several that build even small graphs, in pieces."""
    monkeypatch.setattr(spreading, "LEAST", 1)
    monkeypatch.setattr(choice, "LEAST", 1)
    monkeypatch.setattr(building, "PIECE", 40)
    monkeypatch.setattr(building, "BLOCK", 60)
    if SIMULATED:
        with strict_cupy.simulated():
            yield Placement.parse(request.param)
    elif request.param == GPUS and len(detection.every()) < COUNT:
        pytest.skip("there is one GPU only")
    else:
        yield Placement.parse(request.param)


def ready(place: Placement, scale: int, factor: int, seed: int = 1, lies: str = "device") -> OnGpus:
    work = OnGpus(scale, factor, seed, place)
    assert work.lies == "device"
    work.lies = lies
    work.generate()
    return work


@pytest.mark.parametrize(("scale", "factor", "lies"), [(1, 3, "device"), (6, 3, "host"), (7, 1, "device")])
def test_edges_and_graphs_are_those_of_the_host(place: Placement, scale: int, factor: int, lies: str) -> None:
    work, edges = ready(place, scale, factor, 3, lies), generate(scale, factor, seed=3)
    pieces = [work._pieces[key] for key in sorted(work._pieces)]
    assert [isinstance(each, np.ndarray) for each in pieces[0]] == 3 * [lies == "host" or detection.simulated()]
    for made, wanted in zip(zip(*pieces, strict=True), (edges.src, edges.dst, edges.weight), strict=True):
        made = np.concatenate([to_host(each) for each in made])
        assert made.dtype == wanted.dtype
        assert np.array_equal(made, wanted)
    graph, expected = work.construct(), run.construct(edges, Placement.parse("cpu"))
    assert (graph.placement, graph.directed) == (place, False)
    assert (graph._topology.spread is not None) == place.backend.divides
    connected = work.connected(graph)
    assert np.array_equal(connected, with_neighbor(edges, edges.num_vertices))
    ids = ids_of(work, connected)
    assert np.array_equal(np.sort(ids), np.flatnonzero(connected))
    assert rows(graph, ids) == rows(expected, np.arange(expected.num_vertices))
    assert not work._pieces
    held = work.held(graph)
    assert held.list_lies == lies
    assert held.bytes_an_edge == 8 * expected.num_slots / len(edges)


def ids_of(work: OnGpus, connected: np.ndarray) -> np.ndarray:
    """The id of each vertex of the graph, by asking for the vertex of each id that has an edge."""
    known = np.flatnonzero(connected)
    ids = np.full(len(known), -1)
    ids[[work.vertex(v) for v in known.tolist()]] = known
    return ids


def rows(graph: fr.Graph, ids: np.ndarray) -> list[tuple[int, int, float]]:
    """Edges with their weights, by ids, in order."""
    ends = (ids[to_host(each)].tolist() for each in (graph.sources, graph.targets))
    return sorted(zip(*ends, to_host(graph.weights).tolist(), strict=True))


def test_degrees_fall_in_each_part(place: Placement) -> None:
    work, edges = ready(place, 7, 3), generate(7, 3)
    graph = work.construct()
    proper = edges.src != edges.dst
    degree = np.bincount(np.concatenate((edges.src[proper], edges.dst[proper])), minlength=edges.num_vertices)
    ids = ids_of(work, degree > 0)
    assert graph.num_vertices == np.count_nonzero(degree) < edges.num_vertices
    spread = graph._topology.spread
    starts = [0, len(ids)] if spread is None else spread.starts.tolist()
    assert len(starts) == 1 + max(len(work._memories), 1)
    below = -1
    for lo, hi in itertools.pairwise(starts):
        assert lo % 32 == 0
        own = ids[lo:hi]
        assert all(own > below)  # a range of ids, which follows that of the part before
        below = max([below, *own])
        assert np.array_equal(own, sorted(own, key=lambda v: (-degree[v], v)))


@pytest.mark.parametrize("least", [1, 1 << 26])
def test_results_have_the_ids_of_the_list(place: Placement, monkeypatch: pytest.MonkeyPatch, least: int) -> None:
    """Whether results lie in parts on all GPUs, or on the first."""
    monkeypatch.setattr(spreading, "LEAST_FIELD", least)
    work, edges = ready(place, 7, 3), generate(7, 3)
    graph, n = work.construct(), edges.num_vertices
    connected = to_host(work.connected(graph))
    ids, rng = ids_of(work, connected), np.random.default_rng(5)
    parents, far = rng.integers(-1, len(ids), len(ids), np.int32), rng.random(len(ids), np.float32)
    p = fr.Problem(graph, parent=fr.vertex("int32", parents), distance=fr.vertex("float32", far))
    found = {name: to_host(each) for name, each in work.restored({"a": p.parent, "b": p.distance}).items()}
    assert [(each.dtype, each.shape) for each in found.values()] == [("int32", (n,)), ("float32", (n,))]
    assert np.array_equal(found["a"][ids], np.where(parents < 0, -1, ids[parents]))
    assert np.array_equal(found["b"][ids], far)
    assert (found["a"][~connected] == -1).all()
    assert (found["b"][~connected] == np.inf).all()


def test_the_last_edges_of_a_large_list() -> None:
    """Where numbers of edges and ids have many bits."""
    memory = Placement.parse("cuda").memory
    count = 16 << 31
    with memory.using():
        made = [memory.xp.empty(50, kind) for kind in (np.int64, np.int64, np.float32)]
        _make(memory, count - 50, count, 31, memory.moved(table_of(7)), *made)
    wanted = generate(31, 16, seed=7, lo=count - 50)
    for found, expected in zip(made, (wanted.src, wanted.dst, wanted.weight), strict=True):
        assert np.array_equal(to_host(found), expected)


SCALE, FACTOR = 5, 1


@pytest.fixture(scope="module")
def known() -> tuple[Any, ...]:
    """Edges, a root, and right results on the host, all of them with vertices outside the tree."""
    edges = generate(SCALE, FACTOR)
    graph = run.construct(edges, Placement.parse("cpu"))
    root = int(graph.out_degree.argmax())
    bfs, sssp = fr.bfs(graph, root), fr.sssp(graph, root, dtype="float32")
    assert (bfs.parent < 0).any()
    assert bfs.level.max() >= 3
    return edges, root, bfs.parent, sssp.parent, sssp.distance


def on_gpus(work: OnGpus, tree: Callable[..., Tree], root: int, *result: np.ndarray) -> int:
    with work.memory.using():
        made = tree(root, *map(work.memory.moved, result))
        return check_joined(made, work.evidence(made))


def test_right_results(place: Placement, known: tuple[Any, ...]) -> None:
    edges, root, parents, tree, distances = known
    work = ready(place, SCALE, FACTOR)
    assert on_gpus(work, bfs_tree, root, parents) == validate_bfs(edges, root, parents) > 0
    assert on_gpus(work, sssp_tree, root, tree, distances) == validate_sssp(edges, root, tree, distances) > 0
    with work.memory.using():
        made = sssp_tree(root, *map(work.memory.moved, (tree, distances)))
        joined = to_host(work.evidence(made).joined)
    assert np.array_equal(joined, check_edges(edges, sssp_tree(root, tree, distances)).joined)


#: What messages say, for each rule that a change of one parent, or of one distance, can break.
OF_PARENTS = (
    "but the root is its own parent", "is -2", f"is {1 << SCALE}", "which is outside the tree",
    "do not lead to the root", "there is no edge between them",
)  # fmt: skip
OF_LEVELS = (*OF_PARENTS, "joins vertices of levels", "with one outside")
OF_DISTANCES = (
    "but it is the root", "is nan", "is inf", "is -0.5", "is 0.5", "joins vertices at distances",
    "no edge between them of weight",
)  # fmt: skip


def refused(check: Callable[..., int], *given: Any) -> str:
    """What a check says of a wrong result; nothing of a right one."""
    try:
        check(*given)
    except VerificationError as error:
        return str(error)
    return ""


def changed(values: np.ndarray, at: int, value: Any) -> np.ndarray:
    made = values.copy()
    made[at] = value
    return made


@pytest.mark.parametrize(
    ("kernel", "what", "kinds"),
    [("bfs", "parent", OF_LEVELS), ("sssp", "parent", OF_PARENTS), ("sssp", "distance", OF_DISTANCES)],
)
def test_every_rule(place: Placement, known: tuple[Any, ...], kernel: str, what: str, kinds: tuple[str, ...]) -> None:
    """Of all changes of one value, one that the host refuses for each reason; the GPU says the same of it."""
    edges, root, levels, parent, far = known
    n, result = len(parent), [levels] if kernel == "bfs" else [parent, far]
    host, tree = (validate_bfs, bfs_tree) if kernel == "bfs" else (validate_sssp, sssp_tree)
    work, found = ready(place, SCALE, FACTOR), dict.fromkeys(kinds, 0)
    for v in range(n):
        values = (0.25, np.nan, np.inf, -0.5, 0.5, far[v] * 1.001, far[v] * 0.999)
        for value in range(-2, n + 1) if what == "parent" else values:
            wrong = result.copy()
            wrong[what == "distance"] = changed(wrong[what == "distance"], v, value)
            message = refused(host, edges, root, *wrong)
            for kind in kinds:
                if kind in message and not found[kind]:
                    found[kind] = 1
                    assert refused(on_gpus, work, tree, root, *wrong) == message
    assert all(found.values()), found
    short = [values[:-1] for values in result]
    assert refused(on_gpus, work, tree, root, *short) == refused(host, edges, root, *short) != ""


def test_a_tree_that_leaves_a_vertex_out(place: Placement, known: tuple[Any, ...]) -> None:
    edges, root, _, parent, far = known
    leaf = int(np.where(far < np.inf, far, -1).argmax())
    wrong = changed(parent, leaf, -1), changed(far, leaf, np.inf)
    message = refused(on_gpus, ready(place, SCALE, FACTOR), sssp_tree, root, *wrong)
    assert "with one outside" in message
    assert message == refused(validate_sssp, edges, root, *wrong)


def test_benchmark(place: Placement, monkeypatch: pytest.MonkeyPatch) -> None:
    if SIMULATED and place.name == "cuda:0,0,0":
        pytest.skip("three parts take long in the simulator, and test nothing here that two do not")
    monkeypatch.setattr(OnGpus, "_fits", lambda self: False)
    if SIMULATED and place.backend.divides:  # where searches by distance take seconds
        monkeypatch.delitem(run.KERNELS, "sssp")
    found = run.benchmark(3, 2, roots=1, backend=place, seed=2)
    expected = run.benchmark(3, 2, roots=1, backend="cpu", seed=2)
    for kernel, searches in found.searches.items():
        wanted = expected.searches[kernel]
        assert [(each.root, each.edges) for each in searches] == [(each.root, each.edges) for each in wanted]
    assert found.held is not None
    assert found.held.list_lies == "host"
    assert found.gpus == len(found.held.peak) == (COUNT if place.name == GPUS else 1)
    assert set(found.as_json()["GTEPS_a_GPU"]) == set(run.KERNELS)
    assert expected.held is None


def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    path = tmp_path / "out.json"
    assert main(["graph500", "--scale", "4", "--backend", "cuda", "--roots", "1", "--json", str(path)]) == 0
    capsys.readouterr()
    assert json.loads(path.read_text())["held"]["bytes_a_vertex"] > 4
