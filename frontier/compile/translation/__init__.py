"""Translate generated code and kernels to LLVM without type inference, on any target.

``translator`` goes through the source of a function, by ``statements`` and ``expressions``; ``texts`` marks the
functions that are translated so.
"""
