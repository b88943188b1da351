"""What test_device_*.py share: a graph, comparisons with the host, arrays of other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

import frontier as fr
from frontier.memory import arrays


def same(there: Any, here: Any) -> None:
    """Both arrays are equal, in dtype too, and the first lies on the GPU."""
    assert arrays.is_device(there)
    assert there.dtype == here.dtype
    np.testing.assert_array_equal(arrays.to_host(there), here)


def same_graphs(there: fr.Graph, here: fr.Graph) -> None:
    assert (there.backend, here.backend) == ("cuda", "cpu")
    assert there.directed == here.directed
    same(there.offsets, here.offsets)
    same(there.targets, here.targets)
    assert (there.weights is None) == (here.weights is None)
    if here.weights is not None:
        same(there.weights, here.weights)
    for mine, other in ((there.vertices, here.vertices), (there.edges, here.edges)):
        assert list(mine) == list(other)
        for name, column in other.items():
            np.testing.assert_array_equal(arrays.to_host(mine[name]), column)


def rich_graph(directed: bool = True) -> fr.Graph:
    """A graph with everything that a graph can have."""
    return fr.from_edges(
        list("abcda"), list("bcdac"), [1.5, 2.5, 3.5, 4.5, 5.5], directed=directed,
        vertices={"size": [1, 2, 3, 4], "name": list("ABCD")}, edges={"kind": np.arange(5), "word": list("vwxyz")},
    )  # fmt: skip


class Shared:
    """What another library shows of an array on a GPU."""

    def __init__(self, array: Any) -> None:
        self._array = array  # keeps the memory
        self.__cuda_array_interface__ = array.__cuda_array_interface__


class Capsuled:
    """The same by DLPack."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **named: Any) -> Any:
        return self._array.__dlpack__(**named)
