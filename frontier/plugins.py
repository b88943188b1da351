"""Import the modules of a folder, each of which registers itself; so lower layers need not know them by name."""

from __future__ import annotations

import importlib
import pkgutil

__all__ = ["import_all"]


def import_all(folder: str) -> None:
    """Import every public module of one of the package's folders, such as ``"primitives"``."""
    package = importlib.import_module(f"frontier.{folder}")
    for module in pkgutil.iter_modules(package.__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"frontier.{folder}.{module.name}")
