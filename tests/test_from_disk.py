"""A GPU on a graph whose edges lie on a disk: the same results as with all of them in its own memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import equal
from conftest import Backend
from strategies import random_graphs
from test_far_edges import PROGRAM, RESULTS, star

import frontier as fr
from frontier.backends.cuda import disk_windows
from frontier.backends.run import file_windows, windows
from frontier.io import stored
from frontier.memory import checksums, detection
from frontier.memory.arrays import to_host
from frontier.memory.disk import File

#: Asked here: while a test runs, a double of CuPy stands for a GPU.
SIMULATED = detection.simulated()


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows are small, so that there are several; what is not read of one is no vertex."""
    monkeypatch.setattr(windows, "SLOTS", 16 if SIMULATED else 256)
    monkeypatch.setattr(windows, "ALIGNED", 8)
    for name, value in (("ALIGNED", 8), ("PAGE", 32), ("GAP", 0), ("PIECE", 64), ("TOGETHER", 2)):
        monkeypatch.setattr(file_windows, name, value)
    monkeypatch.setattr(disk_windows, "SINGLE", 0)
    begin = file_windows.Ring.begin

    def poisoned(self: file_windows.Ring, number: int, parts: list[file_windows.Part]) -> dict[str, int]:
        for buffer, _ in self._sets[number % file_windows.AHEAD].values():
            buffer.fill(0xFF)
        return begin(self, number, parts)

    monkeypatch.setattr(file_windows.Ring, "begin", poisoned)


@pytest.fixture
def there(cuda: Backend) -> Callable[[fr.Graph], fr.Graph]:
    return lambda g: g.to(cuda.name, edges="disk")


def graphs(**options: Any) -> list[fr.Graph]:
    few, most = (1, 9) if SIMULATED else (6, 200)
    return [*random_graphs(few, seed=7, min_vertices=most - 4, max_vertices=most, parallel=True, **options)]


SLOW = pytest.mark.unsimulated("takes a minute there")
FAST = ("bfs",)


@pytest.mark.parametrize("name", [name if name in FAST else pytest.param(name, marks=SLOW) for name in RESULTS])
def test_primitives(there: Callable[[fr.Graph], fr.Graph], name: str) -> None:
    hub = () if SIMULATED else (star().with_weights(np.ones(star().num_slots, np.int32)),)
    for g in (*graphs(weights=("int32",)), *hub):
        found, expected = (to_host(RESULTS[name](each)) for each in (there(g), g))
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
        else:
            equal(found, expected)


def test_gathers(there: Callable[[fr.Graph], fr.Graph]) -> None:
    names = ("total", "most", "least", "best", "some")
    for g in graphs(weights=("int32",), directed=True):
        for f in (range(0, g.num_vertices, 3), None)[SIMULATED :]:
            found = []
            for each in (there(g), g):
                p = fr.Problem(each, **{name: fr.vertex("int64") for name in names}, any=fr.vertex("bool"))
                if f is None:
                    PROGRAM(p)
                else:
                    for step in PROGRAM.steps[: 2 if SIMULATED else None]:
                        step(p, fr.Frontier(each, f))
                found.append({name: to_host(getattr(p, name)) for name in (*names, "any")})
            for name, values in found[0].items():
                equal(values, found[1][name])


@pytest.mark.parametrize("way", ["windows", "pages"])
def test_damage(cuda: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Of windows that are read whole checksums are compared; of single lists, whether their ids are of vertices."""
    for module, name, value in ((checksums, "BLOCK", 64), (stored, "AT_ONCE", 0), (file_windows, "GAP", 0)):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(disk_windows, "SINGLE", -(1 << 20) if way == "pages" else 1 << 20)
    g = fr.path(60)
    path = tmp_path / "g.frontier"
    fr.write(g, path)
    for source in (3, 40):
        equal(fr.bfs(fr.open(path).to(cuda.name, edges="disk"), source).level, fr.bfs(g, source).level)
    damaged = bytearray((path / "targets.bin").read_bytes())
    damaged[203 if way == "pages" else 200] ^= 64  # 200 is that of an id, of which it makes another one or none
    (path / "targets.bin").write_bytes(damaged)
    there = fr.open(path).to(cuda.name, edges="disk")
    what = "there is no id from 0 to 59 at byte 200" if way == "pages" else "the checksum is wrong from byte 192 on"
    for _ in range(2):
        with pytest.raises(fr.GraphError, match=rf"targets\.bin: damaged, {what}"):
            fr.bfs(there, 25)
    with pytest.raises(fr.GraphError, match=r"targets\.bin: damaged, the checksum is wrong from byte 192 on"):
        there.to(cuda.name, edges="host")


def add(p, src, dst, edge, weight):  # type: ignore[no-untyped-def]
    fr.atomic_add(p.total, dst, src + weight)
    p.seen[edge] += 1
    return (src + dst) % 3 == 0


def counted(p, edge, dst):  # type: ignore[no-untyped-def]
    fr.atomic_add(p.total, dst, p.sum)
    return 1 + edge % 2


def around(p, src, dst):  # type: ignore[no-untyped-def]
    found = 0
    for s in fr.neighbours(p, src):
        found += fr.source(p, s) * fr.target(p, s)
    return found + dst


def lower(p, src, dst):  # type: ignore[no-untyped-def]
    return src < dst


def odd(p, src, edge):  # type: ignore[no-untyped-def]
    return (src + edge) % 2 == 1


def test_steps_along_in_edges_and_over_edges(there: Callable[[fr.Graph], fr.Graph]) -> None:
    """A functor may look for edges while a step walks along in-edges; a frontier of edges stays one."""
    for g in graphs(directed=True):
        found = []
        for each in (there(g), g):
            p = fr.Problem(each, total=fr.vertex("int64"), seen=fr.vertex("int64"))
            fr.Gather(around, "sum", into="total", over="vertices")(p)
            some = fr.advance(p, fr.Frontier(each, range(0, g.num_vertices, 2)), lower, output="edge")
            same = fr.advance(p, some, visit, output=None)
            left = fr.filter(p, same, odd)
            ids = [sorted(to_host(f.ids).tolist()) for f in (some, same, left)]
            found.append([to_host(p.total).tolist(), to_host(p.seen).tolist(), same.kind, *ids])
        assert found[0] == found[1]


def visit(p, src, dst):  # type: ignore[no-untyped-def]
    fr.atomic_add(p.seen, dst, src + 1)


def slot(p, edge, dst):  # type: ignore[no-untyped-def]
    return edge + dst


def test_sums_over_all_windows(there: Callable[[fr.Graph], fr.Graph]) -> None:
    """A functor reads the scalar to which its values are reduced, as it was; prefix sums go on in the next window."""
    g = fr.rmat(5, 3, seed=3) if SIMULATED else fr.rmat(9, 4, seed=3)
    found = []
    for each in (there(g), g):
        p = fr.Problem(
            each, total=fr.vertex("int64"), sum=fr.scalar("int64", 5), until=fr.edge("int64"), all=fr.scalar("int64")
        )
        fr.Reduce(counted, "sum", into="sum", over="edges")(p)
        fr.Scan(slot, into="until", total="all", over="edges")(p)
        found.append([to_host(p.total).tolist(), int(p.sum), to_host(p.until).tolist(), int(p.all)])
    assert found[0] == found[1]


def before(p, src, dst, weight):  # type: ignore[no-untyped-def]
    return src < dst + weight - 5


def value(p, src, dst, edge):  # type: ignore[no-untyped-def]
    return src * 7 + dst * 3 + edge


@SLOW
def test_frontiers_of_edges(there: Callable[[fr.Graph], fr.Graph]) -> None:
    """Slots, ends and weights are those of the graph, whatever window an edge is in."""
    for g in graphs(weights=("int32",), directed=True):
        found = []
        for each in (there(g), g):
            p = fr.Problem(each, total=fr.vertex("int64"), seen=fr.edge("int64"), sum=fr.scalar("int64"))
            f = fr.Frontier(each, range(0, g.num_vertices, 2))
            for edges in ("out", "in"):
                made = fr.advance(p, f, add, output="edge", edges=edges)
                kept = fr.filter(p, made, before)
                sum_ = fr.reduce(p, kept, value, "sum", "sum")
                after = fr.advance(p, kept, add, edges=edges)
                found.append([np.sort(to_host(x.ids)) for x in (made, kept, after)])
                found.append([to_host(p.total).copy(), to_host(p.seen).copy(), np.array(sum_)])
            found.append([np.array(fr.reduce(p, fr.Frontier.all(each, "edge"), value, "max", "sum"))])
        half = len(found) // 2
        for mine, its in zip(found[:half], found[half:], strict=True):
            for one, other in zip(mine, its, strict=True):
                equal(one, other)


def test_loops_pause_where_they_do(there: Callable[[fr.Graph], fr.Graph]) -> None:
    g = fr.path(9)
    far = there(g)
    assert fr.bfs(far, 0).level[8] == 8
    with fr.trace() as t:
        fr.bfs(far, 4)
    rows = [row for row in t.rows if row.read]
    assert [row.size_in for row in rows][:2] == [1, 2]
    assert sum(row.read for row in rows) >= g.num_slots * 4
    assert "read" in str(t)


def number(p, src):  # type: ignore[no-untyped-def]
    return src


def test_compressed(there: Callable[[fr.Graph], fr.Graph]) -> None:
    for g in (*graphs(directed=True), star())[SIMULATED :]:
        far = there(g.compressed())
        assert far.placement.residence["edges"] == "disk"
        if not SIMULATED:
            equal(to_host(fr.bfs(far, 0).level), fr.bfs(g, 0).level)
        equal(to_host(far.targets), g.targets)
        p = fr.Problem(far, total=fr.vertex("int64"))
        fr.gather(p, fr.Frontier.all(far), number, "sum", "total")
        equal(to_host(p.total), [g.in_sources[a:b].sum() for a, b in pairwise(g.in_offsets)])


def test_lists_anywhere(there: Callable[[fr.Graph], fr.Graph], monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that look for edges anywhere get all, if there is room."""
    g = fr.rmat(5, 4, seed=2)
    equal(to_host(fr.triangles(there(g), per_vertex=True).per_vertex), fr.triangles(g, per_vertex=True).per_vertex)
    monkeypatch.setattr(disk_windows.limits, "free", lambda: (7, " under a limit"))
    with pytest.raises(fr.FrontierMemoryError, match=r"needs all edges at once.*7 are free under a limit"):
        fr.triangles(there(fr.rmat(5, 4, seed=3)))


def test_opened(cuda: Backend, tmp_path: Path) -> None:
    g = fr.rmat(6, 4, seed=1, directed=True, weights=(1, 9))
    fr.write(g, tmp_path / "g.frontier")
    far = fr.open(tmp_path / "g.frontier").to(cuda.name, edges="disk")
    assert "edges in disk memory" in repr(far)
    equal(to_host(fr.sssp(far, 1).distance), fr.sssp(g, 1).distance)
    assert far.to(cuda.name, edges="device").placement == g.to(cuda.name).placement
    equal(far.to("cpu").targets, g.targets)
    with pytest.raises(fr.GraphError, match="memory= is for edges='auto'"):
        g.to(cuda.name, edges="disk", memory=7)


@pytest.mark.parametrize("directed", [True, False])
def test_graphs_made_of_it(there: Callable[[fr.Graph], fr.Graph], directed: bool) -> None:
    """They are made on the host, and lie where it lies."""
    g = fr.rmat(6, 4, seed=1, directed=directed, weights=(1, 9))
    far, n, m = there(g), g.num_vertices, g.num_slots
    moved = far.placement.memory.moved
    for make in (
        lambda h: h.reordered("degree"),
        lambda h: h.reordered(np.arange(n)[::-1]),
        lambda h: h.induced(fr.Frontier(h, range(10))),
        lambda h: h.contracted(np.arange(n) // 2 if h is g else moved(np.arange(n) // 2)),
        lambda h: h.with_weights(np.ones(m)),
        lambda h: h.with_columns(edges={"a": np.arange(m)}, vertices={"b": np.arange(n)}),
        lambda h: h.compressed(),
    ):
        found, expected = make(far), make(g)
        assert found.placement == far.placement
        for name in ("offsets", "targets", "weights", "in_offsets", "in_sources", "in_edges", "sources"):
            equal(to_host(getattr(found, name)), to_host(getattr(expected, name)))
        for name, column in expected.vertices.items():
            equal(to_host(found.vertices[name]), column)
    equal(to_host(far.out_weight), g.out_weight)
    assert (far.num_edges, far.max_degree, far.max_weight) == (g.num_edges, g.max_degree, g.max_weight)
    assert far.memory_estimate("bfs").total > 0


# ---- what goes wrong -------------------------------------------------------------------------------------


def broken(path: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = path / "targets.bin"
    if how == "cut off":
        monkeypatch.setattr(File, "check", lambda self: None)  # as if it happened just after
        os.truncate(file, 100)
    elif how == "changed":
        data = file.read_bytes()
        file.write_bytes(data)
        os.utime(file, ns=(1, 1))
    else:

        def failing(*_: Any) -> int:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(os, "preadv", failing)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("cut off", r"targets\.bin: ends at byte 100; it was longer"),
        ("changed", r"targets\.bin: the file has changed since it was opened"),
        ("failing", r"targets\.bin: cannot be read at byte [\d,]+: Input/output error"),
    ],
)
def test_files_that_fail_under_way(
    cuda: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, words: str
) -> None:
    path = tmp_path / "g.frontier"
    fr.write(fr.rmat(6, 4, seed=1), path)
    far = fr.open(path).to(cuda.name, edges="disk")
    expected = to_host(fr.bfs(far, 0).level)
    with monkeypatch.context() as patch:
        broken(path, how, patch)
        with pytest.raises(fr.GraphError, match=words):
            fr.bfs(far, 0)
    if how == "failing":  # and works again
        equal(to_host(fr.bfs(far, 0).level), expected)


def test_no_pinned_memory_left(there: Callable[[fr.Graph], fr.Graph], monkeypatch: pytest.MonkeyPatch) -> None:
    far = there(fr.path(9))

    def none(size: int) -> Any:
        raise fr.FrontierMemoryError(f"{size:,} bytes of the host's memory cannot be pinned for a GPU")

    with monkeypatch.context() as patch:
        patch.setattr(disk_windows.pinned, "buffer", none)
        with pytest.raises(fr.FrontierMemoryError, match="cannot be pinned"):
            fr.bfs(far, 0)
    assert to_host(fr.bfs(far, 0).level)[8] == 8


# ---- reading ---------------------------------------------------------------------------------------------


def test_pages_of_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_windows, "PAGE", 10)
    monkeypatch.setattr(file_windows, "GAP", 10)
    starts = np.array([3, 8, 12, 25, 47, 90, 91])
    stops = np.array([5, 8, 31, 26, 48, 95, 120])
    equal(file_windows.merged_pages(starts, stops), [[0, 50], [90, 120]])
    monkeypatch.setattr(file_windows, "GAP", 0)
    equal(file_windows.merged_pages(starts[[0, 3, 4]], stops[[0, 3, 4]]), [[0, 10], [20, 30], [40, 50]])
    equal(file_windows.merged_pages(starts[1:2], stops[1:2]), np.empty((0, 2)))
