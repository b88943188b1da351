"""Primitives that look up edges anywhere, on graphs that were made in parts: as on the whole graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compare import equal

import frontier as fr

CALLS: dict[str, Callable[[fr.Graph], Any]] = {
    "jaccard": lambda g: fr.jaccard(g).common,
    "random_walks": lambda g: fr.random_walks(g, length=5, seed=1).path,
    "weighted walks": lambda g: fr.random_walks(g, length=5, seed=1, weighted=True).path,
    "node2vec_walks": lambda g: fr.node2vec_walks(g, length=5, seed=1, p=0.5, q=2).path,
}


@pytest.mark.parametrize("name", CALLS)
def test_graphs_made_in_parts(name: str) -> None:
    whole, parts = (fr.rmat(6, 6, seed=5, weights=(1, 9), placement=place) for place in ("cpu", "ranks:3"))
    equal(np.asarray(CALLS[name](parts)), CALLS[name](whole))
