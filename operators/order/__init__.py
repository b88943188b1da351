"""Loops with an order, made of other steps.

``loops`` replaces a program's loops with an order by others that do the same. ``limits``, ``buckets``, ``by_weight``
and ``exact`` are the shapes of these, ``passes`` says what passes consist of, ``functors``, ``windows`` and ``offers``
contain their functors, and ``names`` gives them fields of their own.
"""
