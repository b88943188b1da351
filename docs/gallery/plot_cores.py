"""
The core of a network
=====================

Take away everyone with fewer than k neighbours, again and again until nobody is left who has
fewer: what remains is the k-core. The largest k for which a vertex remains is its core
number.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

import frontier as fr

# %%
# A small R-MAT graph, which resembles a social network: a dense core, and many vertices on
# the rim.

g = fr.rmat(9, 5, seed=4)
g = g.induced(g.out_degree > 0)
core = fr.core_numbers(g).core
layer = fr.onion_layers(g).layer
print("vertices per core number:", np.bincount(core).tolist())

# %%
# Vertices of a high core number are drawn in the middle. Those of one core number are peeled
# off in layers, the first outside; so every vertex lies on a ring of its own time.

depth = layer.max() - layer + 1
angle = np.random.default_rng(0).permutation(g.num_vertices)
for _ in range(10):  # everyone turns towards their neighbours, and takes the next free place
    unit = np.exp(2j * np.pi * angle / g.num_vertices)
    turned = np.bincount(g.sources, unit.real[g.targets]) + 1j * np.bincount(
        g.sources, unit.imag[g.targets]
    )
    angle = np.argsort(np.argsort(np.angle(turned)))
angle = 2 * np.pi * angle / g.num_vertices
radius = depth
position = np.c_[radius * np.cos(angle), radius * np.sin(angle)]

fig, ax = plt.subplots(figsize=(7.5, 6.4), layout="constrained")
ax.add_collection(
    LineCollection(position[np.c_[g.sources, g.targets]], color="0.85", linewidth=0.4)
)
dots = ax.scatter(*position.T, c=core, s=8 + 2 * g.out_degree, cmap="plasma_r", zorder=2)
fig.colorbar(dots, label="core number", shrink=0.7)
ax.set(title="Core numbers", aspect="equal")
ax.axis("off")
plt.show()
