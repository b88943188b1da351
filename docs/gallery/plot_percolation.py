"""
Components of a porous stone
============================

Water flows through a stone if enough of its pores are connected. How many are enough?
"""

import matplotlib.pyplot as plt
import numpy as np

import frontier as fr

# %%
# A slice of stone is a grid of 200 by 200 cells. Every cell is open with the same
# probability, and water flows from an open cell to its open neighbours.
# ``fr.connected_components`` finds the cells that are connected.

side = 200
grid = fr.grid(side, side)
noise = np.random.default_rng(3).random(side * side)


def components(share):
    """For every cell the rank of its component by size, -1 where it is closed."""
    stone = grid.induced(noise < share)
    label = fr.connected_components(stone).label
    _, group, size = np.unique(label, return_inverse=True, return_counts=True)
    rank = np.full(side * side, -1)
    rank[stone.vertices["original"]] = np.argsort(np.argsort(-size, kind="stable"))[group]
    return rank


# %%
# Below about 59 % of open cells there are only small components; above it, one of them spans
# the whole stone.

fig, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
colours = plt.get_cmap("tab20").copy()
colours.set_under("0.15")
for ax, share in zip(axes, (0.54, 0.59, 0.64), strict=True):
    rank = components(share)
    ax.imshow(
        np.where(rank < 0, -1, rank % 20).reshape(side, side),
        cmap=colours,
        vmin=0,
        interpolation="nearest",
    )
    ax.set(
        title=f"{share:.0%} open, the largest has {(rank == 0).sum():,} cells",
        xticks=[],
        yticks=[],
    )
    ax.title.set_fontsize(10)
plt.show()

# %%
# The size of the largest component jumps there.

shares = np.linspace(0.4, 0.8, 41)
largest = [(components(share) == 0).sum() / (noise < share).sum() for share in shares]
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.plot(shares, largest, ".-")
ax.axvline(0.5927, color="0.6", linestyle="--", label="threshold of infinite grids")
ax.set(xlabel="share of open cells", ylabel="share of them in the largest component")
ax.legend()
plt.show()
