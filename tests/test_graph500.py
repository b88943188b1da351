"""The Graph500 benchmark: its edges, its statistics, its validation (which finds what is wrong) and its output."""

from __future__ import annotations

import heapq
import itertools
import json
import statistics as stdlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import frontier as fr
from frontier.cli import main
from frontier.errors import GraphError, VerificationError
from frontier.generators.random_numbers import draws
from frontier.graph500 import run
from frontier.graph500.edges import EdgeList
from frontier.graph500.generator import ROUNDS, generate, scramble
from frontier.graph500.on_gpus import OnGpus
from frontier.graph500.report import Outcome, Search
from frontier.graph500.roots import draw_roots, with_neighbor
from frontier.graph500.statistics import rates, summary
from frontier.graph500.validation import (
    bfs_tree,
    check_edges,
    check_joined,
    sssp_tree,
    validate_bfs,
    validate_sssp,
)
from frontier.memory.arrays import to_host
from frontier.memory.placement import Placement
from frontier.native import jit, threads

# -- edges and roots -----------------------------------------------------------------------


def same(one: EdgeList, other: EdgeList) -> bool:
    pairs = ((one.src, other.src), (one.dst, other.dst), (one.weight, other.weight))
    return all(np.array_equal(a, b) for a, b in pairs)


def test_edges_are_those_of_the_seed() -> None:
    edges = generate(8, 16, seed=3)
    assert len(edges) == 16 << 8
    assert (edges.src.dtype, edges.dst.dtype, edges.weight.dtype) == (np.int64, np.int64, np.float32)
    assert same(edges, generate(8, 16, seed=3))
    assert not same(edges, generate(8, 16, seed=4))


@pytest.mark.parametrize("scale", [1, 2, 7, 8])
def test_a_range_of_edges_is_a_part_of_all(scale: int) -> None:
    whole = generate(scale, 16)
    cuts = [0, 1, 5, len(whole) // 2, len(whole) // 2, len(whole)]
    for lo, hi in itertools.pairwise(cuts):
        part = generate(scale, 16, lo=lo, hi=hi)
        assert part.first == lo
        assert same(part, EdgeList(whole.src[lo:hi], whole.dst[lo:hi], whole.weight[lo:hi]))


def test_edges_do_not_depend_on_how_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    few = generate(7)
    monkeypatch.setattr(jit, "FEW", 0)
    monkeypatch.setattr(jit, "ENOUGH", 0)
    assert same(few, generate(7))
    count = threads.num_threads()
    many = generate(14, lo=3, hi=200_000)
    try:
        threads.set_num_threads(1)
        assert same(many, generate(14, lo=3, hi=200_000))
    finally:
        threads.set_num_threads(count)


@pytest.mark.parametrize("scale", range(1, 12))
def test_scrambling_renumbers(scale: int) -> None:
    constants = draws(np.uint64(5), 2 * ROUNDS)
    made = scramble(np.arange(1 << scale), scale, constants)
    assert np.array_equal(np.sort(made), np.arange(1 << scale))
    if scale > 6:  # not even nearly in order
        assert abs(np.corrcoef(made, np.arange(1 << scale))[0, 1]) < 0.2


def test_edges_are_distributed_as_specified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontier.graph500.generator.scramble", lambda ids, scale, constants: ids)
    scale = 10
    edges = generate(scale)
    for bit in range(scale):
        quadrant = 2 * (edges.src >> bit & 1) + (edges.dst >> bit & 1)
        shares = np.bincount(quadrant, minlength=4) / len(edges)
        assert np.allclose(shares, [0.57, 0.19, 0.19, 0.05], atol=0.02)


def test_loops_and_duplicates_are_kept_and_weights_are_uniform() -> None:
    edges = generate(10)
    pairs = np.sort(np.stack([edges.src, edges.dst]), axis=0)
    assert (edges.src == edges.dst).any()
    assert len(np.unique(pairs, axis=1)[0]) < len(edges)
    assert edges.num_vertices <= 1 << 10
    weight = edges.weight
    assert 0 <= weight.min() < 0.001
    assert 0.999 < weight.max() < 1
    assert np.allclose(np.histogram(weight, 8, (0, 1))[0] / len(edges), 1 / 8, atol=0.01)


@pytest.mark.parametrize(
    "wrong",
    [{"scale": 0}, {"scale": 41}, {"edgefactor": 0}, {"lo": -1}, {"lo": 3, "hi": 2}, {"hi": 10**9}, {"seed": -1}],
)
def test_arguments_out_of_range(wrong: dict[str, int]) -> None:
    with pytest.raises(GraphError, match="must be at least"):
        generate(**{"scale": 4, **wrong})


def test_too_many_edges_are_refused_before_they_are_made() -> None:
    with pytest.raises(fr.FrontierError, match="bytes are needed"):
        generate(40)


def edge_list(*edges: tuple[int, int, float]) -> EdgeList:
    src, dst, weight = zip(*edges, strict=True)
    return EdgeList(np.array(src, np.int64), np.array(dst, np.int64), np.array(weight, np.float32))


def test_roots_have_neighbors() -> None:
    edges = edge_list((0, 0, 0.5), (1, 3, 0.5), (3, 1, 0.5), (4, 4, 0.5), (3, 5, 0.5))
    connected = with_neighbor(edges, 6)
    assert connected.tolist() == [False, True, False, True, False, True]
    assert (with_neighbor(edges, 6, 0, 2) | with_neighbor(edges, 6, 2)).tolist() == connected.tolist()
    assert sorted(draw_roots(connected, 64, 1)) == [1, 3, 5]
    assert len(draw_roots(np.zeros(3, np.bool_), 64, 1)) == 0
    drawn = draw_roots(np.ones(1000, np.bool_), 64, 1)
    assert len(set(drawn.tolist())) == 64
    assert drawn.tolist() == draw_roots(np.ones(1000, np.bool_), 64, 1).tolist()
    assert drawn.tolist() != draw_roots(np.ones(1000, np.bool_), 64, 2).tolist()


# -- validation ----------------------------------------------------------------------------

#: Two components, a self-loop in each and at a vertex of its own, parallel edges of several weights, a zero.
LIST = edge_list(
    (0, 1, 0.5), (1, 2, 0.25), (0, 2, 0.75), (2, 3, 0.125), (3, 4, 0.5), (4, 0, 0.9), (1, 1, 0.1), (1, 0, 0.6),
    (3, 2, 0.5), (4, 5, 0.0), (5, 3, 0.25), (6, 7, 0.5), (7, 7, 0.5), (8, 8, 0.25), (7, 9, 0.125),
)  # fmt: skip
VERTICES = 10
#: Edges in the component of vertex 0, with loops and duplicates.
COMPONENT = 11


def dijkstra(edges: EdgeList, root: int, unit: bool) -> tuple[list[int], list[float]]:
    """Parents and distances by a queue, independently of everything else."""
    out: list[list[tuple[int, float]]] = [[] for _ in range(VERTICES)]
    for u, v, w in zip(edges.src.tolist(), edges.dst.tolist(), edges.weight.tolist(), strict=True):
        out[u].append((v, 1.0 if unit else w))
        out[v].append((u, 1.0 if unit else w))
    parent, distance, queue = [-1] * VERTICES, [float("inf")] * VERTICES, [(0.0, root, root)]
    while queue:
        far, v, p = heapq.heappop(queue)
        if parent[v] == -1:
            parent[v], distance[v] = p, far
            for u, w in out[v]:
                heapq.heappush(queue, (far + w, u, v))
    return parent, distance


def joined(u: int, v: int, length: float | None = None) -> bool:
    """Whether there is an edge, of a certain weight."""
    ends = ((LIST.src == u) & (LIST.dst == v)) | ((LIST.src == v) & (LIST.dst == u))
    return bool((ends if length is None else ends & np.isclose(LIST.weight, length, rtol=0, atol=1e-6)).any())


def leads_home(parent: list[int], root: int) -> bool:
    for v in range(len(parent)):
        at, steps = v, 0
        while parent[v] != -1 and at != root:
            at, steps = parent[at], steps + 1
            if at == -1 or steps > len(parent):
                return False
    return True


def accepts(check: Any, *given: Any) -> bool:
    try:
        return bool(check(*given) == COMPONENT)
    except VerificationError:
        return False


def test_right_results_are_valid() -> None:
    for root, edges in ((0, COMPONENT), (5, COMPONENT), (6, 3), (8, 1)):
        parent, distance = dijkstra(LIST, root, unit=True)
        assert validate_bfs(LIST, root, np.array(parent)) == edges
        parent, distance = dijkstra(LIST, root, unit=False)
        assert validate_sssp(LIST, root, np.array(parent, np.int32), np.array(distance, np.float32)) == edges


@pytest.mark.parametrize("root", [0, 3, 5])
def test_every_change_of_a_parent_is_judged_rightly(root: int) -> None:
    """One entry gets every value: what is accepted is a tree of shortest paths, found by brute force."""
    right, level = dijkstra(LIST, root, unit=True)
    tree, distance = dijkstra(LIST, root, unit=False)
    verdicts = []
    for v in range(VERTICES):
        for p in range(-2, VERTICES + 1):
            bfs = [*right[:v], p, *right[v + 1 :]]
            sssp = [*tree[:v], p, *tree[v + 1 :]]
            exists = 0 <= p < VERTICES and v != root and level[v] < np.inf
            fits = bfs == right or (exists and joined(p, v) and level[v] == level[p] + 1)
            assert accepts(validate_bfs, LIST, root, np.array(bfs)) == fits, (v, p)
            tight = exists and joined(p, v, distance[v] - distance[p])
            fits = sssp == tree or (tight and leads_home(sssp, root))
            assert accepts(validate_sssp, LIST, root, np.array(sssp), np.array(distance)) == fits, (v, p)
            verdicts.append(fits)
    assert VERTICES <= sum(verdicts) < 2 * VERTICES


@pytest.mark.parametrize("factor", [0, 0.5, 0.999, 1.001, 2, -1, np.inf, np.nan])
def test_every_changed_distance_is_found(factor: float) -> None:
    parent, distance = dijkstra(LIST, 0, unit=False)
    for v in range(VERTICES):
        wrong = np.array(distance)
        wrong[v] = wrong[v] * factor if 0 < wrong[v] < np.inf else factor
        if (wrong != distance).any():
            assert not accepts(validate_sssp, LIST, 0, np.array(parent), wrong), v
    wrong = np.array([far * factor for far in distance])
    assert not accepts(validate_sssp, LIST, 0, np.array(parent), wrong)


BFS_PARENTS = [0, 0, 0, 2, 0, 4, -1, -1, -1, -1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({0: 1}, r"parent\[0\] is 1, but the root is its own parent"),
        ({0: -1}, r"parent\[0\] is -1, but the root is its own parent"),
        ({3: 10}, r"parent\[3\] is 10$"),
        ({3: -2}, r"parent\[3\] is -2$"),
        ({3: 6}, r"parent\[3\] is 6, which is outside the tree"),
        ({3: 3}, r"vertex 3 do not lead to the root"),
        ({3: 5, 5: 3}, r"vertex 3 do not lead to the root"),
        ({1: 2, 2: 3, 3: 1}, r"vertex 1 do not lead to the root"),
        ({6: 7, 7: 6}, r"vertex 6 do not lead to the root"),
        ({4: -1, 5: 3}, r"edge 4, 3 - 4, joins a vertex of the tree with one outside"),
        (dict.fromkeys(range(1, 6), -1), r"edge 0, 0 - 1, joins a vertex of the tree with one outside"),
        ({2: 1}, r"edge 2, 0 - 2, joins vertices of levels 0 and 2"),
        ({5: 1}, r"parent\[5\] is 1, but there is no edge between them"),
        ({6: 0, 7: 6, 9: 7}, r"parent\[6\] is 0, but there is no edge between them"),
        ({8: 0}, r"parent\[8\] is 0, but there is no edge between them"),
    ],
)
def test_every_rule_of_bfs(changes: dict[int, int], message: str) -> None:
    parent = np.array(BFS_PARENTS)
    assert validate_bfs(LIST, 0, parent) == COMPONENT
    parent[list(changes)] = list(changes.values())
    with pytest.raises(VerificationError, match=f"graph500: bfs from vertex 0: .*{message}"):
        validate_bfs(LIST, 0, parent)


INF = np.inf
SSSP_PARENTS = [0, 0, 1, 2, 0, 4, -1, -1, -1, -1]
DISTANCES = [0, 0.5, 0.75, 0.875, 0.9, 0.9, INF, INF, INF, INF]


@pytest.mark.parametrize(
    ("parents", "distances", "message"),
    [
        ({}, {0: 0.25}, r"distance\[0\] is 0.25, but it is the root"),
        ({}, {3: INF}, r"distance\[3\] is inf, and parent\[3\] is 2"),
        ({}, {3: np.nan}, r"distance\[3\] is nan, and parent\[3\] is 2"),
        ({}, {3: -0.5}, r"distance\[3\] is -0.5, and"),
        ({}, {6: 0.5}, r"distance\[6\] is 0.5, and parent\[6\] is -1"),
        ({}, {3: 0.9}, r"edge 3, 2 - 3, of weight 0.125 joins vertices at distances 0.75 and 0.89"),
        ({4: 5, 5: 3}, {4: 1.125, 5: 1.125}, r"edge 5, 4 - 0, of weight 0.89.* at distances 1.125 and 0"),
        ({}, {1: 0.25, 2: 0.5, 3: 0.625, 4: 0.875, 5: 0.875}, r"parent\[1\] is 0, but .* of weight 0.25 - 0"),
        ({5: 3}, {}, r"parent\[5\] is 3, but there is no edge between them of weight 0.89.* - 0.875"),
        ({4: 5}, {}, r"vertex 4 do not lead to the root"),  # by an edge of weight 0, in a circle
        ({4: -1, 5: -1}, {4: INF, 5: INF}, r"edge 4, 3 - 4, joins a vertex of the tree with one outside"),
        ({6: 0}, {6: 0.5}, r"edge 11, 6 - 7, joins a vertex of the tree with one outside"),
        ({8: 0}, {8: 0.5}, r"parent\[8\] is 0, but there is no edge between them of weight 0.5 - 0"),
    ],
)
def test_every_rule_of_sssp(parents: dict[int, int], distances: dict[int, float], message: str) -> None:
    parent, distance = np.array(SSSP_PARENTS), np.array(DISTANCES, np.float32)
    assert validate_sssp(LIST, 0, parent, distance) == COMPONENT
    parent[list(parents)] = list(parents.values())
    distance[list(distances)] = list(distances.values())
    with pytest.raises(VerificationError, match=f"graph500: sssp from vertex 0: .*{message}"):
        validate_sssp(LIST, 0, parent, distance)


def test_results_of_another_shape() -> None:
    parent, distance = np.array(SSSP_PARENTS), np.array(DISTANCES)
    for wrong in (parent[:5], parent.astype(float), parent[None], parent.astype(np.uint32), np.zeros(0, int)):
        with pytest.raises(VerificationError):
            validate_bfs(LIST, 0, wrong)
    for wrong in (distance[:5], np.zeros(VERTICES, int), distance[None]):
        with pytest.raises(VerificationError, match="distances are"):
            validate_sssp(LIST, 0, parent, wrong)
    for root in (-1, 10):
        with pytest.raises(VerificationError, match="no such vertex"):
            validate_bfs(LIST, root, parent)


def test_long_paths_are_followed() -> None:
    n = 1000
    path = EdgeList(np.arange(n - 1), np.arange(1, n), np.full(n - 1, 0.5, np.float32))
    parent = np.maximum(np.arange(n) - 1, 0)
    assert bfs_tree(0, parent).level.tolist() == list(range(n))
    assert validate_bfs(path, 0, parent) == n - 1
    assert validate_sssp(path, 0, parent, np.arange(n) / 2) == n - 1
    parent[500] = n - 1
    with pytest.raises(VerificationError, match="do not lead to the root"):
        validate_bfs(path, 0, parent)


def test_rounding_of_float32_is_allowed_and_no_more() -> None:
    edges = edge_list((0, 1, 0.1), (1, 2, 0.7))
    distance = np.array([0, edges.weight[0], edges.weight[0] + edges.weight[1]], np.float32)
    parent = np.array([0, 0, 1])
    assert validate_sssp(edges, 0, parent, distance) == 2
    for step in (1e-5, -1e-5):
        with pytest.raises(VerificationError):
            validate_sssp(edges, 0, parent, distance + np.array([0, 0, step], np.float32))


@pytest.mark.parametrize("kernel", ["bfs", "sssp"])
def test_ranges_of_edges_add_up(kernel: str) -> None:
    edges = generate(8)
    graph = run.construct(edges, Placement.parse("cpu"))
    root = int(graph.out_degree.argmax())
    if kernel == "bfs":
        tree = bfs_tree(root, fr.bfs(graph, root).parent)
    else:
        result = fr.sssp(graph, root, dtype="float32")
        tree = sssp_tree(root, result.parent, result.distance)
    whole = check_edges(edges, tree)
    cuts = [0, 1000, 1000, 3000, len(edges)]
    evidence = check_edges(edges, tree, 0, 0)
    for lo, hi in itertools.pairwise(cuts):
        part = check_edges(generate(8, lo=lo, hi=hi), tree)  # as a rank that has no other edges
        cut = check_edges(edges, tree, lo, hi)
        assert part.edges == cut.edges == np.count_nonzero(tree.level[edges.src[lo:hi]] >= 0)
        assert np.array_equal(part.joined, cut.joined)
        evidence += part
    assert evidence.edges == whole.edges == check_joined(tree, evidence)
    assert np.array_equal(evidence.joined, whole.joined)
    with pytest.raises(VerificationError, match="there is no edge between them"):
        check_joined(tree, check_edges(edges, tree, 0, 100))


def test_an_edge_is_named_by_its_number_in_the_whole_list() -> None:
    part = EdgeList(LIST.src[2:], LIST.dst[2:], LIST.weight[2:], first=2)
    parent = np.array(BFS_PARENTS)
    parent[2] = 1
    with pytest.raises(VerificationError, match="edge 2, 0 - 2,"):
        check_edges(part, bfs_tree(0, parent))


# -- statistics and output -----------------------------------------------------------------


def test_statistics() -> None:
    found = summary([4, 1, 3, 2])
    assert (found.min, found.firstquartile, found.median, found.thirdquartile, found.max) == (1, 1.5, 2.5, 3.5, 4)
    assert (found.mean, found.stddev) == (2.5, pytest.approx(stdlib.stdev([1, 2, 3, 4])))
    found = summary([5, 1, 2, 4, 3])
    assert (found.firstquartile, found.median, found.thirdquartile) == (2, 3, 4)
    assert summary([7]).stddev == 0


def test_rates() -> None:
    edges, seconds = [100, 100, 300], [1.0, 2.0, 1.5]
    speeds = [m / t for m, t in zip(edges, seconds, strict=True)]
    found = rates(edges, seconds)
    assert (found.min, found.median, found.max) == (50, 100, 200)
    assert found.harmonic_mean == pytest.approx(stdlib.harmonic_mean(speeds))
    deviation = stdlib.stdev([1 / x for x in speeds]) / 2**0.5 * stdlib.harmonic_mean(speeds) ** 2
    assert found.harmonic_stddev == pytest.approx(deviation)
    assert rates([5], [2.0]).harmonic_stddev == 0


#: The format of the reference code, version 3.
OUTPUT = """\
SCALE:                          4
edgefactor:                     16
NBFS:                           2
graph_generation:               0.25
num_mpi_processes:              1
construction_time:              0.125
bfs  min_time:                  0.5
bfs  firstquartile_time:        0.5
bfs  median_time:               0.75
bfs  thirdquartile_time:        1
bfs  max_time:                  1
bfs  mean_time:                 0.75
bfs  stddev_time:               0.353553
sssp min_time:                  2
sssp firstquartile_time:        2
sssp median_time:               3
sssp thirdquartile_time:        4
sssp max_time:                  4
sssp mean_time:                 3
sssp stddev_time:               1.41421
min_nedge:                      17179869184
firstquartile_nedge:            17179869184
median_nedge:                   17179869184
thirdquartile_nedge:            17179869184
max_nedge:                      17179869184
mean_nedge:                     17179869184
stddev_nedge:                   0
bfs  min_TEPS:                  1.71799e+10
bfs  firstquartile_TEPS:        1.71799e+10
bfs  median_TEPS:               2.29065e+10
bfs  thirdquartile_TEPS:        3.43597e+10
bfs  max_TEPS:                  3.43597e+10
bfs  harmonic_mean_TEPS:     !  2.29065e+10
bfs  harmonic_stddev_TEPS:      1.07982e+10
sssp min_TEPS:                  4.29497e+09
sssp firstquartile_TEPS:        4.29497e+09
sssp median_TEPS:               5.72662e+09
sssp thirdquartile_TEPS:        8.58993e+09
sssp max_TEPS:                  8.58993e+09
sssp harmonic_mean_TEPS:     !  5.72662e+09
sssp harmonic_stddev_TEPS:      2.69956e+09
bfs  min_validate:              0.5
bfs  firstquartile_validate:    0.5
bfs  median_validate:           0.5
bfs  thirdquartile_validate:    0.5
bfs  max_validate:              0.5
bfs  mean_validate:             0.5
bfs  stddev_validate:           0
sssp min_validate:              1
sssp firstquartile_validate:    1
sssp median_validate:           1
sssp thirdquartile_validate:    1
sssp max_validate:              1
sssp mean_validate:             1
sssp stddev_validate:           0
"""


def test_output() -> None:
    searches = {
        "bfs": [Search(3, 0.5, 1 << 34, 0.5), Search(4, 1.0, 1 << 34, 0.5)],
        "sssp": [Search(3, 2.0, 1 << 34, 1.0), Search(4, 4.0, 1 << 34, 1.0)],
    }
    outcome = Outcome(4, 16, 1, "cpu", 0.25, 0.125, searches)
    assert "".join(f"{line}\n" for line in outcome.lines()) == OUTPUT


# -- the benchmark -------------------------------------------------------------------------


def test_benchmark(backend: Any) -> None:
    lines: list[str] = []
    outcome = run.benchmark(5, 8, roots=3, backend=backend.name, seed=2, say=lines.append)
    edges = generate(5, 8, seed=2)
    graph = fr.from_edges(edges.src, edges.dst)
    component = fr.connected_components(graph).label
    assert outcome.backend.partition(":")[0] == backend.name
    assert set(outcome.searches) == {"bfs", "sssp"}
    for searches in outcome.searches.values():
        assert len({each.root for each in searches}) == 3
        for each in searches:
            assert each.edges == np.count_nonzero(component[edges.src] == component[each.root])
            assert each.seconds > 0
    roots = [[each.root for each in searches] for searches in outcome.searches.values()]
    assert roots[0] == roots[1]
    assert len(lines) == 2 + 2 * 3


def test_the_graph_has_the_shortest_of_parallel_edges(backend: Any) -> None:
    graph = run.construct(LIST, Placement.parse(backend.name))
    assert (graph.num_vertices, graph.num_edges) == (VERTICES, 10)
    assert graph.placement.name.partition(":")[0] == backend.name
    result = fr.sssp(graph, 0, dtype="float32")
    assert validate_sssp(LIST, 0, to_host(result.parent), to_host(result.distance)) == COMPONENT


def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    assert main(["graph500", "--scale", "6", "--backend", "cpu", "--roots", "5", "--json", str(path)]) == 0
    printed = capsys.readouterr()
    names = [line.split(":")[0] for line in printed.out.splitlines()]
    assert names == [line.split(":")[0] for line in OUTPUT.splitlines()]
    assert "bfs 5 of 5: root" in printed.err
    found = json.loads(path.read_text())
    assert (found["scale"], found["edgefactor"], found["seed"], found["backend"]) == (6, 16, 1, "cpu")
    assert len(found["searches"]["sssp"]) == 5
    assert found["statistics"]["bfs_TEPS"]["harmonic_mean"] > 0


@pytest.mark.parametrize("kernel", ["bfs", "sssp"])
def test_a_wrong_result_ends_the_run(
    kernel: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    search, check = run.KERNELS[kernel]

    def wrong(graph: fr.Graph, root: int) -> Any:
        result = search(graph, root)
        result["parent"][(root + 1) % graph.num_vertices] = (root + 1) % graph.num_vertices
        return result

    monkeypatch.setitem(run.KERNELS, kernel, (wrong, check))
    path = tmp_path / "out.json"
    assert main(["graph500", "--scale", "6", "--backend", "cpu", "--roots", "2", "--json", str(path)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"frontier: graph500: {kernel} from vertex" in printed.err.splitlines()[-1]
    assert not path.exists()


@pytest.mark.parametrize(
    "line",
    ["", "--scale 0", "--scale 41", "--scale 5 --edgefactor 0", "--scale 5 --roots 0", "--scale 5 --backend gpu",
     "--scale 5 --seed x", "--scale 5 --threads 0", "--scale 5 --json nowhere/out.json", "--scale 40"],
)  # fmt: skip
def test_bad_usage(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph500", *line.split()]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("frontier: ")
    assert printed.err.count("\n") == 1


def test_parents_have_32_bits_on_gpus() -> None:
    with pytest.raises(GraphError, match="graph500 on GPUs: scale is at most 31, not 32"):
        OnGpus(32, 16, 1, Placement.parse("cpu"))  # before anything is asked of the place
