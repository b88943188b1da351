"""Code that subcommands share: the parser, errors of usage, printing, the clock."""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn, TypeAlias

from frontier.errors import printable
from frontier.native import notice

__all__ = [
    "Commands",
    "HereError",
    "Parser",
    "Stopwatch",
    "UsageError",
    "check_folder",
    "dump_json",
    "is_first",
    "listed",
    "plain",
    "print_pairs",
    "print_table",
    "shown",
    "timed",
]

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


class UsageError(Exception):
    """The command line was used in a way that it does not know.

    Attributes
    ----------
    of_all_ranks : bool
        Whether all processes of mpirun or torchrun have the same error, so that one says it.
    """

    of_all_ranks = True


class HereError(UsageError):
    """The command line does not go with the files or streams of this process; others may have them."""

    of_all_ranks = False


def is_first() -> bool:
    """Whether this process says what all say that mpirun or torchrun has started; MPI need not have begun.

    What srun alone sets does not count, as its processes often have nothing to do with each other.
    """
    names = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"]
    if "TORCHELASTIC_RUN_ID" in os.environ:
        names.insert(0, "RANK")
    return next((os.environ[name] for name in names if name in os.environ), "0") == "0"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, raised as :class:`UsageError`, and which knows whole names of options only.

    ``--source`` is not to be taken for the ``--sources`` of a command that has no such option.
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **named})

    def error(self, message: str) -> NoReturn:
        """Raise the error instead of printing the usage and leaving."""
        command = self.prog.partition(" ")[2]
        raise UsageError(f"{command}: {message}" if command else message)


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._start, self._compiled = time.perf_counter(), notice.seconds()

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return time.perf_counter() - self._start

    @property
    def apart(self) -> tuple[float, float]:
        """Seconds so far: of all but compiling, and of compiling, which the next process is spared."""
        compiled = notice.seconds() - self._compiled
        return self.seconds - compiled, compiled


def timed(seconds: float, compile_seconds: float) -> str:
    """A time and what was compiled before, as people read it."""
    return f"{seconds:.3f} s" + (f" and {compile_seconds:.3f} s of compiling" if compile_seconds >= 0.0005 else "")


def plain(value: Any) -> Any:
    """``value`` with nothing in it that JSON does not know: no NumPy types, no dataclasses.

    Infinity and not-a-number become None.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return plain({entry.name: getattr(value, entry.name) for entry in fields(value)})
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def dump_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    print(json.dumps(plain(value), indent=2, allow_nan=False))


def check_folder(name: str) -> None:
    """Refuse a file to write in a folder that is not there, or that is a folder itself, before anything long is run."""
    if name != "-" and os.path.isdir(name):
        raise HereError(f"{name}: cannot be written: it is a folder")
    folder = os.path.dirname(name)
    if folder and not os.path.isdir(folder):
        raise HereError(f"{name}: cannot be written: there is no folder {folder}")


def shown(value: Any) -> str:
    """A value as people read it: thousands marked, six digits of a float, of a list the first twenty."""
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return listed(value[:20]) + (" ..." if len(value) > 20 else "") or "none"
    return "-" if value is None else str(value)


def listed(values: Sequence[Any]) -> str:
    """Values in a line; with commas where one of them holds a blank."""
    texts = [*map(str, values)]
    return (", " if any(" " in text for text in texts) else " ").join(texts)


def print_pairs(pairs: Iterable[tuple[str, Any]]) -> None:
    """Print names and values, one pair a line."""
    lines = [(name, shown(value)) for name, value in pairs]
    width = max((len(name) for name, _ in lines), default=0)
    for name, value in lines:
        print(printable(f"{name:<{width}}  {value}"))


def print_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows below a header, numbers to the right."""
    texts = [[shown(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *texts, strict=True)]
    right = [all(_is_number(row[i]) for row in rows) for i in range(len(header))]
    for line in [list(header), *texts]:
        cells = (
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(line, widths, right, strict=True)
        )
        print("  ".join(cells).rstrip())


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
