"""Frontiers, problems and results on a GPU, as the host sees them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from device_tools import same

import frontier as fr
from frontier.memory import arrays
from frontier.primitives.bc import BetweennessResult
from frontier.primitives.bfs import BFSResult, bfs_problem
from frontier.primitives.cc import ComponentsResult, components_problem
from frontier.primitives.pagerank import PageRankResult, _distribution
from frontier.primitives.sssp import sssp_problem

# -- frontiers ---------------------------------------------------------------------------------------


def test_frontiers(xp: Any) -> None:
    graph = fr.path(6).to("cuda")
    one, some = fr.Frontier(graph, [3]), fr.Frontier(graph, xp.asarray([3, 1, 3]))
    assert type(one._ids) is np.ndarray  # until somebody asks
    assert (len(one), len(some), bool(one), 1 in some, 2 in some) == (1, 2, True, True, False)
    same(one.ids, np.array([3], np.int32))
    same(some.ids, np.array([1, 3], np.int32))
    assert sorted(some) == [1, 3]
    assert sorted(some | fr.Frontier(graph, [0])) == [0, 1, 3]
    assert sorted(some & one) == [3]
    assert sorted(some - one) == [1]
    assert some - one == fr.Frontier(graph, [1])
    same(some.mask, np.array([0, 1, 0, 1, 0, 0], bool))
    same(fr.Frontier.all(graph).ids, np.arange(6, dtype=np.int32))
    same(fr.Frontier._of(graph, "vertex", mask=some.mask).ids, np.array([1, 3], np.int32))
    assert repr(some) == "Frontier(2 vertices: 1, 3)"
    assert not fr.Frontier(graph)
    assert some.host_ids().tolist() == [1, 3]
    assert sorted(fr.Frontier(graph.to("cpu"), xp.asarray([2]))) == [2]
    with pytest.raises(fr.FrontierError, match="do not mix: one lies on 'cuda', the other on 'cpu'"):
        _ = one | fr.Frontier(graph.to("cpu"), [1])
    for wrong in ([6], xp.asarray([1, 6])):
        with pytest.raises(fr.GraphError, match=r"vertex 6 does not exist: valid are 0\.\.5"):
            fr.Frontier(graph, wrong)
    with pytest.raises(fr.GraphError, match="are integers, not float64"):
        fr.Frontier(graph, xp.asarray([1.0]))


# -- problems ----------------------------------------------------------------------------------------


def test_fields(xp: Any) -> None:
    graph = fr.path(4).to("cuda")
    p = fr.Problem(
        graph,
        level=fr.vertex("int32", -1),
        small=fr.vertex("uint8", 7),
        length=fr.vertex("float64", np.inf),
        flag=fr.vertex("bool", True),
        given=fr.vertex("int64", [1, 2, 3, 4]),
        taken=fr.vertex("int32", xp.arange(4)),
        slot=fr.edge("float32"),
        own=fr.array([5, 6]),
        theirs=fr.array(xp.asarray([5.0])),
        depth=fr.scalar("int32", 3),
        far=fr.pile(),
    )
    expected = {
        "level": np.full(4, -1, np.int32), "small": np.full(4, 7, np.uint8), "length": np.full(4, np.inf),
        "flag": np.ones(4, bool), "given": np.arange(1, 5), "taken": np.arange(4, dtype=np.int32),
        "slot": np.zeros(6, np.float32), "own": np.array([5, 6]), "theirs": np.array([5.0]),
    }  # fmt: skip
    for name, values in expected.items():
        same(getattr(p, name), values)
    assert type(p.scalars["depth"]) is np.ndarray
    p.level[0] = 0
    assert p.level.tolist() == [0, -1, -1, -1]
    p.level = [4, 5, 6, 7]
    assert p.level.tolist() == [4, 5, 6, 7]
    p.level = xp.asarray([7, 6, 5, 4])
    assert p.level.tolist() == [7, 6, 5, 4]
    p.level = 2
    assert p.level.tolist() == [2, 2, 2, 2]
    p.depth = xp.asarray(9)
    assert p.depth == 9
    p.far = [1, 2]
    assert len(p.far) == 2


def test_a_field_is_not_the_array_it_was_made_from(xp: Any) -> None:
    graph, values = fr.path(3).to("cuda"), xp.arange(3)
    p = fr.Problem(graph, a=fr.vertex("int64", values), b=fr.array(values))
    p.a[0] = p.b[0] = 5
    assert values.tolist() == [0, 1, 2]


def test_values_from_a_gpu_on_the_host(xp: Any) -> None:
    p = fr.Problem(fr.path(3), a=fr.vertex("int32", xp.arange(3)), b=fr.array(xp.arange(2)))
    assert type(p.a) is type(p.b) is np.ndarray
    p.a = xp.asarray([3, 4, 5])
    assert p.a.tolist() == [3, 4, 5]


def test_values_that_do_not_fit(xp: Any) -> None:
    graph = fr.path(3).to("cuda")
    p = fr.Problem(graph, a=fr.vertex("int32"))
    with pytest.raises(fr.FrontierError, match="does not fit"):
        p.a = xp.asarray([0, 0, 2**40])
    with pytest.raises(fr.FrontierError, match="not a whole number"):
        p.a = xp.asarray([0, 0, 0.5])
    with pytest.raises(fr.FrontierError, match=r"values of shape \(2,\), but there are 3 entries"):
        p.a = xp.asarray([0, 0])


# -- primitives --------------------------------------------------------------------------------------


def test_problems_of_primitives(xp: Any) -> None:
    graph = fr.grid(2, 3, weights=(1, 9), seed=1)
    there = graph.to("cuda")
    for made, expected in (
        (bfs_problem(there, 2), bfs_problem(graph, 2)),
        (sssp_problem(there, 2), sssp_problem(graph, 2)),
        (components_problem(there), components_problem(graph)),
    ):
        for name, values in expected.arrays.items():
            same(made.arrays[name], values)
        tuned = {"delta", "first", "few", "many", "widest", "enough"}  # widths of limits, which are others on a GPU
        for name in expected.scalars.keys() - tuned:
            assert made.scalars[name] == expected.scalars[name]
    np.testing.assert_allclose(arrays.to_host(there.out_weight), graph.out_weight)
    same(_distribution(there, "personalization", {1: 2.0, 3: 2.0}), np.array([0, 0.5, 0, 0.5, 0, 0]))
    same(_distribution(there, "personalization", xp.ones(6)), np.full(6, 1 / 6))


def test_helpers_of_results(xp: Any) -> None:
    reached = BFSResult(0, xp.asarray([0, 1, 2, -1]), xp.asarray([0, 0, 1, -1]))
    assert reached.path_to(2) == [0, 1, 2]
    assert reached.path_to(3) == []
    assert "source=0" in repr(reached)
    assert ComponentsResult(xp.asarray([0, 1, 1]), 2).sizes() == {1: 2, 0: 1}
    ranks = PageRankResult(xp.asarray([0.2, 0.5, 0.3]), 1, 0.0, 0.85, 0.0, False, None)
    assert ranks.top(2) == [(1, 0.5), (2, 0.3)]


def test_verifying(xp: Any) -> None:
    graph = fr.grid(3, 4, weights=(1, 9), seed=1)
    there = graph.to("cuda")

    def moved(result: Any) -> Any:
        fields = {name: getattr(result, name) for name in result.__dataclass_fields__}
        arrays = {name: xp.asarray(value) for name, value in fields.items() if isinstance(value, np.ndarray)}
        return type(result)(**{**fields, **arrays})

    for name in ("bfs", "sssp", "connected_components", "pagerank", "betweenness"):
        given_ = (0,) if name in ("bfs", "sssp") else ()
        result = moved(getattr(fr, name)(graph, *given_))
        assert getattr(fr.verify, name)(there, result)
    wrong = BetweennessResult(xp.ones(12), xp.arange(12), False)
    assert not fr.verify.betweenness(there, wrong)
    with pytest.raises(fr.NegativeWeightError, match=r"edge 0 -> 1 \(slot 0\) has weight -1"):
        fr.verify.sssp(fr.from_csr(xp.asarray([0, 1, 1]), xp.asarray([1]), xp.asarray([-1])), result)
