"""The forces of a layout: edges pull their ends to a distance, and all vertices of a component repel one another.

An edge of length l wants its ends l apart, as in a stress majorization of edges alone; every other pair of vertices is
kept apart by a repulsion instead (Gansner, Hu, North: A maxent-stress model for graph layout, 2013). At distance r a
vertex repels by ``far / r + near * l / r**2``: the first part unfolds a component as a whole and becomes weak in the
course of the iterations, the second one separates what is close together.

Distant vertices repel as one, from their centre of mass (Barnes, Hut: A hierarchical O(N log N) force-calculation
algorithm, 1986). Here the tree is a pyramid of grids: each halves the cells of the one above. At each level a vertex
sees the cells of the block around it that the level above left to it, and leaves those nearest to it, two by two, to
the level below. Every component has a box and a pyramid of its own, so that components do not see each other.

What many vertices add to is an integer: the sum is the same in any order, so a layout does not depend on the number of
threads. All other arithmetic is ``+ - * /`` and square roots, which are the same on all backends.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import frontier as fr
from frontier.graph.graph import Graph
from frontier.memory.arrays import to_host
from frontier.program.problem import Field

__all__ = ["SETTLING", "Settling2D", "Settling3D", "forces"]

#: How strongly vertices repel each other: in the end at a distance; nearby; and at first at a distance, in a component
#: of n vertices by ``EARLY / n`` more, up to a limit. Without that, small grids may stay twisted, as a bow tie.
FAR, NEAR, EARLY, EARLIEST = 0.5, 0.05, 3000.0, 100.0

#: By how much of the step to the place that its edges want a vertex moves. With 1, neighbours might swap for ever.
DAMPING = 0.7

#: Lengths of edges by which the repulsion moves a vertex at most, in one iteration; and below which it grows no more.
FARTHEST, SOFT = 2.0, 0.1

#: Units of fixed-point numbers: for places in a box, for the pull of edges, and for their strengths.
PLACES, PULLS, STRENGTHS = 2.0**30, 2.0**24, 2.0**20

#: What is left of the early repulsion after the last iteration.
COOLED = 1e-3


def forget(p, i):
    """Let the box of a component, of which i is a side, contain nothing."""
    p.low[i] = np.inf
    p.high[i] = -np.inf


def empty(p, i):
    """Let a cell contain nothing; i is one of its counters."""
    p.sum[i] = 0


def cool(p):
    """Weaken the early repulsion."""
    return p.early * p.cooling


def pull(p, src, dst, edge, i):
    """The pull of an edge on its source."""
    return int(p.tension[edge] * (p.position[dst, i] - p.position[src, i]) * PULLS)


def strength(p, edge):
    return p.strength[edge]


def divide(p, src, edge):
    """The share of an edge in all pull on its source."""
    p.share[edge] = p.strength[edge] / p.rigidity[src]


def settling(dims: int) -> tuple[Any, ...]:
    """Return the program in 2 or 3 dimensions, in which vertices move from where the smaller graph has put them."""

    def first(level):
        """The number of cells in all levels above."""
        return ((1 << (dims * level)) - 1) // ((1 << dims) - 1)

    def width(p):
        """The number of cells at the level whose turn it is, in all components that have a finer one."""
        level = p.deepest - p.turn
        return p.deeper[level] << (dims * level)

    def shake(p, v):
        """Move a vertex a little, away from those that come from the same vertex of the smaller graph."""
        for k in range(dims):
            p.position[v, k] += (fr.random(p.seed, dims * v + k) - 0.5) * p.unit / 2

    def enclose(p, v):
        """Let the box of its component contain v."""
        for k in range(dims):
            side = dims * p.component[v] + k
            x = p.position[v, k]
            if x < p.low[side]:
                fr.atomic_min(p.low, side, x)
            if x > p.high[side]:
                fr.atomic_max(p.high, side, x)

    def measure(p, i):
        """The side of a box, which is as wide as high."""
        most = 1e-9 * p.unit
        for k in range(dims):
            most = max(most, p.high[dims * i + k] - p.low[dims * i + k])
        p.size[i] = most * 1.0001

    def count(p, v):
        """Count v in its cell of the finest level."""
        c = p.component[v]
        side = 1 << p.depth[c]
        cell = 0
        for k in range(dims - 1, -1, -1):
            cell = cell * side + int((p.position[v, k] - p.low[dims * c + k]) / p.size[c] * side)
        cell += p.begin[c] + first(p.depth[c])
        fr.atomic_add(p.sum, (dims + 1) * cell, 1)
        for k in range(dims):
            place = (p.position[v, k] - p.low[dims * c + k]) / p.size[c]
            fr.atomic_add(p.sum, (dims + 1) * cell + 1 + k, int(place * PLACES))

    def add_up(p, i):
        """Add up what the cells within cell i have."""
        level = p.deepest - p.turn
        c = i >> (dims * level)  # components with finer levels come first
        cell = i & ((1 << (dims * level)) - 1)
        side = 1 << level
        x = cell & (side - 1)
        y = (cell >> level) & (side - 1)
        z = cell >> (2 * level)
        me = p.begin[c] + first(level) + cell
        below = p.begin[c] + first(level + 1)
        for k in range(dims + 1):
            total = 0
            for child in range(1 << dims):
                row = (2 * z + (child >> 2)) * 2 * side + 2 * y + ((child >> 1) & 1)
                total += p.sum[(dims + 1) * (below + row * 2 * side + 2 * x + (child & 1)) + k]
            p.sum[(dims + 1) * me + k] = total

    def centre(p, i):
        """The number of vertices in a cell, and their centre."""
        number = p.sum[(dims + 1) * i]
        p.centre[(dims + 1) * i] = number
        for k in range(dims):
            p.centre[(dims + 1) * i + 1 + k] = p.sum[(dims + 1) * i + 1 + k] / (max(number, 1) * PLACES)

    def attract(p, src, dst, edge):
        """Note which share of the way to its target an edge pulls its source; it is negative if they are too near."""
        square = 0.0
        for k in range(dims):
            square += (p.position[dst, k] - p.position[src, k]) ** 2
        p.tension[edge] = p.share[edge] * (1 - p.length[edge] / (np.sqrt(square) + 1e-9 * p.unit))

    def move(p, v):
        """Move v by the pull of its edges and the repulsion of its component; all within is in sides of the box."""
        c = p.component[v]
        size = p.size[c]
        unit = p.unit / size
        near, soft = NEAR * unit, (SOFT * unit) ** 2
        far = (FAR + min(EARLY / p.members[c], EARLIEST) * p.early) / p.members[c]
        x = (p.position[v, 0] - p.low[dims * c]) / size
        y = (p.position[v, 1] - p.low[dims * c + 1]) / size
        z = (p.position[v, 2] - p.low[dims * c + 2]) / size if dims == 3 else 0.0
        fx, fy, fz = 0.0, 0.0, 0.0
        bx, by, bz = -1, -1, -1  # the first of the two nearest cells of the level above, which the vertex left
        for level in range(p.depth[c] + 1):
            side = 1 << level
            ax, ay, az = 2 * bx, 2 * by, 2 * bz
            bx, by, bz = int(x * side + 0.5) - 1, int(y * side + 0.5) - 1, int(z * side + 0.5) - 1
            finest = level == p.depth[c]
            base = p.begin[c] + first(level)
            own = base + (int(z * side) * side + int(y * side)) * side + int(x * side) if finest else -1
            for kz in range(max(az, 0), min(az + 4, side) if dims == 3 else 1):
                for ky in range(max(ay, 0), min(ay + 4, side)):
                    for kx in range(max(ax, 0), min(ax + 4, side)):
                        if not finest and bx <= kx <= bx + 1 and by <= ky <= by + 1 and bz <= kz <= bz + 1:
                            continue
                        cell = base + (kz * side + ky) * side + kx
                        number = p.centre[(dims + 1) * cell]
                        dx = x - p.centre[(dims + 1) * cell + 1]
                        dy = y - p.centre[(dims + 1) * cell + 2]
                        dz = z - p.centre[(dims + 1) * cell + 3] if dims == 3 else 0.0
                        outward = 1.0
                        if cell == own:  # without v itself the centre is farther away
                            outward = number / max(number - 1, 1.0)
                            number -= 1
                        if number == 0:
                            continue
                        square = (dx * dx + dy * dy + dz * dz) * outward * outward + soft
                        force = number * outward * (far + near / np.sqrt(square)) / square
                        fx += dx * force
                        fy += dy * force
                        fz += dz * force
        step = unit * p.unit * p.firm / max(p.rigidity[v], 1)  # the firmer edges hold a vertex, the less it is moved
        reach = np.sqrt(fx * fx + fy * fy + fz * fz) * step
        if reach > FARTHEST * p.unit:
            step *= FARTHEST * p.unit / reach
        p.position[v, 0] += p.force[v, 0] / PULLS * DAMPING + fx * step
        p.position[v, 1] += p.force[v, 1] / PULLS * DAMPING + fy * step
        if dims == 3:
            p.position[v, 2] += p.force[v, 2] / PULLS * DAMPING + fz * step

    boxes = (
        fr.Compute(forget, over="sides"), fr.Compute(enclose, over="vertices"), fr.Compute(measure, over="components"),
    )  # fmt: skip
    cells = (
        fr.Compute(empty, over="counters"),
        fr.Compute(count, over="vertices"),
        fr.Loop(fr.Set(width=width), fr.Compute(add_up, over="width"), times="deepest", count="turn"),
        fr.Compute(centre, over="cells"),
    )
    return (
        fr.Compute(shake, over="vertices"),
        fr.Gather(strength, "sum", into="rigidity", edges="out", over="vertices"),
        fr.Compute(divide, over="edges"),
        fr.Loop(
            *boxes,
            fr.Set(turn=0),
            *cells,
            fr.Compute(attract, over="edges"),
            fr.Gather(pull, "sum", into="force", edges="out", over="vertices"),
            fr.Compute(move, over="vertices"),
            fr.Set(early=cool),
            times="iterations",
        ),
    )


class Settling2D(fr.Enactor):
    """Move vertices in a plane until their edges have the lengths that they want, and others are apart."""

    loop = settling(2)


class Settling3D(fr.Enactor):
    """The same in space."""

    loop = settling(3)


SETTLING = {2: Settling2D, 3: Settling3D}


def forces(h: Graph, length: Any, component: Any, iterations: int, seed: int, dims: int) -> dict[str, Field]:
    """Return the fields of a program, all but positions.

    Parameters
    ----------
    h : Graph
        Undirected, without self-loops and parallel edges, with weights of int64.
    length : array of int64, shape (m,)
        How long edges want to be.
    component : array of int, shape (n,)
        Number of the component of each vertex, from 0 on.
    iterations, seed, dims : int
    """
    xp = h.placement.memory.xp
    members = np.bincount(to_host(component))
    order = np.argsort(-members, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    members = members[order]
    # About as many cells as vertices, and the largest components first.
    depth = np.zeros(len(order), np.int64)
    while (finer := members > 1 << (dims * depth)).any():
        depth += finer
    begin = np.cumsum((2 ** (dims * (depth + 1)) - 1) // (2**dims - 1))
    cells, deepest = int(begin[-1]), int(depth[0])
    deeper = np.array([(depth > level).sum() for level in range(deepest + 1)])
    unit = int(length.sum()) / len(length)
    assert h.weights is not None
    shorter = xp.minimum(unit / length, 64.0) ** 2
    strengths = xp.maximum(xp.rint(h.weights * (STRENGTHS * len(length) / int(h.weights.sum())) * shorter), 1)
    return {
        "force": fr.vertex("int64", shape=dims),
        "rigidity": fr.vertex("int64"),
        "component": fr.vertex("int64", xp.asarray(rank)[component]),
        "length": fr.edge("float32", length),
        "strength": fr.edge("int64", strengths.astype(np.int64)),
        "share": fr.edge("float32"),
        "tension": fr.edge("float32"),
        "low": fr.array(xp.zeros(dims * len(order))),
        "high": fr.array(xp.zeros(dims * len(order))),
        "size": fr.array(xp.zeros(len(order))),
        "members": fr.array(members),
        "depth": fr.array(depth),
        "begin": fr.array(np.concatenate(([0], begin[:-1]))),
        "deeper": fr.array(deeper),
        "sum": fr.array(xp.zeros((dims + 1) * cells, np.int64)),
        "centre": fr.array(xp.zeros((dims + 1) * cells)),
        "components": fr.scalar("int64", len(order)),
        "sides": fr.scalar("int64", dims * len(order)),
        "cells": fr.scalar("int64", cells),
        "counters": fr.scalar("int64", (dims + 1) * cells),
        "deepest": fr.scalar("int64", deepest),
        "turn": fr.scalar("int64"),
        "width": fr.scalar("int64"),
        "unit": fr.scalar("float64", unit),
        "firm": fr.scalar("float64", int(strengths.astype(np.int64).sum()) / h.num_vertices),
        "early": fr.scalar("float64", 1.0),
        "cooling": fr.scalar("float64", COOLED ** (1 / max(iterations - 1, 1))),
        "iterations": fr.scalar("int64", iterations),
        "seed": fr.scalar("int64", seed),
    }
