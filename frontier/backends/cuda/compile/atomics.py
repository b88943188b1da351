"""The public atomics, hashes and random numbers in functors on the GPU; bools and narrow integers; ``truth``.

Import this module before compiling: it registers them with the compiler.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from frontier.backends.cuda.compile import intrinsics
from frontier.backends.cuda.compile.target import (
    calling_convention,
    intrinsic,
    jit,
    lower_builtin,
    models,
    overload,
    register_model,
    shifts,
)
from frontier.compile.fields import flags, in_neighbours, packed, pairs, routed, rows, sparse, watched
from frontier.compile.functors import arithmetic, checks, overloads, scratch
from frontier.compile.functors.overloads import truth
from frontier.compile.keys import bits_of, integer, key_down, key_up

__all__ = ["arrays", "bits_of", "checked", "integer", "key_down", "key_up", "own", "route",
           "route_claims", "truth", "watch", "watch_bits", "watch_stores"]  # fmt: skip


@jit
def _nothing():  # type: ignore[no-untyped-def]
    """Where a thread on the CPU would yield to others, a lane that waits for a lock just tries again."""


_operations = SimpleNamespace(**vars(intrinsics), yield_processor=_nothing)
_pairs = pairs.register(intrinsic, overload, jit, _operations, intrinsics.fetch_pair)
_piece = in_neighbours.register(intrinsic, lower_builtin, register_model, models)
overloads.register(overload, _operations, jit, intrinsic, _piece, _pairs)

#: How elements of bools and of narrow integers are loaded and stored, and ids of compressed lists and offsets loaded.
arrays = flags.register(intrinsic, overload)
arrays.load_packed = packed.register(intrinsic, overload)
arrays.load_sparse = sparse.register(intrinsic, overload)

rows.register(intrinsic, overload)
arithmetic.register(overload, shifts)


def _raises(context: Any, builder: Any, kind: type, arguments: tuple[Any, ...]) -> None:
    calling_convention(context).return_user_exc(builder, kind, arguments)


scratch.register(intrinsic, overload, register_model, models, _raises)
checked = checks.register(intrinsic, overload, register_model, models, _raises, paired=True)
own, route, route_claims = routed.register(
    intrinsic, overload, register_model, models, jit, intrinsics.compare_exchange_system, intrinsics.set_bits_system
)
watch, watch_stores, watch_bits = watched.register(
    intrinsic, overload, register_model, models, jit, intrinsics.fetch_or
)
