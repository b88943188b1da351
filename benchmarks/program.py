"""What the programs with a journal share: options, children, the preparation of a graph."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import gpu_graphs
from benchmarks.cells import Bench
from benchmarks.devices import Cuda, Host
from benchmarks.journal import Journal, supervise
from benchmarks.protocols import PROTOCOLS, Protocol

Measure = Callable[[argparse.Namespace], None]


def parser_of(text: str | None, names: tuple[str, ...]) -> argparse.ArgumentParser:
    """The options that all programs with a journal have."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--graphs", nargs="+", default=names, metavar="GRAPH", help=gpu_graphs.HELP)
    parser.add_argument("--protocol", choices=tuple(PROTOCOLS), default="targets")
    parser.add_argument(
        "--keep", action=argparse.BooleanOptionalAction,
        help="loops and duplicates of random graphs (default: of the protocol)",
    )  # fmt: skip
    parser.add_argument("--ids", type=int, choices=(32, 64), default=32, help="bits of vertex ids (Enterprise: 64)")
    parser.add_argument("--order", choices=("degree",), default="", help="number the vertices anew, by falling degree")
    parser.add_argument("--sources", type=int, help="how many (default: of the protocol)")
    parser.add_argument("--runs", type=int, help="timed calls from each source (default: of the protocol)")
    parser.add_argument("--seed", type=int, default=1, help="of the sources; the graphs are always the same")
    parser.add_argument("--seconds", type=float, default=20.0, help="for the calls of a cell, and for verifying them")
    parser.add_argument("--timeout", type=float, default=240.0, help="seconds after which a cell is given up")
    parser.add_argument("--verify", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda", help="cpu: NumPy, to try the program out")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    parser.add_argument("--journal", type=Path, metavar="FILE", help="all that is known of a cell, after each of them")
    parser.add_argument("--resume", action="store_true", help="leave out the cells that FILE has")
    parser.add_argument("--here", action="store_true", help="in this process: for a debugger or a profiler")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser


def settle(arguments: argparse.Namespace) -> argparse.Namespace:
    """Names may be given with commas too; the journal has a file in any case."""
    arguments.graphs = [name for text in arguments.graphs for name in text.split(",")]
    arguments.journal = arguments.journal or temporary()
    return arguments


def temporary() -> Path:
    """A new file for the journal, which children are told of too."""
    path = Path(tempfile.mkdtemp(prefix="benchmark-")) / "rows.json"
    sys.argv += ["--journal", str(path)]
    return path


def run(
    arguments: argparse.Namespace, module: str, subject: str, measure: Measure, report: Callable[[Journal], None]
) -> int:
    """Measure, in children unless asked otherwise, and report; 1 if anything failed or was wrong."""
    if arguments.child:
        measure(arguments)
        return 0
    if arguments.here:
        measure(arguments)
        code = 0
    else:
        code = supervise(module, sys.argv[1:], arguments.journal)
    if not arguments.journal.exists():
        return code or 1
    journal = Journal(arguments.journal, keep=True)
    report(journal)
    print(f"\n{arguments.journal}")
    journal.write(subject, arguments.json)
    bad = [row for row in journal.rows if "error" in row or row.get("verified", "").startswith("WRONG")]
    for row in bad:
        print(f"NOT RIGHT: {' '.join(row['key'])}: {row.get('error') or row['verified']}")
    return 1 if bad else code


def protocol_of(arguments: argparse.Namespace) -> Protocol:
    """The protocol, as changed by options."""
    chosen = asdict(PROTOCOLS[arguments.protocol])
    changes = {name: getattr(arguments, name) for name in ("sources", "runs") if getattr(arguments, name)}
    kept = {} if arguments.keep is None else {"kept": arguments.keep}
    return Protocol(**{**chosen, **changes, **kept})


def begin(journal: Journal, device: Host, arguments: argparse.Namespace) -> None:
    """Say where and how, once."""
    facts = {
        **device.facts(), "protocol": asdict(protocol_of(arguments)), "seed": arguments.seed, "ids": arguments.ids,
        "order": arguments.order,
    }  # fmt: skip
    if not journal.data["facts"]:
        print(f"{facts['device']}; {facts['date']}, commit {facts['commit']}; protocol {facts['protocol']}", flush=True)
    journal.data["facts"] = facts


def prepare(journal: Journal, device: Host, name: str, arguments: argparse.Namespace) -> Bench | None:
    """Make a graph; None, with a row that says why, where that fails. Made again by a child that goes on."""
    kept: list[Bench] = []

    def work() -> dict[str, Any]:
        protocol = protocol_of(arguments)
        made = gpu_graphs.make(name, device, kept=protocol.kept, wide=arguments.ids == 64)
        if arguments.order:
            made = made.ordered(arguments.order, device)
            device.free()
        print(f"\n{made}", flush=True)
        kept.append(Bench(device, made, protocol, arguments.seed, arguments.seconds, arguments.verify))
        graph = made.graph
        journal.data["graphs"][name] = {
            "vertices": graph.num_vertices, "slots": graph.num_slots, "input_edges": made.input_edges,
            "bytes": made.nbytes, "seconds": made.seconds, "note": made.note, "sources": kept[0].sources,
            "order": made.order, "order_ms": made.order_ms,
        }  # fmt: skip
        return {}

    key = (name, "made")
    journal.data["rows"] = [row for row in journal.rows if tuple(row["key"]) != key or "error" in row]
    journal.attempt(key, work, device, arguments.timeout)
    return kept[0] if kept else None


def meter_of(device: Host) -> Any:
    """What reads the energy of the GPU; None where that cannot be."""
    if not isinstance(device, Cuda):
        return None
    try:
        from benchmarks.power import Meter

        return Meter(device.cupy.cuda.Device().pci_bus_id)
    except Exception as error:  # NVML has many ways not to be there; the times are wanted all the same
        print(f"no power: {type(error).__name__}: {error}")
        return None
