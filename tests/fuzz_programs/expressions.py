"""Random functors as text: what they read and write in a step is so chosen that the order of calls does not matter."""

from __future__ import annotations

import numpy as np

from .fields import FIELDS, FLOATS, LENGTH, PAIRS, Kept

__all__ = ["PLACES", "Writer"]

#: Arguments of a functor at a place, and at which of them it has an element of its own.
PLACES = {
    "vertex": ("v",),
    "edge": ("src", "dst", "edge", "weight"),
    "count": ("i",),
    "common": ("u", "v", "w", "uv", "uw", "vw"),
    "scalars": (),
    "src": ("src",),
    "dst": ("dst",),
}
_VERTICES = ("v", "src", "dst", "u", "w")
_OWN = {"v": "vertex", "edge": "edge", "i": "array"}

#: Beyond this an integer is brought back.
MOST = 2**44


class Writer:
    """Writes one functor.

    Parameters
    ----------
    rng : Generator
    name : str
        Of the functor.
    place : str
        See :data:`PLACES`.
    weights : str or None
        Dtype of the graph's weights.
    banned : set of str
        Fields that it may not read.
    writes : set of str
        Fields that it writes; it reads those only at its own element.
    wild : bool
        Whether values may be anything: integers that wrap, infinities, NaN.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        name: str,
        place: str,
        weights: str | None,
        banned: set[str] = frozenset(),  # type: ignore[assignment]
        writes: set[str] = frozenset(),  # type: ignore[assignment]
        wild: bool = False,
    ) -> None:
        self.rng, self.name, self.place, self.weights, self.wild = rng, name, place, weights, wild
        self.banned, self.writes = banned, writes
        self.lines: list[str] = []
        self.names: dict[str, tuple[str, int]] = {}  # local variables: type, bound
        self.used: set[str] = set()
        self.fields: set[str] = set()
        self.helpers: list[str] = []
        self.own = next((end for end in PLACES[place] if end in _OWN and place in ("vertex", "edge", "count")), None)

    # ---- choices ---------------------------------------------------------------------------------------

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def pick(self, options):  # type: ignore[no-untyped-def]
        options = list(options)
        return options[int(self.rng.integers(len(options)))]

    # ---- leaves ----------------------------------------------------------------------------------------

    def end(self, name: str) -> str:
        self.used.add(name)
        return name

    def vertex(self) -> str | None:
        """Text of a vertex that exists."""
        ends = [name for name in PLACES[self.place] if name in _VERTICES]
        if not ends:
            return None
        end = self.end(self.pick(ends))
        if self.chance(0.15) and "link" not in self.writes:
            self.fields.add("link")
            return f"p.link[{end}]"
        if self.chance(0.05):
            self.fields.add("n")
            return f"(({self.integer(1)[0]}) % p.n)"
        return end

    def read(self, kinds: tuple[str, ...]) -> tuple[str, Kept] | None:
        """Text that reads a field of some dtypes."""
        there = [
            (name, field)
            for name, field in FIELDS.items()
            if field.dtype in kinds and field.kind != "pile" and name not in self.banned and not name.startswith("c")
        ]
        name, field = self.pick(there)
        own = self.own is not None and field.kind == _OWN[self.own]
        if name in self.writes and not (own and field.way == "plain"):
            return None
        if field.kind == "scalar":
            at = ""
        elif name in self.writes or (own and self.chance(0.5)):
            at = f"[{self.end(str(self.own))}]"
        elif field.kind == "array":
            at = f"[{self.pick(range(LENGTH))}]"
        elif field.kind == "vertex":
            vertex = self.vertex()
            if vertex is None:
                return None
            at = f"[{vertex}]"
        else:
            slots = [end for end in ("edge", "uv", "uw", "vw") if end in PLACES[self.place]]
            if not slots:
                return None
            at = f"[{self.end(self.pick(slots))}]"
        self.fields.add(name)
        return f"p.{name}{at}", field

    # ---- expressions: text, and a bound for integers ------------------------------------------------------

    def integer(self, depth: int) -> tuple[str, int]:
        text, bound = self._integer(depth)
        if bound > MOST and not self.wild:
            return f"(({text}) % 100003)", 100003
        return text, bound

    def _integer(self, depth: int) -> tuple[str, int]:
        if depth <= 0 or self.chance(0.15):
            return self._integer_leaf()
        a, m = self.integer(depth - 1)
        kind = self.pick(["+", "-", "*", "//", "%", "bit", "shift", "abs", "min", "max", "neg", "if", "float", "hash",
                          "bool", "helper"])  # fmt: skip
        if kind in ("abs", "neg"):
            return (f"abs({a})" if kind == "abs" else f"(-{a})"), m
        if kind == "float":
            text = self.real(depth - 1)[0]
            if self.wild:
                return f"{self.pick(['int', 'round', 'math.floor', 'np.int64'])}({text})", 2 * MOST
            return f"int(min(max({text}, -1000.0), 1000.0))", 1000
        if kind == "hash":
            return f"(fr.hash({a}) % 97)", 97
        if kind == "bool":
            return f"(int({self.truth(depth - 1)}) + ({a}))", m + 1
        b, n = self.integer(depth - 1)
        if kind in "+-":
            return f"({a} {kind} {b})", m + n
        if kind == "*":
            return f"({a} * {b})", m * n + 1
        if kind in ("//", "%"):
            if self.wild:
                return f"(int({a}) {kind} {b})", 2 * MOST  # Python's own numbers would raise
            by = self.pick([f"{self.pick([2, 3, 7, 64, -5])}", f"(abs({b}) + 1)"])
            return f"({a} {kind} {by})", (m if kind == "//" else n + 64)
        if kind == "bit":
            return f"({a} {self.pick('&|^')} {b})", 2 * max(m, n) + 2
        if kind == "shift":
            if self.wild:
                return f"(int({a}) {self.pick(['<<', '>>'])} {self.pick([b, f'({b} % 80)', '3'])})", 2 * MOST
            if self.chance(0.5):
                return f"({a} >> {self.pick(range(6))})", m + 1
            return f"({a} << {self.pick(range(5))})", m * 16 + 1
        if kind in ("min", "max"):
            return f"{kind}({a}, {b})", max(m, n)
        if kind == "helper":
            return self.helped(a, m, b, n)
        # A variable has one type: literals would be Python's numbers on one path only.
        return f"(int({a}) if {self.truth(depth - 1)} else int({b}))", max(m, n)

    def _integer_leaf(self) -> tuple[str, int]:
        kind = self.pick(["literal", "end", "field", "field", "name", "weight", "outside"])
        if kind == "end":
            ends = [end for end in PLACES[self.place] if end != "weight"]
            if ends:
                return self.end(self.pick(ends)), 10000
        if kind == "weight" and self.place == "edge" and (self.weights or "f").startswith("int"):
            return self.end("weight"), 9
        if kind == "field":
            found = self.read(("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"))
            if found is not None:
                return found[0], MOST * 2 if self.wild else max(-found[1].low, found[1].high)
        if kind == "name":
            names = [(name, bound) for name, (kind, bound) in self.names.items() if kind == "i"]
            if names:
                return self.pick(names)
        if kind == "outside":
            return self.pick([("SEVEN", 7), ("MINUS", 40)])
        number = self.pick([0, 1, 2, 3, 5, 10, 17, 100, -1, -2, -30])
        return (str(number) if number >= 0 else f"({number})"), abs(number)

    def helped(self, a: str, m: int, b: str, n: int) -> tuple[str, int]:
        """A call of a helper of the functor's own."""
        name = f"{self.name}_h{len(self.helpers)}"
        body, bound = self.pick([
            ("a + 2 * b if a < b else a - b", m + 2 * n),
            ("max(a, b) - min(a, 0)", 2 * m + n),
            ("(a ^ b) % 1000", 1000),
        ])  # fmt: skip
        self.helpers.append(f"def {name}(a, b):\n    return {body}")
        return f"{name}({a}, {b})", bound

    def real(self, depth: int) -> tuple[str, str]:
        """Text of a float."""
        if depth <= 0 or self.chance(0.15):
            return self._real_leaf(), ""
        a = self.real(depth - 1)[0]
        kind = self.pick(["+", "-", "*", "/", "//", "min", "max", "neg", "abs", "sqrt", "floor", "if", "integer",
                          "float"])  # fmt: skip
        if kind in ("neg", "abs", "sqrt", "floor", "float"):
            forms = {"neg": "(-{})", "abs": "abs({})", "sqrt": "math.sqrt({})", "floor": "np.floor({})",
                     "float": "float({})"}  # fmt: skip
            return forms[kind].format(a), ""
        b = self.real(depth - 1)[0] if self.chance(0.7) else self.integer(depth - 1)[0]
        if kind == "integer":
            return f"({a} + {self.integer(depth - 1)[0]})", ""
        if kind == "//":
            if self.wild:
                return f"(float({a}) {self.pick(['//', '%'])} {b})", ""
            return f"({a} // (abs({b}) + 1.0))", ""
        if kind == "/":
            return f"(float({a}) / {b if self.wild else f'(abs({b}) + 1.0)'})", ""
        if kind in ("min", "max"):
            return f"{kind}({a}, {self.real(depth - 1)[0]})", ""
        if kind == "if":
            return f"(float({a}) if {self.truth(depth - 1)} else float({self.real(depth - 1)[0]}))", ""
        return f"({a} {kind} {b})", ""

    def _real_leaf(self) -> str:
        kind = self.pick(["literal", "field", "field", "field", "name", "weight", "random"])
        if kind == "weight" and self.place == "edge" and (self.weights or "i").startswith("float"):
            return self.end("weight")
        if kind == "field":
            found = self.read(FLOATS)
            if found is not None:
                return found[0]
        if kind == "name":
            names = [name for name, (kind, _) in self.names.items() if kind == "f"]
            if names:
                return str(self.pick(names))
        if kind == "random":
            return f"fr.random({self.integer(0)[0]}, {self.integer(0)[0]})"
        return str(self.pick(["0.5", "0.1", "2.0", "(-1.5)", "1e3", "HALF", "0.0"]))

    def truth(self, depth: int) -> str:
        """Text of a bool."""
        kind = self.pick(["int", "int", "real", "field", "and", "or", "not", "literal"])
        if depth <= 0 or kind == "field":
            found = self.read(("bool",))
            if found is not None:
                return found[0]
            kind = "int"
        if kind in ("and", "or"):
            return f"({self.truth(depth - 1)} {kind} {self.truth(depth - 1)})"
        if kind == "not":
            return f"(not {self.truth(depth - 1)})"
        if kind == "literal" and self.chance(0.3):
            return str(self.pick(["True", "False"]))
        make = self.real if kind == "real" else self.integer
        compare = self.pick(["<", "<=", ">", ">=", "==", "!="])
        if kind != "real" and self.chance(0.4):
            return f"({make(depth - 1)[0]} % {self.pick([2, 3, 5])} {compare} 1)"
        return f"({make(depth - 1)[0]} {compare} {make(depth - 1)[0]})"

    def quarters(self, depth: int) -> str:
        """Text of a float whose sums are exact."""
        return f"({self.integer(depth)[0]} % 16) * 0.25"

    # ---- statements ------------------------------------------------------------------------------------

    def fitting(self, field: Kept, depth: int) -> str:
        """Text of a value that a field takes."""
        if field.dtype == "bool":
            return self.truth(depth)
        if field.way == "exact":
            return self.quarters(depth)
        if field.dtype in FLOATS:
            return self.bounded(depth)
        text, bound = self.integer(depth)
        if bound <= min(-field.low, field.high) or (self.wild and field.dtype == "int64"):
            return text
        return f"({text}) % {field.high - field.low} + ({field.low})"

    def bounded(self, depth: int) -> str:
        text = self.real(depth)[0]
        return text if self.wild else f"min(max({text}, -1e6), 1e6)"

    def line(self, text: str, indent: int = 0) -> None:
        self.lines.append("    " * (indent + 1) + text)

    def statements(self) -> None:
        """Some local variables, perhaps in a loop or on two paths."""
        for _ in range(int(self.rng.integers(0, 3))):
            name = f"t{len(self.names)}"
            real = self.chance(0.4)
            text, bound = (self.bounded(2), 0) if real else self.integer(2)
            self.line(f"{name} = {text}")
            self.lines[-1] = f"    {name} = {'float' if real else 'int'}({text})"
            form = self.pick(["", "", "loop", "if"])
            if form == "loop":
                self.line(f"for j in range({self.pick([0, 1, 3])}):")
                self.line(f"{name} += {self.bounded(1) if real else f'j + ({self.integer(1)[0]}) % 1000'}", 1)
                bound += 4000
            elif form == "if":
                more, much = (self.bounded(1), 0) if real else self.integer(1)
                self.line(f"if {self.truth(1)}:")
                self.line(f"{name} = {'float' if real else 'int'}({more})", 1)
                bound = max(bound, much)
            self.names[name] = ("f" if real else "i", bound)
        vertices = [end for end in PLACES[self.place] if end in _VERTICES]
        if vertices and self.chance(0.15):  # the graph around a vertex
            name = f"t{len(self.names)}"
            self.line(f"{name} = int(fr.degree(p, {self.end(self.pick(vertices))}))")
            self.line(f"for s in fr.neighbours(p, {self.end(self.pick(vertices))}):")
            self.line(f"{name} += {self.pick(['fr.target(p, s)', 's', 'fr.source(p, s) * s % 7'])}", 1)
            self.names[name] = ("i", 10**6)

    def store(self, name: str) -> None:
        """A write: to the functor's own element, or an atomic."""
        field = FIELDS[name]
        self.fields.add(name)
        own = self.own if self.own is not None and field.kind == _OWN[self.own] else None
        if field.way == "plain":
            assert own is not None
            if field.dtype not in FLOATS and field.dtype != "bool" and self.chance(0.2) and field.low < 0:
                self.line(f"p.{name}[{self.end(own)}] = (p.{name}[{own}] + {self.integer(1)[0]}) % {field.high}")
            else:
                self.line(f"p.{name}[{self.end(own)}] = {self.fitting(field, 2)}")
            return
        at = self.vertex() if field.kind == "vertex" else self.end(own or self.pick(["edge"]))
        if name in PAIRS:  # what goes along depends on the value alone: of equal ones any may come first
            self.fields.add(PAIRS[name])
            self.line(f"best = {self.fitting(field, 1)}")
            call, other = ("min", "best % 1000") if field.way == "first" else ("max", "best")
            self.line(f"fr.atomic_{call}(p.{name}, {at}, best, {other})")
            return
        operation = "add" if field.way == "exact" else field.way
        value = f"({self.integer(1)[0]}) % 1000" if field.way == "add" else self.fitting(field, 1)
        self.line(f"fr.atomic_{operation}(p.{name}, {at}, {value})")

    def text(self, result: str | None) -> str:
        """The functor's text; ``result`` is what it returns."""
        if result is not None:
            self.line(f"return {result}")
        if not self.lines:
            self.line("pass")
        ends = [end for end in PLACES[self.place] if end in self.used]
        self.rng.shuffle(ends)
        head = f"def {self.name}({', '.join(['p', *ends])}):"
        return "\n\n\n".join([*self.helpers, "\n".join([head, *self.lines])])
