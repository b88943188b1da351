"""The backends, a folder each, and what they share.

``base`` says what a backend is, and how users register one. For those that compile: ``run`` runs a loop function,
``workspace`` keeps its memory and code, ``footprint`` estimates how much it takes, ``codes`` are numbers on which
generated code and the host agree, ``failures`` and ``interrupts`` are errors of functors and Ctrl-C.

The rest is about functors in numba, on any target. ``copies`` are functors as they are compiled. Arithmetic is NumPy's
(``promotion``, ``inference``, ``arithmetic``, ``wrapping``), ``overloads`` are ``fr.atomic_*`` and others,
``in_neighbours`` loops over in-edges, ``scratch`` memory of a call,
``elements``, ``flags``, ``pairs``, ``watched``, ``routed`` and ``bundles`` are types for arrays, ``packed``
reads compressed lists, ``sparse`` offsets of which few differ, ``rows`` fields of several values, ``guards`` are calls
that may raise, ``checks`` is ``FRONTIER_CHECK=1``. ``least``, ``tables`` and ``hubs`` serve argmin, mode and pulls,
``field_copies`` says to which fields threads add in copies of their own, ``windows`` divides lists that lie far away,
``reading`` reads windows from files.
"""

from frontier.backends.base import Backend, backend_names, register_backend

__all__ = ["Backend", "backend_names", "register_backend"]
