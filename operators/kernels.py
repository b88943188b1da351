"""Where an operator's phases are: one folder for each backend, with equal names in them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder

__all__ = ["kernels"]


def kernels(builder: Builder, name: str) -> Any:
    """Give the module that lowers a kind of operators for the builder's backend.

    ``elementwise`` and ``gathering`` are modules of ``operators/cpu`` and ``operators/cuda``; ``advance`` is the
    folder of that name in ``operators/advance``.
    """
    if name == "advance":
        return importlib.import_module(f"frontier.operators.advance.{builder.backend}")
    return importlib.import_module(f"frontier.operators.{builder.backend}.{name}")
