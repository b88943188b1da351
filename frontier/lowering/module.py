"""The source text of a generated module: one loop function, and the phases that it calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from frontier.functors.adjacency import hidden
from frontier.lowering.builder import Builder
from frontier.lowering.ir import Node, Phase, inside
from frontier.lowering.kernels import Constant, Factory, FunctorCall, FunctorName, Made, digest
from frontier.lowering.printer import number

__all__ = ["module_text", "words"]


def words(program: Builder) -> dict[str, int]:
    """Position of every variable in the table, by its key."""
    return {key: i for i, key in enumerate(program.table())}


def module_text(program: Builder, imports: str, loop: list[str]) -> str:
    """The whole module.

    Parameters
    ----------
    program : Builder
    imports : str
        Lines that give the names which the text uses.
    loop : list of str
        Lines of the loop function, with its decorators.
    """
    fields = [name for name, kind, _ in program.layout.fields if kind != "pile"]
    fields += [hidden(name) for name in program.topology]
    left_out = {name for part in program.left_out for name in _called(part.body)}
    kernels = [each for each in program.functions if each.name not in left_out]
    names = _names(part for each in kernels for part in _used(each.made))
    factories = [
        f"from {each.__module__} import {each.__name__} as {name}  # {digest(each)}" for each, name in names.items()
    ]
    parts = [
        _docstring(program.steps),
        "\n".join([imports, *factories]),
        f"P = namedtuple('P', {fields or ['nothing']!r})",
        "\n".join(f"{each.name} = phase({_constant(each.made, names)}, {each.name!r})" for each in kernels),
        "\n".join(loop),
    ]
    return "\n\n\n".join(parts) + "\n"


def _used(made: Made) -> Iterator[Factory]:
    """All factories that make something."""
    yield made.factory
    for each in made.constants.values():
        if isinstance(each, Made):
            yield from _used(each)


def _names(factories: Iterable[Factory]) -> dict[Factory, str]:
    """A name for each factory: no functor's or function's of the program is like it, for theirs end in a number."""
    names: dict[Factory, str] = {}
    for each in factories:
        name = f"{each.__module__.rpartition('.')[2]}_{each.__name__}"
        while each not in names and name in names.values():
            name += "_too"
        names.setdefault(each, name)
    return names


def _constant(value: Constant, names: dict[Factory, str]) -> str:
    """Text of what a factory is given."""
    if isinstance(value, Made):
        given = ", ".join(f"{name}={_constant(each, names)}" for name, each in value.constants.items())
        return f"{names[value.factory]}({given})"
    if isinstance(value, FunctorCall):
        problem = "" if value.problem else ", False"
        return f"calling({value.name}, {value.number}, {value.order}, {value.value}{problem})"
    if isinstance(value, FunctorName):
        return value.name
    return number(value) if isinstance(value, (int, float)) else ascii(value)


def _called(nodes: list[Node]) -> Iterator[str]:
    """Names of the functions of all phases among some nodes."""
    return (call.function for node in inside(nodes) if isinstance(node, Phase) for call in node.calls)


def _docstring(steps: list[str]) -> str:
    """A line in which names of functors, which may be anything, are escaped."""
    return ascii(f"Made by Frontier from {', '.join(steps)[:2000] or 'an empty program'}.")
