"""A simulator of kernels in plain Python, for machines without a GPU and for debuggers: ``NUMBA_ENABLE_CUDASIM=1``.

``operations`` has the names of the GPU's operations, ``threads`` runs the threads of a kernel, ``guards``, ``phases``
and ``fields`` stand in for the modules of these names in :mod:`frontier.compile`.
"""
