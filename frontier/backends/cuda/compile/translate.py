"""The kernels of GPUs: translated to LLVM, within a module that numba-cuda compiles.

See :mod:`frontier.compile.translation.translator`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

from numba import cuda, types
from numba.cuda.core.callconv import MinimalCallConv
from numba.cuda.cudadrv import nvvm
from numba.cuda.extending import intrinsic

from frontier.backends.cuda.compile import atomics
from frontier.compile.translation.texts import OWN, Written
from frontier.compile.translation.translator import Translator

__all__ = ["translated"]


def translated(written: Written, kinds: list[Any], name: str, bounds: tuple[int, int]) -> Callable[[], None]:
    """Return a function in whose module numba-cuda makes the kernel of this name; the function itself does nothing.

    Parameters
    ----------
    written : Written
    kinds : list of numba types
        Of its parameters.
    name : str
    bounds : (int, int)
        Threads of a block, and blocks that a multiprocessor must hold at least.
    """

    @intrinsic
    def leave(typingctx: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            translator = _Translator(_steady(context), builder.module, written.function.__globals__)
            _, made = translator.function(written, kinds, name)
            made.linkage = ""
            nvvm.set_cuda_kernel(made)
            nvvm.set_launch_bounds(made, bounds)  # type: ignore[attr-defined]
            return context.get_dummy_value()

        return types.void(), generate

    def module() -> None:
        leave()  # type: ignore[call-arg]

    return module


class _Translator(Translator):
    """Phases may be inlined, and device functions always are."""

    arrays = atomics.arrays
    copies = True
    narrow_ranges = True

    def decorate(self, made: Any, written: Written) -> None:
        if written.types is None:
            made.attributes.add("alwaysinline")

    def is_plain(self, function: FunctionType) -> bool:
        module = function.__module__ or ""  # those of phases stand in rooms of operators, or of devices
        return not module.startswith(OWN) or module.endswith("phases")

    def kind_of(self, function: Any) -> Any:
        if isinstance(function, type):  # how numba-cuda names some instructions
            return self.typing.resolve_getattr(types.Module(cuda), function.__name__)
        return super().kind_of(function)

    def wraps(self, function: Any) -> bool:
        return str(function.__module__) == "frontier.operators.shared.reductions"


class _CallConv(MinimalCallConv):
    def return_status_propagate(self, builder: Any, status: Any) -> None:
        """Go on: the functions here have no status to return. What they call gives 0 if it fails."""


def _steady(context: Any) -> Any:
    """A context in which calls of what numba has compiled do not make the caller return."""
    made = context.subtarget()
    made.fndesc = SimpleNamespace(call_conv=_CallConv(made))
    return made
