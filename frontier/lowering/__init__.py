"""Lowering: from a loop as data to the text of one function with barriers.

``layout`` says what of a problem the text depends on, ``registers`` what a frontier is inside a loop
function, ``text`` and ``builder`` collect the text block by block, ``loops`` lowers loops and scopes, ``module`` puts
the whole together. Operators add their own phases through their ``lower`` methods. Nothing here knows
the machine: a backend gives the functions that the text calls (``barrier``, ``flush``, ...).
"""
