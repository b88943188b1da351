"""Steps that claim vertices, as those of a breadth-first search do: GPUs tell each other bits instead of values.

``steps`` finds them, ``phases`` are the parts of kernels in which GPUs exchange what has been claimed.
"""
