"""The operations that kernels consist of: those of the GPU or, with NUMBA_ENABLE_CUDASIM=1, of the simulator."""

# There is no list of names here: it is that of the simulator or of the intrinsics, which all modules of kernels import.
# ruff: noqa: F401
from __future__ import annotations

import os

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"

if SIMULATED:
    from frontier.backends.cuda.simulator.fields import (
        checked,
        own,
        route,
        route_claims,
        watch,
        watch_bits,
        watch_stores,
    )
    from frontier.backends.cuda.simulator.guards import GUARDS
    from frontier.backends.cuda.simulator.operations import *  # noqa: F403
    from frontier.backends.cuda.simulator.operations import (
        POINTERS,
        SHARED,
        device,
        namedtuple,
        truth,
    )
    from frontier.backends.cuda.simulator.phases import phases
    from frontier.compile.keys import bits_of, integer, key_down, key_up
else:
    from frontier.backends.cuda.compile.atomics import (
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
    from frontier.backends.cuda.compile.guards import GUARDS
    from frontier.backends.cuda.compile.intrinsics import *  # noqa: F403
    from frontier.backends.cuda.compile.intrinsics import POINTERS, SHARED
    from frontier.compile.translation.texts import device, namedtuple, phases

int32_at = POINTERS["int32"]
