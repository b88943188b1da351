"""What several GPUs do only if they are asked to, by ``FRONTIER_EXPERIMENTAL=1``.

That is what has not yet passed all tests on GPUs: steps that claim vertices (:mod:`frontier.backends.devices.claims`),
and fields of vertices in parts (:meth:`frontier.backends.devices.spreading.Spread.vertices`).
"""

from __future__ import annotations

import os

__all__ = ["ON"]

#: Whether they do; the environment is asked once. Code of programs depends on it, and so do keys of that.
ON = os.environ.get("FRONTIER_EXPERIMENTAL") == "1"
