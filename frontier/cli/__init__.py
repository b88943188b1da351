"""The command ``frontier``, also ``python -m frontier``.

There is one file per group of subcommands, each with ``add(subparsers)``. A subcommand sets ``command`` to
a function that takes the parsed arguments and returns the exit status:

- 0: done;
- 1: a result failed its verification, or a loop did not converge;
- 2: bad usage or bad input, with one line on stderr;
- 130: interrupted.
"""

from __future__ import annotations

import argparse
import errno
import io
import os
import signal
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

from frontier.cli import bench, doctor, explain, files, graph500, run, warm
from frontier.cli.common import Parser, UsageError, is_first
from frontier.errors import FrontierError, FrontierWarning, NotConvergedError, VerificationError, printable

__all__ = ["main"]

#: Seconds that other processes give the first one to say what is wrong, as some launchers end all if one ends.
PAUSE = 0.5


def build_parser() -> Parser:
    """The parser of the whole command line."""
    import frontier

    parser = Parser(
        prog="frontier",
        description="Graph algorithms over frontiers.",
        epilog="'frontier COMMAND --help' says more about a command.",
    )
    parser.add_argument("--version", action="version", version=f"frontier {frontier.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="name", required=True)
    run.add(commands)
    files.add(commands)
    explain.add(commands)
    bench.add(commands)
    graph500.add(commands)
    doctor.add(commands)
    warm.add(commands)
    return parser


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse a command line.

    ``generate rmat 18 --seed 3 out.npz`` has an option amid words of no fixed number, which argparse does not put
    together by itself.
    """
    parser = build_parser()
    arguments, extra = parser.parse_known_args(argv)
    if extra and (not hasattr(arguments, "words") or any(word.startswith("-") and word != "-" for word in extra)):
        parser.error(f"unrecognized arguments: {' '.join(extra)}")
    if extra:
        arguments.words += extra
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments, without the program's name; by default those of the process.
    """
    for stream in (sys.stdout, sys.stderr):  # names of files may hold what the terminal cannot show
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if sys.stdout is None:  # closed by the calling process
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the process ends
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _say
            arguments = parse(argv)
            status: int = arguments.command(arguments)
        sys.stdout.flush()
        return status
    except (VerificationError, NotConvergedError) as error:
        return _fail(1, error)
    except (UsageError, FrontierError, OSError, MemoryError) as error:
        if isinstance(error, BrokenPipeError):
            # The reader of the output has closed it; nothing more may be written to it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return _fail(2, error)
    except KeyboardInterrupt as error:
        return _interrupted(error)


def _interrupted(error: KeyboardInterrupt) -> int:
    """Say that Ctrl-C was pressed; of several processes, all end."""
    processes = _processes()
    if processes is not None and processes.size > 1:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # this process may be told by another, and then get its own
        if not getattr(error, "of_all_ranks", False):
            processes.interrupted()  # others may wait for this one: only in runs do they hear of it
    return _fail(130, "interrupted")


def _processes() -> Any:
    """The processes of which this is one, if it has used ranks."""
    ranks = sys.modules.get("frontier.distributed.transport.communicators")
    return ranks.world() if ranks is not None and ranks.world.cache_info().currsize else None


def _fail(status: int, error: object) -> int:
    """Say in one line what went wrong."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        where = error.filename
        if where is None and error.errno in (errno.ENOSPC, errno.EFBIG, errno.EIO):
            where = "standard output"  # for files that are written are named
        text = error.strerror if where is None else f"{where}: {error.strerror}"
    text = " ".join(text.split()) or type(error).__name__
    processes = _processes()
    if processes is not None and not processes.says(error, text):
        return status
    if isinstance(error, UsageError) and error.of_all_ranks and not is_first():
        time.sleep(PAUSE)
        return status
    print(f"frontier: {printable(text)}", file=sys.stderr)
    return status


def _say(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
) -> None:
    """Show a warning: one of ours without the line of ours that led to it."""
    if issubclass(category, FrontierWarning):
        if is_first():
            print(f"frontier: warning: {printable(str(message))}", file=sys.stderr)
    else:
        print(warnings.formatwarning(message, category, filename, lineno), end="", file=sys.stderr)
