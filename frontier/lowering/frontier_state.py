"""The class FrontierState: the representation of a frontier inside a loop function.

Every scope (the program, and every step or loop with a frontier of its own) has one: a few
local variables, which have the same values in all workers, and queues in memory.

===========  ==========================================================================
``form``     QUEUE (ids), OUT or IN (ids, and the prefix sum of out- or in-degrees), ALL, BITS,
             OWN (ids: all that one of several GPUs owns, in their order)
``kind``     0 vertices, 1 edges
``count``    number of elements
``edges``    sum of their degrees, if the form includes it
``queue``    address of the ids
``side``     which of its two queues and prefix sums the frontier uses now
``bits``     address of the bitmap
===========  ==========================================================================
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

from frontier.lowering.ir import Const, Var
from frontier.lowering.variables import Variables

__all__ = [
    "ALL", "BITS", "HOW", "IN", "OUT", "OWN", "PULL", "PUSH", "PUSH_THREAD", "QUEUE", "SMALL", "STREAM", "VARIABLES",
    "FrontierState", "form", "pushed_by",
]  # fmt: skip

QUEUE, OUT, IN, ALL, BITS, OWN = range(6)

_FORMS = ("a list", "a list with out-degrees", "a list with in-degrees", "everything", "a bitmap", "all of its own")


def form(number: int) -> Const:
    """A form as an expression."""
    return Const(number, _FORMS[number])


#: How a step walked edges, in the rows of a trace: 0 is not at all.
PUSH, PULL, PUSH_THREAD, STREAM = range(1, 5)

#: The words of a trace for these: direction and balance. :func:`pushed_by` adds those of registered balances.
HOW = {
    0: ("", ""),
    PUSH: ("push", "merge_path"),
    PULL: ("pull", ""),
    PUSH_THREAD: ("push", "thread"),
    STREAM: ("pull", "stream"),
}


def pushed_by(balance: str) -> int:
    """Return the number that stands for a registered balance in the rows of a trace.

    It is a checksum of the name, so that compiled code on disk has the same number whatever was registered before.
    """
    number = zlib.crc32(balance.encode())
    HOW[number] = ("push", balance)
    return number


#: Edge slots below which a pull never pays: pushing along all of them takes no longer, and a pull must be compiled.
#: (Measured with fr.bfs on the CPU: karate and R-MAT 6 with 782 slots take as long either way, R-MAT 8 with 4,204 slots
#: 45 microseconds against 48.)
SMALL = 1 << 11

#: What of a frontier is a variable.
VARIABLES = ("form", "kind", "count", "edges", "queue", "side", "bits")


@dataclass
class FrontierState:
    """The variables of one frontier, and what is known of it while the program is made.

    What ``queue`` leads to is only read: it may be the memory of a user's Frontier, with no room beyond ``count``.

    Attributes
    ----------
    number : int
    form, kind, count, edges, queue, side, bits : Var
        See above.
    kinds : set of str
        Kinds of elements that it may hold here: usually one.
    dense : bool
        Whether a pull in its scope may leave it as a bitmap.
    whole : bool
        Whether it is everything throughout.
    few : bool
        Whether it only ever holds one vertex, and needs no queues as long as the graph has vertices.
    record : str
        Name of the record that frontiers are written to directly, if they are: see ``Builder.target``.
    places : dict
        Of all frontiers of a program: whose arrays are which. They are numbered as they are first asked for, so that
        programs which run on a graph one after another use the same ones.
    """

    number: int
    form: Var
    kind: Var
    count: Var
    edges: Var
    queue: Var
    side: Var
    bits: Var
    kinds: frozenset[str] = frozenset()
    dense: bool = False
    few: bool = False
    whole: bool = False
    record: str = ""
    places: dict[tuple[bool, int], int] = field(default_factory=dict)

    @classmethod
    def made(cls, number: int, variables: Variables, places: dict[tuple[bool, int], int]) -> FrontierState:
        """A frontier with variables of its own."""
        form, kind, count, edges, queue, side, bits = (variables.variable(name) for name in VARIABLES)
        return cls(number, form, kind, count, edges, queue, side, bits, places=places)

    def variables(self) -> dict[str, Var]:
        """Its variables by their names."""
        return {name: getattr(self, name) for name in VARIABLES}

    def buffer(self, role: str, side: str) -> str:
        """Key of the address of one of its arrays: role ``ids``, ``scan``, ``slots`` or ``mask``; side a or b."""
        others = sum(few == self.few for few, _ in self.places)
        number = self.places.setdefault((self.few, self.number), others)
        return f"{'few_' * self.few}{role}_{side}{number}"
