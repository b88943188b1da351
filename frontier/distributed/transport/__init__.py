"""How the members of a run exchange arrays.

``communicators`` says what a member can do. ``mpi``, ``torchrun`` (by PyTorch's Gloo), ``sockets`` (by a
``rendezvous``, with ``streams`` between two) and ``threads`` (of one process) do it; ``table`` lists those that
launchers and packages choose. ``rounds`` are what members say after each step, ``messages`` elements and their values
in the form that takes the fewest bytes. ``device_arrays`` move from GPU to GPU (NCCL), ``descriptors`` are those of
memory that processes of a host give each other. ``timeouts`` says how long a member waits.
"""
