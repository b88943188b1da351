"""What all tests share: backends to run on, graphs from files, how hypothesis searches."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import frontier as fr

# Compiling takes longer than hypothesis allows an example, hence no deadline.
settings.register_profile("dev", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@dataclass(frozen=True)
class Backend:
    """A backend under test; call it to move a graph there."""

    name: str

    def __call__(self, graph: fr.Graph) -> fr.Graph:
        return graph.to(self.name)


@pytest.fixture(params=["python", "cpu"], scope="module")  # not per test, for hypothesis
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each backend in turn: ``backend(graph)`` gives the graph there, ``backend.name`` its name."""
    return Backend(request.param)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real graphs: FRONTIER_TEST_DATA, or shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("FRONTIER_TEST_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no folder of real graphs at {folder}; FRONTIER_TEST_DATA names another")
    return folder


@pytest.fixture(scope="session")
def real_graph(data_dir: Path) -> Any:
    """``real_graph("road-rome99")`` gives a graph of the data folder, each loaded once."""
    loaded: dict[str, fr.Graph] = {}

    def load(name: str) -> fr.Graph:
        if name not in loaded:
            loaded[name] = load_npz(data_dir / f"{name}.npz")
        return loaded[name]

    return load


def load_npz(path: str | Path) -> fr.Graph:
    """Give the graph of a file with src, dst, n, directed and perhaps weights."""
    with np.load(path) as file:
        return fr.from_edges(
            file["src"],
            file["dst"],
            file.get("weights"),
            num_vertices=int(file["n"]),
            directed=bool(file["directed"]),
        )
