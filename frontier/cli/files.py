"""``frontier info``, ``generate`` and ``convert``: graphs in and out of files."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from frontier.cli import graphs
from frontier.cli.common import Commands, Parser, Stopwatch, UsageError, check_folder, dump_json, print_pairs
from frontier.errors import printable
from frontier.system.atomic_write import STREAMS

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the three subcommands."""
    parser = commands.add_parser("info", help="what is in a graph", description=info.__doc__)
    graphs.add_graph_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.set_defaults(command=info)

    parser = commands.add_parser(
        "generate",
        usage="frontier generate KIND ... OUT [options]",
        help="generate a graph and write it",
        description=generate.__doc__,
    )
    parser.add_argument(
        "words",
        nargs="+",
        metavar="WORD",
        help="KIND as GRAPH elsewhere, 'rmat:18:16', or in words, 'rmat 18 16' ("
        + "; ".join(kind.usage.split(",")[0] for kind in graphs.KINDS.values())
        + "), then OUT, the file to write, whose suffix says how, or - for standard output",
    )
    graphs.add_making_arguments(parser)
    _add_writing_arguments(parser)
    parser.set_defaults(command=generate)

    parser = commands.add_parser(
        "convert", help="read a graph and write it in another format", description=convert.__doc__
    )
    graphs.add_graph_arguments(parser)
    parser.add_argument("out", metavar="OUT", help="the file to write; its suffix says how; - for standard output")
    _add_writing_arguments(parser)
    parser.add_argument(
        "--memory",
        metavar="BYTES",
        help="convert a file to a Frontier graph part by part, with so much memory for edges, as 4GiB; by default this "
        "is done where it would take more than half of the free memory at once",
    )
    parser.set_defaults(command=convert)


def _add_writing_arguments(parser: Parser) -> None:
    parser.add_argument(
        "--to", metavar="FORMAT", help="the format of OUT where its name does not say it: csv, mtx, ..., csv.gz"
    )


def info(arguments: argparse.Namespace) -> int:
    """Say how large a graph is, what it holds and what its degrees are."""
    watch = Stopwatch()
    graph = graphs.load(arguments)
    seconds, compiling = (round(part, 3) for part in watch.apart)
    facts = {"graph": arguments.graph, "seconds": seconds, "compile_seconds": compiling, **describe(graph)}
    if arguments.json:
        dump_json(facts)
    else:
        print_pairs((name.replace("_", " "), _words(value)) for name, value in facts.items())
    return 0


def describe(graph: Graph) -> dict[str, Any]:
    """The facts about a graph that ``frontier info`` prints, by name."""
    import numpy as np

    degree = graph.out_degree
    facts: dict[str, Any] = {
        "vertices": graph.num_vertices,
        "edges": graph.num_edges,
        "slots": graph.num_slots,
        "directed": graph.directed,
        "self_loops": int(np.count_nonzero(graph.sources == graph.targets)),
        "weights": None if graph.weights is None else str(graph.weights.dtype),
    }
    if graph.weights is not None and graph.num_slots:
        facts["weight_range"] = [graph.weights.min().item(), graph.weights.max().item()]
    if graph.num_vertices:
        facts["degree"] = {
            "min": int(degree.min()),
            "median": float(np.median(degree)),
            "mean": float(degree.mean()),
            "max": int(degree.max()),
        }
        facts["without_edges"] = int(np.count_nonzero((degree == 0) & (graph.in_degree == 0)))
    facts["labels"] = None if graph.labels is None else str(graph.labels.dtype)
    facts["vertex_columns"] = list(graph.vertices)
    facts["edge_columns"] = list(graph.edges)
    facts["bytes"] = graph.memory_estimate().total
    return facts


def _words(value: Any) -> Any:
    """Lists and mappings on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {entry:.6g}" for name, entry in value.items())
    if isinstance(value, list):
        return " to ".join(map(str, value)) if _is_range(value) else ", ".join(value) or None
    return value


def _is_range(value: list[Any]) -> bool:
    return bool(value) and not isinstance(value[0], str)


def generate(arguments: argparse.Namespace) -> int:
    """Generate a graph and write it to a file."""
    *kind, out = arguments.words
    if not kind:
        raise UsageError("generate: a kind of graph and a file are needed, as 'generate rmat 18 rmat.npz'")
    _check_out(out, arguments)
    return _write(graphs.make(":".join(kind), arguments, arguments.weights), out, arguments.to)


def convert(arguments: argparse.Namespace) -> int:
    """Read a graph, or generate it, and write it to a file in that file's format."""
    _check_out(arguments.out, arguments)
    if arguments.memory is not None or _is_too_large(arguments):
        return _convert_in_parts(arguments)
    return _write(graphs.load(arguments), arguments.out, arguments.to)


def _is_too_large(arguments: argparse.Namespace) -> bool:
    """Whether the graph is a file that becomes a Frontier graph, and had better not be read at once."""
    from frontier.io.external import is_too_large, options_of
    from frontier.io.stored import is_stored

    if arguments.to is not None or not is_stored(arguments.out) or is_stored(arguments.graph):
        return False
    if arguments.labels or arguments.weights is not None or arguments.graph == "-":
        return False
    if arguments.format is None and arguments.graph.partition(":")[0] in graphs.KINDS:
        return False
    ends = arguments.source_column, arguments.target_column
    options = options_of(arguments.directed, None, arguments.header, arguments.weight, *ends)
    return is_too_large(arguments.graph, arguments.format, options)


def _convert_in_parts(arguments: argparse.Namespace) -> int:
    """Convert a file that may be larger than memory."""
    from frontier.io import convert as in_parts
    from frontier.io import open as opened
    from frontier.io.stored import is_stored

    if not is_stored(arguments.out) or arguments.graph.partition(":")[0] in graphs.KINDS or arguments.graph == "-":
        raise UsageError("--memory is for a file that becomes a Frontier graph: convert edges.el graph.frontier")
    if arguments.labels:
        raise UsageError("--memory does not go with --labels: a graph larger than memory has ids, from 0")
    in_parts(
        arguments.graph, arguments.out, memory=arguments.memory, format=arguments.format, directed=arguments.directed,
        header=arguments.header, weight=arguments.weight, source=arguments.source_column,
        target=arguments.target_column, duplicates=arguments.duplicates,
    )  # fmt: skip
    made = opened(arguments.out, check=False)
    print(f"{printable(arguments.out)}: {made.num_vertices:,} vertices, {made.num_edges:,} edges")
    return 0


def _check_out(out: str, arguments: argparse.Namespace) -> None:
    """Refuse what cannot be written before anything long is done."""
    from frontier.io.formats import format_to_write
    from frontier.io.stored import is_stored

    if out == "-" and arguments.to is None:
        raise UsageError("- is standard output, which has no name that says what to write: add --to csv, or another")
    if arguments.to is None and is_stored(out):
        check_folder(f"{out.rstrip('/')}.part")
        return
    format_to_write(out, arguments.to)
    check_folder(out)


def _write(graph: Graph, out: str, to: str | None) -> int:
    from frontier.io import write
    from frontier.io.formats import format_to_write, keeping_labels
    from frontier.io.stored import is_stored

    stored = to is None and is_stored(out)
    if graph.labels is not None and not stored and not format_to_write(out, to)[0].keeps_labels:
        kept = ", ".join(keeping_labels())
        said = f"frontier: {printable(out)} has the vertices' numbers: their names are kept by {kept} only"
        print(said, file=sys.stderr)
    if out == "-":
        write(graph, sys.stdout.buffer, to)
        return 0
    write(graph, out, to)
    if out.startswith(STREAMS):
        return 0  # what is printed might come after the graph
    print(f"{printable(out)}: {graph.num_vertices:,} vertices, {graph.num_edges:,} edges")
    return 0
