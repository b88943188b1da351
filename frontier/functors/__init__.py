"""Functors: the plain Python functions that users write.

``functor`` says what is a functor and what its arguments mean, ``rules`` what it must not do. ``captures`` finds what
it takes from outside, such as constants and helpers, so that a change is noticed: ``captured`` is that of one functor,
``descriptions`` are its constants as text. ``atomics``, ``adjacency``, ``scratch`` and ``numbers`` are what functors
may call: ``fr.atomic_min``, ``fr.neighbours``, ``fr.hash`` and so on.
"""
