"""Where arrays lie: placements, the memory of the host and of GPUs, and how much of it there is.

``placement`` says where the arrays of a graph lie and which backend computes on them. An array is in a ``Memory``
(``base``): that of the ``host`` or of a ``gpu``, which makes and moves arrays and knows how much is free, or
``pinned`` memory of the host, which a GPU reads itself, or ``mixed`` of both, or files on a ``disk``; ``faults`` says
what happens where such a file is cut off, and ``checksums`` finds where it is damaged. An array may also be ``spread``
over several GPUs; this and ``mixed`` use ``mapping``, ranges of addresses with memory of several places, and memory of
spread arrays may be ``kept`` for later ones. Memory that other processes map is ``exported``.
Memory of a call is used again by a prepared one: ``reuse`` says where.
``arrays`` has functions on arrays in any memory; ``reserved`` makes arrays of which only the part that is written takes
memory, and ``sparse`` arrays of a GPU of which only some parts do.
``detection`` says which GPUs can be used, ``lost`` which can no longer be; ``nvidia`` queries their driver, and
``peers`` which of them reach each other. ``limits`` says how much host memory is left, and ``shortage`` has the
errors for data that does not fit.
"""
