"""The text of a module with one loop function and the phases that it calls."""

from __future__ import annotations

import re

from frontier.adjacency import hidden
from frontier.lowering.loops import Program

__all__ = ["CONTROL", "kept", "lines_of", "module_text", "words"]

#: First words of the table through which host and loop function talk; inputs and state follow.
CONTROL = ("counters", "budget", "nanoseconds", "single", "tracing", "ring", "rows", "code", "detail")

#: State of every loop function, besides what its steps keep.
ALWAYS = ("pc", "t", "arrivals", "passes", "before", "direction", "seen", "epoch")


def words(program: Program) -> dict[str, int]:
    """Position of every variable in the table."""
    names = [*CONTROL, *program.inputs, *_scalars(program), *_state(program)]
    return {name: i for i, name in enumerate(names)}


def kept(program: Program) -> list[str]:
    """Names of the variables that are saved between calls, but for scalars."""
    return _state(program)


def lines_of(program: Program) -> list[str]:
    """The blocks of the loop function, one text, in which few tests of ``pc`` lie on the way of the shortest loop.

    That loop's first block comes first, and going to a block that stands farther down does not begin the text anew: the
    tests between them fail, which compilers see, while they do not follow ``pc`` through the beginning of a loop.
    """
    blocks = []
    for block in program.blocks:
        blocks.append([line for lines in block for line in (lines if isinstance(lines, list) else [lines])])
    places = [int(found[1]) for block in blocks if (found := _PLACE.match(block[0]))]
    first = _shortest_loop(blocks, places)
    blocks, places = blocks[first:] + blocks[:first], places[first:] + places[:first]
    return [line for i, block in enumerate(blocks) for line in _falling(block, set(places[i + 1 :]))]


def _shortest_loop(blocks: list[list[str]], places: list[int]) -> int:
    """Where the loop of the fewest blocks begins."""
    at = {place: i for i, place in enumerate(places)}
    spans = []
    for i, block in enumerate(blocks):
        targets = (at[int(found[1])] for line in block if (found := _GOTO.match(line)))
        spans += [(i - j, j) for j in targets if j <= i]
    return min(spans)[1] if spans else 0


#: Lines that begin a block, and that go to one.
_PLACE = re.compile(r" {8}if pc == (\d+):$")
_GOTO = re.compile(r" *pc = (\d+)$")


def _falling(block: list[str], below: set[int]) -> list[str]:
    """The lines of a block, without going through the loop's beginning to blocks that stand ``below``."""
    made, deeper, i = block[:1], "", 1
    while i < len(block):
        line, rest = block[i], [text.strip() for text in block[i + 1 : i + 3]]
        found = _GOTO.match(line)
        if line.startswith(" " * 12 + "if not (") and len(rest) == 2 and rest[1] == "continue":
            target = _GOTO.match(rest[0])
            made += [deeper + text for text in block[i : i + 2]]
            if target and int(target[1]) in below:
                made.append(deeper + " " * 12 + "else:")
                deeper += "    "
            else:
                made.append(deeper + block[i + 2])
            i += 3
        elif found and line.startswith(" " * 12 + "pc") and rest[:1] == ["continue"]:
            made.append(deeper + line)
            if int(found[1]) not in below:
                made.append(deeper + block[i + 1])
            break  # what follows is never reached
        else:
            made.append(deeper + line)
            i += 1
    if made[-1].endswith("else:"):
        made.append(deeper + " " * 12 + "pass")
    return made


def _state(program: Program) -> list[str]:
    fields = [f"a_{name}" for name, _ in program.layout.of_kind("vertex", "edge", "array")]
    return list(dict.fromkeys([*ALWAYS, *fields, *program.state]))


def _scalars(program: Program) -> list[str]:
    return [f"p_{name}" for name, _ in program.layout.of_kind("scalar")]


def module_text(
    program: Program, imports: str, decorator: str, cached: str, head: list[str] | str | None = None
) -> str:
    """The whole module.

    Parameters
    ----------
    program : Program
    imports : str
        Lines that give the names which the text uses.
    decorator, cached : str
        Decorators of the phases and of the loop function.
    head : list of str, or str, optional
        Lines with which the loop function begins, to where all variables have their values; or its whole text.
    """
    fields = [name for name, kind, _ in program.layout.fields if kind != "pile"]
    fields += [hidden(name) for name in program.topology]
    parts = [
        _docstring(program.steps),
        imports,
        f"P = namedtuple('P', {fields or ['nothing']!r})",
        *(f"{decorator}\n{function}" for function in program.functions),
        f"{cached}\n{head if isinstance(head, str) else _loop(program, head or _head(program))}",
    ]
    made = "\n\n\n".join(parts) + "\n"
    if not fields:
        made = made.replace("P()", "P(0)")
    return made.replace("{steps}", str(len(program.steps)))


def _docstring(steps: list[str]) -> str:
    """A line in which names of functors, which may be anything, are escaped."""
    made = ascii(f"Made by Frontier from {', '.join(steps)[:2000] or 'an empty program'}.")
    return made.replace("{", "(").replace("}", ")")  # no place to be filled in


def _head(program: Program) -> list[str]:
    """All workers read all variables from the table, and nobody writes to it before everybody has read it."""
    at = words(program)
    scalars = program.layout.of_kind("scalar")
    lines = ["def run(address, w, W):", "T = int64_at(address)"]
    lines += [f"C = int64_at(T[{at['counters']}])", f"F = float64_at(T[{at['counters']}])"]
    lines += [f"{name} = T[{at[name]}]" for name in CONTROL[1:]]
    lines += [f"{name} = T[{at[name]}]" for name in [*program.inputs, *_state(program)]]
    lines += [f"s_{name} = {dtype}_at(T[{at[f'p_{name}']}])[0]" for name, dtype in scalars]
    lines += [
        "now = clock()",
        "deadline = now + nanoseconds",
        "arrivals = finish(C, arrivals, W)",
        "if C[LEFT] != 0:",
        "    return",
    ]
    return lines


def _loop(program: Program, lines: list[str]) -> str:
    at = words(program)
    scalars = program.layout.of_kind("scalar")
    lines = [*lines, "stop = np.int64(0)", "code = np.int64(DONE)", "while True:"]
    text = [lines[0], *("    " + line for line in lines[1:])]
    text += lines_of(program)
    last = ["if w == 0:"]
    last += [f"    T[{at[name]}] = {name}" for name in ("code", "detail", *_state(program))]
    last += [f"    {dtype}_at(T[{at[f'p_{name}']}])[0] = s_{name}" for name, dtype in scalars]
    return "\n".join([*text, *("    " + line for line in last)])
