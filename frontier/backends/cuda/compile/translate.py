"""The kernels of GPUs, translated to LLVM; see :mod:`frontier.compile.translation.translator`."""

from __future__ import annotations

import importlib
from types import FunctionType
from typing import Any

from numba import types

from frontier.backends.cuda.compile import atomics
from frontier.compile.translation.texts import OWN, Written
from frontier.compile.translation.translator import Translator

__all__ = ["KernelTranslator", "going_on"]


class KernelTranslator(Translator):
    """Phases may be inlined, and device functions always are."""

    arrays = atomics.arrays
    copies = True
    narrow_ranges = True

    def decorate(self, made: Any, written: Written) -> None:
        """Let device functions be inlined."""
        if written.types is None:
            made.attributes.add("alwaysinline")

    def is_plain(self, function: FunctionType) -> bool:
        """Whether a function is to be translated: also one of a module of phases."""
        module = function.__module__ or ""  # those of phases stand in rooms of operators, or of devices
        return not module.startswith(OWN) or module.endswith("phases")

    def kind_of(self, function: Any) -> Any:
        """The compiler's type of a function."""
        if isinstance(function, type):  # how numba-cuda names some instructions
            return self.typing.resolve_getattr(types.Module(importlib.import_module("numba.cuda")), function.__name__)
        return super().kind_of(function)

    def wraps(self, function: Any) -> bool:
        """Whether integers of a function wrap around."""
        return str(function.__module__) == "frontier.operators.shared.reductions"


def going_on(convention: Any) -> Any:
    """A calling convention in which calls of what numba has compiled do not make the caller return.

    The functions of a kernel have no status to return. What they call gives 0 if it fails.
    """

    class GoingOn(convention):
        def return_status_propagate(self, builder: Any, status: Any) -> None:
            """Go on."""

    return GoingOn
