"""Loops with an order, made of other steps.

``loops`` puts them in the place of a program's loops with an order, ``limits``, ``buckets`` and ``exact`` are their
shapes, ``functors`` what these call, and ``names`` gives them fields of their own.
"""
