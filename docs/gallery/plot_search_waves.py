"""
A search spreads through a town
===============================

How many blocks is it from the fire station to every crossing? A breadth-first search moves
outwards, one block a level, around whatever stands in its way.
"""

import matplotlib.pyplot as plt
import numpy as np

import frontier as fr

# %%
# The town is a grid of 120 by 200 crossings. A river and some buildings are closed; two
# bridges lead over the river. ``induced`` keeps the crossings that are open, and remembers
# their place in the whole grid.

rows, columns = 120, 200
row, column = np.mgrid[:rows, :columns]
closed = np.abs(row - 60 - 15 * np.sin(column / 25)) < 4
rng = np.random.default_rng(7)
for top, left in zip(rng.integers(0, 112, 60), rng.integers(0, 185, 60), strict=True):
    closed[top : top + 7, left : left + 12] = True
closed[8:13, 98:103] = False
closed[60:90, 40:45] = closed[40:75, 145:150] = False

town = fr.grid(rows, columns).induced(~closed.ravel())
place = town.vertices["original"]
print(town)

# %%
# One search gives the number of blocks to every crossing, -1 where there is no path. Another
# one finds a shortest path to the school, which is at the farthest crossing.

station = int(np.flatnonzero(place == 10 * columns + 100)[0])
level = fr.bfs(town, station).level
school = int(np.argmax(level))
path = place[fr.shortest_path(town, station, school).path]
print(f"{(level < 0).sum()} crossings are cut off; it is {level[school]} blocks to the school")

# %%
# Each band of colour is ten levels wide: crossings that the search reached at about the same
# time.

picture = np.full(rows * columns, np.nan)
picture[place[level >= 0]] = level[level >= 0] // 10 * 10

fig, ax = plt.subplots(figsize=(9, 5.2), layout="constrained")
bands = ax.imshow(picture.reshape(rows, columns), cmap="viridis_r", interpolation="nearest")
ax.plot(path % columns, path // columns, color="crimson", linewidth=2)
ax.plot(
    *divmod(int(place[station]), columns)[::-1],
    "o",
    color="white",
    markeredgecolor="black",
    markersize=9,
)
ax.set(title="Blocks from the fire station", xticks=[], yticks=[], facecolor="0.2")
fig.colorbar(bands, label="level of the search", shrink=0.8)
plt.show()
