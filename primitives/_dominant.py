"""The eigenvector of the largest eigenvalue of a symmetric matrix, where a power iteration would take too long.

On long thin graphs the two largest eigenvalues are close: of a path of n vertices, by about 1 / n^2 of themselves, for
which a power iteration takes about n^2 iterations. This one takes about n. It looks for the best vector in a space of
three: the present vector, its residual, and the step before (Knyazev: Toward the optimal preconditioned eigensolver:
locally optimal block preconditioned conjugate gradient method, SIAM Journal on Scientific Computing 23, 2001, with a
block of one and no preconditioner). Vectors stay in the space that a power iteration from the same start would span.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["PLAIN", "dominant"]

#: Iterations of a power iteration before this one takes over. Most graphs need 20 to 60, a large star about 170.
PLAIN = 256

#: Iterations after which a product is computed anew, as it is combined of others otherwise; and the part of a vector
#: that is lost in rounding.
ANEW, LOST = 32, 1e-12

Vector = NDArray[Any]


def dominant(
    multiply: Callable[[Vector], Vector],
    start: Vector,
    length: Callable[[Vector], Any],
    tolerance: float,
    limit: int,
) -> tuple[Vector, int, float]:
    """Return the vector of length 1, after how many iterations, and the L1 norm of the last change.

    Parameters
    ----------
    multiply : function of a vector
        Its product with the matrix.
    start : array
        Not 0; not changed.
    length : function of a vector
    tolerance : float
        Stop when the change is less.
    limit : int
        Number of iterations at most, one or more.
    """
    x = start / length(start)
    product = multiply(x)
    step, its_product, change = None, None, np.inf
    for iteration in range(1, limit + 1):
        if iteration % ANEW == 0:
            product = multiply(x)
        basis: list[Vector] = []
        products: list[Vector] = []
        value = float(x @ product) / float(x @ x)
        for vector, image in ((x, product), (product - value * x, None), (step, its_product)):
            if vector is not None:
                _join(basis, products, vector, image, multiply)
        matrix = np.array([[float(a @ b) for b in products] for a in basis])
        weights = np.linalg.eigh((matrix + matrix.T) / 2)[1][:, -1]
        if weights[0] < 0:
            weights = -weights
        step, its_product = _combined(weights[1:], basis[1:]), _combined(weights[1:], products[1:])
        new, image = _combined(weights, basis), _combined(weights, products)
        size = length(new)
        new, product = new / size, image / size
        change = float(abs(new - x).sum())
        x = new
        if change < tolerance:
            break
    return x, iteration, change


def _join(
    basis: list[Vector], products: list[Vector], vector: Vector, image: Vector | None, multiply: Callable[..., Vector]
) -> None:
    """Add what of a vector is orthogonal to a basis, unless that is nothing, and its product."""
    before = float(vector @ vector) ** 0.5
    for other, its in zip(basis, products, strict=True):
        share = float(other @ vector)
        vector = vector - share * other
        image = None if image is None else image - share * its
    left = float(vector @ vector) ** 0.5
    if left > LOST * before:
        vector = vector / left
        basis.append(vector)
        products.append(multiply(vector) if image is None else image / left)


def _combined(weights: NDArray[np.float64], vectors: list[Vector]) -> Any:
    """Return the sum of vectors times numbers; None of none."""
    made = None
    for weight, vector in zip(weights, vectors, strict=True):
        part = float(weight) * vector
        made = part if made is None else made + part
    return made
