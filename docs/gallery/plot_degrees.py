"""
Degree distributions
====================

How many neighbours do vertices have? The answer tells kinds of networks apart, and how hard
it is to divide their work.
"""

import matplotlib.pyplot as plt
import numpy as np

import frontier as fr

# %%
# Four generated graphs with about 65,000 vertices, and eight edges for each vertex but for
# the grid with two.

graphs = {
    "R-MAT": fr.rmat(16, 8, seed=1),
    "random": fr.urand(16, 8, seed=1),
    "small world": fr.small_world(65_536, 16, 0.1, seed=1),
    "grid": fr.grid(256, 256),
}
for name, g in graphs.items():
    print(f"{name:12} {g.num_edges:8,} edges, degrees up to {g.max_degree}")

# %%
# For each degree, how many vertices have at least that many neighbours. On logarithmic axes a
# power law is a straight line. The R-MAT graph comes near to one, in steps, with hubs that
# have thousands of neighbours. In the others, nobody has many more than the average.

fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for name, g in graphs.items():
    degree = np.sort(g.out_degree[g.out_degree > 0])
    ax.loglog(degree, np.arange(len(degree), 0, -1), label=name, linewidth=2)
ax.set(
    xlabel="degree", ylabel="vertices with at least this degree", title="Degree distributions"
)
ax.legend()
plt.show()

# %%
# Of one graph, this picture is a line: ``fr.plot.degrees``.

fr.plot.degrees(graphs["R-MAT"])
plt.show()
