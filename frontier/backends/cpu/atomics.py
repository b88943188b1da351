"""The public atomics, hashes and random numbers in functors on the CPU; bools and narrow integers; ``truth``.

Import this module before compiling: it registers them with numba.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

from numba.extending import intrinsic, lower_builtin, models, overload, register_jitable, register_model

from frontier.backends.cpu import intrinsics, narrow  # noqa: F401 - tells numba of narrow integers
from frontier.backends.cpu.functors import WrappingCompiler
from frontier.compile.fields import flags, in_neighbours, packed, pairs, rows, sparse
from frontier.compile.functors import arithmetic, checks, overloads, scratch
from frontier.compile.functors.overloads import truth
from frontier.compile.keys import bits_of, integer, key_down, key_up
from frontier.native.machine_code import OPTIONS

__all__ = ["arrays", "bits_of", "checked", "integer", "key_down", "key_up", "truth"]

_overload = partial(overload, target="cpu")
_offer = partial(pairs.swapping, intrinsic, lambda builder, word: builder.load_atomic(word, "monotonic", 8))
_pairs = pairs.register(intrinsic, _overload, register_jitable, intrinsics, _offer)
_piece = in_neighbours.register(intrinsic, lower_builtin, register_model, models)
overloads.register(_overload, SimpleNamespace(**vars(intrinsics)), register_jitable, intrinsic, _piece, _pairs)
arithmetic.register(partial(_overload, jit_options={**OPTIONS, "pipeline_class": WrappingCompiler}))

#: How elements of bools and of narrow integers are loaded and stored, and ids of compressed lists and offsets loaded.
arrays = flags.register(intrinsic, _overload, narrow=False)
arrays.load_packed = packed.register(intrinsic, _overload)
arrays.load_sparse = sparse.register(intrinsic, _overload)

rows.register(intrinsic, _overload)


def _raises(context: Any, builder: Any, kind: type, arguments: tuple[Any, ...]) -> None:
    context.call_conv.return_user_exc(builder, kind, arguments)


scratch.register(intrinsic, _overload, register_model, models, _raises)
checked = checks.register(intrinsic, _overload, register_model, models, _raises, paired=True, now=intrinsics.now)
