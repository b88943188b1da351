"""Primitives: complete algorithms, made of the same parts as users' programs: problem, functors, a declared loop.

There is one file for each; those whose names begin with an underscore have what several share. Primitives register
themselves for the command line and for memory estimates.
"""

if __name__ != "frontier.primitives":
    raise ImportError(
        "import frontier.primitives, not primitives: the folder is part of the package frontier"
    )
