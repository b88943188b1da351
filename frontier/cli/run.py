"""``frontier bfs GRAPH`` and so on: one subcommand for each registered primitive."""

from __future__ import annotations

import argparse
import contextlib
import inspect
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from frontier import registry
from frontier.cli import graphs, results
from frontier.cli.common import (
    Commands,
    Parser,
    Stopwatch,
    UsageError,
    dump_json,
    listed,
    print_pairs,
    print_table,
    shown,
    timed,
)
from frontier.display.progress import Task
from frontier.errors import BackendUnavailableError, GraphError, warn
from frontier.memory.placement import Placement, backend_names
from frontier.program.taking import at_graph
from frontier.results import Result

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.registry import Argument, PrimitiveEntry
    from frontier.verify import Report

__all__ = ["add", "add_options", "add_running_arguments", "add_source", "call", "options_of", "place", "set_threads"]


def add(commands: Commands) -> None:
    """Add a subcommand for each primitive."""
    for entry in registry.primitives().values():
        parser = commands.add_parser(entry.name, help=entry.summary, description=entry.summary)
        graphs.add_graph_arguments(parser)
        if entry.takes_source:
            add_source(parser)
        add_options(parser, entry)
        add_running_arguments(parser)
        parser.add_argument("--verify", action="store_true", help="check the result")
        parser.add_argument("--trace", action="store_true", help="print every pass and step")
        parser.add_argument("--json", action="store_true", help="print JSON instead of text")
        parser.add_argument("--output", metavar="FILE", help=f"write the whole result: {results.KINDS}")
        parser.add_argument("--plot", metavar="FILE", help="draw how the values are distributed: .png, .svg or .pdf")
        parser.add_argument("--top", type=int, metavar="N", help="print the N rows with the largest values")
        parser.set_defaults(command=run, entry=entry)


def add_source(parser: Parser) -> None:
    """The option that says where a search starts."""
    parser.add_argument(
        "--source", metavar="VERTEX", help="a label or an id (default: the first of the vertices with the most edges)"
    )


def add_options(parser: Parser, entry: PrimitiveEntry) -> None:
    """The options of a primitive's own."""
    for argument in entry.arguments:
        if argument.flag != "--seed":  # every command has it, for the graph too; see options_of
            _add_argument(parser, argument)


def add_running_arguments(parser: Parser) -> None:
    """Add the options that select the backend."""
    parser.add_argument(
        "--backend",
        type=_backend,
        default="auto",
        metavar="BACKEND",
        help="the backend: cuda, cuda:N (GPU number N), cpu, python, or auto, the first of these that is available "
        "(default: %(default)s); ranks: the processes of mpirun or torchrun, each with its GPU or its processors",
    )
    parser.add_argument("--threads", type=int, metavar="N", help="of the cpu backend")
    parser.add_argument(
        "--edges",
        choices=("device", "host", "disk", "auto"),
        help="where the edges lie: on the GPU, in the host's memory, on the disk, or as many on the GPU as fit",
    )
    parser.add_argument("--memory", metavar="BYTES", help="of a GPU's memory for edges, as 4GiB; implies --edges auto")
    parser.add_argument("--compressed", action="store_true", help="compress the adjacency lists before the run")


def _backend(text: str) -> str:
    """Refuse what is no name; what is one and cannot be used here is refused when the graph goes there."""
    try:
        with contextlib.suppress(BackendUnavailableError):
            Placement.parse(text)
    except GraphError:
        *names, last = backend_names()
        expected = ", ".join(("auto", "cuda:N", *names))
        raise argparse.ArgumentTypeError(f"expected {expected} or {last}, not {text!r}") from None
    return text


def _add_argument(parser: Parser, argument: Argument) -> None:
    if argument.type is bool:
        parser.add_argument(
            argument.flag,
            dest=argument.name,
            action=argparse.BooleanOptionalAction,
            default=argparse.SUPPRESS,
            help=argument.help,
        )
        return
    parser.add_argument(
        argument.flag,
        dest=argument.name,
        type=argument.type,
        choices=argument.choices,
        default=argparse.SUPPRESS,
        help=argument.help,
    )


@dataclass
class Run:
    """One run of a primitive: all that is printed, as text or as JSON."""

    entry: PrimitiveEntry
    name: str
    graph: Graph
    load_seconds: tuple[float, float]  # without compiling, and of compiling
    backend: str
    result: Any = None
    seconds: tuple[float, float] = (0.0, 0.0)
    facts: Mapping[str, Any] = field(default_factory=dict)
    report: Report | None = None
    verify_seconds: tuple[float, float] = (0.0, 0.0)
    trace: Any = None
    drawn: Mapping[str, int] | None = None  # the weights of a generated graph


def run(arguments: argparse.Namespace) -> int:
    """Run a primitive on a graph; the exit status."""
    entry: PrimitiveEntry = arguments.entry
    if arguments.output:
        results.check_name(arguments.output)
    if arguments.plot:
        results.check_picture(arguments.plot)
    if arguments.verify and entry.verifier() is None:
        raise UsageError(f"{entry.name} has no verifier: leave out --verify")
    this = _load(arguments)
    _execute(this, arguments)
    if arguments.verify:
        _verify(this)
    if arguments.output and (this.report is None or this.report.passed):
        results.write(arguments.output, results.table_of(entry, this.graph, this.result))
    if arguments.plot and (this.report is None or this.report.passed):
        results.draw(arguments.plot, entry, this.graph, this.result, f"{entry.name} of {this.name}")
    top = None if arguments.top is None else _top(this, arguments.top)
    with contextlib.redirect_stdout(sys.stderr) if arguments.output == "-" else contextlib.nullcontext():
        if arguments.json:
            dump_json(_as_json(this, top, with_trace=arguments.trace))
        else:
            _print(this, top, with_trace=arguments.trace)
    if this.report is not None:
        this.report.raise_if_failed()
    return 0


def _top(this: Run, count: int) -> list[tuple[Any, Any]]:
    """The rows of the result with the largest values: what they belong to, and the values."""
    if count < 1:
        raise UsageError(f"--top must be at least 1, not {count}")
    if not isinstance(this.result, Result):
        raise UsageError(f"{this.entry.name} has no order of rows: leave out --top")
    return this.result.top(count)


def _load(arguments: argparse.Namespace) -> Run:
    watch = Stopwatch()
    there = Placement.parse(arguments.backend)
    graph = graphs.load(arguments, needs_weights=arguments.entry.needs_weights, placement=there)
    seconds = watch.apart
    graph, backend = place(graph, arguments)
    this = Run(arguments.entry, arguments.graph, graph, seconds, backend)
    weights = graphs.drawn_weights(arguments, this.entry.needs_weights)
    if weights is not None:
        this.drawn = {"low": weights[0], "high": weights[1], "seed": arguments.seed}
    if (arguments.weight or arguments.weights) and not hasattr(arguments, "weighted") and _may_weigh(this.entry):
        warn(f"{this.entry.name} does not use the weights: --weighted does, and --no-weighted says that this is meant")
    return this


def _may_weigh(entry: PrimitiveEntry) -> bool:
    """Whether the primitive uses weights if it is told to, and not by itself."""
    return any(argument.flag == "--weighted" and argument.type is bool for argument in entry.arguments)


def place(graph: Graph, arguments: argparse.Namespace) -> tuple[Graph, str]:
    """Move the graph to the requested backend; also describe that in words."""
    set_threads(arguments)
    if arguments.compressed:
        graph = graph.compressed()
    graph = graph.to(arguments.backend, edges=arguments.edges, memory=arguments.memory)
    there = graph.placement
    if not there.backend.speaks():
        hush()
    far = None if there.edges is None else f"edges in {there.edges.described} memory"
    words = ", ".join(filter(None, (there.name, there.backend.describe(there), far)))
    if arguments.backend == "auto":
        words += " (auto)"
    return graph, words


def hush() -> None:
    """Print nothing any more: another process prints the same."""
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the rest of the process


def set_threads(arguments: argparse.Namespace) -> None:
    """Use the requested number of threads."""
    from frontier.native import threads

    if arguments.threads is not None:
        if arguments.threads < 1:
            raise UsageError(f"--threads must be at least 1, not {arguments.threads}")
        threads.set_num_threads(arguments.threads)


def _execute(this: Run, arguments: argparse.Namespace) -> None:
    """Run the primitive, traced if that was asked for."""
    import frontier

    entry = this.entry
    positional = _source(this.graph, entry, arguments)
    options = options_of(entry, arguments, this.graph)
    with frontier.trace() if arguments.trace else contextlib.nullcontext() as this.trace:
        watch = Stopwatch()
        with Task(entry.name):
            this.result = entry.function(this.graph, *positional, **options)
            this.graph.placement.memory.synchronize()
        this.seconds = watch.apart
    this.facts = {"source": this.graph.vertex_id(positional[0])} if positional else {}
    if positional and this.graph.labels is not None:
        this.facts["source_label"] = positional[0]
    if entry.report:
        this.facts |= at_graph(entry.report)(this.graph, this.result)


def call(entry: PrimitiveEntry, graph: Graph, arguments: argparse.Namespace) -> Any:
    """Call a primitive with the source and the options given: its result."""
    return entry.function(graph, *_source(graph, entry, arguments), **options_of(entry, arguments, graph))


def _source(graph: Graph, entry: PrimitiveEntry, arguments: argparse.Namespace) -> list[Any]:
    """The source, as primitives take it: the label of a vertex that has one."""
    if not entry.takes_source:
        return []
    source = graphs.source(graph, arguments.source)
    return [source if graph.labels is None else graph.labels[source]]


def options_of(entry: PrimitiveEntry, arguments: argparse.Namespace, graph: Graph) -> dict[str, Any]:
    """The keyword arguments for the primitive: those given, and the seed if it takes one."""
    given = vars(arguments)
    options = {x.name: given[x.name] for x in entry.arguments if x.name in given}
    for x in entry.arguments:
        if x.vertex and x.name in options:
            found = graph.names.find_text(options[x.name])
            options[x.name] = found if graph.labels is None else graph.labels[found]
    if given.get("output") or given.get("top") or given.get("plot"):
        options = {**entry.to_write, **options}
    if "seed" in inspect.signature(entry.function).parameters:
        options["seed"] = arguments.seed
    return options


def _verify(this: Run) -> None:
    verify = this.entry.verifier()
    assert verify is not None
    watch = Stopwatch()
    with Task(f"verifying {this.entry.name}"):
        this.report = verify(this.graph.to("cpu") if this.graph.placement.divides else this.graph, this.result)
    this.verify_seconds = watch.apart


def _as_json(this: Run, top: list[tuple[Any, Any]] | None, *, with_trace: bool) -> dict[str, Any]:
    graph = this.graph
    found: dict[str, Any] = {
        "primitive": this.entry.name,
        "graph": {
            "name": this.name,
            "vertices": graph.num_vertices,
            "edges": graph.num_edges,
            "slots": graph.num_slots,
            "directed": graph.directed,
            "weighted": graph.weights is not None,
            "drawn_weights": this.drawn,
            "seconds": this.load_seconds[0],
            "compile_seconds": this.load_seconds[1],
        },
        "backend": graph.backend,
        "seconds": this.seconds[0],
        "compile_seconds": this.seconds[1],
        "result": this.facts,
    }
    if top is not None:
        found["top"] = [{"of": of, "value": value} for of, value in top]
    if this.report is not None:
        found["verified"] = this.report.passed
        found["checks"] = this.report.checks
    if with_trace:
        found["trace"] = json.loads(this.trace.to_json())
    return found


def _print(this: Run, top: list[tuple[Any, Any]] | None, *, with_trace: bool) -> None:
    graph = this.graph
    size = f"{graph.num_vertices:,} vertices, {graph.num_edges:,} edges"
    kind = "directed" if graph.directed else "undirected"
    facts = [f"{name} {shown(value)}" for name, value in this.facts.items()]
    pairs = [
        ("graph", f"{this.name}: {size}, {kind}; {timed(*this.load_seconds)}"),
        ("backend", this.backend),
        (this.entry.name, "; ".join([", ".join(facts), timed(*this.seconds)]).lstrip("; ")),
    ]
    if this.report is not None:
        word = "verified" if this.report.passed else "WRONG"
        pairs.append((word, f"{len(this.report.checks)} properties; {timed(*this.verify_seconds)}"))
    print_pairs(pairs)
    for check in this.report.checks if this.report is not None else ():
        print(f"  {check}")
    if top is not None:
        print()
        rows = [(listed(of) if isinstance(of, tuple) else str(of), value) for of, value in top]
        print_table(("", this.result.first_column()), rows)
    if with_trace:
        print(f"\n{this.trace}")
