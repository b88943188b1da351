"""GRAPH on the command line: a file, or a graph to generate, such as ``rmat:18:16``."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frontier.cli.common import HereError, Parser, UsageError, is_first
from frontier.memory.arrays import to_host

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.memory.placement import Placement

__all__ = [
    "KINDS",
    "add_graph_arguments",
    "add_making_arguments",
    "add_reading_arguments",
    "drawn_weights",
    "load",
    "make",
    "seed_of",
    "source",
]

#: The weights of a generated graph where a primitive needs some: integers in this range.
WEIGHTS = (1, 64)


@dataclass(frozen=True)
class Kind:
    """A generator as the command line knows it: ``NAME:VALUE:...``, the first ``required`` of them needed."""

    usage: str
    required: int = 0
    names: tuple[str, ...] = ()

    def values(self, spec: str) -> dict[str, int | float]:
        """The generator's arguments in ``spec``, by name."""
        name, *texts = spec.split(":")
        if name == "grid":
            texts = [text for pair in texts for text in pair.split("x")]
        try:
            if not self.required <= len(texts) <= len(self.names):
                raise ValueError
            return dict(zip(self.names, map(_number, texts), strict=False))
        except ValueError:
            raise UsageError(f"cannot read {spec!r}: expected {self.usage}") from None


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


KINDS = {
    "karate": Kind("karate"),
    "rmat": Kind(
        "rmat:SCALE[:EDGE_FACTOR[:A:B:C]], as rmat:18:16", 1, ("scale", "edge_factor", "a", "b", "c")
    ),
    "urand": Kind("urand:SCALE[:EDGE_FACTOR], as urand:18:16", 1, ("scale", "edge_factor")),
    "grid": Kind("grid:ROWSxCOLUMNS, as grid:1000x1000", 2, ("rows", "columns")),
    "path": Kind("path:VERTICES, as path:1000", 1, ("n",)),
    "star": Kind("star:VERTICES, as star:1000", 1, ("n",)),
    "complete": Kind("complete:VERTICES, as complete:100", 1, ("n",)),
    "tree": Kind("tree:BRANCHING:HEIGHT, as tree:2:10", 2, ("branching", "height")),
    "small_world": Kind("small_world:VERTICES:K:P, as small_world:1000:4:0.1", 3, ("n", "k", "p")),
}

HELP = "a file, - for standard input, or one of " + ", ".join(
    kind.usage.split(",")[0] for kind in KINDS.values()
)


def add_graph_arguments(parser: Parser) -> None:
    """GRAPH and the options that say how it is read or made."""
    parser.add_argument("graph", metavar="GRAPH", help=HELP)
    add_reading_arguments(parser)


def add_reading_arguments(parser: Parser) -> None:
    """The options that say how a graph is read or made."""
    parser.add_argument(
        "--format", metavar="FORMAT", help="what a file is whose name does not say it: csv, mtx, ..., csv.gz if gzipped"
    )
    parser.add_argument(
        "--labels", action="store_true", help="the ends of edges in an edge list are names, or numbers however large"
    )
    parser.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="whether the first line of an edge list names its columns (default: if it looks so)",
    )
    parser.add_argument(
        "--weight", metavar="COLUMN", help="the column of an edge list that holds the weights (default: one called so)"
    )
    for end in ("source", "target"):
        parser.add_argument(
            f"--{end}-column", metavar="COLUMN", help=f"the column of an edge list that holds the {end}s of edges "
            "(default: one called so); the first line then names the columns",
        )  # fmt: skip
    parser.add_argument(
        "--duplicates", metavar="WAY", help="what becomes of edges that a file has several times: keep, first, last, "
        "min, max, sum or error (default: first, with a warning if their weights differ)",
    )  # fmt: skip
    add_making_arguments(parser)


def add_making_arguments(parser: Parser) -> None:
    """The options that say how a graph is made; reading has them too, for GRAPH may be either."""
    parser.add_argument(
        "--directed",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="whether edges go one way (default: what a file's format says; generated graphs are undirected)",
    )
    parser.add_argument(
        "--seed", type=seed_of, default=1, help="of all that is random (default: %(default)s)"
    )
    parser.add_argument(
        "--weights",
        metavar="LOW:HIGH",
        type=_range,
        help="give a generated graph integer weights in this range",
    )


def seed_of(text: str) -> int:
    """The seed that an argument gives."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"expected an integer from 0, not {text!r}")
    return int(text)


def _range(text: str) -> tuple[int, int]:
    low, _, high = text.partition(":")
    try:
        return int(low), int(high)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected LOW:HIGH, as 1:64, not {text!r}") from None


def make(
    spec: str, arguments: argparse.Namespace, weights: tuple[int, int] | None, placement: Placement | None = None
) -> Graph:
    """Generate the graph that ``spec`` names; ``weights`` gives it integer weights.

    Where several processes compute, it is made in parts if its kind can be.
    """
    from frontier import generators

    name = spec.partition(":")[0]
    if name not in KINDS:
        raise UsageError(f"there is no kind of graph {name!r}: {', '.join(KINDS)}")
    generator: Callable[..., Graph] = getattr(generators, name)
    options: dict[str, Any] = KINDS[name].values(spec)
    if arguments.directed is not None:
        if "directed" not in inspect.signature(generator).parameters:
            raise UsageError(f"--directed and --no-directed do not go with {name}: it is undirected")
        options["directed"] = arguments.directed
    if placement is not None and placement.divides and "placement" in inspect.signature(generator).parameters:
        options["placement"] = placement
    return generator(**options, seed=arguments.seed, weights=weights)


def load(
    arguments: argparse.Namespace, *, needs_weights: bool = False, placement: Placement | None = None
) -> Graph:
    """Read or make ``arguments.graph``.

    Parameters
    ----------
    arguments : argparse.Namespace
        With what :func:`add_reading_arguments` adds.
    needs_weights : bool
        A generated graph gets weights if it is not told which, and standard error says so.
    placement : Placement, optional
        Where it will be: in parts, if several processes compute there and its vertices have no names.
    """
    spec = arguments.graph
    name, colon, _ = spec.partition(":")
    if _is_made(arguments):
        if arguments.labels or arguments.header is not None:
            raise UsageError(f"--labels and --header are for files, and {spec} is made")
        if arguments.source_column is not None or arguments.target_column is not None:
            raise UsageError(f"--source-column and --target-column are for files, and {spec} is made")
        if arguments.duplicates is not None:
            raise UsageError(f"--duplicates is for files, and {spec} is made")
        if arguments.weight is not None:
            raise UsageError(f"--weight names a column of a file, and {spec} is made: --weights LOW:HIGH draws weights")
        weights = drawn_weights(arguments, needs_weights)
        if weights is not None and arguments.weights is None and is_first():
            low, high = weights
            print(
                f"frontier: {spec} has no weights of its own: they are drawn, integers from {low} to {high}, "
                f"seed {arguments.seed} (--weights LOW:HIGH and --seed N choose others)",
                file=sys.stderr,
            )
        return make(spec, arguments, weights, placement)
    if arguments.weights is not None:
        raise UsageError("--weights is for generated graphs; a file has its own")
    unknown = spec.isidentifier() or (colon and len(name) > 1 and name.isidentifier())
    if unknown and not Path(spec).exists():
        raise HereError(f"{spec!r} is neither a file nor a kind of graph that can be made: {', '.join(KINDS)}")
    if spec == "-" and sys.stdin is None:
        raise HereError("- is standard input, and it is closed")
    from frontier.io import read
    from frontier.io.stored import is_stored, opened

    if is_stored(spec) and arguments.format is None and placement is not None and not placement.divides:
        return opened(spec)
    return read(
        sys.stdin if spec == "-" else spec,  # type: ignore[arg-type]  # of which the bytes are read
        arguments.format,
        arguments.directed,
        labels=True if arguments.labels else None,
        header=arguments.header,
        weight=arguments.weight,
        source=arguments.source_column,
        target=arguments.target_column,
        duplicates=arguments.duplicates,
        placement=placement if placement is not None and placement.divides and not arguments.labels else None,
    )


def _is_made(arguments: argparse.Namespace) -> bool:
    """Whether GRAPH is a kind of graph to generate; with --format it is a file whatever it is called."""
    return arguments.format is None and arguments.graph.partition(":")[0] in KINDS


def drawn_weights(arguments: argparse.Namespace, needs_weights: bool) -> tuple[int, int] | None:
    """The range from which the weights of a generated graph are drawn, if it has any."""
    if not _is_made(arguments):
        return None
    return arguments.weights or (WEIGHTS if needs_weights else None)


def source(graph: Graph, text: str | None) -> int:
    """The id of the vertex that ``text`` names: a label, or an id if there are no labels.

    Without a text, the first of the vertices with the most edges.

    Raises
    ------
    GraphError
        There is no such vertex.
    """
    if text is None:
        return int(to_host(graph.out_degree).argmax()) if graph.num_vertices else graph.vertex_id(0)
    return graph.names.find_text(text)
