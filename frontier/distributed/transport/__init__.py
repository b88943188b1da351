"""How the members of a run exchange arrays.

``communicators`` says what a member can do. ``mpi``, ``torchrun`` (by PyTorch's Gloo), ``sockets`` (by a
``rendezvous``, with ``streams`` between two) and ``threads`` (of one process) do it; ``table`` lists those that
launchers and packages choose. ``messages`` are elements and their values in the form that takes the fewest bytes.
``device_arrays`` move from GPU to GPU (NCCL), ``mapped_memory`` is that of other processes of the host, given as
``descriptors``. ``timeouts`` says how long a member waits.
"""
