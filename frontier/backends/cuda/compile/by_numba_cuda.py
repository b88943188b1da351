"""PTX made by numba-cuda, which compiles functors, and by NVIDIA's libNVVM."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

from numba import cuda, types
from numba.cuda.core.callconv import MinimalCallConv
from numba.cuda.cudadrv import nvvm
from numba.cuda.extending import intrinsic

from frontier.backends.cuda.compile import numba_compat
from frontier.backends.cuda.compile.translate import KernelTranslator, going_on
from frontier.compile.functors.copies import Copies
from frontier.compile.translation.texts import Written

__all__ = ["functors", "kernel"]


@cache
def functors() -> Copies:
    """Functors as numba-cuda compiles them."""
    return Copies(cuda.jit(device=True, forceinline=True))


def kernel(
    written: Written, kinds: list[Any], name: str, capability: tuple[int, int], bounds: tuple[int, int]
) -> str:
    """The PTX of a kernel."""
    with numba_compat.device_of(capability):
        made, _ = cuda.compile(_module_with(written, kinds, name, bounds), types.void(), device=True, cc=capability)
    return str(made)


def _module_with(written: Written, kinds: list[Any], name: str, bounds: tuple[int, int]) -> Callable[[], None]:
    """A function that does nothing, in whose module numba-cuda makes the kernel."""

    @intrinsic
    def leave(typingctx: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            steady = context.subtarget()
            steady.fndesc = SimpleNamespace(call_conv=going_on(MinimalCallConv)(steady))
            translator = KernelTranslator(steady, builder.module, written.function.__globals__)
            _, made = translator.function(written, kinds, name)
            made.linkage = ""
            nvvm.set_cuda_kernel(made)
            nvvm.set_launch_bounds(made, bounds)  # type: ignore[attr-defined]
            return context.get_dummy_value()

        return types.void(), generate

    def module() -> None:
        leave()  # type: ignore[call-arg]

    return module
