"""How functors are compiled for the CPU: by numba, but with NumPy's arithmetic.

Types are inferred by NumPy's promotion rules, and integers that overflow wrap around. numba tells LLVM that signed
integers never overflow; see :mod:`frontier.compile.functors.wrapping`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from numba.core import errors, ir, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering, NopythonTypeInference

from frontier.backends.cpu.printing import PrintingLower
from frontier.compile.functors.promotion import promoting
from frontier.compile.functors.wrapping import wrapping

__all__ = ["FunctorCompiler", "WrappingCompiler"]

_pass = register_pass(mutates_CFG=True, analysis_only=False)
_Promotion = _pass(promoting(NopythonTypeInference, ir, types, errors))
_Wrapping = _pass(wrapping(NativeLowering, PrintingLower))


class WrappingCompiler(CompilerBase):
    """numba's compiler with other passes: integers wrap."""

    instead: ClassVar[dict[type, type]] = {NativeLowering: _Wrapping}

    def define_pipelines(self) -> list[Any]:
        """The passes."""
        made = DefaultPassBuilder.define_nopython_pipeline(self.state)
        made.passes = [(self.instead.get(implementation, implementation), said) for implementation, said in made.passes]
        made._finalized = False
        made.finalize()
        return [made]


class FunctorCompiler(WrappingCompiler):
    """The same, with NumPy's promotion of types."""

    instead: ClassVar[dict[type, type]] = {**WrappingCompiler.instead, NopythonTypeInference: _Promotion}
