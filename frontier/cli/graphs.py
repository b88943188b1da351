"""GRAPH on the command line: a file, or a graph to generate, such as ``rmat:18:16``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from frontier.cli.common import Parser, UsageError

if TYPE_CHECKING:
    from frontier.graph import Graph

__all__ = ["KINDS", "add_graph_arguments", "add_reading_arguments", "load", "make", "source"]


@dataclass(frozen=True)
class Kind:
    """A generator as the command line knows it: ``NAME:VALUE:...``."""

    usage: str
    types: tuple[Callable[[str], Any], ...] = ()
    required: int = 0
    random: bool = False

    def values(self, spec: str) -> list[Any]:
        """The generator's arguments in ``spec``."""
        name, *texts = spec.split(":")
        if name == "grid":
            texts = [text for pair in texts for text in pair.split("x")]
        try:
            if not self.required <= len(texts) <= len(self.types):
                raise ValueError
            return [convert(text) for convert, text in zip(self.types, texts, strict=False)]
        except ValueError:
            raise UsageError(f"cannot read {spec!r}: expected {self.usage}") from None


KINDS = {
    "karate": Kind("karate"),
    "rmat": Kind("rmat:SCALE[:EDGE_FACTOR], as rmat:18:16", (int, int), 1, random=True),
    "urand": Kind("urand:SCALE[:EDGE_FACTOR], as urand:18:16", (int, int), 1, random=True),
    "grid": Kind("grid:ROWSxCOLUMNS, as grid:1000x1000", (int, int), 2),
    "path": Kind("path:VERTICES, as path:1000", (int,), 1),
    "star": Kind("star:VERTICES, as star:1000", (int,), 1),
    "complete": Kind("complete:VERTICES, as complete:100", (int,), 1),
}

HELP = "a file, or one of " + ", ".join(kind.usage.split(",")[0] for kind in KINDS.values())


def add_graph_arguments(parser: Parser) -> None:
    """GRAPH and the options that say how it is read or made."""
    parser.add_argument("graph", metavar="GRAPH", help=HELP)
    add_reading_arguments(parser)


def add_reading_arguments(parser: Parser) -> None:
    """The options that say how a graph is read or made."""
    parser.add_argument(
        "--directed",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="how a file's edges are meant (default: what its format says)",
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="of all that is random (default: %(default)s)"
    )
    parser.add_argument(
        "--weights",
        metavar="LOW:HIGH",
        type=_range,
        help="give a generated graph integer weights in this range",
    )


def _range(text: str) -> tuple[int, int]:
    low, _, high = text.partition(":")
    try:
        return int(low), int(high)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected LOW:HIGH, as 1:64, not {text!r}") from None


def make(spec: str, arguments: argparse.Namespace, weights: tuple[int, int] | None) -> Graph:
    """Generate the graph that ``spec`` names; ``weights`` gives it integer weights."""
    from frontier import generators

    name = spec.partition(":")[0]
    if name not in KINDS:
        raise UsageError(f"there is no kind of graph {name!r}: {', '.join(KINDS)}")
    kind = KINDS[name]
    values = kind.values(spec)
    options: dict[str, Any] = {}
    if kind.random:
        options["seed"] = arguments.seed
    if weights is not None:
        options["weights"] = weights
    graph: Graph = getattr(generators, name)(*values, **options)
    return graph


def load(arguments: argparse.Namespace, *, needs_weights: bool = False) -> Graph:
    """Read or make ``arguments.graph``.

    Parameters
    ----------
    arguments : argparse.Namespace
        With what :func:`add_reading_arguments` adds.
    needs_weights : bool
        A generated graph gets weights from 1 to 64 if it is not told which.
    """
    spec = arguments.graph
    if spec.partition(":")[0] in KINDS:
        if arguments.directed is not None:
            raise UsageError("--directed and --no-directed are for files, not generated graphs")
        default = (1, 64) if needs_weights else None
        return make(spec, arguments, arguments.weights or default)
    if arguments.weights is not None:
        raise UsageError("--weights is for generated graphs; a file has its own")
    from frontier.io import read

    return read(spec, directed=arguments.directed)


def source(graph: Graph, text: str | None) -> int:
    """The id of the vertex that ``text`` names: a label, else an id.

    Without a text, the first of the vertices with the most edges.

    Raises
    ------
    GraphError
        There is no such vertex.
    """
    if text is None:
        return int(graph.out_degree.argmax()) if graph.num_vertices else graph.vertex_id(0)
    if graph.labels is not None and graph.labels.dtype.kind not in "iu":
        named = (graph.labels.astype(str) == text).nonzero()[0]
        if len(named):
            return int(named[0])
    is_number = text.removeprefix("-").isdecimal()
    return graph.vertex_id(int(text) if is_number else text)
