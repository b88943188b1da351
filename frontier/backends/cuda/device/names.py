"""Names that the generated module of every loop kernel defines, declared for readers and type checkers.

Nothing imports this module at run time: kernels find the names in the generated module.
"""

from __future__ import annotations

from typing import Any

#: The type of slots and of sums of degrees: int32 if these fit, else int64.
I: Any  # noqa: E741

#: Arrays in a block's scratch memory from an offset in bytes on; with those of ids and of offsets, the size of these.
int32_shared: Any
uint32_shared: Any
int64_shared: Any
float64_shared: Any
ids_shared: Any
offsets_shared: Any
IDS: int
OFFSETS: int

#: The bitmap at an address.
uint32_at: Any

#: Whether rows of a trace are written.
tracing: bool
