"""Expressions of a program in readable form: meaningful names, no casts, no bookkeeping."""

from __future__ import annotations

from frontier.lowering.builder import Builder
from frontier.lowering.frontier_state import FrontierState
from frontier.lowering.ir import Call, Choice, Const, Counter, Expr, Item, Op, Var, walk
from frontier.lowering.variables import BUDGET, STOP, T

__all__ = ["Words"]

#: Functions that only change a value's type, which readers need not see.
_CASTS = ("truth", "integer")

#: Names of the counters of a phase.
_COUNTERS = {
    "COUNT": "the number appended",
    "EDGES": "the edges of what was appended",
    "EXAMINED": "the number counted",
    "PILE_COUNT": "the number put aside",
    "HELD": "the number put aside",
    "PILE_LOCK": "the number put aside",
}

#: How closely an operator binds, the loosest first.
_BINDING = (
    ("or",), ("and",), ("not",), ("==", "!=", "<", "<=", ">", ">="), ("|",), ("&",), ("+", "-"), ("*", "//", "/"),
)  # fmt: skip
_BINDS = {symbol: level for level, symbols in enumerate(_BINDING) for symbol in symbols}
_TIGHTEST = len(_BINDING)

#: Forms of frontiers in low-degree variants, where queues have no prefix sums of degrees.
_LOW_DEGREE = {
    "a list with out-degrees": "a list with the beginnings of out-edges",
    "a list with in-degrees": "a list with the beginnings of in-edges",
}


class Words:
    """What the variables and expressions of one program are called.

    Parameters
    ----------
    program : Builder
    shown : list of FrontierState
        The frontiers that a reader meets, in this order; they are numbered by it. Empty where that is not known yet.

    Attributes
    ----------
    met : list of FrontierState
        Those that have been named so far.
    """

    def __init__(self, program: Builder, shown: list[FrontierState]) -> None:
        self.program = program
        self.met: list[FrontierState] = []
        #: Values that are used once, printed instead of their variables.
        self.instead: dict[Var, str] = {}
        self._shown = shown
        self._part = {
            var: (current, part) for current in program.frontiers.all for part, var in current.variables().items()
        }
        self._spoken: dict[str, list[Var]] = {}

    # ---- frontiers -------------------------------------------------------------------------------------------

    def part(self, made: Expr) -> tuple[FrontierState, str] | None:
        """The frontier that a variable belongs to, and what of it it is."""
        return self._part.get(made) if isinstance(made, Var) else None

    def frontier(self, current: FrontierState) -> str:
        """What a frontier is called: ``frontier``, with a number where there are several."""
        if current not in self.met:
            self.met.append(current)
        if len(self._shown) < 2:
            return "frontier"
        return f"frontier{self._shown.index(current) + 1}"

    def frontiers(self, made: Expr) -> list[FrontierState]:
        """The frontiers whose elements an expression takes, in order."""
        found: list[FrontierState] = []
        for each in walk(made):
            part = self.part(each)
            if part is not None and part[1] != "side" and part[0] not in found:
                found.append(part[0])
        return found

    def form(self, made: Const) -> str:
        """What form a frontier has."""
        return _LOW_DEGREE.get(made.meaning, made.meaning) if self.program.low_degree else made.meaning

    # ---- values ----------------------------------------------------------------------------------------------

    def variable(self, var: Var) -> str:
        """What a variable is called; two of the same meaning are numbered in the order in which they are met."""
        if var in self.instead:
            return self.instead[var]
        if var in _FIXED:
            return _FIXED[var]
        part = self.part(var)
        if part is not None:
            return f"{self.frontier(part[0])}.{part[1]}"
        meaning = var.meaning or var.name
        same = self._spoken.setdefault(meaning, [])
        if var not in same:
            same.append(var)
        number = same.index(var) + 1
        return meaning if number == 1 else f"{meaning}{number}"

    def value(self, made: Expr) -> str:
        """An expression as people write it."""
        return self._bound(made)[0]

    def _bound(self, made: Expr) -> tuple[str, int]:
        """An expression, and how closely its outermost operator binds."""
        if isinstance(made, Op):
            return self._operation(made)
        if isinstance(made, Choice):
            return f"{self.value(made.yes)} if {self.value(made.condition)} else {self.value(made.no)}", -1
        if isinstance(made, Call):
            return self._call(made)
        if isinstance(made, Var):
            return self.variable(made), _TIGHTEST
        if isinstance(made, Const):
            return self.form(made) or repr(made.value), _TIGHTEST
        if isinstance(made, Counter):
            more = f" in pile {int(made.more) + 1}" if made.word == "PILE_LOCK" else ""
            return _COUNTERS.get(made.word, f"the counter {made.word}") + more, _TIGHTEST
        assert isinstance(made, Item), made
        return f"{self.value(made.array)}[{self.value(made.index)}]", _TIGHTEST

    def _operation(self, made: Op) -> tuple[str, int]:
        if self._asks_flag(made):
            name = self.value(made.operands[0])
            return (f"not {name}", _BINDS["not"]) if made.symbol == "==" else (name, _TIGHTEST)
        symbol, operands = made.symbol, list(made.operands)
        if symbol in ("<<", ">>") and isinstance(operands[1], Const):
            symbol, operands[1] = "*" if symbol == "<<" else "/", Const(1 << int(operands[1].value))
        if symbol == "not" and isinstance(operands[0], Op) and operands[0].symbol == "==":
            return self._bound(Op("!=", *operands[0].operands))
        if symbol == "not":
            return f"not {self._within(operands[0], _BINDS['not'] + 1)}", _BINDS["not"]
        if symbol == "&" and isinstance(operands[1], Const) and operands[1].value == 0xFFFFFFFF:
            return f"the low half of {self.value(operands[0])}", _TIGHTEST
        if symbol == "/" and isinstance(operands[1], Const) and operands[1].value == 1 << 32:
            return f"the high half of {self.value(operands[0])}", _TIGHTEST
        part = self.part(operands[0])
        if symbol == "!=" and part is not None and part[1] == "queue":
            return f"{self.frontier(part[0])} lies elsewhere", _BINDS["=="]
        if symbol in ("==", "!=") and part is not None and part[1] == "form":
            word = "is" if symbol == "==" else "is not"
            return f"{self.frontier(part[0])} {word} {self.value(operands[1])}", _BINDS["=="]
        if symbol == "*" and isinstance(operands[1], Const) and operands[1].value == 1:
            return self._bound(operands[0])
        binds = _BINDS.get(symbol, 0)
        first, *rest = operands
        texts = [self._within(first, binds), *(self._within(each, binds + 1) for each in rest)]
        return f" {symbol} ".join(texts), binds

    def operand(self, made: Expr) -> str:
        """An expression as it stands among others: in brackets if an operator is its outermost part."""
        return self._within(made, _TIGHTEST)

    def conjuncts(self, made: Expr) -> list[str]:
        """The tests of which all must hold."""
        if not (isinstance(made, Op) and made.symbol == "and"):
            return [self._within(made, _BINDS["and"])]
        first, *rest = made.operands
        return [*self.conjuncts(first), *(self._within(each, _BINDS["and"] + 1) for each in rest)]

    def _within(self, made: Expr, least: int) -> str:
        """An operand, in brackets where it binds less than it must."""
        text, binds = self._bound(made)
        return text if binds >= least else f"({text})"

    def _asks_flag(self, made: Op) -> bool:
        """Whether it tests a variable that is 0 or 1."""
        if made.symbol not in (">", "==", "!="):
            return False
        var, other = made.operands
        return isinstance(var, Var) and self.is_flag(var) and isinstance(other, Const) and other.value == 0

    def is_flag(self, var: Var) -> bool:
        """Whether a variable says that something is so."""
        return var.meaning in ("pulling", "has_in_edges")

    def _call(self, made: Call) -> tuple[str, int]:
        if made.function in _CASTS or made.function.startswith("np.") or made.function.endswith("_at"):
            return self._bound(made.arguments[0])
        if made.function in ("combined_int", "combined_float"):
            operation = next(each for each in made.arguments[2:] if isinstance(each, Var) and each.name in _COMBINED)
            return f"{_COMBINED[operation.name]} {self.program.sharers}' results", _TIGHTEST
        if made.function in ("kept_int", "kept_float"):
            return f"the {self.program.sharers}' results, combined", _TIGHTEST
        if made.function == "partial_total":
            return f"the sum of the {self.program.sharers}' sums", _TIGHTEST
        return f"{made.function}({', '.join(map(self.value, made.arguments))})", _TIGHTEST


_COMBINED = {"SUM": "the sum of the", "MIN": "the least of the", "MAX": "the greatest of the", "OR": "the union of the"}

#: Variables that every program has.
_FIXED = {STOP: "stop", BUDGET: "passes_allowed", T: "phases_begun"}
