"""Cells that fail alone: rows are written as they come, and a dead process is followed by another that goes on.

An illegal access ends the GPU for a process, and a loop that does not end must be killed with it. So the measuring is
done by a child. It notes in the journal, a JSON file, which cell it is at; a watchdog ends it where a cell takes too
long. The parent starts another child, which leaves out what the journal has already.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.devices import Host
from benchmarks.measurement import Measurement

#: Exit status of a child that another one should follow.
DEAD = 3
Key = tuple[str, ...]


class Journal:
    """Rows by key, in a file that is complete after each of them."""

    def __init__(self, path: Path, keep: bool) -> None:
        self.path = path
        self.data: dict[str, Any] = {"facts": {}, "graphs": {}, "rows": [], "running": None}
        if keep and path.exists():
            self.data = json.loads(path.read_text())
        if self.data["running"]:
            self.failed(tuple(self.data["running"]), "the process ended in it")

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One for each cell."""
        rows: list[dict[str, Any]] = self.data["rows"]
        return rows

    def has(self, key: Key) -> bool:
        """Whether a cell is done, or has failed."""
        return any(tuple(row["key"]) == key for row in self.rows)

    def begin(self, key: Key | None) -> None:
        """Note what is being done."""
        self.data["running"] = key
        self.save()

    def add(self, key: Key, **row: Any) -> None:
        """Add a row; nothing is being done any more."""
        self.data["running"] = None
        self.rows.append({"key": key, **row})
        self.save()

    def failed(self, key: Key, error: str) -> None:
        """Add a row that says why there is none."""
        print(f"  {' '.join(key)}: FAILED: {error}", flush=True)
        self.add(key, error=error)

    def write(self, subject: str, path: Path | None) -> None:
        """Write what was measured as a file of ``results/``, without what failed and without lists; None: nowhere."""
        done = [row for row in self.rows if "ms" in row]
        if path is None or not done:
            return
        flat = [{"cell": " ".join(row["key"]), **{k: x for k, x in row.items() if _single(x)}} for row in done]
        facts = self.data["facts"]
        gpu = facts["device"] if "multiprocessors" in facts else ""
        told = {k: facts[k] for k in ("protocol", "seed", "ids", "order") if facts.get(k)}
        note = f"{', '.join(f'{k}: {x}' for k, x in told.items())}." if told else ""
        Measurement.now(subject, flat, gpu=gpu, note=note).write(path)

    def save(self) -> None:
        """Write the file; the old one stays until the new one is complete."""
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.data, indent=1))
        os.replace(new, self.path)

    def attempt(self, key: Key, work: Callable[[], dict[str, Any]], device: Host, seconds: float) -> bool:
        """Do a cell, and keep its row or its error; whether it went well. Ends the process where the device is dead."""
        if self.has(key):
            return not any(tuple(row["key"]) == key and "error" in row for row in self.rows)
        self.begin(key)
        watchdog = threading.Timer(seconds, self._expire, (key, seconds))
        watchdog.daemon = True
        watchdog.start()
        try:
            row = work()
        except Exception as error:  # of whatever kind: the other cells go on
            watchdog.cancel()
            told = " ".join(str(error).split())
            traceback.print_exc(limit=-4)
            self.failed(key, f"{type(error).__name__}: {told[:500]}")
            device.free()
            if not device.alive():
                sys.exit(DEAD)
            return False
        watchdog.cancel()
        self.add(key, **row)
        return True

    def _expire(self, key: Key, seconds: float) -> None:
        self.failed(key, f"no end after {seconds:.0f} s")
        os._exit(DEAD)  # nothing else stops a kernel


def _single(value: Any) -> bool:
    return not isinstance(value, list | tuple | dict)


def supervise(module: str, arguments: list[str], path: Path) -> int:
    """Let children measure until one comes to the end; the exit status of the last."""
    before = -1
    while True:
        keep = [] if before < 0 else ["--resume"]
        code = subprocess.run([sys.executable, "-m", module, *arguments, "--child", *keep], check=False).returncode
        journal = json.loads(path.read_text()) if path.exists() else {"rows": [], "running": None}
        done = len(journal["rows"]) + bool(journal["running"])
        if code in (0, 1, 2) or done <= before:
            return code
        print(f"  the process ended with {code}; another one goes on", flush=True)
        before = done
