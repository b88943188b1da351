"""Frontier: graph algorithms as a few Python functions over frontiers of vertices and edges.

Everything a user needs is here, imported when first used: ``import frontier as fr``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from frontier import _checkout as _checkout

__version__ = "0.1.0.dev0"

#: Public name -> module that has it.
_EXPORTS: dict[str, str] = {}


def _export(module: str, *names: str) -> None:
    _EXPORTS.update(dict.fromkeys(names, module))


_export("frontier.atomics", "atomic_add", "atomic_cas", "atomic_exch", "atomic_max", "atomic_min", "atomic_or")
_export("frontier.build", "from_csr", "from_edges")
_export("frontier.convert", "from_networkx", "from_pandas", "from_scipy", "to_networkx", "to_pandas", "to_scipy")
_export("frontier.enactor", "Enactor")
_export("frontier.analysis", "effects")
_export(
    "frontier.errors",
    "BackendUnavailableError",
    "DeviceMemoryError",
    "FrontierError",
    "FunctorError",
    "GraphError",
    "NegativeWeightError",
    "NotConvergedError",
    "VerificationError",
)
_export("frontier.frontiers", "Frontier")
_export("frontier.functors", "function")
_export("frontier.generators", "complete", "grid", "karate", "path", "rmat", "small_world", "star", "tree", "urand")
_export("frontier.graph", "Graph")
_export("frontier.io", "read", "write")
_export("frontier.loop", "Loop", "Sequence")
_export("frontier.numbers", "hash", "random")
_export("frontier.problem", "Problem", "array", "edge", "pile", "scalar", "vertex")
_export("frontier.schedule", "Schedule")
_export("frontier.tracing", "trace")
_export("frontier.backends.cpu.threads", "num_threads", "set_num_threads")
_export(
    "frontier.operators",
    "Advance",
    "Compute",
    "Filter",
    "Gather",
    "Reduce",
    "Set",
    "Split",
    "Swap",
    "Take",
    "Unique",
)
_export(
    "frontier.operators.eager",
    "advance",
    "compute",
    "filter",
    "gather",
    "reduce",
    "set",
    "split",
    "swap",
    "take",
    "unique",
)
_export("frontier.primitives.bc", "betweenness")
_export("frontier.primitives.bfs", "bfs")
_export("frontier.primitives.cc", "connected_components")
_export("frontier.primitives.pagerank", "pagerank")
_export("frontier.primitives.sssp", "sssp")

_MODULES = ("backends", "io", "operators", "primitives", "verify", "generators")

__all__ = [*_EXPORTS, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        value = getattr(importlib.import_module(_EXPORTS[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"frontier.{name}")
    else:
        raise AttributeError(f"module 'frontier' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if TYPE_CHECKING:
    from frontier.atomics import (
        atomic_add as atomic_add,
    )
    from frontier.atomics import (
        atomic_cas as atomic_cas,
    )
    from frontier.atomics import (
        atomic_exch as atomic_exch,
    )
    from frontier.atomics import (
        atomic_max as atomic_max,
    )
    from frontier.atomics import (
        atomic_min as atomic_min,
    )
    from frontier.atomics import (
        atomic_or as atomic_or,
    )
