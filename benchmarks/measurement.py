"""Measurements as data: what a file of ``results/`` holds, how it is checked, written and chosen from.

The programs of this folder write such files with ``--json``, and the documentation makes its tables and plots of them.
README.md beside this file describes the keys.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"
Cell = str | int | float | bool | None
#: Options that say where to write, and how to go on: they are no part of how something was measured.
WITH_VALUE, ALONE = ("--json", "--journal", "--folder"), ("--resume", "--here", "--child")


@dataclass
class Measurement:
    """One table of one subject; None stands for what nobody knows.

    Parameters
    ----------
    subject : str
        What was measured, as a caption says it, with the unit.
    command : str or None
        What to run for the same table.
    machine : str
        Processor, cores and GPU.
    date : str or None
        ISO 8601, as ``"2026-11-22"``.
    commit : str or None
        Of this repository, in hexadecimal digits.
    note : str
        What a reader must know besides; may be empty.
    columns : list of str
        Their names, each once.
    rows : list of list
        A cell for each column: a number, text, True or False, or None.
    """

    subject: str
    command: str | None
    machine: str
    date: str | None
    commit: str | None
    note: str
    columns: list[str]
    rows: list[list[Cell]]

    def __post_init__(self) -> None:
        for name in ("subject", "machine"):
            if not isinstance(value := getattr(self, name), str) or not value.strip():
                raise ValueError(f"{name} must be text that is not empty, not {value!r}")
        if self.command is not None and not self.command:
            raise ValueError("command must be null where it is not known, not empty")
        if self.date is not None:
            datetime.date.fromisoformat(self.date)
        if self.commit is not None and not re.fullmatch("[0-9a-f]{7,40}", self.commit):
            raise ValueError(f"commit must be 7 to 40 hexadecimal digits or null, not {self.commit!r}")
        if not isinstance(self.note, str):
            raise ValueError(f"note must be text, not {self.note!r}")
        if not self.columns or len(set(self.columns)) < len(self.columns) or not all(self.columns):
            raise ValueError(f"columns must have names, each once: {self.columns}")
        if not self.rows:
            raise ValueError("there are no rows")
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{len(row)} cells for {len(self.columns)} columns: {row}")
            if not all(cell is None or isinstance(cell, str | int | float | bool) for cell in row):
                raise ValueError(f"a cell is neither a number nor text, true, false or null: {row}")

    @classmethod
    def read(cls, path: Path) -> Measurement:
        """Read and check a file.

        Raises
        ------
        ValueError
            If the file is no measurement; says what is wrong and in which file.
        """
        try:
            found = json.loads(path.read_text("utf-8"), parse_constant=_refuse)
            names = {each.name for each in fields(cls)}
            if not isinstance(found, dict) or set(found) != names:
                raise ValueError(f"keys must be {', '.join(sorted(names))}: one is missing or unknown")
            return cls(**found)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path.name}: {error}") from error

    @classmethod
    def now(cls, subject: str, rows: Sequence[dict[str, Any]], *, gpu: str = "", note: str = "") -> Measurement:
        """What the running program has measured on this machine, or its GPU: rows by the names of their columns."""
        columns = list(dict.fromkeys(name for row in rows for name in row))
        cells = [[_cell(row.get(name)) for name in columns] for row in rows]
        today = datetime.date.today().isoformat()
        return cls(subject, command(), machine(gpu), today, commit(), note, columns, cells)

    def write(self, path: Path) -> None:
        """Write a file, a line for each row, so that changes can be read."""
        keys = asdict(self)
        rows = ",\n".join(f"  {json.dumps(row, ensure_ascii=False, allow_nan=False)}" for row in keys.pop("rows"))
        lines = [f' "{name}": {json.dumps(value, ensure_ascii=False)},' for name, value in keys.items()]
        path.write_text("\n".join(["{", *lines, ' "rows": [', rows, " ]", "}"]) + "\n", "utf-8")

    def cells(self, column: str) -> list[Cell]:
        """The cells of a column.

        Raises
        ------
        ValueError
            If there is no such column.
        """
        return [row[self._place(column)] for row in self.rows]

    def chosen(self, columns: Sequence[str] = (), where: Sequence[tuple[str, str]] = (), sort: str = "") -> Measurement:
        """Some columns, of the rows whose cells are as ``where`` says, in the order of a column.

        Parameters
        ----------
        columns : sequence of str
            In the order wanted; all if there are none.
        where : sequence of (str, str)
            Pairs of a column and a value as text. Of one column several values may be given, of which one must hold.
        sort : str
            The column to sort by; with ``-`` before its name from the largest on. Cells without a value come last.

        Raises
        ------
        ValueError
            If a column is unknown, or no row is left.
        """
        wanted: dict[int, set[str]] = {}
        for name, value in where:
            wanted.setdefault(self._place(name), set()).add(value)
        rows = [row for row in self.rows if all(str(row[place]) in values for place, values in wanted.items())]
        if not rows:
            raise ValueError(f"no row is left where {', '.join(f'{name} = {value}' for name, value in where)}")
        if sort:
            place = self._place(sort.removeprefix("-"))
            known = [row for row in rows if row[place] is not None]
            known.sort(key=lambda row: row[place], reverse=sort.startswith("-"))  # type: ignore[arg-type, return-value]
            rows = known + [row for row in rows if row[place] is None]
        places = [self._place(name) for name in columns or self.columns]
        kept = [self.columns[place] for place in places]
        rows = [[row[place] for place in places] for row in rows]
        return Measurement(**{**vars(self), "columns": kept, "rows": rows})

    def _place(self, column: str) -> int:
        if column not in self.columns:
            raise ValueError(f"there is no column {column!r}, but {', '.join(self.columns)}")
        return self.columns.index(column)


def command() -> str:
    """The running program, as a reader would start it; of files, their names without folders."""
    words, given = [], iter(sys.argv[1:])
    for word in given:
        name, equals, _ = word.partition("=")
        if name in WITH_VALUE and not equals:
            next(given, None)
        elif name not in (*WITH_VALUE, *ALONE):
            words.append(Path(word).name if Path(word).is_absolute() else word)
    return shlex.join(["python", "-m", f"benchmarks.{Path(sys.argv[0]).stem}", *words])


def machine(gpu: str = "") -> str:
    """Processor and cores that this process may use; before them the GPU if it was measured."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    host = f"{processor()}, {allowed} cores"
    return f"{gpu}; {host}" if gpu else host


def processor() -> str:
    """The processor's name; where the system does not tell it, its architecture."""
    try:
        named = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
    except OSError:
        named = None
    return named[1].strip() if named else platform.processor() or platform.machine()


def commit() -> str | None:
    """The commit of this checkout; None where there is no git."""
    ask = ["git", "rev-parse", "--short", "HEAD"]
    try:
        asked = subprocess.run(ask, cwd=RESULTS.parent, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return asked.stdout.strip() or None


def _cell(value: Any) -> Cell:
    """A value as a cell; numbers that are none are not known."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float):
        return float(f"{value:.4g}") if abs(value) < float("inf") else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number: write null")
