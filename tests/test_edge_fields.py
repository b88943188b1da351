"""Fields of edges of a graph in parts, under mpirun: arrays of which each rank has the entries of its own edges."""

from __future__ import annotations

import pytest
from mpi import processes
from test_in_parts import ran

from frontier.memory import detection

pytestmark = [processes, pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")]


def test_fields_of_edges_of_a_graph_in_parts(tmp_path):
    ran(3, tmp_path, """
def mark(p, edge, src, dst):
    p.e[edge] += src + dst

parts = fr.rmat(9, 8, seed=5, weights=(1, 9), placement="ranks")

def problem(g):
    return fr.Problem(g, e=fr.edge("int64", np.arange(g.num_slots)), w=fr.edge("float32", 2, shape=3))

def run(p):
    fr.compute(p, fr.Frontier.all(p.graph, kind="edge"), mark)

p, q = problem(whole), problem(parts)
run(p), run(q)
assert q.e.first == parts.targets.first and len(q.e) == len(p.e) and q.e.dtype == p.e.dtype
assert (q.e.own == p.e[q.e.first : q.e.first + len(q.e.own)]).all()
assert (np.asarray(q.e) == p.e).all() and q.e.sum() == p.e.sum() and (q.e[5:900:7] == p.e[5:900:7]).all()
only = q.e.gather(1)
assert (only is None) == (rank != 1) and (only is None or (only == p.e).all())
assert q.w.shape == p.w.shape and q.w.ndim == 2 and q.w.size == p.w.size and (np.asarray(q.w) == 2).all()

for each in (p, q):
    each.e += 1
    each.e *= each.graph.weights
q.e.own[:2] -= 5
run(p), run(q)
expected = p.e.copy()
for first in MPI.COMM_WORLD.allgather(q.e.first):
    expected[first : first + 2] -= 5
assert (np.asarray(q.e) == expected).all()
q.e[:] = p.e
run(p), run(q)
assert (np.asarray(q.e) == p.e).all()
q.e[...] = 7
q.e = np.arange(len(p.e))
assert (np.asarray(q.e) == np.arange(len(p.e))).all()
p.e = np.arange(len(p.e))
for each in (p, q):
    each.w @= np.arange(9, dtype=np.float32).reshape(3, 3)
    np.add(each.e, each.graph.weights, out=each.e)
    each.e = each.e * 2
assert (np.asarray(q.w) == p.w).all() and (np.asarray(q.e) == p.e).all() and q.e is q.e
for wrong, said in (
    (lambda: operator.setitem(q.e, 5, 1), "own"),
    (lambda: q.e[5], "own"),
    (lambda: operator.setitem(q.e, slice(3), 1), "own"),
    (lambda: np.add.at(q.e, [1], 1), "own"),
    (lambda: np.add(q.e, 1, out=q.e, where=np.arange(len(q.e)) > 3), "own"),
    (lambda: q.e.fill(1), "read-only"),
    (lambda: operator.setitem(np.asarray(q.e), 1, 1), "read-only"),
    (lambda: operator.setitem(q.e, slice(None), np.arange(len(q.e.own))), "shape"),
    (lambda: operator.iadd(q.w, q.e), "shape"),
):
    try:
        wrong()
    except (fr.GraphError, ValueError) as error:
        assert said in str(error)
    else:
        raise AssertionError(said)
assert (np.asarray(q.w) == p.w).all() and (np.asarray(q.e) == p.e).all()
few = fr.Problem(fr.from_edges([0, 1, 2], [1, 2, 0], directed=True, placement="ranks"), w=fr.edge("int64", 1, shape=3))
few.w += np.arange(3)
few.w.own += 1
assert (np.asarray(few.w) == [2, 3, 4]).all() and (pickle.loads(pickle.dumps(few.w)) == [2, 3, 4]).all()
""")
