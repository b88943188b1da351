"""Primitives: finished algorithms, made of what every user has: problem, functors, a declared loop.

One file for each. They register themselves for the command line and for memory estimates.
"""

if __name__ != "frontier.primitives":
    raise ImportError(
        "import frontier.primitives, not primitives: the folder is part of the package frontier"
    )
