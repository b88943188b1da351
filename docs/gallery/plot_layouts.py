"""
Pictures of graphs
==================

Where shall vertices be, so that a picture shows what a graph is like? ``fr.layout`` lets edges
pull their ends together and all vertices repel one another, until they are at rest.
"""

import matplotlib.pyplot as plt
import numpy as np

import frontier as fr

# %%
# Four graphs: a grid in which the middle is missing, a tree, a network in which a few of the
# ties lead far away, and a random graph of many components.

row, column = np.divmod(np.arange(900), 30)
frame = fr.grid(30, 30).induced(np.maximum(abs(row - 14.5), abs(column - 14.5)) > 7)
child = np.arange(1, 1023)
graphs = {
    "A grid with a hole": frame,
    "A binary tree": fr.from_edges((child - 1) // 2, child),
    "A small world": fr.small_world(1000, 6, 0.02, seed=1),
    "A sparse random graph": fr.urand(9, 1, seed=2),
}

# %%
# Colours are the levels of a search from vertex 0, and grey is what it does not reach. Nothing
# but edges tells the layout where vertices are; the hole appears by itself. In the small world
# the few long ties tangle what would be a ring. Components lie beside each other.

fig, axes = plt.subplots(2, 2, figsize=(10, 9), layout="constrained")
for ax, (name, g) in zip(axes.flat, graphs.items(), strict=True):
    fr.plot.graph(g, values=fr.bfs(g, 0).level, title=name, ax=ax)
plt.show()
