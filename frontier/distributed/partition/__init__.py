"""Graphs divided among several machines: who owns which vertex, who holds which edge, and what they must exchange.

``partition`` has the class that users hold, and the function that makes one. ``cuts`` says where ranges of vertices
begin, and deals out hubs; ``blocks`` finds the edges of a part, and ``dcsc`` stores a block that is mostly empty.
``traffic`` counts the bytes that a search moves, and ``projection`` computes the time that many GPUs would take.
``own_rows`` is the graph as a part sees it that walks along the edges of its own vertices. ``arguments`` checks
numbers.
"""
