"""The benchmark: generate, construct (kernel 1), then search from every root (kernels 2 and 3) and validate.

Timed are the kernels, each search by itself: from the call until its arrays are complete, where they lie. A search
from the first root goes before, untimed, as in the reference code; it loads compiled code and makes buffers. What is
compiled while a clock runs is not counted.

What goes through the list of edges is a :class:`frontier.graph500.work.Work`: here on the host and, in parts, on ranks;
in :mod:`frontier.graph500.on_gpus` on GPUs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import frontier as fr
from frontier.errors import GraphError
from frontier.generators.random_numbers import whole
from frontier.graph.build import from_edges
from frontier.graph.topology import id_dtype
from frontier.graph500.generator import MOST, generate
from frontier.graph500.others import Others
from frontier.graph500.report import Outcome, Search
from frontier.graph500.roots import draw_roots, with_neighbor
from frontier.graph500.validation import bfs_tree, check_edges, check_joined, sssp_tree
from frontier.graph500.work import Work
from frontier.memory.arrays import to_host
from frontier.memory.host import HOST
from frontier.memory.placement import Placement
from frontier.native import notice

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.graph.topology import Array
    from frontier.graph500.edges import EdgeList
    from frontier.graph500.validation import Evidence, Tree
    from frontier.memory.base import Memory

__all__ = ["benchmark", "construct"]

#: What searches want to know of a graph: it is computed once and kept, so it is a part of the construction.
FACTS = ("min_weight", "max_weight", "traits")


class Clock:
    """Seconds since it was made, without those of compiling."""

    def __init__(self) -> None:
        self._start, self._compiled = time.perf_counter(), notice.seconds()

    @property
    def seconds(self) -> float:
        """Seconds so far; never 0, as a clock may have stood still."""
        compiled = notice.seconds() - self._compiled
        return max(time.perf_counter() - self._start - compiled, 1e-9)


def benchmark(
    scale: int,
    edgefactor: int = 16,
    *,
    roots: int = 64,
    backend: Placement | str = "auto",
    seed: int = 1,
    say: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Run the Graph500 benchmark.

    Parameters
    ----------
    scale, edgefactor : int
        The graph has 2**scale vertices and ``edgefactor * 2**scale`` edges.
    roots : int
        Number of searches by each kernel; fewer if fewer vertices have a neighbour.
    backend : Placement or str
        Where the graph is built and searched.
    seed : int
        Of the edges and of the roots.
    say : callable, optional
        Called with a line of text after each step.

    Raises
    ------
    VerificationError
        If a result breaks a rule of the specification.
    GraphError
        If an argument is out of range.
    """
    scale, edgefactor = whole("scale", scale, 1, MOST), whole("edgefactor", edgefactor, 1)
    roots, place = whole("roots", roots, 1), Placement.parse(backend)
    others, work = Others.of(place), _work_at(place)(scale, edgefactor, seed, place)
    work.prepare()
    clock = Clock()
    work.generate()
    generation = others.slowest(clock.seconds)
    say(f"generated {edgefactor << scale:,} edges in {generation:.3f} s")
    clock = Clock()
    graph = _known(work.construct())
    construction = others.slowest(clock.seconds)
    say(f"constructed the graph on {place} in {construction:.3f} s: {graph.num_edges:,} different edges")
    keys = draw_roots(work.connected(graph), roots, seed).tolist()
    if not keys:
        raise GraphError("no vertex has a neighbour: there is nothing to search")
    searches = {kernel: _search(kernel, work, graph, keys, say, others) for kernel in KERNELS}
    together, held = place.backend.processes(), work.held(graph)
    gpus = 0 if held is None else len(held.peak)
    return Outcome(scale, edgefactor, seed, str(place), generation, construction, searches, together, gpus, held)


def _work_at(place: Placement) -> type[Work]:
    """What goes through the list of edges: where GPUs of this process build the graph, they do."""
    if place.memory is HOST or place.edges is not None:
        return OnHost
    from frontier.graph500.on_gpus import OnGpus

    return OnGpus


class OnHost(Work):
    """What is done with a list of edges in the memory of the host, of which each process has its part."""

    memory = HOST

    def __init__(self, scale: int, edgefactor: int, seed: int, place: Placement) -> None:
        self._place, self._others = place, Others.of(place)
        self._make = partial(generate, scale, edgefactor, seed=seed)
        self._total = edgefactor << scale

    def generate(self) -> None:
        """Make the part of the list."""
        rank, size = self._others.rank, self._others.size
        lo, hi = (self._total * share // size for share in (rank, rank + 1))
        self._edges = self._make(lo=lo, hi=hi)

    def construct(self) -> Graph:
        """Kernel 1."""
        return construct(self._edges, self._place)

    def connected(self, graph: Graph) -> Array:
        """Whether each vertex has an edge to another vertex."""
        return self._others.any(with_neighbor(self._edges, graph.num_vertices))

    def evidence(self, tree: Tree) -> Evidence:
        """Check the rules on edges."""
        return self._others.evidence(partial(check_edges, self._edges, tree))


def construct(edges: EdgeList, place: Placement) -> Graph:
    """Kernel 1: build the graph from the list of edges, which is all that it is given.

    Of several edges between two vertices the one of least weight is kept, and self-loops are dropped. No level or
    distance depends on the others. Where several processes run the benchmark, each gives its part of the list, and gets
    its part of the graph.
    """
    options: dict[str, Any] = {"duplicates": "min", "self_loops": "drop"}
    if place.divides:
        graph = from_edges(edges.src, edges.dst, edges.weight, placement=place, parts=True, **options)
    else:
        n = edges.num_vertices
        ids, memory = id_dtype(n), place.memory
        src, dst = (memory.moved(end.astype(ids, copy=False)) for end in (edges.src, edges.dst))
        weight = memory.moved(edges.weight)
        graph = from_edges(src, dst, weight, num_vertices=n, **options).to(place)
    return _known(graph)


def _known(graph: Graph) -> Graph:
    """The graph, once searches know of it what they want to know."""
    for fact in FACTS:
        getattr(graph, fact)
    graph.placement.memory.synchronize()
    return graph


def _bfs(graph: Graph, root: int) -> dict[str, Any]:
    """Kernel 2."""
    return {"parent": fr.bfs(graph, root).parent}


def _sssp(graph: Graph, root: int) -> dict[str, Any]:
    """Kernel 3."""
    result = fr.sssp(graph, root, dtype="float32")
    return {"parent": result.parent, "distance": result.distance}


def _there(values: Any, memory: Memory) -> Any:
    """A result in the memory in which it is checked."""
    return to_host(values) if memory is HOST else memory.moved(values)


#: The kernels that search, and what checks the rules on vertices for each.
KERNELS: dict[str, tuple[Callable[..., dict[str, Any]], Callable[..., Tree]]] = {
    "bfs": (_bfs, bfs_tree),
    "sssp": (_sssp, sssp_tree),
}


def _search(
    kernel: str, work: Work, graph: Graph, roots: list[int], say: Callable[[str], None], others: Others
) -> list[Search]:
    """Search from all roots, and validate each result before the next search."""
    search, tree_of = KERNELS[kernel]
    work.restored(search(graph, work.vertex(roots[0])))
    made = []
    for number, root in enumerate(roots, 1):
        graph.placement.memory.synchronize()
        others.wait()
        clock = Clock()
        result = work.restored(search(graph, work.vertex(root)))
        graph.placement.memory.synchronize()
        seconds = others.slowest(clock.seconds)
        clock = Clock()
        work.make_room()
        with work.memory.using("validation"):
            tree = tree_of(root, *(_there(values, work.memory) for values in result.values()))
            count = check_joined(tree, work.evidence(tree))
        made.append(Search(root, seconds, count, others.slowest(clock.seconds)))
        work.note()
        del result, tree
        say(
            f"{kernel} {number} of {len(roots)}: root {root}, {seconds:.6f} s, {made[-1].teps:.4g} TEPS; "
            f"validated in {made[-1].validation_seconds:.3f} s"
        )
    return made
