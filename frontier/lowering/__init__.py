"""Lowering: from a loop as data to the text of one function with barriers. It knows no machine.

Operators add nodes (``ir``) to a program through a ``builder``. ``loops`` does it for scopes, loops and sequences.
``inputs`` are what the host gives a program, ``variables`` all that it has, ``frontier_state`` those of a frontier;
``frontier_forms`` brings frontiers from one form into another. ``phases`` and ``kernels`` are what the functions of
phases take. ``folding`` removes branches that cannot be taken.

``blocks`` cuts the nodes at barriers, ``printer`` and ``module`` make them the text of a Python module. ``explain``
makes them pseudo-code instead, for people; ``touched`` and ``words`` say for it what phases read and write.
"""
