"""
Cutting out a shape
===================

A minimum cut divides a picture into foreground and background (Boykov and Jolly, 2001).
Pixels are vertices, and neighbouring pixels cost something to part.
"""

import matplotlib.pyplot as plt
import numpy as np

import frontier as fr

# %%
# The picture: a leaf, with much noise.

side = 80
y, x = np.mgrid[-1 : 1 : side * 1j, -1 : 1 : side * 1j]
leaf = (np.hypot(x - 0.45, y) < 0.85) & (np.hypot(x + 0.45, y) < 0.85)
picture = np.clip(leaf * 0.4 + 0.3 + np.random.default_rng(1).normal(0, 0.25, leaf.shape), 0, 1)

# %%
# Neighbouring pixels are joined by edges of capacity 40. Two vertices are added. The source
# has an edge to every pixel, with its brightness as capacity; from every pixel an edge leads
# to the sink, with its darkness as capacity. The minimum cut therefore keeps bright pixels
# with the source, and has a short border.

pixels = fr.grid(side, side)
n = pixels.num_vertices
pixel, source, sink = np.arange(n), np.full(n, n), np.full(n, n + 1)
bright = np.rint(100 * picture.ravel()).astype(np.int64)
g = fr.from_edges(
    np.concatenate([pixels.sources, source, pixel]),
    np.concatenate([pixels.targets, pixel, sink]),
    weights=np.concatenate([np.full(pixels.num_slots, 40), bright, 100 - bright]),
    directed=True,
)
found = fr.max_flow(g, n, n + 1)
shape = found.cut[:n].reshape(side, side)
print(f"the cut costs {found.value:,}; {(shape == leaf).mean():.1%} of all pixels are right")

# %%
# To compare, the pixels that are brighter than the middle; greener is brighter here.

fig, axes = plt.subplots(1, 3, figsize=(10, 3.7), layout="constrained")
pictures = {
    "the picture": picture,
    "brighter than the middle": picture > 0.5,
    "minimum cut": shape,
}
for ax, (title, shown) in zip(axes, pictures.items(), strict=True):
    ax.imshow(shown, cmap="Greens")
    ax.set(title=title, xticks=[], yticks=[])
plt.show()
