"""Code that the package compiles for itself, and machine code on disk.

``jit`` compiles helper functions of the package (``kernel_entry`` is how Python calls them), ``cache`` is the folder
in which all generated code is kept, and ``folders`` sees to it that nobody else may write there; ``prebuilt`` is code
that a wheel brings along; ``machine_code`` loads object files without numba, and ``host`` says for which processor and
by which compilers they are. ``threads`` are the worker threads, ``processors`` says how many run at once,
``uninterrupted`` runs what Ctrl-C must not cut in half. ``address_space`` asks for what the compiler needs where a
process may map little memory, and ``notice`` tells the user that something is being compiled.
"""
