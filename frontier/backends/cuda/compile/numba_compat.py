"""All changes to numba-cuda; no other module changes anything there. Import this module before compiling.

- NumPy functions of numbers: numba-cuda supports those that its mathematical functions implement. The others are taken
  from the table that it shares with the CPU, or call the GPU's mathematical library.
- Fields that are called like a method of tuples: numba-cuda would use the method.
- Products and sums: each is rounded separately, as in NumPy, and integers wrap around.
- Compiling for a device that is not present: numba-cuda is told which device (:func:`device_of`).
- Options of the compiler, which are part of many keys, are compared without reading each of them.

numba itself, which compiles for the CPU, is not changed. It is extended through its own interfaces
(``frontier/compile/functors/overloads.py``, ``cpu/functors.py``, ``cpu/narrow.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import errors
from numba.cuda import cgutils, dispatcher, ufuncs
from numba.cuda.compiler import CUDACompiler, CUDANativeLowering
from numba.cuda.core import ir as cuda_ir
from numba.cuda.core.compiler_machinery import register_pass
from numba.cuda.core.targetconfig import TargetConfig
from numba.cuda.core.typed_passes import NopythonTypeInference
from numba.cuda.cudadrv import nvvm
from numba.cuda.lowering import CUDALower
from numba.cuda.mathimpl import get_unary_impl_for_fn_and_ty
from numba.cuda.np import arraymath, ufunc_db
from numba.cuda.typing.collections import NamedTupleAttribute

from frontier.compile.functors.promotion import promoting
from frontier.compile.functors.wrapping import wrapping

__all__ = ["device_of"]

#: Functions that have another name in the mathematical library than in Python, or do not exist in Python.
_LIBRARY = {np.rint: "rint", np.fmod: "fmod", np.exp2: "exp2", np.nextafter: "nextafter"}

#: Functions in the table shared with the CPU that would call the CPU's library.
_NOT_THERE = (np.ldexp, np.spacing)

#: Functions that are taken from ``math``.
_MATH = {np.exp: math.exp, np.expm1: math.expm1, np.log1p: math.log1p, np.sqrt: math.sqrt, np.fabs: math.fabs}


def _by_math(fn: Callable[..., Any]) -> Callable[..., Any]:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return get_unary_impl_for_fn_and_ty(fn, signature.args[0])(context, builder, signature, args)

    return generate


def _by_library(name: str) -> Callable[..., Any]:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        suffix = "f" if isinstance(kind, ir.FloatType) else ""
        made = ir.FunctionType(kind, [kind] * len(args))
        return builder.call(cgutils.get_or_insert_function(builder.module, made, f"__nv_{name}{suffix}"), args)

    return generate


def _register() -> None:
    table = ufuncs.ufunc_db()
    for made, lowered in (
        *((ufunc, _by_math(fn)) for ufunc, fn in _MATH.items()),
        *((ufunc, _by_library(name)) for ufunc, name in _LIBRARY.items()),
    ):
        table.setdefault(made, {f"{kind * made.nin}->{kind}": lowered for kind in "fd"})
    for ufunc in set(ufunc_db.get_ufuncs()).difference(_NOT_THERE):
        table.setdefault(ufunc, ufunc_db.get_ufunc_info(ufunc))


_register()


# ---- NumPy's arithmetic in functors ----------------------------------------------------------------------

_Promotion = register_pass(mutates_CFG=True, analysis_only=False)(
    promoting(NopythonTypeInference, cuda_ir, types, errors)
)
_Wrapping = register_pass(mutates_CFG=True, analysis_only=False)(wrapping(CUDANativeLowering, CUDALower))

#: Module -> passes that replace numba-cuda's for its functions: for functors, and for what they compute with.
_PASSES = {
    "frontier.functors.functor": {NopythonTypeInference: _Promotion, CUDANativeLowering: _Wrapping},
    "frontier.compile.functors.arithmetic": {CUDANativeLowering: _Wrapping},
}


def _with_own_passes(pipelines: Callable[[Any], list[Any]]) -> Callable[[Any], list[Any]]:
    """Use the passes above for these functions only: numba-cuda takes no compiler class for single functions."""

    def define(compiler: Any) -> list[Any]:
        made = pipelines(compiler)
        instead = _PASSES.get(compiler.state.func_id.func.__module__)
        for each in made if instead else ():
            each.passes = [(instead.get(implementation, implementation), said) for implementation, said in each.passes]
            each._finalized = False
            each.finalize()
        return made

    return define


CUDACompiler.define_pipelines = _with_own_passes(CUDACompiler.define_pipelines)

# np.round of a number: NVVM has no llvm.rint, but the mathematical library has it.
arraymath._np_round_intrinsic = lambda kind: "__nv_rintf" if kind.bitwidth == 32 else "__nv_rint"

# Products are rounded before they are added, as in NumPy: numba-cuda has no option for this.
nvvm.compile_ir = partial(nvvm.compile_ir, fma=False)


def _same_options(one: TargetConfig, other: Any) -> bool:
    if not isinstance(other, TargetConfig):
        return NotImplemented
    return one is other or one._values == other._values or one.values() == other.values()


# As numba-cuda's, whose hash is made of the names of all options alone, and reads their values for that.
TargetConfig.__eq__ = _same_options
TargetConfig.__hash__ = lambda self: hash(type(self))

# Attributes of a problem take precedence over the overload for all tuples on this target.
NamedTupleAttribute.metadata = {"target": "cuda"}


@contextmanager
def device_of(capability: tuple[int, int]) -> Iterator[None]:
    """Tell numba-cuda, which asks for the current device while it compiles, that there is one of this capability."""
    before = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    try:
        yield
    finally:
        dispatcher.get_current_device = before
