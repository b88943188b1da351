"""The text of a module with one loop function and the phases that it calls."""

from __future__ import annotations

from collections.abc import Iterator

from frontier.adjacency import hidden
from frontier.lowering.ir import Node, Phase, inside
from frontier.lowering.loops import Program

__all__ = ["module_text", "words"]


def words(program: Program) -> dict[str, int]:
    """Position of every variable in the table, by its key."""
    return {key: i for i, key in enumerate(program.table())}


def module_text(program: Program, imports: str, decorator: str, loop: list[str]) -> str:
    """The whole module.

    Parameters
    ----------
    program : Program
    imports : str
        Lines that give the names which the text uses.
    decorator : str
        Of the phases.
    loop : list of str
        Lines of the loop function, with its decorators.
    """
    fields = [name for name, kind, _ in program.layout.fields if kind != "pile"]
    fields += [hidden(name) for name in program.topology]
    head = ["p", "C", "slot", "w", "W"]
    left_out = {name for part in program.left_out for name in _called(part.body)}
    phases = [
        [f"def {each.name}({', '.join([*head, *each.parameters])}):", *("    " + line for line in each.body)]
        for each in program.functions
        if each.name not in left_out
    ]
    parts = [
        _docstring(program.steps),
        imports,
        f"P = namedtuple('P', {fields or ['nothing']!r})",
        *("\n".join([decorator, *lines]) for lines in phases),
        "\n".join(loop),
    ]
    return "\n\n\n".join(parts) + "\n"


def _called(nodes: list[Node]) -> Iterator[str]:
    """Names of the functions of all phases among some nodes."""
    return (node.call.function for node in inside(nodes) if isinstance(node, Phase))


def _docstring(steps: list[str]) -> str:
    """A line in which names of functors, which may be anything, are escaped."""
    return ascii(f"Made by Frontier from {', '.join(steps)[:2000] or 'an empty program'}.")
