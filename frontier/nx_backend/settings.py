"""The settings of the backend, ``nx.config.backends.frontier``."""

from __future__ import annotations

from typing import Any

import networkx as nx

from frontier.native.threads import set_num_threads
from frontier.nx_backend.information import DEFAULTS

__all__ = ["apply_threads", "setting"]


def setting(name: str) -> Any:
    """A setting; the default where NetworkX does not know the backend, as nothing is installed."""
    return getattr(nx.config.backends.get("frontier"), name, DEFAULTS[name])


def apply_threads() -> None:
    """Let calls run on as many threads as the settings say; None leaves their number as it is."""
    threads = setting("threads")
    if threads is not None:
        set_num_threads(threads)
