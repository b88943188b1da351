"""PTX made by the LLVM that comes with llvmlite, with functors compiled by numba itself: numba-cuda is not needed."""

from __future__ import annotations

from functools import cache
from typing import Any

from llvmlite import ir
from numba.core.callconv import MinimalCallConv
from numba.core.compiler_lock import global_compiler_lock
from numba.core.target_extension import target_override

from frontier.backends.cuda.compile import nvptx_codegen, nvptx_printing, nvptx_target  # noqa: F401 - for print
from frontier.backends.cuda.compile.translate import KernelTranslator, going_on
from frontier.compile.functors.copies import Copies
from frontier.compile.translation.texts import Written

__all__ = ["functors", "kernel"]


@cache
def functors() -> Copies:
    """Functors as numba compiles them for this target."""
    return Copies(nvptx_target.functor)


def kernel(
    written: Written, kinds: list[Any], name: str, capability: tuple[int, int], bounds: tuple[int, int]
) -> str:
    """The PTX of a kernel. numba's lock is for what its other targets share, such as the CPU's in another thread."""
    with global_compiler_lock, target_override(nvptx_target.TARGET):
        context = nvptx_target.context()
        library = context.codegen().create_library(name)
        module = library.create_ir_module(name)
        with context.push_code_library(library):
            steady = context.subtarget()
            steady.call_conv = going_on(MinimalCallConv)(steady)
            translator = KernelTranslator(steady, module, written.function.__globals__)
            _, made = translator.function(written, kinds, name)
        made.linkage, made.calling_convention = "", "ptx_kernel"
        _bound(module, made, bounds)
        library.add_ir_module(module)
        return nvptx_codegen.ptx(library, name, capability)  # in LLVM's one context, where numba's modules are, too


def _bound(module: Any, made: Any, bounds: tuple[int, int]) -> None:
    """Say how many threads a block has, and how many blocks a multiprocessor must hold."""
    notes = module.add_named_metadata("nvvm.annotations")
    for what, number in zip(("maxntidx", "minctasm"), bounds, strict=True):
        notes.add(module.add_metadata([made, what, ir.Constant(ir.IntType(32), number)]))
