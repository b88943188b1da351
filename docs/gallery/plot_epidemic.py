"""
An epidemic, day by day
=======================

An algorithm of your own: people are susceptible, then ill for some days, then immune.
Everyone who is ill infects each susceptible neighbour with the same probability every day.
"""

import matplotlib.pyplot as plt
import numpy as np

import frontier as fr

# %%
# Functors say what happens at one vertex and at one edge, and the loop says in which order.
# Those who are still ill go to a pile, and so do those whom they infect. The pile is the
# frontier of the next day.


def still_ill(p, v):
    return p.day - p.since[v] <= p.lasts


def susceptible(p, dst):
    return p.since[dst] == -1


def infect(p, dst, edge):
    return (
        fr.random(p.seed + p.day, edge) < p.chance
        and fr.atomic_cas(p.since, dst, -1, p.day) == -1
    )


class Epidemic(fr.Enactor):
    loop = fr.Loop(
        fr.Filter(still_ill),
        fr.Put("ill"),
        fr.Advance(infect, where=susceptible, unique="claimed"),
        fr.Put("ill"),
        take="ill",
        count="day",
    )


def epidemic(g, first, chance=0.18, lasts=5, seed=1):
    """The day on which each vertex falls ill, -1 for never."""
    p = fr.Problem(
        g,
        since=fr.vertex("int32", -1),
        ill=fr.pile(),
        day=fr.scalar("int32"),
        lasts=fr.scalar("int32", lasts),
        chance=fr.scalar("float64", chance),
        seed=fr.scalar("int64", seed),
    )
    p.since[first] = 0
    p.ill = [first]
    Epidemic(p).run()
    return np.asarray(p.since)


# %%
# On the first map, people meet their four neighbours only. On the second, one in a hundred
# also knows somebody far away.

side = 200
here = fr.grid(side, side)
rng = np.random.default_rng(2)
away = rng.integers(0, side * side, (2, side * side // 100))
connected = fr.from_edges(
    np.concatenate([here.sources, away[0]]),
    np.concatenate([here.targets, away[1]]),
    num_vertices=side * side,
)
days = {
    "neighbours only": epidemic(here, side * side // 2 + side // 2),
    "and some far away": epidemic(connected, side * side // 2 + side // 2),
}

# %%
# Among neighbours, the disease spreads as a ring. A few distant contacts carry it everywhere,
# and it is over in less than half the time.

fig, axes = plt.subplots(
    1, 3, figsize=(11, 3.8), layout="constrained", width_ratios=[1, 1, 1.2]
)
last = max(since.max() for since in days.values())
for ax, (name, since) in zip(axes, days.items(), strict=False):
    shown = ax.imshow(
        np.where(since < 0, np.nan, since).reshape(side, side),
        cmap="inferno_r",
        vmin=0,
        vmax=last,
    )
    ax.set(title=name, xticks=[], yticks=[], facecolor="0.9")
    axes[2].plot(np.bincount(since[since >= 0]), label=name)
fig.colorbar(shown, ax=axes[:2], label="day of infection", orientation="horizontal", shrink=0.6)
axes[2].set(title="Newly ill", xlabel="day")
axes[2].legend()
plt.show()
