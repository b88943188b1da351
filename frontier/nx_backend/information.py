"""What every ``import networkx`` reads of this backend."""

from __future__ import annotations

from typing import Any

from frontier.nx_backend.topics import MODULE_OF

__all__ = ["DEFAULTS", "information"]

#: ``nx.config.backends.frontier``; docs/networkx.md says what they mean.
DEFAULTS: dict[str, Any] = {"device": "cpu", "threads": None, "lazy": True}


def information() -> dict[str, Any]:
    """Return what NetworkX shows in the documentation of its functions, and the default settings."""
    return {
        "backend_name": "frontier",
        "project": "frontier-gpu",
        "package": "frontier",
        "short_summary": "Parallel algorithms on all cores of a CPU, or on a GPU.",
        "description": "Graph algorithms as a few Python functions over frontiers, compiled for every core there is.",
        "functions": {name: {} for name in MODULE_OF},
        "default_config": dict(DEFAULTS),
    }
