"""What the power iterations share: arguments and their fields, the report, and the error if they do not converge."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import frontier as fr
from frontier.errors import GraphError, NotConvergedError
from frontier.memory.arrays import to_host
from frontier.primitives._arguments import check_number, check_weights
from frontier.registry import Argument

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.program.problem import Field

__all__ = ["ARGUMENTS", "check_weighted", "converged", "facts", "iteration", "refuse_swinging"]

#: What the command line offers for all of them.
ARGUMENTS = (
    Argument("--tolerance", "L1 change to stop at (default: 1e-9)"),
    Argument("--max-iterations", "give up after so many (default: 1000)", type=int),
    Argument("--weighted", "multiply by weights of edges (default: no)", type=bool),
)


def converged(p):
    """The sum of all changes is below the tolerance."""
    return p.change < p.tolerance


def check_weighted(g: Graph, who: str, weighted: bool) -> None:
    """Refuse weights that are not there, negative, or without a finite sum."""
    if not weighted:
        return
    if g.weights is None:
        raise GraphError("weighted=True, but the graph has no weights")
    check_weights(g, who)


def iteration(tolerance: float, max_iterations: int) -> dict[str, Field]:
    """Return the scalars of a loop until :func:`converged`; raise GraphError for arguments out of range."""
    check_number("tolerance", tolerance, lambda x: x >= 0, "it must not be negative")
    whole = "a whole number, at least one"
    check_number("max_iterations", max_iterations, lambda x: 1 <= x < 2**62 and x == int(x), whole)
    return {
        "change": fr.scalar("float64"),
        "tolerance": fr.scalar("float64", float(tolerance)),
        "iterations": fr.scalar("int64"),
        "limit": fr.scalar("int64", int(max_iterations)),
    }


def facts(**best: str) -> Callable[[Graph, Any], dict[str, Any]]:
    """Return a report of iterations, error, and by some words the vertex with the largest value of an attribute."""

    def report(g: Graph, result: Any) -> dict[str, Any]:
        found = {"iterations": result.iterations, "error": result.error}
        if g.num_vertices:
            found |= {words.replace("_", " "): int(to_host(getattr(result, best[words])).argmax()) for words in best}
        return found

    return report


def refuse_swinging(who: str, result: Any, n: int, advice: str = "") -> None:
    """Raise NotConvergedError if the last iteration changed more than the tolerance allows."""
    if n and result.tolerance > 0 and not result.error < result.tolerance:
        raise NotConvergedError(
            f"{who} changed by {result.error:.3g} in iteration {result.iterations}, not below "
            f"{result.tolerance:.3g}{advice}",
            result,
        )
