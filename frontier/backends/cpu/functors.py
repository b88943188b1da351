"""How functors are compiled for the CPU: as numba does it, but with NumPy's arithmetic."""

from __future__ import annotations

from typing import Any

from numba.core import errors, ir, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NopythonTypeInference

from frontier.backends.promotion import promoting

__all__ = ["FunctorCompiler"]

_Promotion = register_pass(mutates_CFG=True, analysis_only=False)(promoting(NopythonTypeInference, ir, types, errors))


class FunctorCompiler(CompilerBase):
    """numba's compiler with another inference of types."""

    def define_pipelines(self) -> list[Any]:
        """The passes."""
        made = DefaultPassBuilder.define_nopython_pipeline(self.state)
        made.passes = [
            (_Promotion if implementation is NopythonTypeInference else implementation, said)
            for implementation, said in made.passes
        ]
        made._finalized = False
        made.finalize()
        return [made]
