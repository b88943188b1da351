"""What several operators share.

``reductions`` is the table of reductions, to which ``register`` adds those of users, and ``semirings`` has the functors
of products over semirings. ``phases`` is for every backend, ``cuda`` for reductions on a GPU, ``cuda_far`` and
``cuda_stream`` for edges in the host's memory, and ``cpu_copies`` for fields that many threads add to. ``kernels``
finds the phases that a backend has of an operator.
"""
