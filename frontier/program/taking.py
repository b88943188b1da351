"""Accept what users pass as a graph, a problem or a frontier, and refuse other objects with a helpful message."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from frontier import results
from frontier.display.progress import Task
from frontier.errors import FrontierError, GraphError, NotConvergedError
from frontier.graph.kinds import door, kind_of
from frontier.memory.disk import reading
from frontier.memory.host import HOST
from frontier.program.frontiers import Frontier
from frontier.program.prepared import GraphFunction, PreparedCall
from frontier.program.problem import Problem

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["Elements", "at_graph", "check_problem", "frontier_of", "graph_of"]

#: What is taken for a frontier: one, or ids or a mask of vertices.
Elements = Frontier | Iterable[int]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_WAYS = "make one with fr.from_edges, fr.from_networkx, fr.from_scipy, fr.from_pandas or fr.read"


def at_graph(function: Callable[Parameters, Result]) -> GraphFunction[Parameters, Result]:
    """Let a function of a graph take what graphs are made of, and run where the graph lies: a decorator."""

    @wraps(function)
    def call(*given: Parameters.args, **named: Parameters.kwargs) -> Result:
        graph: Any = given[0] if given else named.get("g")
        there = getattr(graph, "_call_there", None)  # of a graph in the ranks of a cluster
        if there is not None:
            found: Result = there(call, given, named)
            return _named(found, graph)
        if type(getattr(graph, "num_slots", None)) is not int and (given or "g" in named):
            graph = graph_of(graph, function.__name__)
            if given:
                given = (graph, *given[1:])  # type: ignore[assignment]
            else:
                named["g"] = graph
        memory = graph.placement.memory if graph is not None else HOST
        apart = graph is not None and graph.placement.edges is not None
        files = graph._topology.files() if apart else ()
        with Task(function.__name__), memory.using(function.__name__), reading(files):
            try:
                made = function(*given, **named)
            except NotConvergedError as error:
                _named(error.result, graph)
                raise
            return _named(made, graph)

    def prepare(g: Any, /, **options: Any) -> PreparedCall[Result]:
        if getattr(g, "_call_there", None) is not None:
            raise GraphError("prepare() is for a graph of this process, and this one is in the ranks of a cluster")
        graph = graph_of(g, f"{function.__name__}.prepare")
        return PreparedCall(function if graph.placement.edges is None else call, graph, options)

    prepare.__qualname__ = f"{function.__name__}.prepare"
    call.prepare = prepare  # type: ignore[attr-defined]  # which GraphFunction documents
    return cast("GraphFunction[Parameters, Result]", call)


def _named(made: Result, graph: Any) -> Result:
    """What a function returned; a result for users takes the names of its graph."""
    if isinstance(made, results.Result) and graph is not None:
        made.attach_graph(graph)
    return made


def graph_of(value: Any, who: str) -> Graph:
    """A Graph: itself, or made of a graph, a sparse matrix or a table of another library, or of a list of edges.

    Parameters
    ----------
    value : object
    who : str
        Who asks, for messages.

    Raises
    ------
    GraphError
        It is something else.
    """
    from frontier.graph.graph import Graph

    if isinstance(value, Graph):
        return value
    kind = kind_of(value)
    if kind is not None:
        module = import_module(f"frontier.graph.convert_{kind.module}")
        plainly = getattr(module, f"plain_{kind.function}", None) or getattr(module, kind.function)
        made: Graph = plainly(value)
        return made
    if isinstance(value, list) or (hasattr(value, "dtype") and value.ndim == 2 and value.shape[1] in (2, 3)):
        from frontier.graph.build import from_edges

        if not isinstance(value, list) and value.shape[0] == value.shape[1]:
            raise GraphError(
                f"{who}: an array of shape {value.shape} may be edges or a matrix: say fr.from_edges(array), or "
                "fr.from_scipy(scipy.sparse.csr_array(array))"
            )
        return from_edges(value)
    raise GraphError(f"{who} takes a Graph first, not {_what(value)}: {_way(value)}")


def _what(value: Any) -> str:
    """A value in a few words."""
    if isinstance(value, str):
        return repr(value)
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def _way(value: Any) -> str:
    if isinstance(value, (Problem, Frontier)):
        return f"that of the {type(value).__name__.lower()} is its attribute .graph"
    return door(value) or _WAYS


def check_problem(p: Any, who: Any) -> None:
    """Raise FrontierError unless it is a problem; ``who`` asks for it."""
    if isinstance(p, Problem):
        return
    from frontier.graph.graph import Graph

    way = "make one with fr.Problem(g, name=fr.vertex(...), ...)"
    if isinstance(p, Frontier):
        way = "the problem comes first, then the frontier"
    elif isinstance(p, Graph):
        way = "fr.Problem(g, name=fr.vertex(...), ...) makes one of a graph"
    raise FrontierError(f"{who} takes a Problem first, not {_what(p)}: {way}")


def frontier_of(p: Problem, f: Any) -> Any:
    """A frontier on a problem's graph: itself, None, or made of ids or a mask of vertices."""
    if f is None or isinstance(f, Frontier):
        return f
    if callable(f) or not isinstance(f, Iterable) or isinstance(f, (str, bytes, dict)):
        raise FrontierError(
            f"a frontier is expected, not {_what(f)}: make one with fr.Frontier(g, ids), or give a list of ids"
        )
    if isinstance(f, (set, frozenset, range)):
        f = list(f)
    return Frontier(p.graph, f)
