"""The process and its files, as the operating system has them.

``environment`` reads settings, ``forks`` and ``launched`` (with ``launch_watch``) look after child processes and
processes that a launcher has started, ``regular_files``, ``atomic_write`` and ``leftovers`` after files. ``plugins``
imports what installed packages name.
"""
