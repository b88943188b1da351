"""Which fields a functor reads, writes or changes atomically, and at which index.

This is found once for each functor, by :mod:`frontier.program.effect_analysis`. It is conservative: an index that is
not plainly one of the functor's parameters is ``"any"``. Results are kept on disk with compiled code, because importing
numba takes longer than everything else in a process that computes on a GPU.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from frontier.errors import FunctorError
from frontier.functors.captures import Captures
from frontier.native import prebuilt
from frontier.native.cache import cache_folder, keep, kept
from frontier.native.host import numba_version
from frontier.system.forks import busy

__all__ = ["Effects", "Index", "effects"]

#: An argument's place in the functor, or "any".
Index = str


@dataclass
class Effects:
    """The fields that a functor reads and writes, found by :func:`effects`.

    Attributes
    ----------
    reads, writes : dict of str to set of str
        From names of fields to indices: ``src``, ``dst``, ``v``, ``edge``, ``i`` or ``any``; a scalar has the index
        ``""``. Atomics are included in the writes.
    atomics : dict of str to set of str
        From names of fields to operations: ``add``, ``min``, ``max``, ``or``, ``exch``, ``cas``.
    answers : dict of str to set of str
        Those atomics of which the functor uses what they return; ``add returned`` if it returns that.
    stored : dict of str to set of str
        From names of fields that are written without an atomic: ``{"alike"}`` if all calls that write an element store
        the same there, since the one value that is stored is made of scalars, constants and the element's id.
    topology : set of str
        Arrays of the graph that it reads by ``fr.neighbours``, ``fr.target`` and so on: ``offsets``, ``targets``,
        ``sources``, ``weights``.
    slots : dict of str to set of str
        From ``targets``, ``sources`` and ``weights``, and from fields that it reads or writes at ``any`` index, to the
        edge slots with which it does so: ``edge`` or another parameter, ``list v`` for those of
        ``fr.neighbours(p, v)``, or ``any``.
    updates : dict of str to set of str
        Fields of which the functor replaces an element by a value computed from the old one, without an atomic. The
        values are the parameters from which the index is made, such as ``"dst"`` or ``"i k"``, or ``"any"`` if several
        calls may update the same element.
    carried : dict of str to set of str
        From names of fields to atomics that also give a value for the field that goes along with it.
    along : dict of str to set of str
        From names of fields that are stored to, and "" for what the functor accepts, to the field whose element at the
        same index an atomic changes just where that happens: in the same calls, and in no others.
    tests : dict of str to set of str
        From names of fields that are read, or changed by atomics, to the integers with which all that is read is
        compared, by ``==`` or ``!=``; ``any`` if something else is done with it.
    puts : dict of str to set of str
        From names of fields that are written to the integers that they get; ``id`` for ids of vertices and edges,
        ``p.name`` for a scalar, and ``any`` for all else.
    relaxes : dict of str to set of str
        From names of fields that ``atomic_min`` or ``atomic_max`` changes to ``weight``, if it offers the element at
        ``dst`` the one at ``src`` plus the weight of the edge, to ``cap``, if it offers the lesser of both, and to
        ``any`` if it offers something else.
    negated : set of str
        The field of which the functor, a key of vertices, returns minus the element at ``v``.
    sums : set of str
        Operands of arithmetic between two bools: names of fields, separated by blanks, that all hold bools.
    ids : set of str
        Arguments that it uses for more than as indices of fields and in ``fr.degree``: ids that it compares, computes
        with, stores or returns; ``any`` if it asks for slots, or for the degree of something else.
    exact : bool
        False if the problem is passed to code that the analysis cannot follow.
    writes_known : bool
        False if it may write fields, or places in them, that are not in ``writes``.
    """

    reads: dict[str, set[Index]] = field(default_factory=dict)
    writes: dict[str, set[Index]] = field(default_factory=dict)
    atomics: dict[str, set[str]] = field(default_factory=dict)
    topology: set[str] = field(default_factory=set)
    slots: dict[str, set[str]] = field(default_factory=dict, repr=False)
    dimensions: dict[str, set[str]] = field(default_factory=dict, repr=False)
    updates: dict[str, set[str]] = field(default_factory=dict)
    carried: dict[str, set[str]] = field(default_factory=dict, repr=False)
    sums: set[str] = field(default_factory=set, repr=False)
    answers: dict[str, set[str]] = field(default_factory=dict, repr=False)
    stored: dict[str, set[str]] = field(default_factory=dict, repr=False)
    along: dict[str, set[str]] = field(default_factory=dict, repr=False)
    tests: dict[str, set[str]] = field(default_factory=dict, repr=False)
    puts: dict[str, set[str]] = field(default_factory=dict, repr=False)
    relaxes: dict[str, set[str]] = field(default_factory=dict, repr=False)
    negated: set[str] = field(default_factory=set, repr=False)
    ids: set[str] = field(default_factory=set, repr=False)
    exact: bool = True
    writes_known: bool = True

    @property
    def fields(self) -> set[str]:
        """The names of all these fields."""
        return {*self.reads, *self.writes}


#: Attributes that say something of each field.
_OF_FIELDS = (
    "reads", "writes", "atomics", "slots", "updates", "carried", "answers", "stored", "along", "tests", "puts",
    "dimensions", "relaxes",
)  # fmt: skip

#: By fingerprint.
_found: dict[str, Effects] = {}


def effects(fn: Callable[..., Any]) -> Effects:
    """Return which fields a functor and its helpers read and write.

    Parameters
    ----------
    fn : function
        A functor; its first parameter is the problem.

    Returns
    -------
    Effects

    Raises
    ------
    FunctorError
        If it, or a helper, does something functors may not do (try, with, yield, assignment to a scalar).

    Examples
    --------
    >>> def visit(p, src, dst):
    ...     return fr.atomic_cas(p.parent, dst, -1, src) == -1
    >>> fr.effects(visit).writes
    {'parent': {'dst'}}
    """
    if not isinstance(fn, FunctionType):
        raise FunctorError(f"a functor is a plain Python function, not {type(fn).__name__}: {fn!r}")
    captures = Captures((fn,))
    if captures.refused:  # it may change without notice
        return _read(fn)
    part = captures.parts[fn]
    if part.fingerprint not in _found:
        name = f"effects_{hashlib.sha256(f'{_version()}{part.fingerprint}'.encode()).hexdigest()[:32]}"
        path = cache_folder("effects") / f"{name}.{numba_version()}.json"
        made = _loaded(kept(path) or prebuilt.find("effects", name))
        if made is None:
            made = _read(part.frozen())
            keep(path, _text(made).encode())
        _found[part.fingerprint] = made
    return _found[part.fingerprint]


def _read(fn: Callable[..., Any]) -> Effects:
    made = Effects()
    names = fn.__code__.co_varnames[1 : fn.__code__.co_argcount]
    with busy():
        from frontier.program.effect_analysis import Reader  # which is seldom needed

        Reader(fn, {0: "problem", **{i: ("index", name) for i, name in enumerate(names, 1)}}, made, ()).read()
    return made


# ---- on disk -------------------------------------------------------------------------------------------


@cache
def _version() -> str:
    """Return what the analysis itself depends on, but numba's version."""
    here = Path(__file__)
    others = sorted((*here.parent.glob("effect_*.py"), *(here.parents[1] / "functors").glob("*.py")))
    files = [here, *others]
    sources = [file.read_bytes() for file in files]
    return f"{sys.version_info[:2]} {hashlib.sha256(b''.join(sources)).hexdigest()}"


def _text(found: Effects) -> str:
    return json.dumps(asdict(found), default=sorted)  # sets


def _loaded(text: bytes | None) -> Effects | None:
    """Read a result; None if there is none, or it is damaged."""
    try:
        given = json.loads(text or "")
        of_fields: dict[str, Any] = {
            kind: {name: set(values) for name, values in given[kind].items()}
            for kind in _OF_FIELDS
        }
        known = {name: given[name] for name in ("exact", "writes_known")}
        plain: dict[str, Any] = {kind: set(given[kind]) for kind in ("topology", "sums", "ids", "negated")}
        return Effects(**of_fields, **plain, **known)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
