"""The compiler for GPUs. Only this folder uses numba-cuda.

``ptx`` is its door: a kernel and the functors that it calls become PTX, by ``translate``. ``linker`` makes machine code
of PTX, and ``environment`` is what machine code depends on. ``intrinsics`` and ``atomics`` are what numba-cuda lacks,
``guards`` are calls of functors that may raise, and ``numba_compat`` is what is changed in numba-cuda.
``runtime_words`` are sizes that kernels share with the host.
"""
