"""
Communities of a network
========================

Groups of vertices with many edges inside and few to others, found by the Leiden algorithm in
a network where we know the right answer.
"""

import matplotlib.pyplot as plt
import numpy as np

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

size = np.bincount(found.label)
colour = np.argsort(np.argsort(-size, kind="stable"))[found.label]  # the largest first
new = np.argsort(np.argsort(colour, kind="stable"))

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
fr.plot.graph(g, groups=found.label, title="Friendships", ax=left)
right.scatter(
    new[g.targets], new[g.sources], c=colour[g.sources], cmap="tab10", s=2, marker="s", vmax=9
)
right.set(title="Adjacency matrix, sorted by community", aspect="equal", xticks=[], yticks=[])
right.invert_yaxis()
plt.show()
