"""The backend for NetworkX, registered by hand where this checkout is not installed with its entry points."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from typing import Any

import networkx as nx
from networkx.utils import backends

from frontier.nx_backend.information import DEFAULTS, information

__all__ = ["registered", "settings"]

ENTRY = EntryPoint("frontier", "frontier.nx_backend.interface:backend", "networkx.backends")


@contextmanager
def registered() -> Iterator[Any]:
    """Within it, NetworkX knows the backend; gives it."""
    before = backends.backends.get("frontier"), backends.backend_info.get("frontier"), nx.config.backends
    call = backends._dispatchable.__call__
    backends.backends["frontier"], backends.backend_info["frontier"] = ENTRY, information()
    nx.config.backends = nx.utils.Config(**{**before[2], "frontier": nx.utils.Config(**DEFAULTS)})
    backends._dispatchable.__call__ = backends._dispatchable._call_if_any_backends_installed
    ignored = set(nx.config.warnings_to_ignore)
    nx.config.warnings_to_ignore.add("cache")
    try:
        yield backends._load_backend("frontier")
    finally:
        backends._dispatchable.__call__, nx.config.backends = call, before[2]
        nx.config.warnings_to_ignore = ignored
        for table, value in ((backends.backends, before[0]), (backends.backend_info, before[1])):
            table.pop("frontier")
            if value is not None:
                table["frontier"] = value


@contextmanager
def settings(**changed: Any) -> Iterator[None]:
    """Within it, settings of the backend are other ones."""
    config = nx.config.backends.frontier
    before = {name: getattr(config, name) for name in changed}
    for name, value in changed.items():
        setattr(config, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(config, name, value)
