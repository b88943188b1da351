"""``frontier graph500``: the Graph500 benchmark, with its validation and its output.

A graph of 2**N vertices is generated, built (kernel 1), and searched from 64 random roots: breadth-first (kernel 2) and
for shortest paths (kernel 3). Every result is checked by the rules of the specification; if one breaks them, the exit
status is 1 and there is no output. Progress goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import sys

from frontier.cli.common import Commands, check_folder, plain
from frontier.cli.graphs import seed_of
from frontier.cli.run import add_running_arguments, hush, set_threads
from frontier.memory.placement import Placement

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser("graph500", help="the Graph500 benchmark, validated", description=__doc__)
    parser.add_argument("--scale", type=int, required=True, metavar="N", help="the graph has 2**N vertices")
    parser.add_argument(
        "--edgefactor", type=int, default=16, metavar="K", help="edges for each vertex (default: %(default)s)"
    )
    parser.add_argument(
        "--roots", type=int, default=64, metavar="N", help="searches by each kernel (default: %(default)s)"
    )
    parser.add_argument("--seed", type=seed_of, default=1, help="of edges and roots (default: %(default)s)")
    add_running_arguments(parser)
    parser.add_argument("--json", metavar="FILE", help="also write everything that was measured to a file, as JSON")
    parser.set_defaults(command=graph500)


def graph500(arguments: argparse.Namespace) -> int:
    """Run the benchmark and print its output."""
    from frontier.graph500.run import benchmark
    from frontier.system.atomic_write import replacing

    if arguments.json:
        check_folder(arguments.json)
    set_threads(arguments)
    speaks = Placement.parse(arguments.backend).backend.speaks()
    if not speaks:
        hush()
    outcome = benchmark(
        arguments.scale,
        arguments.edgefactor,
        roots=arguments.roots,
        backend=arguments.backend,
        seed=arguments.seed,
        say=_say if speaks else lambda line: None,
    )
    for line in outcome.lines():
        print(line)
    if arguments.json and speaks:
        with replacing(arguments.json) as file:
            file.write(json.dumps(plain(outcome.as_json()), indent=2).encode() + b"\n")
    return 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
