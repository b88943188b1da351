"""Link PTX to machine code: by the driver, or by nvJitLink of the CUDA toolkit if the driver is older.

A driver reads PTX up to the version of its own CUDA. pip installs the newest toolkit, whose PTX may be newer than that.
nvJitLink turns such PTX into machine code, which runs on every driver of the same major version.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from frontier.errors import BackendUnavailableError
from frontier.memory import nvidia

__all__ = ["linked"]

#: CUDA_ERROR_UNSUPPORTED_PTX_VERSION, from cuda.h.
_UNSUPPORTED = 222


def linked(code: str, capability: tuple[int, int]) -> bytes:
    """Make machine code for the current device from PTX.

    Raises
    ------
    BackendUnavailableError
        The driver cannot read this version of PTX, and nvJitLink cannot be used.
    """
    try:
        return _by_driver(code)
    except RuntimeError as error:  # CuPy's, with the driver's number
        if getattr(error, "status", None) != _UNSUPPORTED:
            raise
    try:
        return _by_toolkit(code, capability)
    except Exception as error:  # not installed, too old, of another CUDA: there are many kinds
        raise BackendUnavailableError(_refusal(code, nvidia.last_line(error))) from error


def _by_driver(code: str) -> bytes:
    from cupy.cuda.function import LinkState

    state = LinkState()
    state.add_ptr_data(code.encode() + b"\0", "frontier.ptx")
    return bytes(state.complete())


def _by_toolkit(code: str, capability: tuple[int, int]) -> bytes:
    nvjitlink: Any = importlib.import_module("cuda.bindings.nvjitlink")
    driver, (major, minor) = nvidia.find(), nvjitlink.version()
    if driver.cuda is not None and major > driver.cuda[0]:
        raise RuntimeError(f"that of CUDA {major}.{minor} makes code for newer drivers")
    options = ["-arch=sm_{}{}".format(*capability)]
    handle = nvjitlink.create(len(options), options)
    try:
        given = code.encode()
        try:
            nvjitlink.add_data(handle, nvjitlink.InputType.PTX, given, len(given), "frontier.ptx")
            nvjitlink.complete(handle)
        except nvjitlink.nvJitLinkError as error:
            log = bytearray(nvjitlink.get_error_log_size(handle))
            nvjitlink.get_error_log(handle, log)
            raise RuntimeError(log.decode().strip("\0\n") or str(error)) from error
        made = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, made)
        return bytes(made)
    finally:
        nvjitlink.destroy(handle)


def _refusal(code: str, reason: str) -> str:
    found = re.search(r"^\s*\.version\s+([\d.]+)", code, re.MULTILINE)
    return nvidia.too_new(nvidia.find(), f"PTX {found[1]}" if found else "the PTX", reason)
