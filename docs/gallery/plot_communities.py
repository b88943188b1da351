"""
Communities of a network
========================

Groups of vertices with many edges inside and few to others, found by the Leiden algorithm in
a network where we know the right answer.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from matplotlib.collections import LineCollection

import frontier as fr

# %%
# A school with six classes of 30 children. Two of one class are friends with probability
# 0.25, two of different classes with probability 0.01.

rng = np.random.default_rng(11)
school_class = np.repeat(np.arange(6), 30)
first, second = np.triu_indices(len(school_class), k=1)
chance = np.where(school_class[first] == school_class[second], 0.25, 0.01)
friends = rng.random(len(first)) < chance
g = fr.from_edges(first[friends], second[friends], num_vertices=len(school_class))

# %%
# Leiden knows nothing of classes. It looks for a partition of high modularity.

found = fr.leiden(g)
print(f"{found.count} communities, modularity {found.modularity:.3f}")
print(
    np.array([np.bincount(school_class[members], minlength=6) for members in found.communities])
)

# %%
# Every row above is a community, every column a class. On the left the friendships, coloured
# by community; on the right the adjacency matrix, its vertices in the order of communities.

position = np.array(list(nx.spring_layout(g.to_networkx(), seed=3, k=0.16).values()))
colour = np.unique(found.label, return_inverse=True)[1]
order = np.argsort(colour, kind="stable")
new = np.argsort(order)

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
left.add_collection(
    LineCollection(position[np.c_[g.sources, g.targets]], color="0.8", linewidth=0.4)
)
left.scatter(*position.T, c=colour, cmap="tab10", s=28, zorder=2, vmax=9)
left.set(title="Friendships", aspect="equal")
left.axis("off")
right.scatter(
    new[g.targets], new[g.sources], c=colour[g.sources], cmap="tab10", s=2, marker="s", vmax=9
)
right.set(title="Adjacency matrix, sorted by community", aspect="equal", xticks=[], yticks=[])
right.invert_yaxis()
plt.show()
