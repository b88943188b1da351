"""Functors in numba, on any target.

``copies`` are functors as they are compiled. Arithmetic is NumPy's (``promotion``, ``inference``, ``arithmetic``,
``wrapping``). ``overloads`` are ``fr.atomic_*``, ``fr.hash`` and others, ``scratch`` is memory of a call, ``guards``
are calls that may raise, and ``checks`` is ``FRONTIER_CHECK=1``.
"""
