"""Modules of LLVM for NVIDIA GPUs, linked, optimised and written as PTX by the LLVM that comes with llvmlite."""

from __future__ import annotations

import atexit
import re
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core.codegen import Codegen, CodeLibrary

from frontier.backends.cuda.compile.libdevice import NAMES, path
from frontier.errors import BackendUnavailableError

__all__ = ["NvptxCodegen", "ptx"]

TRIPLE = "nvptx64-nvidia-cuda"
LAYOUT = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

#: PTX that every driver of CUDA 12 reads. Newer GPUs need newer PTX; where it is told an older one, LLVM ends the
#: process.
_PTX = {(10, 0): "86", (10, 3): "88", (11, 0): "90", (12, 0): "87", (12, 1): "88"}
_USUAL_PTX = "80"


class NvptxCodegen(Codegen):
    """Makes modules, and libraries of them."""

    def __init__(self, name: str) -> None:
        _initialize()
        self._data = llvm.create_target_data(LAYOUT)
        self._library_class = _Library
        self._name = name

    @property
    def target_data(self) -> Any:
        """The layout of data."""
        return self._data

    def magic_tuple(self) -> tuple[str, str]:
        """What compiled code depends on."""
        return TRIPLE, LAYOUT

    def _create_empty_module(self, name: str) -> Any:
        made = ir.Module(name)
        made.triple, made.data_layout = TRIPLE, LAYOUT
        return made

    def _add_module(self, module: Any) -> None:
        """Nothing: modules are linked when PTX is made of them."""

    def unserialize_library(self, serialized: Any) -> Any:
        """Libraries are not kept; machine code is."""
        raise NotImplementedError


class _Library(CodeLibrary):
    """The modules of one function, and the libraries of those that it calls."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.modules: list[Any] = []
        self.others: dict[_Library, None] = {}

    def add_ir_module(self, ir_module: Any) -> None:
        _call_for_remainders(ir_module)
        self.modules.append(ir_module)

    def add_linking_library(self, library: Any) -> None:
        self.others[library] = None

    def finalize(self) -> None:
        self._finalized = True

    def get_function(self, name: str) -> Any:
        for module in self.modules:
            if name in module.globals:
                return module.globals[name]
        raise KeyError(name)

    def get_llvm_str(self) -> str:
        return "\n\n".join(map(str, self.modules))

    def get_asm_str(self) -> str:
        raise NotImplementedError

    def all(self) -> list[Any]:
        """Return it and all that it needs, each once."""
        found: dict[_Library, None] = {}
        waiting = [self]
        while waiting:
            library = waiting.pop()
            if library not in found:
                found[library] = None
                waiting += library.others
        return list(found)


def _call_for_remainders(module: Any) -> None:
    """Call libdevice for remainders of floats: LLVM's own are wrong where the quotient is large."""
    for block in (block for function in module.functions for block in function.blocks):
        for each in [one for one in block.instructions if one.opname == "frem"]:
            name = "__nv_fmod" if isinstance(each.type, ir.DoubleType) else "__nv_fmodf"
            found = module.globals.get(name)
            if found is None:
                found = ir.Function(module, ir.FunctionType(each.type, [each.type] * 2), name)
            block.replace(each, ir.CallInstr(block, found, each.operands))


def ptx(library: Any, name: str, capability: tuple[int, int]) -> str:
    """The PTX of the kernel of this name in a library."""
    machine = _machine(capability)
    whole = llvm.parse_assembly(f'target triple = "{TRIPLE}"\ntarget datalayout = "{LAYOUT}"\n')
    for each in library.all():
        for module in each.modules:
            whole.link_in(llvm.parse_assembly(str(module)))
    wanted = False
    for function in whole.functions:
        if function.is_declaration and function.name in NAMES:
            function.name, wanted = NAMES[function.name], True
    if wanted or any(each.is_declaration and each.name.startswith("__nv_") for each in whole.functions):
        whole.link_in(_libdevice().clone())
    for each in (*whole.functions, *whole.global_variables):
        if not each.is_declaration and each.name != name and not each.name.startswith("llvm."):
            each.linkage = "internal"
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = False
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(whole, passes)
    return _plain(machine.emit_assembly(whole))


def _plain(text: str) -> str:
    """PTX without what only its writer needs."""
    return re.sub(r"^\s*//.*\n", "", text, flags=re.MULTILINE)


@cache
def _initialize() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    # Products are rounded before they are added, as in NumPy.
    llvm.set_option("frontier", "-nvptx-fma-level=0")


@cache
def _machine(capability: tuple[int, int]) -> Any:
    _initialize()
    version = next((ptx for least, ptx in sorted(_PTX.items(), reverse=True) if capability >= least), _USUAL_PTX)
    try:
        target = llvm.Target.from_triple(TRIPLE)
    except RuntimeError as error:  # distributions may build LLVM for their own machines alone
        raise BackendUnavailableError(
            "llvmlite's LLVM has no back end for NVIDIA's GPUs: install llvmlite from PyPI, or unset "
            "FRONTIER_GPU_COMPILER"
        ) from error
    return target.create_target_machine(cpu="sm_{}{}".format(*capability), features=f"+ptx{version}", opt=3)


@cache
def _libdevice() -> Any:
    return llvm.parse_bitcode(Path(path()).read_bytes())


@atexit.register
def _forget() -> None:
    """Free what is kept while LLVM is still there: at the end of a process Python frees modules in any order."""
    _libdevice.cache_clear()
    _machine.cache_clear()
