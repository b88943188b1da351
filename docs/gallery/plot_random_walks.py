"""
Random walks
============

In every step, each walker goes to a random neighbour. Where are the walkers after a while?
"""

import matplotlib.pyplot as plt
import numpy as np

import frontier as fr

# %%
# Two halls with a door between them, as a grid of 41 by 81 places. 5,000 walkers start in the
# middle of the left hall.

rows, columns = 41, 81
wall = np.zeros((rows, columns), bool)
wall[:, 40] = True
wall[17:24, 40] = False
halls = fr.grid(rows, columns).induced(~wall.ravel())
place = halls.vertices["original"]

middle = int(np.flatnonzero(place == 20 * columns + 20)[0])
path = fr.random_walks(halls, starts=np.full(5_000, middle), length=4_000, seed=1).path
print(path.shape, path.dtype)

# %%
# All walks are taken at the same time; row i of ``path`` is walk i. After 100 steps everyone
# is near the start; after 4,000 many have found the door. The pictures count the visits of
# the last 20 steps.

fig, axes = plt.subplots(2, 2, figsize=(10, 5.6), layout="constrained")
for ax, step in zip(axes.flat, (100, 500, 2_000, 4_000), strict=True):
    count = np.full(rows * columns, np.nan)
    count[place] = np.bincount(
        path[:, step - 19 : step + 1].ravel(), minlength=halls.num_vertices
    )
    ax.imshow(np.sqrt(count).reshape(rows, columns), cmap="magma", vmin=0, vmax=12)
    right = (place[path[:, step]] % columns > 40).mean()
    ax.set(
        title=f"after {step:,} steps, {right:.0%} on the right",
        xticks=[],
        yticks=[],
        facecolor="0.6",
    )
plt.show()

# %%
# In the long run, walks visit a vertex in proportion to its degree. Zachary's karate club, a
# small social network, shows it: how often 1,000 walks of 200 steps visit each member.

club = fr.karate()
visits = np.bincount(
    fr.random_walks(club, starts=np.arange(1_000) % 34, length=200, seed=2).path.ravel(),
    minlength=34,
)
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(club.out_degree, visits / visits.sum(), "o", alpha=0.7)
ax.plot(
    [0, 17], [0, 17 / club.num_slots], color="0.6", zorder=0, label="degree / sum of degrees"
)
ax.set(xlabel="degree", ylabel="share of all visits", title="Visits of random walks")
ax.legend()
plt.show()
