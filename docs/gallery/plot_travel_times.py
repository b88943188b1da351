"""
Travel times, and the nearest of several
========================================

Shortest paths by weights: how long a walk takes in hilly country, and which of five huts is
the nearest.
"""

import matplotlib.pyplot as plt
import numpy as np

import frontier as fr

# %%
# The country is a grid of 150 by 150 points with a height. To walk from one point to the next
# takes a minute, and more where it is steep.

side = 150
y, x = np.mgrid[:side, :side] / side
rng = np.random.default_rng(4)
height = sum(
    rng.uniform(0.3, 1)
    * np.exp(-((x - rng.random()) ** 2 + (y - rng.random()) ** 2) / rng.uniform(0.005, 0.03))
    for _ in range(14)
)

grid = fr.grid(side, side)
climb = np.abs(height.ravel()[grid.sources] - height.ravel()[grid.targets])
country = grid.with_weights(1 + 150 * climb)

# %%
# ``fr.sssp`` takes several sources, and then gives the distance to the nearest one. The
# parents of a vertex lead to that source; to follow them, each vertex takes its parent's
# parent until nothing changes.

huts = [20 * side + 25, 30 * side + 120, 75 * side + 70, 125 * side + 20, 120 * side + 125]
found = fr.sssp(country, huts)

nearest = np.asarray(found.parent)
while (nearest != nearest[nearest]).any():
    nearest = nearest[nearest]
print("points per hut:", [int((nearest == hut).sum()) for hut in huts])

# %%
# On the left, lines of equal time; they lie close together on slopes. On the right, who goes
# where.

region = np.searchsorted(np.sort(huts), nearest).reshape(side, side)
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
left.imshow(height, cmap="gist_earth", vmin=-0.5, vmax=1.4)
lines = left.contour(
    found.distance.reshape(side, side), levels=12, colors="black", linewidths=0.8
)
left.clabel(lines, fmt="%d min", fontsize=7)
left.set(title="Minutes to the nearest hut")
right.imshow(region, cmap="Pastel1", interpolation="nearest")
right.contour(height, levels=6, colors="0.5", linewidths=0.5)
right.set(title="The nearest hut")
for ax in (left, right):
    ax.plot(np.array(huts) % side, np.array(huts) // side, "^", color="black", markersize=9)
    ax.set(xticks=[], yticks=[])
plt.show()
