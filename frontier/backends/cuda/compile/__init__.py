"""The compiler for GPUs, and all of the package that knows numba-cuda.

``ptx`` is its door: a kernel and the functors that it calls become PTX. Two compilers do it. ``by_numba_cuda`` is the
default; ``numba_compat`` is what it changes in numba-cuda. ``by_llvm`` needs numba and llvmlite alone:
``nvptx_target`` is the GPU as a target of numba, ``nvptx_instructions`` are those of a warp, ``nvptx_printing`` is
``print``, ``nvptx_codegen`` links modules and writes PTX, ``libdevice`` finds NVIDIA's mathematical functions.
``target`` has what the one in use offers.

``translate`` makes kernels of device functions. ``intrinsics`` and ``atomics`` are what neither compiler has,
``guards`` are calls of functors that may raise. ``linker`` makes machine code of PTX, and ``environment`` is what
machine code depends on. ``runtime_words`` are sizes that kernels share with the host.
"""
