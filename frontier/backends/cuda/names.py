"""The names that are defined in the module of every loop kernel, for readers and checkers of the files of kernels.

Nothing imports this module at run time: kernels find the names in the generated module.
"""

from __future__ import annotations

from typing import Any

#: The type of slots and of sums of degrees: int32, where these fit.
I: Any  # noqa: E741

#: Arrays in a block's scratch memory, from so many bytes on; those of ids and of offsets, and the bytes of each.
int32_shared: Any
uint32_shared: Any
int64_shared: Any
float64_shared: Any
ids_shared: Any
offsets_shared: Any
IDS: int
OFFSETS: int

#: Whether rows of a trace are written.
tracing: bool
