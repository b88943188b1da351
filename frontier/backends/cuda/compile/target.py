"""The target of the compiler that makes PTX: its decorators, data models and instructions, by the same names for each.

``FRONTIER_GPU_COMPILER=llvm`` takes the LLVM that comes with llvmlite and numba's own passes; else numba-cuda does it.
"""

# ruff: noqa: F401 - these names are for other modules
from __future__ import annotations

from typing import Any

from frontier.memory.nvidia import compiler

#: The compiler of this process: other modules are what they are for it, so it stays the same.
COMPILER = compiler()

if COMPILER == "llvm":
    from frontier.backends.cuda.compile import nvptx_instructions as instructions
    from frontier.backends.cuda.compile.nvptx_instructions import shifts
    from frontier.backends.cuda.compile.nvptx_target import (
        ORDER,
        calling_convention,
        intrinsic,
        jit,
        lower_builtin,
        models,
        overload,
        pointer,
        register_model,
    )
else:
    from numba import cuda as instructions
    from numba.cuda import models
    from numba.cuda.extending import intrinsic, lower_builtin, overload, register_model

    import frontier.backends.cuda.compile.numba_compat

    jit, shifts = instructions.jit(device=True), None

    #: The order of exchanges: none beyond the word itself.
    ORDER = "monotonic"

    def pointer(builder: Any, address: Any, kind: Any) -> Any:
        """A pointer of an address."""
        return builder.inttoptr(address, kind)

    def calling_convention(context: Any) -> Any:
        """How the function returns that is being compiled."""
        return context.fndesc.call_conv
