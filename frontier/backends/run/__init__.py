"""What the compiled backends share about a run.

``execution`` runs a loop function, ``workspace`` keeps its memory and code, ``footprint`` estimates how much that
takes, ``failures`` and ``interrupts`` are errors of functors and Ctrl-C. ``worker_tables`` and ``field_copies`` say
what some steps ask for besides, ``windows`` divides lists that lie far away, and ``file_windows`` reads them from
files.
"""
