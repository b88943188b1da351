"""The registry of primitives: what the command line and the benchmarks know about them.

A primitive is a function of a graph, which a decorator registers::

    @primitive(
        "bfs",
        "levels and parents of a breadth-first search",
        takes_source=True,
        verify="bfs",
        report=lambda g, r: {"reached": int((r.level >= 0).sum()), "depth": int(r.level.max())},
    )
    def bfs(g, source, *, schedule=None): ...

No primitive is imported before :func:`primitives` is called, so ``import frontier`` stays fast. Modules of users can
register primitives in the same way. For the command line to know those of an installed package, the package names the
module in the entry points ``frontier.primitives``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from frontier.graph.estimates import register_needs
from frontier.system.plugins import import_all, import_installed

if TYPE_CHECKING:
    from frontier.graph.estimates import Needs
    from frontier.graph.graph import Graph
    from frontier.program.enactor import Enactor
    from frontier.program.prepared import GraphFunction
    from frontier.program.problem import Field
    from frontier.program.schedule import Schedule
    from frontier.verify import Report

__all__ = ["Argument", "Plan", "PrimitiveEntry", "primitive", "primitives", "register_primitive"]

Verifier = Callable[["Graph", Any], "Report"]
Facts = Callable[["Graph", Any], Mapping[str, Any]]
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Argument:
    """One keyword argument of a primitive, offered as an option of the command line.

    Parameters
    ----------
    flag : str
        The option, ``"--max-iterations"``.
    help : str
        One line of help.
    type : callable, default float
        Converts the text to the value; ``bool`` gives the options ``--flag`` and ``--no-flag``.
    choices : tuple of str, optional
        The texts that are allowed.
    keyword : str, optional
        Name of the keyword argument; by default that of the flag, ``max_iterations``.
    vertex : bool
        The text is the label or id of a vertex, with ``type=str``.

    Notes
    -----
    An option that is not given is not passed on, so the default of the function applies.
    """

    flag: str
    help: str
    type: Callable[[str], Any] = float
    choices: tuple[str, ...] | None = None
    keyword: str = ""
    vertex: bool = False

    @property
    def name(self) -> str:
        """The keyword argument that the option sets."""
        return self.keyword or self.flag.lstrip("-").replace("-", "_")


@dataclass(frozen=True)
class Plan:
    """The fields and programs of a primitive, from which :meth:`frontier.Graph.memory_estimate` counts its memory.

    Nothing is run and no field is allocated. Fields of vertices and edges must have a number as their initial value.

    Parameters
    ----------
    fields : mapping of str to Field
        The fields of its problem.
    runs : sequence of Enactor subclasses, or pairs of one and a Schedule or None
        The enactors that run on it, one after another.
    beside : int
        Bytes of additional arrays of the call.
    copies : int
        In how many copies of the graph side by side they run; see :class:`frontier.BatchedSources`.
    """

    fields: Mapping[str, Field]
    runs: Sequence[type[Enactor] | tuple[type[Enactor], Schedule | None]]
    beside: int = 0
    copies: int = 1


@dataclass(frozen=True)
class PrimitiveEntry:
    """The description of a primitive for the command line.

    Parameters
    ----------
    name : str
        The subcommand.
    function : callable
        The public function: ``function(g, **options)``, or ``function(g, source, **options)``.
        It returns a :class:`frontier.Result`, or a dataclass whose attributes hold arrays with one entry per vertex.
    summary : str
        What it computes, in one line.
    arguments : tuple of Argument
        Its keyword arguments that the command line offers. ``--seed`` is available for every primitive,
        and is passed to a function that has an argument ``seed``.
    columns : tuple of str
        Attributes that ``--output`` writes, each None or of shape (n,), of a result that is no Result.
    verify : callable or str, optional
        ``verify(g, result)`` returns a :class:`frontier.verify.Report`; a string names a function
        of ``frontier.verify``.
    report : callable, optional
        ``report(g, result)`` returns the few facts that are printed, by name. An entry ``"slots"``
        is the number of edge slots that were traversed, for GTEPS; by default all slots.
    takes_source : bool
        Whether the second argument is a source vertex.
    needs_weights : bool
        Whether it needs weights; the command line then draws weights for a graph without any.
    to_write : mapping
        Keyword arguments with which the result has all that ``--output`` writes, where the defaults leave it out.
    bench_options : mapping
        Keyword arguments for ``frontier bench``, if the defaults would take too long.
    memory : callable, optional
        ``memory(g)`` returns the :class:`Plan` of a call with default arguments, for ``g.memory_estimate(name)``.
    """

    name: str
    function: Callable[..., Any]
    summary: str
    arguments: tuple[Argument, ...] = ()
    columns: tuple[str, ...] = ()
    verify: Verifier | str | None = None
    report: Facts | None = None
    takes_source: bool = False
    needs_weights: bool = False
    to_write: Mapping[str, Any] = field(default_factory=dict)
    bench_options: Mapping[str, Any] = field(default_factory=dict)
    memory: Callable[[Graph], Plan] | None = None

    def verifier(self) -> Verifier | None:
        """The function that checks a result, found in ``frontier.verify`` if given by name."""
        if isinstance(self.verify, str):
            verify: Verifier = getattr(importlib.import_module("frontier.verify"), self.verify)
            return verify
        return self.verify

    def needs(self, g: Graph) -> Needs:
        """Return the memory, in addition to the graph, of a call with default arguments, if ``memory`` is given."""
        from frontier.backends.run.footprint import footprint

        assert self.memory is not None
        plan = self.memory(g)
        runs = [run if isinstance(run, tuple) else (run, None) for run in plan.runs]
        found = footprint(g, plan.fields, runs, plan.copies)
        return replace(found, fields=found.fields + plan.beside)


_entries: dict[str, PrimitiveEntry] = {}


def register_primitive(entry: PrimitiveEntry) -> PrimitiveEntry:
    """Register a primitive for the command line; it replaces an earlier one of the same name."""
    _entries[entry.name] = entry
    if entry.memory is not None:
        register_needs(entry.name, entry.needs)
    return entry


def primitive(
    name: str, summary: str, **about: Any
) -> Callable[[Callable[Parameters, Result]], GraphFunction[Parameters, Result]]:
    """Register a function as a primitive, and let it take whatever a graph can be made of: a decorator.

    Parameters
    ----------
    name : str
        The subcommand.
    summary : str
        What it computes, in one line.
    **about
        The further parameters of :class:`PrimitiveEntry`.
    """

    def register(function: Callable[Parameters, Result]) -> GraphFunction[Parameters, Result]:
        from frontier.program.taking import at_graph  # with NumPy, for which the command line's help need not wait

        call = at_graph(function)
        register_primitive(PrimitiveEntry(name, call, summary, **about))
        return call

    return register


def primitives() -> Mapping[str, PrimitiveEntry]:
    """Return all registered primitives by name, sorted; imports the shipped ones, then those of installed packages."""
    import_all("primitives")
    import_installed("primitives")
    return dict(sorted(_entries.items()))
