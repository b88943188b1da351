"""The specification's rules for a search tree, checked against the list of edges.

Rules on vertices (:func:`bfs_tree`, :func:`sssp_tree`):

- the root is its own parent, and the parents of all other vertices of the tree lead to it, without a cycle;
- for SSSP: the root has distance 0, and exactly the vertices of the tree have a distance.

Rules on edges (:func:`check_edges`, on any range of them):

- each edge joins two vertices whose levels differ by at most 1, or whose distances by at most its weight, or two
  vertices outside the tree: so the tree spans a component;
- each vertex of the tree is joined with its parent by an edge of the list (:func:`check_joined`, when all ranges are
  checked), whose weight is the difference of their distances.

Levels are not taken from the search. They are the numbers of steps by which parents lead to the root, so that those of
a vertex and its parent differ by 1. Together the rules imply that each level and distance is right: the tree has a path
of this length, and no edge offers a shorter one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from frontier.errors import VerificationError
from frontier.generators.random_numbers import on_threads
from frontier.graph.topology import Array
from frontier.graph500.edges import EdgeList
from frontier.memory.arrays import is_device, namespace_of

__all__ = [
    "Evidence", "Tree", "bfs_tree", "check_edges", "check_joined", "check_length", "fail_edge", "sssp_tree",
    "validate_bfs", "validate_sssp",
]  # fmt: skip

#: The level of a vertex outside the tree; by two less than that of the root, so that an edge between them is too long.
OUTSIDE = -2

#: How far a distance may be from that of the parent plus the weight, relative to itself: a few roundings of float32.
TOLERANCE = 2.0**-22


@dataclass(frozen=True, eq=False)
class Tree:
    """The tree that a search has found, after the rules on vertices are checked.

    Attributes
    ----------
    kernel : str
        ``"bfs"`` or ``"sssp"``, for messages.
    root : int
    parent : ndarray of integers, shape (n,)
        On the host, or on the GPU where the result is; so are all others.
    level : ndarray of int32, shape (n,)
        Number of steps to the root; OUTSIDE for other vertices.
    distance : ndarray of floats, shape (n,), or None
        For SSSP; inf outside the tree.
    """

    kernel: str
    root: int
    parent: Array
    level: Array
    distance: Array | None = None

    def fail(self, what: str) -> NoReturn:
        """A rule is broken."""
        _fail(self.kernel, self.root, what)


@dataclass(eq=False)
class Evidence:
    """What a range of edges shows; that of several ranges is added up.

    Attributes
    ----------
    joined : ndarray of bool, shape (n,)
        Whether an edge to the parent has been found, which for SSSP has the right weight.
    edges : int
        Number of edges in the component, self-loops and duplicates too: the m of TEPS = m / time.
    """

    joined: Array
    edges: int = 0

    def __iadd__(self, other: Evidence) -> Evidence:
        self.joined |= other.joined
        self.edges += other.edges
        return self


def validate_bfs(edges: EdgeList, root: int, parent: Any) -> int:
    """Check all rules for the result of a breadth-first search.

    Returns
    -------
    int
        The number of edges in the component of the root.

    Raises
    ------
    VerificationError
        If a rule is broken; the message says where.
    """
    tree = bfs_tree(root, parent)
    return check_joined(tree, check_edges(edges, tree))


def validate_sssp(edges: EdgeList, root: int, parent: Any, distance: Any) -> int:
    """Check all rules for the result of a search for shortest paths; as :func:`validate_bfs`."""
    tree = sssp_tree(root, parent, distance)
    return check_joined(tree, check_edges(edges, tree))


def bfs_tree(root: int, parent: Any) -> Tree:
    """Check the rules on vertices for a BFS."""
    return _tree("bfs", root, parent)


def sssp_tree(root: int, parent: Any, distance: Any) -> Tree:
    """Check the rules on vertices for an SSSP."""
    tree = _tree("sssp", root, parent)
    distance = _array(distance)
    if distance.shape != tree.parent.shape or distance.dtype.kind != "f":
        tree.fail(f"distances are {distance.dtype} of shape {distance.shape}, not floats of shape {tree.parent.shape}")
    inside = tree.level != OUTSIDE
    # not "distance < 0": NaN is wrong too
    wrong = namespace_of(distance).where(inside, ~((distance >= 0) & (distance < np.inf)), distance != np.inf)
    _check(tree, wrong, "distance", distance)
    if distance[root] != 0:
        tree.fail(f"distance[{root}] is {distance[root].item()}, but it is the root")
    # a GPU computes with as many bits, and leaves them where they are
    return Tree("sssp", root, tree.parent, tree.level, distance if is_device(distance) else distance.astype(np.float64))


def _tree(kernel: str, root: int, parent: Any) -> Tree:
    parent = _array(parent)
    if parent.ndim != 1 or parent.dtype.kind != "i":
        _fail(kernel, root, f"parents are {parent.dtype} of shape {parent.shape}, not a list of signed integers")
    n, tree = len(parent), Tree(kernel, root, parent, parent[:0])  # whose levels are not known yet
    if not 0 <= root < n:
        tree.fail(f"there is no such vertex: there are {n}")
    outside = parent < 0
    _check(tree, (parent < -1) | (parent >= n), "parent", parent)
    if parent[root] != root:
        tree.fail(f"parent[{root}] is {parent[root].item()}, but the root is its own parent")
    _check(tree, (parent[parent] < 0) & ~outside, "parent", parent, ", which is outside the tree")
    return Tree(kernel, root, parent, _steps(tree, outside))


def _steps(tree: Tree, outside: Array) -> Array:
    """Number of steps to the root from each vertex of the tree; steps are doubled until all are there."""
    hop, root = tree.parent.copy(), tree.root
    hop[outside] = root
    steps: Array = namespace_of(hop).ones(len(hop), np.int32)
    steps[outside] = 0
    steps[root] = 0
    for _ in range(len(hop).bit_length() + 1):
        astray: Array = hop != root
        if not astray.any():
            steps[outside] = OUTSIDE
            return steps
        steps += steps[hop]
        hop = hop[hop]
    v = int(astray.argmax())
    tree.fail(f"the parents of vertex {v} do not lead to the root: parent[{v}] is {tree.parent[v].item()}")


def _array(values: Any) -> Array:
    """An array where it is: on a GPU, or on the host."""
    made: Array = values if is_device(values) else np.asarray(values)
    return made


def check_edges(edges: EdgeList, tree: Tree, lo: int = 0, hi: int | None = None) -> Evidence:
    """Check the rules on edges for a range of them."""
    hi = len(edges) if hi is None else hi
    check_length(tree, edges.num_vertices)
    check = _check_levels if tree.distance is None else _check_distances
    joined, counts = np.zeros(len(tree.parent), np.bool_), []

    def work(begin: int, end: int) -> None:
        for block in edges.blocks(lo + begin, lo + end):
            src, dst = edges.src[block], edges.dst[block]
            check(edges, tree, block, src, dst, joined)  # threads set the same array, but only to True
            counts.append(int(np.count_nonzero(tree.level[src] != OUTSIDE)))

    on_threads(work, hi - lo)
    return Evidence(joined, sum(counts))


def check_length(tree: Tree, num_vertices: int) -> None:
    """Check that every vertex has a parent, or none."""
    if num_vertices > len(tree.parent):
        tree.fail(f"there are {len(tree.parent)} parents, but {num_vertices} vertices")


def _check_levels(edges: EdgeList, tree: Tree, block: slice, src: Array, dst: Array, joined: Array) -> None:
    far = np.abs(tree.level[src] - tree.level[dst]) > 1
    if far.any():
        fail_edge(edges, tree, block.start + int(far.argmax()))
    joined[dst[tree.parent[dst] == src]] = True
    joined[src[tree.parent[src] == dst]] = True


def _check_distances(edges: EdgeList, tree: Tree, block: slice, src: Array, dst: Array, joined: Array) -> None:
    assert tree.distance is not None
    here, there, weight = tree.distance[src], tree.distance[dst], edges.weight[block]
    through, back = here + weight, there + weight  # to dst through src, and to src through dst
    far = (there > through * (1 + TOLERANCE)) | (here > back * (1 + TOLERANCE))
    if far.any():
        fail_edge(edges, tree, block.start + int(far.argmax()))
    joined[dst[(tree.parent[dst] == src) & (there >= through * (1 - TOLERANCE))]] = True
    joined[src[(tree.parent[src] == dst) & (here >= back * (1 - TOLERANCE))]] = True


def check_joined(tree: Tree, evidence: Evidence) -> int:
    """Check that there is an edge from every vertex to its parent; the number of edges in the component."""
    missing = (tree.level > 0) & ~evidence.joined
    if missing.any():
        v = int(missing.argmax())
        p = int(tree.parent[v])
        if tree.distance is None:
            tree.fail(f"parent[{v}] is {p}, but there is no edge between them")
        far = f"{float(tree.distance[v])} - {float(tree.distance[p])}"
        tree.fail(f"parent[{v}] is {p}, but there is no edge between them of weight {far}")
    return evidence.edges


def _check(tree: Tree, wrong: Array, name: str, values: Array, why: str = "") -> None:
    if wrong.any():
        v = int(wrong.argmax())
        parent = "" if name == "parent" else f", and parent[{v}] is {tree.parent[v].item()}"
        tree.fail(f"{name}[{v}] is {values[v].item()}{parent}{why}")


def fail_edge(edges: EdgeList, tree: Tree, at: int) -> NoReturn:
    """An edge breaks a rule."""
    ends = int(edges.src[at]), int(edges.dst[at])
    name = f"edge {edges.first + at}, {ends[0]} - {ends[1]},"
    levels = [int(tree.level[v]) for v in ends]
    if (levels[0] == OUTSIDE) != (levels[1] == OUTSIDE):
        tree.fail(f"{name} joins a vertex of the tree with one outside")
    if tree.distance is None:
        tree.fail(f"{name} joins vertices of levels {levels[0]} and {levels[1]}")
    far = " and ".join(str(float(tree.distance[v])) for v in ends)
    tree.fail(f"{name} of weight {edges.weight[at]} joins vertices at distances {far}")


def _fail(kernel: str, root: int, what: str) -> NoReturn:
    raise VerificationError(f"graph500: {kernel} from vertex {root}: {what}")
