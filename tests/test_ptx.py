"""Kernels compile for every architecture that is supported, on machines without a GPU too.

NVVM makes PTX of them and nvJitLink machine code of that, which also reads the PTX written by hand.
"""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pool
import programs
import pytest
import raising
import strict_cupy
import test_packed_values
from compare import workers
from pages import ROOT
from test_sparse_offsets import compressed

import frontier as fr
from frontier.backends.cuda import launch
from frontier.backends.cuda.program import CudaProgram
from frontier.primitives import _closure_pairs, leiden, louvain
from frontier.primitives._communities import weighted
from frontier.primitives._contraction import contraction
from frontier.primitives._levels import Level
from frontier.program import execution

pytest.importorskip("numba_cuda", reason='numba-cuda is not installed: pip install "numba-cuda[cu12]"')

BALANCES = ("block", "twc", "merge_path", "degree_classes")


def far(p, src, dst, weight):
    return p.value[src] * weight


def upward(p, src, dst):
    return src < dst


def triangle(p, u, v, w):
    fr.atomic_add(p.seen, w, 1)
    return 1


def thirds(p, v):
    return v % 3


def numbers(p, v):
    x = p.real[v]
    p.real[v] = np.sqrt(np.abs(x)) + np.exp(x) + np.exp2(x) + np.expm1(x) + np.log1p(np.fabs(x)) + np.rint(x)
    p.real[v] += np.floor(x) + np.nextafter(x, 1.0) + np.minimum(x, 2.0) + np.sin(x) + np.round(x)


def arithmetic(p, v):
    """What numba computes otherwise than NumPy."""
    w, x, k = p.narrow[v], p.real[v], p.index[v]
    total = 0.0
    for part in (0.1, 0.2):
        total += w * part
    p.narrow[v] = (total + 1) / 3 + min(w, 0.5) + w // 0.3 + w % 0.3 + w**0.5 + np.maximum(w, 0.1)
    p.real[v] = x // w + x % 0.1 + x**w + float(w)
    p.index[v] = (k << v) + (k >> v) + k // v + k % v + k**v + int(x) + round(x) + math.floor(w) + int(~p.flag[v])
    p.index[v] += np.int32(k) * np.int32(3) + np.int64(p.big[v] + 1)


def weighted_sum(p, v):
    p.real[v] += p.real[v] * 0.1


def tuples(p, v):
    p.index[v] += p.count


def counted(p, i):
    p.index[i] += 1


def larger(best, value):
    best[0], best[1] = max(best[0], value), best[0] * 0.5


def around(p, v):
    """Lists of in-edges in each other, scratch that a helper changes, and sizes."""
    best, seen = fr.scratch(2, 0.5), fr.scratch(4)
    for e in fr.neighbours(p, v, "in"):
        larger(best, fr.weight(p, e))
        for f in fr.neighbours(p, fr.source(p, e), "in"):
            seen[fr.source(p, f) % len(seen)] += fr.degree(p, v, "in")
    p.real[v] = best[0] + best[1] + p.num_vertices
    p.index[v] = seen[v % 4] + p.num_edges


#: What functors may use of NumPy; fields named as a tuple's methods are; what they look at.
FUNCTORS = fr.Sequence(*map(fr.Compute, (numbers, arithmetic, tuples, around)), over="vertices")


def nearest(p, src, weight):
    return weight


def gcd(total, value):
    while value != 0:
        total, value = value, total % value
    return abs(total)


def registered(g: fr.Graph) -> None:
    """Reductions of users, one of which may raise: into integers, bools and floats, where values come together."""
    fr.register_reduction("gcd", gcd, identity=0, kinds="iu")
    fr.register_reduction("odd", lambda total, value: total ^ value, identity=0, truth=True)
    fr.register_reduction("raising", lambda total, value: total + value + (0, 1)[int(total > 9)], identity=0)
    program = fr.Sequence(
        fr.Reduce(thirds, "gcd", into="count"),
        fr.Reduce(thirds, "raising", into="total"),
        fr.Gather(share, "raising", into="real", edges="out"),
        fr.Gather(thirds_of_src, "gcd", into="index"),
        fr.Gather(thirds_of_src, "odd", into="flag"),
        fr.Intersect(corner, "gcd", into="count", over="edges"),
        fr.Intersect(corner, "raising", into="total", over="edges"),
        over="vertices",
    )
    execution.run(program, numbered(g))


def whole(p, v):
    """Rounded numbers where integers go: numba-cuda's own functions give floats."""
    fr.atomic_max(p.index, v, math.floor(p.real[v]))
    p.other[math.trunc(p.real[v])] = fr.hash(math.ceil(p.real[v])) % 7
    return math.floor(p.real[v]) % 100


def thirds_of_src(p, src):
    return src % 3


def corner(p, u, v, w):
    return w - u


def share(p, dst):
    return p.index[dst] / 2


def spread(p, src, dst, edge):
    for i in range(4):
        fr.atomic_add(p.sums, (dst, i), p.rows[src, i])
        fr.atomic_min(p.least, (dst, i), p.least[src, i])
    if fr.atomic_cas(p.least, (dst, 0), 1, 2) == 1:
        p.marks[edge, 1] = True
    p.small[dst, 2] = p.small[src, 0] + p.marks[edge, 0]


def doubled(p, v, i):
    p.rows[v, i] *= 2


def weighed(p, src, edge, weight, i):
    p.edges[edge, i] = p.rows[src, i] * weight


def row_of_edge(p, edge, i):
    return p.edges[edge, i]


def row_of_src(p, src, i):
    return p.rows[src, i]


def row_of_dst(p, dst, i):
    return p.small[dst, i]


def rows(g: fr.Graph) -> None:
    """Fields with several values a vertex or edge."""
    p = fr.Problem(
        g,
        rows=fr.vertex("float32", shape=4),
        sums=fr.vertex("float64", shape=4),
        least=fr.vertex("int32", shape=4),
        small=fr.vertex("int8", shape=4),
        marks=fr.edge("bool", shape=2),
        edges=fr.edge("float32", shape=4),
        total=fr.scalar("float64"),
    )
    steps = (
        fr.Advance(spread, over="vertices"),
        fr.Compute(doubled, over="rows"),
        fr.Compute(weighed, over="edges"),
        fr.Reduce(row_of_edge, "sum", into="total", over="edges"),
        fr.Gather(row_of_edge, "sum", into="sums", over="vertices"),
        fr.Gather(row_of_src, "sum", into="sums", over="vertices"),
        fr.Gather(row_of_dst, "max", into="least", edges="out", over="vertices"),
    )
    execution.run(fr.Sequence(*steps), p)


#: Words that have kernels of their own: the edge of the least value, the most frequent one, bits, a count in a scalar.
WORDS = fr.Sequence(
    fr.Gather(nearest, "argmin", into="index"),
    fr.Gather(share, "argmax", into="other", edges="out"),
    fr.Gather(thirds_of_src, "mode", into="index"),
    fr.Reduce(thirds, "or", into="count"),
    fr.Compute(counted, over="count"),
    fr.Reduce(whole, "max", into="count"),
    over="vertices",
)

#: One of every operator.
OPERATORS = fr.Sequence(
    fr.Compute(pool.touch),
    fr.Filter(pool.small),
    fr.Gather(far, "sum", into="sum"),
    fr.Reduce(pool.value, "min", into="total"),
    fr.Scan(pool.value, into="sum", total="total"),
    fr.Set(limit=3),
    fr.Split(pool.small, rest="far"),
    fr.Buckets(thirds, ["far"]),
    fr.Advance(pool.every, part=fr.sample(2)),
    fr.Sequence(fr.Filter(upward), fr.Intersect(triangle, "sum", into="total"), over="edges"),
    fr.Take("far"),
    over="vertices",
)


def search(g: fr.Graph, **schedule: Any) -> None:
    programs.BFS(programs.bfs_problem(g, 0), fr.Schedule(**schedule)).run(fr.Frontier(g, [0]))


def functors(g: fr.Graph) -> None:
    execution.run(FUNCTORS, numbered(g))


def numbered(g: fr.Graph) -> fr.Problem:
    return fr.Problem(
        g,
        real=fr.vertex("float64"),
        narrow=fr.vertex("float32"),
        flag=fr.vertex("bool"),
        big=fr.vertex("uint64"),
        index=fr.vertex("int64"),
        other=fr.vertex("int32"),
        count=fr.scalar("int64", 2),
        total=fr.scalar("float64"),
    )


def directed_communities(enactor: type[fr.Enactor]) -> Callable[[fr.Graph], Any]:
    """What moves vertices, or refines communities, by directed modularity."""

    def run(g: fr.Graph) -> None:
        h, zeros = weighted(g), g.placement.memory.xp.zeros(g.num_vertices, np.int64)
        level = Level(h, 1.0, skew=zeros)
        more = leiden.of_parts(level, zeros.astype(h.id_dtype)) if enactor is leiden.DirectedRefinementTallied else {}
        enactor(fr.Problem(h, **level.fields(0, 100), **more)).run()

    return run


RUNS: dict[str, Callable[[fr.Graph], Any]] = {
    "functors": functors,
    "weighted sum": lambda g: execution.run(fr.Compute(weighted_sum, over="vertices"), numbered(g)),
    "words": lambda g: execution.run(WORDS, numbered(g)),
    "registered": registered,
    "rows": rows,
    "operators": lambda g: execution.run(OPERATORS, pool.problem(g)),
    "bfs": lambda g: fr.bfs(g, 0),
    "sssp": lambda g: fr.sssp(g, 0),
    "sssp, buckets": lambda g: fr.sssp(g, 0, schedule=fr.Schedule(order="buckets")),
    "components": fr.connected_components,
    "pagerank": fr.pagerank,
    "betweenness": lambda g: fr.betweenness(g, [0]),
    "betweenness, batched": fr.betweenness,
    "betweenness, targets": lambda g: fr.betweenness(g, [0], targets=[1]),
    "core numbers": fr.core_numbers,
    "leiden": fr.leiden,
    "contraction": lambda g: contraction(weighted(g), g.placement.memory.xp.zeros(g.num_vertices, g.id_dtype)),
    "directed louvain": directed_communities(louvain.DirectedMovingTallied),
    "directed leiden": directed_communities(leiden.DirectedRefinementTallied),
    "labels by weight": lambda g: fr.label_propagation(g, weighted=True),
    "drawn labels by weight": lambda g: fr.label_propagation(g, weighted=True, method="asynchronous"),
    "layout": fr.layout,
    "layout in space": lambda g: fr.layout(g, dimensions=3),
    "who to follow": lambda g: fr.who_to_follow(g, 0),
} | {name: lambda g, name=name: search(g, direction="push", balance=name) for name in BALANCES}


def count(p, src, dst):
    fr.atomic_add(p.sum, dst, 1)


def summing(dtype: str) -> Callable[[fr.Graph], Any]:
    """Additions at the far ends of edges, which owners bring together."""
    step = fr.Advance(count, over="vertices")
    return lambda g: execution.run(step, fr.Problem(g, sum=fr.vertex(dtype, combine="sum")))


def whole_numbers(p, src, dst):
    p.i2[dst] = p.i2[src]
    p.i4[dst] = p.i4[src]
    p.u1[dst] = p.u1[src]
    p.u8[dst] = p.u8[src]


def other_numbers(p, src, dst):
    p.f4[dst] = p.f4[src]
    p.f8[dst] = p.f8[src]
    p.b1[dst] = p.b1[src]


def merging(combine: str) -> Callable[[fr.Graph], Any]:
    """Values of several dtypes at the far ends of edges, which owners bring together."""
    names = ["i2", "i4", "u1", "u8"]
    names += ["b1"] if combine in ("or", "and") else ["f4", "f8", "b1"]
    given = {"f4": 0.5, "f8": 0.5, "b1": True}

    def run(g: fr.Graph) -> Any:
        step = fr.Advance(whole_numbers, output=None)
        last = fr.Advance(truth if combine in ("or", "and") else other_numbers, output=None)
        p = fr.Problem(g, **{name: fr.vertex(name, given.get(name, 1), combine=combine) for name in names})
        return execution.run(fr.Sequence(step, last, over="vertices"), p)

    return run


def truth(p, src, dst):
    p.b1[dst] = p.b1[src]


def parts(g: fr.Graph) -> Any:
    """A loop that gathers for fewer vertices in each pass."""
    loop = fr.Loop(fr.Gather(far, "sum", into="sum"), fr.Gather(upward, "mode", into="most"), fr.Filter(thirds))
    p = fr.Problem(g, value=fr.vertex("float32"), sum=fr.vertex("float32"), most=fr.vertex("int64"))
    return execution.run(loop, p, fr.Frontier(g, range(g.num_vertices)))


def failing(kind: str) -> Callable[[fr.Graph], Any]:
    """Some steps with functors that raise."""
    names = ("reduce value", "set value") if kind == "nothing" else ("where", "split", "gather value", "until")
    steps = [raising.PLACES[name](raising.functors(kind)) for name in names]
    return lambda g: execution.run(fr.Sequence(*steps, over="vertices"), raising.problem(g))


def pairs(enactor: type[fr.Enactor]) -> Callable[[fr.Graph], Any]:
    """What writes the pairs of a closure on a GPU."""

    def run(g: fr.Graph) -> None:
        made = fr.transitive_closure(fr.from_edges([0, 1], [70, 0], directed=True))
        names = ("component", "rows", "itself", "sources")
        there = {name: g.placement.memory.moved(getattr(made, name)) for name in names}
        places = np.arange(2)
        enactor(_closure_pairs.problem(replace(made, **there), g.placement, places[:1], places)).run()

    return run




def heavy(p, src, weight):
    return weight > p.most


def heavy_in(p, dst, weight):
    return p.best[dst] <= weight


def better(p, src, dst, weight):
    return weight < fr.atomic_min(p.best, dst, weight)


def light(g: fr.Graph) -> Any:
    """Edges by weight: as many of each list as are known, and until the best is found."""
    p = fr.Problem(g, best=fr.vertex("int64", 99), most=fr.scalar("int64", 5))
    steps = fr.Advance(better, stop=heavy), fr.Advance(better, stop=heavy_in, edges="in", output=None)
    return execution.run(fr.Sequence(*steps, over="vertices"), p)


def wider(p, src, dst, weight):
    width = min(p.best[src], weight)
    return width > fr.atomic_max(p.best, dst, width)


def narrowness(p, v):
    return -p.best[v]


def widest(g: fr.Graph) -> Any:
    """Widest paths on lists whose heaviest edges come first."""
    p = fr.Problem(g, best=fr.vertex("int64", 0))
    loop = fr.Loop(fr.Advance(wider), order=fr.by(narrowness), over="vertices")
    return execution.run(loop, p, schedule=BY_WEIGHT)


BY_WEIGHT = fr.Schedule(order="by_weight")
RUNS |= {"edges by weight": light, "widest, by weight": widest}
RUNS |= {
    f"sssp, by weight{said}": lambda g, options=options: fr.sssp(g, 0, schedule=BY_WEIGHT, **options)
    for said, options in (("", {}), (" to a cutoff", {"cutoff": 9}), (" to a target", {"target": 3}))
}
RUNS |= {f"pairs, {each.__name__}": pairs(each) for each in (_closure_pairs.ByWords, _closure_pairs.OfWords)}
RUNS |= {f"raising, {kind}": failing(kind) for kind in ("tuple", "nothing")}

#: Whole examples, of which the loop is the first program that runs.
EXAMPLES = ("bidirectional_bfs", "boruvka", "cdlp", "hits", "jones_plassmann", "kcore", "luby", "message_passing")
EXAMPLES += ("edge_attention", "random_walks", "scc", "temporal_bfs", "triangles", "two_hop", "widest_path")


def example(name: str) -> None:
    runpy.run_path(str(ROOT / "examples" / f"{name}.py"))["main"](["--backend", "cuda"])


RUNS |= {f"{name}.py": lambda _, name=name: example(name) for name in EXAMPLES}

#: Programs with phases of their own where the edges lie in the host's memory.
FAR = "with edges on the host"
RUNS |= {f"{name} {FAR}": RUNS[name] for name in ("bfs", "pagerank", "words", "operators")}
RUNS[f"gathers of parts {FAR}"] = parts

#: Programs that several GPUs share, each of which brings the lists of its own vertices.
SHARED = "on two GPUs"
RUNS |= {f"{name} {FAR} {SHARED}": RUNS[name] for name in ("bfs", "pagerank", "core numbers")}
RUNS[f"gathers of parts {FAR} {SHARED}"] = parts
RUNS |= {f"{name} {SHARED}": RUNS[name] for name in ("bfs", "betweenness")}
RUNS |= {f"sums of {dtype} {SHARED}": summing(dtype) for dtype in ("int32", "uint64", "float32")}
RUNS |= {f"{combine} of several dtypes {SHARED}": merging(combine) for combine in ("min", "max", "or", "and", "claim")}


def packed(g: fr.Graph) -> None:
    """Values of all widths, which owners pack and others take over."""
    p = fr.Problem(
        g, chosen=fr.vertex("bool", True), value=fr.vertex("int16", 1), flag=fr.vertex("bool", False),
        seen=fr.vertex("int64"),
    )  # fmt: skip
    test_packed_values.NARROW(p)


RUNS[f"packed values {SHARED}"] = packed

#: Programs that read compressed lists.
PACKED = "with compressed lists"
RUNS |= {f"{name}, {PACKED}": RUNS[name] for name in ("functors", "bfs", "operators", f"pagerank {FAR}")}

#: Programs that read doubly compressed offsets, as steps of ranks in a grid do.
SPARSE = "with doubly compressed offsets"
RUNS |= {f"{name}, {SPARSE}": RUNS[name] for name in ("functors", "bfs", "operators", "pagerank", *BALANCES)}

#: Every program for one architecture; two that together use nearly everything for the others. The narrow build differs
#: in how edges are handed out: functors and reductions of users are compiled in the full one.
BUILDS = ("full", "narrow")
NARROW = ("bfs", "betweenness", "operators", "pagerank", "raising, tuple", "sssp, buckets", "words")
NARROW += ("edges by weight", "gathers of parts")
LISTS = (FAR, PACKED, SPARSE)
NARROW += tuple(name for name in RUNS if name.startswith(NARROW) and any(each in name for each in LISTS))
NARROW = tuple(name for name in NARROW if SHARED not in name)
CASES = [(name, build, (8, 0)) for name in RUNS for build in BUILDS if build == "full" or name in NARROW]
CASES += [(name, build, cc) for cc in ((7, 0), (9, 0)) for name in ("operators", "bfs") for build in BUILDS]


class Captured(Exception):
    """A program on its way to a GPU."""


def capture(program: CudaProgram, blame: Any) -> None:
    raise Captured(program)


def program_of(name: str, build: str, monkeypatch: pytest.MonkeyPatch) -> CudaProgram:
    """The first program of a run, with all that it defers."""
    monkeypatch.setattr(launch, "kernel", capture)
    monkeypatch.setattr(launch, "is_known", lambda program: True)
    g = fr.grid(3, 3, weights=(1, 9), seed=1)
    g = g.compressed() if PACKED in name else compressed(g) if SPARSE in name else g
    with strict_cupy.simulated(), workers(2 if build == "full" else 1), pytest.raises(Captured) as caught:
        RUNS[name](g.to("cuda:0,1" if SHARED in name else "cuda", edges="host" if FAR in name else None))
    program: CudaProgram = caught.value.args[0]
    assert (program.low_degree, program.acceptance is not None) == (build == "narrow", SHARED in name)
    return program


@pytest.mark.parametrize(("name", "build", "capability"), CASES, ids=[f"{n}-{b}-sm_{c[0]}{c[1]}" for n, b, c in CASES])
def test_kernels_compile(name: str, build: str, capability: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.cuda.cudadrv.error import CCSupportError

    from frontier.backends.cuda.compiler import ENTRY, ptx_of

    program = program_of(name, build, monkeypatch)
    bounds = launch.bounds_of(program)
    try:
        code = ptx_of(program, capability, bounds)
    except CCSupportError as error:
        assert capability < (7, 5)
        pytest.skip(f"the NVVM of CUDA 13: {error}")
    architecture = f"sm_{capability[0]}{capability[1]}"
    assert f".target {architecture}" in code
    assert f".entry {ENTRY}" in code
    assert len(linked(code, architecture)) > 1000


def test_a_search_compiles_without_its_pull(monkeypatch: pytest.MonkeyPatch) -> None:
    from frontier.backends.cuda.compiler import ptx_of

    program = program_of("bfs", "full", monkeypatch)
    assert program.deferred
    bounds = launch.bounds_of(program)
    codes = [ptx_of(each, (8, 0), bounds) for each in (program.without_deferred(), program)]
    assert 1000 < codes[0].count("\n") < 0.9 * codes[1].count("\n")
    assert 2000 < len(linked(codes[0], "sm_80")) < len(linked(codes[1], "sm_80"))


def test_products_are_rounded_before_they_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on the other backends: one instruction for both would round once."""
    from frontier.backends.cuda.compiler import ptx_of

    program = program_of("weighted sum", "full", monkeypatch)
    code = ptx_of(program, (8, 0), launch.bounds_of(program))
    assert "mul.rn.f64" in code
    assert "fma." not in code


@pytest.mark.parametrize("capability", [(8, 0), (9, 0)])
@pytest.mark.parametrize("name", ["make_edges", "mark_neighbors", "check_levels", "check_distances"])
def test_kernels_that_are_no_loops_compile(name: str, capability: tuple[int, int]) -> None:
    from frontier.graph500 import on_gpus

    known = (on_gpus._make, on_gpus._mark, *on_gpus._check.values())
    code = next(each for each in known if each.name == name).ptx(capability)
    assert f".entry {name}" in code
    assert "fma." not in code  # a weight is rounded before it is added to a distance
    assert len(linked(code, f"sm_{capability[0]}{capability[1]}")) > 1000


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("name", ["functors", "operators", "rows", f"functors, {PACKED}"])
def test_kernels_with_checks_compile(name: str, build: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from frontier.backends.cuda.compiler import ptx_of

    monkeypatch.setenv("FRONTIER_CHECK", "1")
    program = program_of(name, build, monkeypatch)
    assert program.checked_fields()
    assert len(linked(ptx_of(program, (8, 0), launch.bounds_of(program)), "sm_80")) > 1000


def linked(code: str, architecture: str) -> bytes:
    """Machine code of PTX."""
    nvjitlink = pytest.importorskip("cuda.bindings.nvjitlink", reason="nvJitLink is not installed")
    options = [f"-arch={architecture}"]
    handle = nvjitlink.create(len(options), options)
    try:
        try:
            nvjitlink.add_data(handle, nvjitlink.InputType.PTX, code.encode(), len(code), "kernel")
            nvjitlink.complete(handle)
        except nvjitlink.nvJitLinkError as error:
            log = bytearray(nvjitlink.get_error_log_size(handle))
            nvjitlink.get_error_log(handle, log)
            raise AssertionError(log.decode()) from error
        made = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, made)
        return bytes(made)
    finally:
        nvjitlink.destroy(handle)
