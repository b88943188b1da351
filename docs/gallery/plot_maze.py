"""
A maze is a spanning tree
=========================

A good maze has exactly one path between any two places. Such a graph is a spanning tree of a
grid; the minimum spanning tree for random weights is a random maze.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

import frontier as fr

# %%
# Every edge of the grid gets a random weight. The edges of the minimum spanning forest are
# the corridors.

rows, columns = 40, 64
grid = fr.grid(rows, columns, weights=(1, 1_000_000), seed=9)
forest = fr.minimum_spanning_forest(grid)
maze = grid.edge_subgraph(forest.edges)
print(maze, "in", forest.count, "tree")

# %%
# A search from one corner finds how deep in the maze each place is. The deepest one is the
# goal.

level = fr.bfs(maze, 0).level
goal = int(level.argmax())
path = fr.shortest_path(maze, 0, goal).path
print(f"{len(path) - 1} steps to the goal")

place = np.arange(rows * columns)
position = np.c_[place % columns, place // columns]
corridors = position[np.c_[maze.sources, maze.targets]]

fig, ax = plt.subplots(figsize=(9, 5.8), layout="constrained")
ax.add_collection(
    LineCollection(
        corridors, array=level[maze.targets], cmap="cividis", linewidth=5, capstyle="round"
    )
)
ax.plot(*position[path].T, color="white", linewidth=1.5)
ax.plot(*position[[0, goal]].T, "o", color="white", markeredgecolor="black", markersize=8)
ax.set(
    title="The longest path from the upper left corner",
    aspect="equal",
    facecolor="0.1",
    xticks=[],
    yticks=[],
)
ax.autoscale()
ax.invert_yaxis()
plt.show()
