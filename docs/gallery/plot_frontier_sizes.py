"""
Frontiers, level by level
=========================

What a breadth-first search does in each pass: how large its frontier is, how many edges it
looks at, and in which direction. A trace records it.
"""

import matplotlib.pyplot as plt
import numpy as np

import frontier as fr

# %%
# Two graphs with the same number of vertices: an R-MAT graph, whose degrees differ widely as
# in social networks, and a grid, which resembles streets. The first search of each compiles
# what it needs; the second one is traced.

graphs = {"R-MAT, 65,536 vertices": fr.rmat(16, seed=1), "grid, 256 by 256": fr.grid(256, 256)}
traces = {}
for name, g in graphs.items():
    source = int(np.argmax(g.out_degree))
    fr.bfs(g, source)
    with fr.trace() as traces[name]:
        result = fr.bfs(g, source)
    print(f"{name}: {result.level.max()} levels")

# %%
# The trace of the first one, as text. A push follows the edges of the frontier; in a pull,
# every unvisited vertex looks for a neighbour in the frontier and stops at the first.
# Frontier takes the cheaper one in each pass.

print(traces["R-MAT, 65,536 vertices"])

# %%
# In the R-MAT graph the search ends after a few levels, and one of them holds most vertices.
# There a pull looks at far fewer edges than a push. In the grid, frontiers stay small through
# hundreds of levels, and every pass pushes.

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, (name, t) in zip(axes, traces.items(), strict=True):
    rows = [row for row in t.rows if row.direction]
    size = np.array([row.size_in for row in rows])
    level = np.arange(len(rows))
    pull = np.array([row.direction == "pull" for row in rows])
    ax.bar(
        level[~pull],
        size[~pull],
        width=1,
        edgecolor="white",
        linewidth=8 / len(rows),
        label="push",
    )
    ax.bar(
        level[pull],
        size[pull],
        width=1,
        edgecolor="white",
        linewidth=8 / len(rows),
        label="pull",
    )
    ax.plot(level, [row.edges for row in rows], ".-", color="black", label="edges looked at")
    ax.set(
        title=name,
        xlabel="level",
        ylabel="vertices in the frontier",
        yscale="log",
        ylim=(0.8, None),
    )
axes[0].legend()
plt.show()

# %%
# ``trace.plot`` draws the time of every step and the size of its frontier.

traces["R-MAT, 65,536 vertices"].plot()
plt.show()
