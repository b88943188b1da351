"""The text of a module with one loop function and the phases that it calls."""

from __future__ import annotations

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
    """The blocks of the loop function, one text."""
    made: list[str] = []
    for block in program.blocks:
        for line in block:
            made.extend(line if isinstance(line, list) else [line])
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
    parts = [
        f'"""Made by Frontier from {", ".join(program.steps) or "an empty program"}."""',
        imports,
        f"P = namedtuple('P', {fields or ['nothing']!r})",
        *(f"{decorator}\n{function}" for function in program.functions),
        f"{cached}\n{head if isinstance(head, str) else _loop(program, head or _head(program))}",
    ]
    made = "\n\n\n".join(parts) + "\n"
    if not fields:
        made = made.replace("P()", "P(0)")
    return made.replace("{steps}", str(len(program.steps)))


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
