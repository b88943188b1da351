"""What the power iterations share: arguments and their fields, the loop, and what is told of the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import frontier as fr
from frontier.errors import GraphError, NotConvergedError
from frontier.memory.arrays import to_host
from frontier.primitives._arguments import check_number, check_weights
from frontier.program.problem import Field
from frontier.program.step import Step
from frontier.registry import Argument

__all__ = ["ARGUMENTS", "SLOW", "check_weighted", "converged", "facts", "iterations", "scalars", "settled"]


class Converging(Protocol):
    """A result that says how near the last two iterations were."""

    @property
    def iterations(self) -> int: ...
    @property
    def error(self) -> float: ...
    @property
    def tolerance(self) -> float: ...


Result = TypeVar("Result", bound=Converging)

#: What the command line offers for all of them.
ARGUMENTS = (
    Argument("--tolerance", "L1 change to stop at (default: 1e-9)"),
    Argument("--max-iterations", "give up after so many (default: 10,000; Katz: 1000)", type=int),
    Argument("--weighted", "multiply by weights of edges (default: no)", type=bool),
)

#: What an error advises where convergence may be slow.
SLOW = ": long thin graphs, or parts that are nearly alike, need more max_iterations or a larger tolerance"


def converged(p):
    """The sum of all changes is below the tolerance."""
    return p.change < p.tolerance


def iterations(*steps: Step, times: str = "limit") -> fr.Loop:
    """Repeat steps on all vertices, of which the last one sums up the changes, until these are few enough."""
    return fr.Loop(*steps, over="vertices", until=converged, times=times, count="iterations")


def check_weighted(g: fr.Graph, who: str, weighted: bool) -> None:
    """Refuse weights that are not there, negative, or infinite."""
    if not weighted:
        return
    if g.weights is None:
        raise GraphError("weighted=True, but the graph has no weights")
    check_weights(g, who, scaled=True)


def scalars(tolerance: float, max_iterations: int) -> dict[str, Field]:
    """Return the scalars of :func:`iterations`; raise GraphError for arguments out of range."""
    check_number("tolerance", tolerance, lambda x: x >= 0, "it must not be negative")
    whole = "a whole number, at least one"
    check_number("max_iterations", max_iterations, lambda x: 1 <= x < 2**62 and x == int(x), whole)
    return {
        "change": fr.scalar("float64"),
        "tolerance": fr.scalar("float64", float(tolerance)),
        "iterations": fr.scalar("int64"),
        "limit": fr.scalar("int64", int(max_iterations)),
    }


def facts(**best: str) -> Callable[[fr.Graph, Any], dict[str, Any]]:
    """Return a report of iterations, error, and by some words the vertex with the largest value of an attribute."""

    def report(g: fr.Graph, result: Any) -> dict[str, Any]:
        found = {"iterations": result.iterations, "error": result.error}
        if g.num_vertices:
            found |= {words.replace("_", " "): int(to_host(getattr(result, best[words])).argmax()) for words in best}
        return found

    return report


def settled(who: str, result: Result, advice: str = "") -> Result:
    """Return the result; raise NotConvergedError if the last iteration changed more than the tolerance allows."""
    if result.tolerance > 0 and not result.error < result.tolerance:
        raise NotConvergedError(
            f"{who} changed by {result.error:.3g} in iteration {result.iterations}, not below "
            f"{result.tolerance:.3g}{advice}",
            result,
        )
    return result
