"""What users look at.

``tables`` makes tables of pandas, Polars and Arrow, ``html`` those of notebooks, and ``progress`` is a line on stderr.
Charts and pictures of graphs are in :mod:`frontier.charts` and :mod:`frontier.plot`.
"""
