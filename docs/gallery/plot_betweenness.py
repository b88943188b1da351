"""
Which streets carry the traffic?
================================

The betweenness of a street is the number of shortest paths that use it. Bridges stand out,
and so do main roads, although nobody has counted cars.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

import frontier as fr

# %%
# A town of 30 by 40 crossings, somewhat crooked, with two bridges over its river. A fifth of
# the streets is missing. Weights are lengths.

rows, columns = 30, 40
grid = fr.grid(rows, columns)
rng = np.random.default_rng(5)
place = np.arange(rows * columns)
position = np.c_[place % columns, place // columns] + rng.normal(0, 0.16, (rows * columns, 2))

start, end = grid.sources, grid.targets
crosses = (start // columns == 14) & (end // columns == 15)
bridge = crosses & np.isin(start % columns, [9, 29])
there = ~crosses & (rng.random(grid.num_slots) < 0.8) | bridge
streets = grid.edge_subgraph(there & (start < end))
length = np.hypot(*(position[streets.sources] - position[streets.targets]).T)
streets = streets.with_weights(length)

# %%
# Crossings have a betweenness, too: ``fr.betweenness``. With ``weighted=True``, paths are
# shortest by weight.

found = fr.edge_betweenness(streets, weighted=True, normalized=True)
crossings = fr.betweenness(streets, weighted=True)
print(f"the busiest street is on {found.centrality.max():.0%} of all shortest paths")
print(f"half of the streets are on less than {np.median(found.centrality):.1%}")

# %%
# The wider and darker a street, the more paths use it. The circles are the ten crossings with
# the most.

share = found.centrality / found.centrality.max()
shown = np.argsort(share)
lines = position[np.c_[streets.sources, streets.targets]][shown]
top = np.argsort(crossings.centrality)[-10:]

fig, ax = plt.subplots(figsize=(9, 6.4), layout="constrained")
ax.axhspan(14.3, 14.7, color="lightblue")
ax.add_collection(LineCollection(lines, color="0.75", linewidth=0.8))
ax.add_collection(
    LineCollection(lines, array=share[shown], linewidths=7 * share[shown], cmap="YlOrRd")
)
ax.scatter(*position[top].T, s=60, facecolor="white", edgecolor="black", zorder=3)
ax.set(title="Betweenness of streets", aspect="equal")
ax.axis("off")
plt.show()
