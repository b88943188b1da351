"""``frontier explain PRIMITIVE``: the programs that a primitive runs, as pseudo-code.

The primitive runs on a small graph, on the CPU, and each program that it starts is printed once. With ``--backend
cuda`` it makes the choices that it would make on a GPU, and the programs for a GPU are printed; no GPU is needed.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from frontier import registry
from frontier.backends.base import Backend
from frontier.cli import graphs
from frontier.cli.common import Commands
from frontier.cli.run import add_options, add_source, call
from frontier.memory.host import HOST
from frontier.memory.placement import Computing, Placement, backend_named

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.program.execution import Execution
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the subcommand, with one of its own for each primitive."""
    parser = commands.add_parser(
        "explain", help="what a primitive becomes: its programs as pseudo-code", description=__doc__
    )
    primitives = parser.add_subparsers(title="primitives", metavar="PRIMITIVE", dest="primitive", required=True)
    for entry in registry.primitives().values():
        own = primitives.add_parser(entry.name, help=entry.summary, description=f"The programs of {entry.name}.")
        own.add_argument("graph", metavar="GRAPH", nargs="?", default="karate", help=f"{graphs.HELP} (default: karate)")
        graphs.add_reading_arguments(own)
        if entry.takes_source:
            add_source(own)
        add_options(own, entry)
        own.add_argument(
            "--backend", choices=("cpu", "cuda"), default="cpu", help="whose programs (default: %(default)s)"
        )
        own.set_defaults(command=explain, entry=entry)


def explain(arguments: argparse.Namespace) -> int:
    """Run a primitive and print its programs."""
    graph = graphs.load(arguments, needs_weights=arguments.entry.needs_weights)
    noting = Noting(backend_named(arguments.backend))
    call(arguments.entry, graph.to(Placement(noting, HOST)), arguments)
    number = len(noting.programs)
    print(f"{arguments.entry.name} on {arguments.graph} runs {number} program{'s' * (number != 1)}.")
    for i, text in enumerate(noting.programs, 1):
        print(f"\n---- program {i} of {number} ----\n\n{text}")
    return 0


class Noting(Backend):
    """Runs programs on the processor, and notes what each would be on a backend, which programs may take this one for.

    Attributes
    ----------
    programs : list of str
        Each different one that has been started, in order.
    """

    def __init__(self, shown: Computing) -> None:
        self.name, self.massively_parallel = shown.name, shown.massively_parallel
        self.keeps_pairs = shown.keeps_pairs
        self.programs: list[str] = []
        self._shown, self._runs = shown, backend_named("cpu")

    def start(self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule) -> Execution:
        """Note the program of a step, and begin to run it on the processor."""
        from frontier.lowering.explain import explained

        text = explained(self._shown.program(step, p, None if f is None else f.kind, schedule))
        if text not in self.programs:
            self.programs.append(text)
        begun: Execution = self._runs.start(step, p, f, schedule)
        return begun

    def may_pull(self, g: Graph) -> bool:
        """As the backend that is shown."""
        return self._shown.may_pull(g)
