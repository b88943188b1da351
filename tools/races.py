"""What compute-sanitizer has reported, and which of its races are meant: by the statements that race, and how.

A report of racecheck names its accesses, a read or a write each, with the line of the source where kernels know their
lines. A race is forgiven only if all of its accesses are among those of one entry of :data:`BENIGN`.
docs/notes/gpu-races.md says more of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["BENIGN", "Benign", "explained", "findings"]

ROOT = Path(__file__).resolve().parents[1]

_HEAD = re.compile(r"^=+ +((?:Error|Warning|Invalid|Barrier|Program hit).*)$")
_ACCESS = re.compile(r"\b(Read|Write) access at (.*)")
_LINE = re.compile(r"([^\s/:]+\.py):(\d+)")


@dataclass(frozen=True)
class Benign:
    """A race that is meant.

    Attributes
    ----------
    name : str
        The device function in which both sides are.
    file : str
        Where it is, from the root.
    accesses : tuple of (str, str)
        ``"Read"`` or ``"Write"``, and the statement. One of them at least writes.
    reason : str
        Why nothing can go wrong.
    """

    name: str
    file: str
    accesses: tuple[tuple[str, str], ...]
    reason: str

    def places(self) -> set[tuple[str, str, int]]:
        """Kind, file and line of every access; each statement must stand in the function exactly once."""
        lines = (ROOT / self.file).read_text("utf-8").splitlines()
        first = lines.index(next(line for line in lines if line.startswith(f"def {self.name}(")))
        after = [i for i, line in enumerate(lines) if i > first and line and not line[0].isspace()]
        body = [line.strip() for line in lines[first : min(after, default=len(lines))]]
        places = set()
        for kind, statement in self.accesses:
            if body.count(statement) != 1:
                raise LookupError(f"{self.file}: {self.name} has {statement!r} {body.count(statement)} times")
            places.add((kind, Path(self.file).name, first + body.index(statement) + 1))
        return places


BENIGN = (
    Benign(
        "culled",
        "operators/advance/cuda/cull.py",
        (("Read", "if history[place] == item:"), ("Write", "history[place] = item")),
        "a block's history of vertices may lose an entry; then a duplicate stays, as it may",
    ),
    Benign(
        "fill_hubs",
        "operators/advance/cuda/hub_cache.py",
        (("Write", "table[v & (TABLE - 1)] = v"),),
        "of hubs with the same place in the table any may stay; each is a hub of the frontier",
    ),
)


def findings(text: str) -> list[list[str]]:
    """What a tool has reported: a heading each, and for races a line for each further access."""
    found: list[list[str]] = []
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head:
            found.append([head[1]])
        elif found and re.match(r"^=+ +and (Read|Write) access at ", line):
            found[-1].append(line.lstrip("= "))
    return found


def explained(finding: list[str]) -> Benign | None:
    """The benign race that a finding is; None for everything else, and where a line is not known."""
    if not finding[0].split(": ", 1)[-1].startswith("Race reported between "):
        return None
    accesses = set()
    for text in finding:
        access = _ACCESS.search(text)
        line = access and _LINE.search(access[2])
        if not access or not line:
            return None
        accesses.add((access[1], line[1], int(line[2])))
    return next((benign for benign in BENIGN if accesses <= benign.places()), None) if len(finding) > 1 else None
