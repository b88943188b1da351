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
    "DeviceLostError",
    "DeviceMemoryError",
    "FrontierError",
    "FrontierWarning",
    "FrontierMemoryError",
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
_export("frontier.adjacency", "degree", "neighbours", "source", "target", "weight")
_export("frontier.numbers", "hash", "random")
_export("frontier.problem", "Problem", "array", "edge", "pile", "scalar", "vertex")
_export("frontier.schedule", "Schedule")
_export("frontier.tracing", "trace")
_export("frontier.backends.cpu.threads", "num_threads", "set_num_threads")
_export(
    "frontier.operators",
    "Advance",
    "Buckets",
    "Compute",
    "Filter",
    "Gather",
    "Intersect",
    "Reduce",
    "Scan",
    "Set",
    "Split",
    "Swap",
    "Take",
    "Unique",
)
_export(
    "frontier.operators.eager",
    "advance",
    "buckets",
    "compute",
    "filter",
    "gather",
    "intersect",
    "reduce",
    "scan",
    "set",
    "split",
    "swap",
    "take",
    "unique",
)
_export("frontier.operators.sample", "sample")
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
    from frontier.adjacency import (
        degree as degree,
    )
    from frontier.adjacency import (
        neighbours as neighbours,
    )
    from frontier.adjacency import (
        source as source,
    )
    from frontier.adjacency import (
        target as target,
    )
    from frontier.adjacency import (
        weight as weight,
    )
    from frontier.analysis import (
        effects as effects,
    )
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
    from frontier.backends.cpu.threads import (
        num_threads as num_threads,
    )
    from frontier.backends.cpu.threads import (
        set_num_threads as set_num_threads,
    )
    from frontier.build import (
        from_csr as from_csr,
    )
    from frontier.build import (
        from_edges as from_edges,
    )
    from frontier.convert import (
        from_networkx as from_networkx,
    )
    from frontier.convert import (
        from_pandas as from_pandas,
    )
    from frontier.convert import (
        from_scipy as from_scipy,
    )
    from frontier.convert import (
        to_networkx as to_networkx,
    )
    from frontier.convert import (
        to_pandas as to_pandas,
    )
    from frontier.convert import (
        to_scipy as to_scipy,
    )
    from frontier.enactor import (
        Enactor as Enactor,
    )
    from frontier.errors import (
        BackendUnavailableError as BackendUnavailableError,
    )
    from frontier.errors import (
        DeviceLostError as DeviceLostError,
    )
    from frontier.errors import (
        DeviceMemoryError as DeviceMemoryError,
    )
    from frontier.errors import (
        FrontierError as FrontierError,
    )
    from frontier.errors import (
        FrontierMemoryError as FrontierMemoryError,
    )
    from frontier.errors import (
        FrontierWarning as FrontierWarning,
    )
    from frontier.errors import (
        FunctorError as FunctorError,
    )
    from frontier.errors import (
        GraphError as GraphError,
    )
    from frontier.errors import (
        NegativeWeightError as NegativeWeightError,
    )
    from frontier.errors import (
        NotConvergedError as NotConvergedError,
    )
    from frontier.errors import (
        VerificationError as VerificationError,
    )
    from frontier.frontiers import (
        Frontier as Frontier,
    )
    from frontier.functors import (
        function as function,
    )
    from frontier.generators import (
        complete as complete,
    )
    from frontier.generators import (
        grid as grid,
    )
    from frontier.generators import (
        karate as karate,
    )
    from frontier.generators import (
        path as path,
    )
    from frontier.generators import (
        rmat as rmat,
    )
    from frontier.generators import (
        small_world as small_world,
    )
    from frontier.generators import (
        star as star,
    )
    from frontier.generators import (
        tree as tree,
    )
    from frontier.generators import (
        urand as urand,
    )
    from frontier.graph import (
        Graph as Graph,
    )
    from frontier.io import (
        read as read,
    )
    from frontier.io import (
        write as write,
    )
    from frontier.loop import (
        Loop as Loop,
    )
    from frontier.loop import (
        Sequence as Sequence,
    )
    from frontier.numbers import (
        hash as hash,
    )
    from frontier.numbers import (
        random as random,
    )
    from frontier.operators import (
        Advance as Advance,
    )
    from frontier.operators import (
        Buckets as Buckets,
    )
    from frontier.operators import (
        Compute as Compute,
    )
    from frontier.operators import (
        Filter as Filter,
    )
    from frontier.operators import (
        Gather as Gather,
    )
    from frontier.operators import (
        Intersect as Intersect,
    )
    from frontier.operators import (
        Reduce as Reduce,
    )
    from frontier.operators import (
        Scan as Scan,
    )
    from frontier.operators import (
        Set as Set,
    )
    from frontier.operators import (
        Split as Split,
    )
    from frontier.operators import (
        Swap as Swap,
    )
    from frontier.operators import (
        Take as Take,
    )
    from frontier.operators import (
        Unique as Unique,
    )
    from frontier.operators.eager import (
        advance as advance,
    )
    from frontier.operators.eager import (
        buckets as buckets,
    )
    from frontier.operators.eager import (
        compute as compute,
    )
    from frontier.operators.eager import (
        filter as filter,
    )
    from frontier.operators.eager import (
        gather as gather,
    )
    from frontier.operators.eager import (
        intersect as intersect,
    )
    from frontier.operators.eager import (
        reduce as reduce,
    )
    from frontier.operators.eager import (
        scan as scan,
    )
    from frontier.operators.eager import (
        set as set,
    )
    from frontier.operators.eager import (
        split as split,
    )
    from frontier.operators.eager import (
        swap as swap,
    )
    from frontier.operators.eager import (
        take as take,
    )
    from frontier.operators.eager import (
        unique as unique,
    )
    from frontier.operators.sample import (
        sample as sample,
    )
    from frontier.primitives.bc import (
        betweenness as betweenness,
    )
    from frontier.primitives.bfs import (
        bfs as bfs,
    )
    from frontier.primitives.cc import (
        connected_components as connected_components,
    )
    from frontier.primitives.pagerank import (
        pagerank as pagerank,
    )
    from frontier.primitives.sssp import (
        sssp as sssp,
    )
    from frontier.problem import (
        Problem as Problem,
    )
    from frontier.problem import (
        array as array,
    )
    from frontier.problem import (
        edge as edge,
    )
    from frontier.problem import (
        pile as pile,
    )
    from frontier.problem import (
        scalar as scalar,
    )
    from frontier.problem import (
        vertex as vertex,
    )
    from frontier.schedule import (
        Schedule as Schedule,
    )
    from frontier.tracing import (
        trace as trace,
    )
