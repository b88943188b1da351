"""Graphs divided among several machines: who owns which vertex, and who holds which edge.

``partition`` has the class that users hold, and the function that makes one; ``cuts`` says where ranges of vertices
begin.
"""
