"""Find the phases of an operator for a backend: one module (or folder) for each, with the same names in all of them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder

__all__ = ["kernels"]


def kernels(builder: Builder, name: str) -> Any:
    """Return the module that lowers a kind of operators for the builder's backend: ``operators/NAME/BACKEND``.

    ``kernels(b, "advance").push`` is the function ``push`` of ``operators/advance/cuda/__init__.py`` in a program for
    a GPU.
    """
    return importlib.import_module(f"frontier.operators.{name}.{builder.backend}")
