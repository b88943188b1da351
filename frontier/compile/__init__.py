"""How Python's meaning of a functor reaches LLVM, on any target.

``functors`` is the arithmetic of functors and what they may call, ``fields`` how they reach arrays, ``translation``
makes LLVM of generated code without type inference. ``elements`` are the types of arrays, ``argument_tuples`` arrays
that phases take together, ``keys`` integers that have the order of floats, and ``codes`` numbers on which compiled code
and the host agree.
"""
