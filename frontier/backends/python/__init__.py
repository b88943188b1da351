"""The python backend: interprets the loop as data, functors called as they are.

The reference, the tests' oracle, the debugger (breakpoints and print work in functors) and the
checker: of bounds, of ``unique="claimed"`` promises, of records' disjointness, of overflow.
"""

from frontier.backends.python.interpreter import start

__all__ = ["start"]
