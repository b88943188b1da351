"""The backends, a folder each.

``base`` says what a backend is, and how users register one. ``run`` is what the compiled backends share about a run.
Those that divide a program among GPUs and processes are in :mod:`frontier.distributed`.
"""

from frontier.backends.base import Backend, backend_names, register_backend

__all__ = ["Backend", "backend_names", "register_backend"]
