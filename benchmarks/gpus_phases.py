"""How long the phases of a program on several GPUs take, by clocks in its kernels.

A phase takes from its beginning until the next one begins, so it contains the barrier at its end, at which all GPUs may
meet. Work is what the first thread of a GPU has done before that; if it is much less, the GPU waits for its other
threads, or for other GPUs. Kernels with clocks are compiled anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from frontier.distributed.devices import fused, meeting_words, part, printer
from frontier.lowering.ir import expression
from frontier.lowering.printer import indented
from frontier.memory.arrays import to_host

__all__ = ["clocked", "shown"]

#: Phases that are noted, and words for each: its number, when it began, when the first thread was done.
MOST, WORDS = 4000, 3

#: The steps of a program and how it was built: titles of its phases, by their numbers.
_titles: dict[Any, dict[int, str]] = {}


@contextmanager
def clocked() -> Iterator[list[list[str]]]:
    """Compile clocks into kernels; the list has what :func:`shown` says of each run that has ended."""
    words, function, bring = meeting_words.box_words, printer.PeersPrinter.function, fused.FusedExecution._bring_back
    runs: list[list[str]] = []
    codes: dict[Any, Any] = {}
    find = part._code_of

    def box_words(parts: int) -> int:
        return words(parts) + 1 + WORDS * MOST

    def code_of(step: Any, *given: Any) -> Any:
        """Code with clocks, which is not kept for runs without."""
        plain = step.__dict__.get("_code", {})
        step.__dict__["_code"] = codes.setdefault(step, {})
        try:
            return find(step, *given)
        finally:
            step.__dict__["_code"] = plain

    def noting(self: Any) -> None:
        runs.append(list(shown(self)))  # the next run may use its memory
        bring(self)

    changes = [(meeting_words, "box_words", box_words), (part, "box_words", box_words), (part, "_code_of", code_of)]
    changes += [(printer.PeersPrinter, "function", lambda self: _with_clocks(self, function(self), words))]
    changes += [(fused.FusedExecution, "_bring_back", noting)]
    before = [(where, name, getattr(where, name)) for where, name, _ in changes]
    for where, name, value in changes:
        setattr(where, name, value)
    try:
        yield runs
    finally:
        for where, name, value in before:
            setattr(where, name, value)


def _with_clocks(made: Any, lines: list[str], words: Any) -> list[str]:
    """Lines of a kernel whose first thread notes when phases begin, and when it is done."""
    _titles[_named(made.program)] = {number: phase.title for number, phase in made._calls.items()}
    box = made._by_thread(made.peers.box)
    at = f"({made._by_thread(expression(meeting_words.inbox_at(made.peers.parts)))} + {meeting_words.INBOXES})"
    row = f"{at} + 1 + {WORDS} * {box}[{at}]"
    first = [f"{box}[{row}] = call", f"{box}[{row} + 1] = clock()"]
    last = [f"{box}[{row} + 2] = clock()", f"{box}[{at}] += 1"]
    begin = next(i for i, line in enumerate(lines) if line.startswith("        clear_next("))
    end = next(i for i, line in enumerate(lines) if line == f"        {made.meeting('')[0]}")
    return [*lines[:begin], *_noted(box, at, first), *lines[begin:end], *_noted(box, at, last), *lines[end:]]


def _noted(box: str, at: str, lines: list[str]) -> list[str]:
    return indented([f"if w == 0 and {box}[{at}] < {MOST}:", *indented(lines)], 2)


def shown(execution: Any) -> Iterator[str]:
    """Lines that say how often each phase ran, how many microseconds it took on the slowest GPU, and work on each."""
    logs = [_log(each) for each in execution.parts]
    titles = _titles.get(_named(execution.parts[0]._program), {})
    times: dict[int, list[float]] = {}
    took: dict[int, list[float]] = {}
    worked: dict[int, list[float]] = {}
    for rank, log in enumerate(logs):  # a GPU may run a phase, between two meetings, that another one leaves out
        for (phase, begun, done), (_, next_, _) in pairwise(log.tolist()):
            for sums, value in ((times, 1), (took, (next_ - begun) / 1e3), (worked, (done - begun) / 1e3)):
                sums.setdefault(phase, [0] * len(logs))[rank] += value
    yield f"{'times':>5} {'us':>9} {_columns(f'work {rank}' for rank in range(len(logs)))}  phase"
    for phase, each in sorted(took.items(), key=lambda item: -max(item[1])):
        work = _columns(f"{part:.1f}" for part in worked[phase])
        yield f"{max(times[phase]):5} {max(each):9.1f} {work}  {titles.get(phase, '')}"
    more = " (and more, which are not noted)" if max(map(len, logs)) == MOST else ""
    work = _columns(f"{sum(parts):.1f}" for parts in zip(*worked.values(), strict=True))
    whole = max(map(sum, zip(*took.values(), strict=True)), default=0.0)
    yield f"{max(map(len, logs)) - 1:5} {whole:9.1f} {work}  all{more}"


def _named(program: Any) -> Any:
    """What the titles of a program are found by."""
    return tuple(program.steps), program.build


def _columns(words: Iterable[str]) -> str:
    return " ".join(f"{word:>9}" for word in words)


def _log(each: Any) -> Any:
    with each.memory.using():
        words = to_host(each._box())
    at = int(meeting_words.inbox_at(each._count)) + meeting_words.INBOXES
    return words[at + 1 : at + 1 + WORDS * int(words[at])].reshape(-1, WORDS)
