"""NVIDIA GPUs as a target of numba itself, without numba-cuda: types, contexts and functors.

``intrinsic``, ``overload`` and the others are numba's decorators for this target alone.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, ClassVar

from llvmlite import ir
from numba.core import base, callconv, datamodel, errors, imputils, target_extension, types, typing
from numba.core import ir as numba_ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.datamodel import models
from numba.core.descriptors import TargetDescriptor
from numba.core.dispatcher import Dispatcher
from numba.core.lowering import Lower
from numba.core.options import TargetOptions, include_default_options
from numba.core.typed_passes import NativeLowering, NopythonTypeInference
from numba.extending import intrinsic as numba_intrinsic
from numba.extending import overload as numba_overload
from numba.np import ufunc_db

from frontier.backends.cuda.compile.nvptx_codegen import NvptxCodegen
from frontier.compile.functors.promotion import promoting
from frontier.compile.functors.wrapping import wrapping

__all__ = [
    "ORDER", "TARGET", "calling_convention", "context", "functor", "intrinsic", "jit", "lower_builtin", "models",
    "overload", "pointer", "register_model",
]  # fmt: skip

TARGET = "frontier_nvptx"


class _Nvptx(target_extension.GPU):
    """The target, in numba's hierarchy of them."""


target_extension.target_registry[TARGET] = _Nvptx

intrinsic = numba_intrinsic(target=TARGET)
overload = partial(numba_overload, target=TARGET)
_registry = imputils.Registry("frontier_nvptx")
lower_builtin = _registry.lower

_models = datamodel.default_manager.copy()


def register_model(kind: type) -> Any:
    """Say how values of a type are represented on this target."""

    def register(model: Any) -> Any:
        _models.register(kind, model)
        return model

    return register


class _TypingContext(typing.Context):
    """numba's, which knows what the CPU's does."""


class _Context(base.BaseContext):
    """How functions become modules of LLVM."""

    allow_dynamic_globals = True
    enable_nrt = False

    def init(self) -> None:
        self._codegen = NvptxCodegen("frontier")
        self.data_model_manager = _models
        self.error_model = callconv.create_error_model("numpy", self)

    def create_module(self, name: str) -> Any:
        return self._codegen._create_empty_module(name)

    def codegen(self) -> Any:
        return self._codegen

    @property
    def target_data(self) -> Any:
        return self._codegen.target_data

    @cached_property
    def call_conv(self) -> Any:
        return callconv.MinimalCallConv(self)

    def load_additional_registries(self) -> None:
        from numba.core import optional  # noqa: F401 - they register themselves
        from numba.cpython import (  # noqa: F401
            builtins,
            cmathimpl,
            iterators,
            mathimpl,
            numbers,
            rangeobj,
            tupleobj,
        )
        from numba.misc import literal  # noqa: F401
        from numba.np import arraymath, npyimpl  # noqa: F401

        for each in (mathimpl.registry, npyimpl.registry, cmathimpl.registry, _registry):
            self.install_registry(each)

    def get_ufunc_info(self, ufunc_key: Any) -> Any:
        return ufunc_db.get_ufunc_info(ufunc_key)

    def get_executable(self, library: Any, fndesc: Any, env: Any) -> Any:
        """A key of the function: it is never called from Python."""
        return _Compiled(fndesc.mangled_name)


class _Compiled:
    """A function, as numba knows it when others call it."""

    def __init__(self, name: str) -> None:
        self.__name__ = name


_DEFAULTS = include_default_options("nopython", "forceinline", "error_model", "boundscheck")


class _Options(_DEFAULTS, TargetOptions):
    """Options of functions."""

    def finalize(self, flags: Any, options: dict[str, Any]) -> None:
        flags.enable_pyobject = False
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        flags.nrt = False
        flags.inherit_if_not_set("error_model", default="numpy")
        flags.inherit_if_not_set("forceinline")
        flags.inherit_if_not_set("boundscheck", default=False)


class _Target(TargetDescriptor):
    options = _Options

    @cached_property
    def typing_context(self) -> Any:
        return _TypingContext()

    @cached_property
    def target_context(self) -> Any:
        return _Context(self.typing_context, TARGET)


_target = _Target(TARGET)

_pass = register_pass(mutates_CFG=True, analysis_only=False)
_Promotion = _pass(promoting(NopythonTypeInference, numba_ir, types, errors))
_Wrapping = _pass(wrapping(NativeLowering, Lower))


class _Compiler(CompilerBase):
    """numba's passes for nopython mode."""

    instead: ClassVar[dict[type, type]] = {}

    def define_pipelines(self) -> list[Any]:
        made = DefaultPassBuilder.define_nopython_pipeline(self.state)
        made.passes = [(self.instead.get(implementation, implementation), said) for implementation, said in made.passes]
        made._finalized = False
        made.finalize()
        return [made]


class _FunctorCompiler(_Compiler):
    """With NumPy's arithmetic."""

    instead: ClassVar[dict[type, type]] = {NativeLowering: _Wrapping, NopythonTypeInference: _Promotion}


class _Dispatcher(Dispatcher):
    """A function that is compiled for the types with which others call it."""

    targetdescr = _target

    def add_overload(self, cres: Any) -> None:
        """Note a compiled function, which cannot be called from Python."""
        self.overloads[tuple(cres.signature.args)] = cres


def jit(function: Any = None, *, pipeline_class: Any = _Compiler, **options: Any) -> Any:
    """Make a function compilable for this target."""
    if function is None:
        return partial(jit, pipeline_class=pipeline_class, **options)
    forced = bool(options.get("forceinline"))  # other options of numba's overloads are for the CPU
    return _Dispatcher(function, targetoptions={"nopython": True, "forceinline": forced}, pipeline_class=pipeline_class)


target_extension.dispatcher_registry[_Nvptx] = _Dispatcher
target_extension.jit_registry[_Nvptx] = jit


def functor(function: Any) -> Any:
    """A functor, with NumPy's arithmetic."""
    return jit(function, pipeline_class=_FunctorCompiler, forceinline=True)


#: The order of exchanges: none beyond the word itself, among the threads of one GPU.
ORDER = 'syncscope("device") monotonic'


def pointer(builder: Any, address: Any, kind: Any) -> Any:
    """A pointer of an address, of which LLVM knows that it lies in no block's shared memory."""
    typed = builder.inttoptr(address, ir.PointerType(kind.pointee, 1))
    return builder.addrspacecast(typed, kind)


def calling_convention(context: Any) -> Any:
    """How the function returns that is being compiled."""
    return context.call_conv


def context() -> Any:
    """The context in which modules are made, which knows all that is registered by now."""
    made = _target.target_context
    made.refresh()
    return made
