"""How long the phases of a program on several GPUs take, by clocks in its kernels.

A phase takes from its beginning until the next one begins, so it contains the barrier at its end, at which all GPUs may
meet. Work is what the first thread of a GPU has done before that; if it is much less, the GPU waits for its other
threads, or for other GPUs. Kernels with clocks are compiled anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from frontier.backends.devices import fused, meeting_words, part, printer
from frontier.lowering.ir import expression
from frontier.lowering.printer import indented
from frontier.memory.arrays import to_host

__all__ = ["clocked", "shown"]

#: Phases that are noted, and words for each: its number, when it began, when the first thread was done.
MOST, WORDS = 400, 3

#: Titles of the phases of the program that was compiled last, by their numbers.
_titles: dict[int, str] = {}


@contextmanager
def clocked() -> Iterator[list[Any]]:
    """Compile clocks into kernels; the list has the last run."""
    words, function, begin = meeting_words.box_words, printer.PeersPrinter.function, fused.FusedExecution.__init__
    last: list[Any] = []

    def box_words(parts: int) -> int:
        return words(parts) + 1 + WORDS * MOST

    def noting(self: Any, *given: Any) -> None:
        begin(self, *given)
        last[:] = [self]

    changes = [(meeting_words, "box_words", box_words), (part, "box_words", box_words)]
    changes += [(printer.PeersPrinter, "function", lambda self: _with_clocks(self, function(self), words))]
    changes += [(fused.FusedExecution, "__init__", noting)]
    before = [(where, name, getattr(where, name)) for where, name, _ in changes]
    for where, name, value in changes:
        setattr(where, name, value)
    try:
        yield last
    finally:
        for where, name, value in before:
            setattr(where, name, value)


def _with_clocks(made: Any, lines: list[str], words: Any) -> list[str]:
    """Lines of a kernel whose first thread notes when phases begin, and when it is done."""
    _titles.clear()
    _titles.update({number: phase.title for number, phase in made._calls.items()})
    box = made._by_thread(made.program.box)
    at = f"({made._by_thread(expression(meeting_words.inbox_at(made.program.parts)))} + {meeting_words.INBOXES})"
    row = f"{at} + 1 + {WORDS} * {box}[{at}]"
    first = [f"{box}[{row}] = call", f"{box}[{row} + 1] = clock()"]
    last = [f"{box}[{row} + 2] = clock()", f"{box}[{at}] += 1"]
    begin = next(i for i, line in enumerate(lines) if line.startswith("        clear_next("))
    end = next(i for i, line in enumerate(lines) if line == f"        {made.meeting('')[0]}")
    return [*lines[:begin], *_noted(box, at, first), *lines[begin:end], *_noted(box, at, last), *lines[end:]]


def _noted(box: str, at: str, lines: list[str]) -> list[str]:
    return indented([f"if w == 0 and {box}[{at}] < {MOST}:", *indented(lines)], 2)


def shown(execution: Any) -> Iterator[str]:
    """Lines that say how often each phase ran, and how many microseconds it took on the slowest GPU."""
    logs = [_log(each) for each in execution.parts]
    number = min(map(len, logs))
    spent: dict[int, list[float]] = {}
    worked: dict[int, float] = {}
    for i in range(number - 1):
        phase = int(logs[0][i][0])
        spent.setdefault(phase, []).append(max(log[i + 1][1] - log[i][1] for log in logs) / 1e3)
        worked[phase] = worked.get(phase, 0) + max(log[i][2] - log[i][1] for log in logs) / 1e3
    yield f"{'times':>5} {'us':>9} {'work':>9}  phase"
    for phase, each in sorted(spent.items(), key=lambda item: -sum(item[1])):
        yield f"{len(each):5} {sum(each):9.1f} {worked[phase]:9.1f}  {_titles.get(phase, '')}"
    more = " (and more, which are not noted)" if number == MOST else ""
    yield f"{number - 1:5} {sum(map(sum, spent.values())):9.1f} {sum(worked.values()):9.1f}  all{more}"


def _log(each: Any) -> Any:
    with each.memory.using():
        words = to_host(each._box())
    at = int(meeting_words.inbox_at(each._count)) + meeting_words.INBOXES
    return words[at + 1 : at + 1 + WORDS * int(words[at])].reshape(-1, WORDS)
