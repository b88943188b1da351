"""
What a schedule changes
=======================

A schedule says how a program is carried out. It never changes the answer, but it may change
the number of edges that are looked at, and so the time.
"""

import matplotlib.pyplot as plt
import numpy as np

import frontier as fr

# %%
# The same search of an R-MAT graph three times: pushes only, pulls only, and with the choice
# made in every pass.

g = fr.rmat(16, seed=1)
source = int(np.argmax(g.out_degree))
levels, edges = {}, {}
for direction in ("push", "pull", "auto"):
    with fr.trace() as t:
        levels[direction] = fr.bfs(g, source, schedule=fr.Schedule(direction=direction)).level
    edges[direction] = [row.edges for row in t.rows if row.direction]

assert all(np.array_equal(level, levels["auto"]) for level in levels.values())

# %%
# A push looks at every edge of the frontier, so the largest frontier costs most of the graph.
# A pull looks at the edges of unvisited vertices, so the first level is expensive. ``auto``,
# the default, combines the cheap passes of both.

fig, (left, right) = plt.subplots(
    1, 2, figsize=(10, 3.8), layout="constrained", width_ratios=[2, 1]
)
for k, (direction, looked) in enumerate(edges.items()):
    left.bar(np.arange(len(looked)) + 0.27 * (k - 1), looked, width=0.25, label=direction)
    right.bar(direction, sum(looked), label=direction)
    right.text(k, sum(looked), f"{sum(looked) / g.num_slots:.0%}", ha="center", va="bottom")
left.set(
    xlabel="pass", ylabel="edges looked at", yscale="log", title="In each pass", ylim=(1, None)
)
left.legend()
right.set(title="Together, in % of all edge slots", ylabel="edges looked at")
right.margins(y=0.15)
plt.show()
