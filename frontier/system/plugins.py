"""Import modules that register themselves: those of a folder of ours, and those that installed packages name.

So lower layers need not know by name what stands above them, and other packages bring primitives, formats, balances,
switch rules and transports by entry points. Why entry points: they are read without importing any of the packages.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from frontier.errors import warn

__all__ = ["import_all", "import_installed"]


def import_all(folder: str) -> None:
    """Import every public module of one of the package's folders, such as ``"primitives"``."""
    package = importlib.import_module(f"frontier.{folder}")
    for module in pkgutil.iter_modules(package.__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"frontier.{folder}.{module.name}")


@cache
def import_installed(kind: str) -> None:
    """Import, once, the modules that installed packages name in the entry points ``frontier.<kind>``.

    A module that fails is a warning, so that one broken package does not break every command.
    """
    from importlib.metadata import entry_points  # takes longer to import than to ask

    for entry in entry_points(group=f"frontier.{kind}"):
        try:
            entry.load()
        except Exception as error:
            package = entry.dist.name if entry.dist else entry.name
            warn(f"the {kind} of the package {package} are missing, as {entry.value} fails: {error!r}")
