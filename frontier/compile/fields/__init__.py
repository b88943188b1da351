"""Arrays that do more at an access than load and store, on any target.

``flags`` are bools and narrow integers, ``rows`` fields of several values, ``packed`` compressed lists, ``sparse``
doubly compressed offsets, ``in_neighbours`` in-edges, ``pairs`` fields that change together, ``watched`` fields that
mark what changes, and ``routed`` fields whose owners are other GPUs.
"""
