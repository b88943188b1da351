"""The device functions that kernels call.

``machine`` are the operations of the GPU, or of the simulator. ``runtime`` has the barrier, counters and the trace,
``reductions`` brings values of a warp, a block and all blocks together, ``appends`` writes to the next frontier,
``queues`` works on whole queues and bitmaps, ``collectives`` stages lists in shared memory, and ``names`` is what else
a kernel sees. Functions that serve one operator are in its folder.
"""
