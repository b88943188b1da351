"""The operations that kernels consist of: those of the GPU or, with NUMBA_ENABLE_CUDASIM=1, of the simulator."""

# There is no list of names here: it is that of the simulator or of the intrinsics, which all modules of kernels import.
# ruff: noqa: F401
from __future__ import annotations

import os

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"

if SIMULATED:
    from frontier.backends.cuda.simulator import *  # noqa: F403
    from frontier.backends.cuda.simulator import (
        POINTERS,
        SHARED,
        device,
        namedtuple,
        truth,
    )
    from frontier.backends.cuda.simulator_fields import (
        checked,
        own,
        route,
        route_claims,
        watch,
        watch_bits,
        watch_stores,
    )
    from frontier.backends.cuda.simulator_guards import GUARDS
    from frontier.backends.cuda.simulator_phases import phases
    from frontier.backends.least import bits_of, integer, key_down, key_up
else:
    import frontier.backends.cuda.numba_compat
    from frontier.backends.cuda.atomics import (
        bits_of,
        checked,
        integer,
        key_down,
        key_up,
        own,
        route,
        route_claims,
        truth,
        watch,
        watch_bits,
        watch_stores,
    )
    from frontier.backends.cuda.guards import GUARDS
    from frontier.backends.cuda.intrinsics import *  # noqa: F403
    from frontier.backends.cuda.intrinsics import POINTERS, SHARED
    from frontier.backends.translation.texts import device, namedtuple, phases

int32_at = POINTERS["int32"]
