"""Frontier: parallel graph algorithms, written as a few Python functions over frontiers of vertices and edges.

Everything a user needs is here, and is imported when first used: ``import frontier as fr``. The names are in one table,
from which ``python tools/make_stub.py`` writes ``__init__.pyi`` for type checkers and editors.
"""

from __future__ import annotations

import importlib
from typing import Any

from frontier import checkout as checkout
from frontier.system import launched as launched
from frontier.system.forks import busy as _busy

__version__ = "0.1.0"

#: Module -> the public names that it has.
_NAMES = {
    "frontier.functors.adjacency": "degree neighbours source target weight",
    "frontier.functors.scratch": "scratch",
    "frontier.program.effects": "effects",
    "frontier.functors.atomics": "atomic_add atomic_cas atomic_exch atomic_max atomic_min atomic_or",
    "frontier.native.threads": "num_threads set_num_threads",
    "frontier.graph.build": "from_csr from_edges",
    "frontier.graph.convert_networkx": "from_networkx to_networkx",
    "frontier.graph.convert_sparse": "from_scipy to_scipy",
    "frontier.graph.convert_libraries": (
        "from_graph_tool from_graphblas from_igraph from_networkit from_pyg from_rustworkx to_pyg"
    ),
    "frontier.graph.convert_tables": "from_arrow from_pandas from_polars to_arrow to_pandas to_polars",
    "frontier.program.enactor": "Enactor",
    "frontier.batched_sources": "BatchedSources",
    "frontier.distributed.clusters": "Cluster cluster",
    "frontier.errors": (
        "BackendUnavailableError DeviceLostError DeviceMemoryError FrontierError FrontierWarning "
        "FrontierMemoryError FunctorError GraphError NegativeCycleError NegativeWeightError NotConvergedError "
        "RanksError RunTimeoutError VerificationError"
    ),
    "frontier.program.frontiers": "Frontier",
    "frontier.functors.functor": "function",
    "frontier.generators": "complete grid karate path rmat small_world star tree urand",
    "frontier.graph.graph": "Graph",
    "frontier.io": "convert open read register_format write",
    "frontier.program.loop": "Loop Sequence",
    "frontier.memory.placement": "Placement",
    "frontier.functors.numbers": "hash random",
    "frontier.distributed.partition.partition": "Partition partition",
    "frontier.program.order": "Order by",
    "frontier.program.problem": "Problem array edge pile scalar vertex",
    "frontier.results": "Result",
    "frontier.program.registered": "register_balance register_switch",
    "frontier.program.schedule": "Schedule",
    "frontier.tracing": "trace",
    "frontier.primitives.bc": "betweenness",
    "frontier.primitives.edge_betweenness": "edge_betweenness",
    "frontier.primitives.degree_assortativity": "degree_assortativity",
    "frontier.primitives.link_prediction": "link_prediction",
    "frontier.primitives.articulation_points": "articulation_points",
    "frontier.primitives.bfs": "bfs",
    "frontier.primitives.biconnected_components": "biconnected_components",
    "frontier.primitives.bridges": "bridges",
    "frontier.primitives.condensation": "condensation",
    "frontier.primitives.onion_layers": "onion_layers",
    "frontier.primitives.cc": "connected_components",
    "frontier.primitives.label_propagation": "label_propagation",
    "frontier.primitives.leiden": "leiden",
    "frontier.primitives.layout": "layout",
    "frontier.primitives.louvain": "louvain",
    "frontier.primitives.modularity": "modularity",
    "frontier.primitives.pagerank": "pagerank",
    "frontier.primitives.scc": "strongly_connected_components",
    "frontier.primitives.max_flow": "max_flow",
    "frontier.primitives.maximal_matching": "maximal_matching",
    "frontier.primitives.minimum_spanning_forest": "minimum_spanning_forest",
    "frontier.primitives.color": "color",
    "frontier.primitives.maximal_independent_set": "maximal_independent_set",
    "frontier.primitives.square_clustering": "square_clustering",
    "frontier.primitives.sssp": "sssp",
    "frontier.primitives.clustering": "clustering",
    "frontier.primitives.core_numbers": "core_numbers",
    "frontier.primitives.jaccard": "jaccard",
    "frontier.primitives.k_truss": "k_truss",
    "frontier.primitives.subgraph_match": "subgraph_match",
    "frontier.primitives.topological_order": "topological_order",
    "frontier.primitives.triangles": "triangles",
    "frontier.primitives.node2vec": "node2vec_walks",
    "frontier.primitives.walks": "random_walks",
    "frontier.primitives.eigenvector": "eigenvector_centrality",
    "frontier.primitives.hits": "hits",
    "frontier.primitives.katz": "katz",
    "frontier.primitives.personalized": "personalized_pagerank",
    "frontier.primitives.who_to_follow": "who_to_follow",
    "frontier.primitives.salsa": "salsa",
    "frontier.primitives.sample_neighbors": "sample_neighbors",
    "frontier.primitives.transitive_closure": "transitive_closure",
    "frontier.primitives.bfs_many": "bfs_many",
    "frontier.primitives.sssp_many": "sssp_many",
    "frontier.primitives.predecessors": "predecessors",
    "frontier.primitives.bellman_ford": "bellman_ford",
    "frontier.primitives.johnson": "johnson",
    "frontier.primitives.closeness": "closeness",
    "frontier.primitives.harmonic": "harmonic",
    "frontier.primitives.diameter": "diameter",
    "frontier.primitives.eccentricity": "eccentricity",
    "frontier.primitives.shortest_path": "shortest_path",
    "frontier.operators": (
        "Advance Buckets Compute Filter Gather Intersect Put Reduce Scan Set Split Swap Take Unique"
    ),
    "frontier.operators.eager": (
        "advance buckets compute filter gather intersect put reduce scan set split swap take unique"
    ),
    "frontier.operators.advance.sample": "sample",
    "frontier.operators.shared.register": "register_reduction",
    "frontier.operators.shared.semirings": "relax semiring",
}

#: Modules that are public as they are.
_MODULES = ("backends", "datasets", "generators", "io", "operators", "plot", "primitives", "verify")

_EXPORTS = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [*_EXPORTS, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS and name not in _MODULES:
        raise AttributeError(f"module 'frontier' has no attribute {name!r}")
    with _busy():
        if name in _EXPORTS:
            value = getattr(importlib.import_module(_EXPORTS[name]), name)
        else:
            value = importlib.import_module(f"frontier.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
