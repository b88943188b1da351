"""Random programs: steps and loops that go together, with functors for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from .expressions import Writer
from .fields import FIELDS, FLOATS, LENGTH, PAIRS, SCALARS

__all__ = ["Node", "Program", "program", "smaller"]


#: Reductions of the programs' own: the same for every order of values, and no larger than these.
REGISTERED = ("parity", "divisor", "magnitude")

_REGISTRY = """def parity(total, value):
    return total ^ value


def divisor(total, value):
    while value != 0:
        total, value = value, total % value
    return abs(total)


def magnitude(total, value):
    return abs(value) if abs(value) > total else total


fr.register_reduction("parity", parity, identity=0, truth=True, exact="biuf")
fr.register_reduction("divisor", divisor, identity=0, kinds="iu")
fr.register_reduction("magnitude", magnitude, identity=0, exact="biuf")"""


@dataclass(frozen=True)
class Node:
    """A step: the text of its arguments, the texts of its functors, and the steps inside it."""

    name: str
    options: tuple[str, ...] = ()
    functors: tuple[str, ...] = ()
    fields: frozenset[str] = frozenset()
    inner: tuple[Node, ...] = ()

    def text(self, indent: int = 1) -> str:
        pad = "    " * indent
        if not self.inner:
            module = "" if self.name == "Holding" else "fr."
            return f"{pad}{module}{self.name}({', '.join(self.options)}),"
        inside = "\n".join(node.text(indent + 1) for node in self.inner)
        return f"{pad}fr.{self.name}(\n{inside}\n{pad}    {', '.join(self.options)}\n{pad}),"

    def walk(self) -> Iterator[Node]:
        yield self
        for node in self.inner:
            yield from node.walk()


@dataclass(frozen=True)
class Program:
    """A program, the kind of frontier that it starts with (or none), and what its problems are like."""

    root: Node
    kind: str | None
    weights: str | None
    directed: bool
    schedule: str
    wild: bool

    @property
    def fields(self) -> tuple[str, ...]:
        used = {"n", "source", "link", "claim"}.union(*(node.fields for node in self.root.walk()))
        return tuple(name for name in FIELDS if name in used)

    def text(self) -> str:
        """A module with the functors, the step ``STEP`` and the schedule ``SCHEDULE``."""
        functors = [text for node in self.root.walk() for text in node.functors]
        head = "import math\n\nimport numpy as np\n\nimport frontier as fr\n"
        head += "from frontier.operators.advance.holding import Holding\n\nSEVEN, MINUS, HALF = 7, -40, 0.5"
        step = self.root.text(0).rstrip(",")
        if any(repr(name) in node.options for node in self.root.walk() for name in REGISTERED):
            head = f"{head}\n\n\n{_REGISTRY}"
        return "\n\n\n".join([head, *functors, f"STEP = {step}\nSCHEDULE = {self.schedule}\n"])


@dataclass
class _Maker:
    rng: np.random.Generator
    weights: str | None
    wild: bool
    counters: int = 0
    made: int = 0
    depth: int = 0
    records: int = 0
    used: list[Node] = field(default_factory=list)

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def pick(self, options):  # type: ignore[no-untyped-def]
        options = list(options)
        return options[int(self.rng.integers(len(options)))]

    # ---- functors ----------------------------------------------------------------------------------------

    def writer(self, place: str, banned: set[str] | None = None, writes: set[str] | None = None) -> Writer:
        self.made += 1
        return Writer(
            self.rng, f"fn{self.made}", place, self.weights, banned or set(), writes or set(), self.wild
        )

    def written(self, place: str) -> set[str]:
        """Fields that a functor at a place may write in one step."""
        own = {"vertex": "vertex", "edge": "edge", "count": "array"}.get(place)
        there = [
            name
            for name, kept in FIELDS.items()
            if (kept.way == "plain" and kept.kind == own)
            or (kept.way in ("add", "min", "max", "or", "exact") and kept.kind == "vertex" and place != "count")
            or (kept.way == "add" and kept.kind == "edge" and place == "edge")
            or (kept.way in ("first", "last") and place != "count")
        ]
        count = int(self.rng.integers(0, 4))
        found = set(self.rng.choice(there, min(count, len(there)), replace=False).tolist()) if there else set()
        return found | {PAIRS[name] for name in found & PAIRS.keys()}

    def functor(
        self,
        place: str,
        returns: str,
        banned: set[str] | None = None,
        quiet: bool = False,
        names: set[str] | None = None,
    ) -> Writer:
        """A functor with what it does before it returns; ``quiet`` without side effects; ``names`` are arguments."""
        writer = self.writer(place, banned, set() if quiet else self.written(place))
        writer.used |= names or set()
        writer.statements()
        stores = sorted(writer.writes - {*PAIRS.values()})
        for name in stores:
            if self.chance(0.3):
                writer.line(f"if {writer.truth(1)}:")
                before = len(writer.lines)
                writer.store(name)
                writer.lines[before:] = ["    " + line for line in writer.lines[before:]]
            else:
                writer.store(name)
        # A value is made after the writes, and may see those of the functor's own element.
        kept = FIELDS.get(returns)
        if returns == "truth":
            result = writer.truth(2)
        elif returns == "none":
            result = None
        elif returns == "bucket":
            result = writer.integer(1)[0] + " % 5 - 1"
        elif returns == "sum":
            result = f"({writer.integer(2)[0]}) % 1000 - 300"
        elif returns == "quarters":
            result = writer.quarters(2)
        else:
            assert kept is not None
            result = writer.fitting(kept, 2)
        writer.result = writer.text(result)  # type: ignore[attr-defined]
        return writer

    def node(self, name: str, options: list[str], *writers: Writer, fields: set[str] | None = None) -> Node:
        used = {*(fields or ())}.union(*(writer.fields | writer.writes for writer in writers))
        return Node(name, tuple(options), tuple(w.result for w in writers), frozenset(used))  # type: ignore[attr-defined]

    # ---- steps -------------------------------------------------------------------------------------------

    def over(self, kinds: tuple[str, ...]) -> tuple[str, str, set[str]]:
        """A frontier of a step's own: the option, its kind and the fields that it names."""
        some = [
            ("'vertices'", "vertex", set()),
            ("'edges'", "edge", set()),
            ("'far'", "vertex", {"far"}),
            ("'later'", "edge", {"later"}),
            ("'source'", "vertex", {"source"}),
            (str(self.pick(range(LENGTH + 1))), "count", set()),
            ("'times'", "count", {"times"}),
        ]
        text, kind, fields = self.pick([made for made in some if made[1] in kinds])
        return f"over={text}", kind, fields

    def advance(self, kind: str, output: str | None) -> Node:
        options, fields = [], set()
        edges = self.pick(["out", "out", "in"])
        far = "dst" if edges == "out" else "src"
        if edges == "in":
            options.append("edges='in'")
        if output != "vertex":
            options.append(f"output={output!r}")
        if output == "vertex" and self.chance(0.3):
            return self._claim(far, options)
        fn = self.functor("edge", "truth" if output else "none")
        writers = [fn]
        stable = set(fn.writes)
        if self.chance(0.5):
            where = self.functor(far, "truth", stable, quiet=True)
            options.append(f"where={where.name}")
            writers.append(where)
        pulls, name = True, "Advance"
        if output == "vertex" and self.chance(0.12):
            hold = self.functor("vertex", "truth", stable, quiet=True)
            options.append(f"hold={hold.name}")
            name = "Holding"
            writers.append(hold)
            pulls = False
            if self.chance(0.5) and "l" not in self._read(writers):
                options.append("held='l'")
                fields.add("l")
        elif self.chance(0.25):
            pulls = False
            options.append("part=" + self.pick(["slice(0, 2)", "slice(1, None)", "slice(2, 4)", "fr.sample(2)",
                                                 "fr.sample(3, seed=5)", "fr.sample(1, seed='l')"]))  # fmt: skip
            fields |= {"l"} if "'l'" in options[-1] else set()
        if pulls and output != "edge" and self.chance(0.3):
            options.append("schedule=fr.Schedule(direction='pull')")
        if output == "vertex" and self.chance(0.15):
            options.append("unique='cull'")
            first = self.node(name, [fn.name, *options], *writers, fields=fields)
            return Node("Sequence", (), (), frozenset(), (first, Node("Unique")))
        return self.node(name, [fn.name, *options], *writers, fields=fields)

    def _read(self, writers: list[Writer]) -> set[str]:
        return set().union(*(writer.fields for writer in writers))

    def _claim(self, far: str, options: list[str]) -> Node:
        """An advance whose functor claims far ends: whoever is first, what it leaves is the same."""
        writes = {"claim", "x"}
        writer = self.writer("edge", {"claim", "x"}, writes)
        condition = writer.truth(1)
        writer.used.add(far)
        value = self.writer(far, {"claim", "x"}, writes)
        value.name = writer.name
        stored, _ = value.integer(2)
        writer.helpers += value.helpers
        writer.fields |= value.fields
        if self.chance(0.6):
            condition = "True"
            writer.used, writer.fields, writer.helpers = {far}, value.fields, value.helpers
        writer.used |= value.used
        writer.line(f"if {condition}:")
        writer.line(f"if fr.atomic_cas(p.claim, {far}, -1, 7) == -1:", 1)
        writer.line(f"p.x[{far}] = ({stored}) % 100003", 2)
        writer.line("return True", 2)
        writer.result = writer.text("False")  # type: ignore[attr-defined]
        where = self.writer(far, writes, set())
        extra = f" and {where.truth(1)}" if self.chance(0.3) else ""
        where.used.add(far)
        where.fields.add("claim")
        where.result = where.text(f"p.claim[{far}] == -1{extra}")  # type: ignore[attr-defined]
        options += [f"where={where.name}", f"unique={self.pick(['exact', 'claimed', 'claimed'])!r}"]
        if self.chance(0.3):
            options.append("schedule=fr.Schedule(direction='pull')")
        return self.node("Advance", [writer.name, *options], writer, where)

    def step(self, kind: str) -> tuple[Node, str]:
        """One step for a frontier of a kind, and the kind after it."""
        name = self.pick([
            "advance", "advance", "advance", "filter", "filter", "compute", "compute", "reduce", "gather", "split",
            "buckets", "scan", "intersect", "set", "swap", "take", "loop", "loop", "sequence",
        ])  # fmt: skip
        if name == "advance":
            output = self.pick(["vertex", "vertex", "edge", None])
            return self.advance(kind, output), output or kind
        if name in ("loop", "sequence") and self.depth < 2:
            return self.loop(kind) if name == "loop" else (self.sequence(kind), kind)
        if name == "take":
            pile = self.pick(["far", "late", "later"])
            return Node("Take", (repr(pile),), (), frozenset({pile})), FIELDS[pile].dtype
        if name == "swap":
            a, b = self.pick([("a", "b"), ("x", "y"), ("f", "g"), ("d", "e"), ("flag", "mark"), ("far", "late"),
                              ("listed", "listed")])  # fmt: skip
            return Node("Swap", (repr(a), repr(b)), (), frozenset({a, b})), kind
        if name == "set":
            return self.set(), kind
        return getattr(self, f"_{name}", self._filter)(kind), kind

    def _own(self, kind: str, kinds: tuple[str, ...]) -> tuple[str, list[str], set[str]]:
        """Whether a step has a frontier of its own: the kind of its elements, the option, fields."""
        if kind in kinds and self.chance(0.7):
            return kind, [], set()
        text, kind, fields = self.over(kinds)
        return kind, [text], fields

    def _naming(self, fields: set[str]) -> set[str]:
        """What a functor over a scalar must name: without ``i`` the scalar is a vertex, and may be none."""
        return {"i"} if "times" in fields else set()

    def _filter(self, kind: str) -> Node:
        fn = self.functor(kind, "none" if self.chance(0.03) else "truth")  # nothing means no
        return self.node("Filter", [fn.name], fn)

    def _split(self, kind: str) -> Node:
        pile = self.pick(["far", "late"]) if kind == "vertex" else "later"
        fn = self.functor(kind, "truth")
        return self.node("Split", [fn.name, f"rest={pile!r}"], fn, fields={pile})

    def _buckets(self, kind: str) -> Node:
        piles = ["far", "late"] if kind == "vertex" else ["later"]
        fn = self.functor(kind, "bucket")
        return self.node("Buckets", [fn.name, f"piles={piles}"], fn, fields={*piles})

    def _compute(self, kind: str) -> Node:
        kind, options, fields = self._own(kind, ("vertex", "edge", "count"))
        fn = self.functor(kind, "none", names=self._naming(fields))
        return self.node("Compute", [fn.name, *options], fn, fields=fields)

    def _reduced(self, into: str) -> tuple[str, str]:
        """An operation into a field, and what its functor returns."""
        kept = FIELDS[into]
        if self.chance(0.4):
            op = self.pick(REGISTERED if kept.dtype not in (*FLOATS, "bool") else ["parity", "magnitude"])
            return op, "truth" if op == "parity" or kept.dtype == "bool" else into
        if kept.dtype == "bool":
            return self.pick(["any", "all", "or"]), "truth"
        if kept.dtype in FLOATS:
            op = self.pick(["sum", "min", "max"])
            return op, "quarters" if op == "sum" else into
        op = self.pick(["sum", "min", "max", "any", "all", "or"])
        if kept.high < 100000 and op == "sum":
            op = "max"
        return op, "truth" if op in ("any", "all") else "sum" if op == "sum" else into

    def _reduce(self, kind: str) -> Node:
        kind, options, fields = self._own(kind, ("vertex", "edge", "count"))
        into = self.pick(SCALARS)
        op, returns = self._reduced(into)
        fn = self.functor(kind, returns, names=self._naming(fields))
        return self.node("Reduce", [fn.name, repr(op), f"into={into!r}", *options], fn, fields={into, *fields})

    def _gather(self, kind: str) -> Node:
        kind, options, fields = self._own(kind, ("vertex",))
        into = self.pick(["a", "b", "x", "y", "f", "d", "e", "flag", "unsigned", "tiny", "sum64", "least", "most"])
        op, returns = self._reduced(into)
        if into in ("a", "b", "x", "y") and self.chance(0.4):
            op, returns = self.pick(["argmin", "argmax", "mode"]), self.pick(["x", "d", "f"])
            returns = into if op == "mode" else returns
        fn = self.functor("edge", returns, {into}, quiet=True)
        writers = [fn]
        edges = self.pick(["in", "out"])
        options += ["edges='out'"] if edges == "out" else []
        if self.chance(0.4):
            where = self.functor("src" if edges == "in" else "dst", "truth", {into}, quiet=True)
            writers.append(where)
            options.append(f"where={where.name}")
        return self.node("Gather", [fn.name, repr(op), repr(into), *options], *writers, fields={into, *fields})

    def _scan(self, kind: str) -> Node:
        kind, options, fields = self._own(kind, ("vertex", "edge"))
        into = self.pick(["x", "y", "sum64", "most"] if kind == "vertex" else ["ex", "eadded"])
        fn = self.functor(kind, "quarters" if FIELDS[into].way == "exact" else "sum", {into}, quiet=True)
        if self.chance(0.5):
            total = "r" if FIELDS[into].dtype in FLOATS else "l"
            options.append(f"total={total!r}")
            fields.add(total)
        return self.node("Scan", [fn.name, repr(into), *options], fn, fields={into, *fields})

    def _intersect(self, kind: str) -> Node:
        kind, options, fields = self._own(kind, ("edge",))
        if self.chance(0.6):
            into = self.pick(SCALARS)
            op, returns = self._reduced(into)
            fn = self.functor("common", returns)
            options = [repr(op), repr(into), *options]
            fields.add(into)
        else:
            fn = self.functor("common", "none")
        return self.node("Intersect", [fn.name, *options], fn, fields=fields)

    def set(self) -> Node:
        names = sorted(set(self.rng.choice(SCALARS, int(self.rng.integers(1, 3))).tolist()))
        writers, options = [], []
        for name in names:
            fn = self.functor("scalars", name, quiet=True)
            writers.append(fn)
            options.append(f"{name}={fn.name}")
        return self.node("Set", options, *writers, fields=set(names))

    # ---- loops -------------------------------------------------------------------------------------------

    def steps(self, kind: str, least: int = 1, most: int = 3) -> tuple[tuple[Node, ...], str]:
        made = []
        self.depth += 1
        for _ in range(int(self.rng.integers(least, most + 1))):
            node, kind = self.step(kind)
            made.append(node)
        self.depth -= 1
        return tuple(made), kind

    def back(self, made: tuple[Node, ...], kind: str, wanted: str) -> tuple[Node, ...]:
        """So that the steps leave elements of a kind."""
        return made if kind == wanted else (*made, self.advance(kind, wanted))

    def sequence(self, kind: str) -> Node:
        if self.chance(0.5):
            text, own, fields = self.over(("vertex", "edge"))
            made, _ = self.steps(own)
            return Node("Sequence", (text,), (), frozenset(fields), made)
        made, after = self.steps(kind)
        return Node("Sequence", (), (), frozenset(), self.back(made, after, kind))

    def loop(self, kind: str) -> tuple[Node, str]:
        if self.counters == 4:
            return self._filter(kind), kind
        count, limit = f"c{self.counters}", self.pick([1, 2, 4])
        self.counters += 1
        form = self.pick(["default", "default", "over", "take", "times", "record", "until", "order", "order"])
        clear = Node("Set", (f"{count}=0",), (), frozenset({count}))
        options, fields = [f"count={count!r}"], {count}
        end = self.writer("scalars")
        other = f" or {end.truth(1)}" if self.chance(0.3) else ""
        end.fields.add(count)
        end.result = end.text(f"p.{count} >= {limit}{other}")  # type: ignore[attr-defined]
        start = kind
        if form == "record":
            return self._recorded(kind, clear, count), kind
        if form == "over":
            text, start, more = self.over(("vertex", "edge"))
            options.append(text)
            fields |= more
        elif form == "take":
            pile = self.pick(["far", "late", "later"])
            start = FIELDS[pile].dtype
            options.append(f"take={pile!r}")
            fields.add(pile)
        elif form == "order":
            options.append(self._order(start, fields))
            if self.chance(0.4):
                text, start, more = self.over(("vertex", "edge"))
                options[-1] = self._order(start, fields)
                options.append(text)
                fields |= more
        elif form == "times":
            options.append(self.pick(["times=0", "times=2", "times='times'"]))
            fields.add("times")
        writers: list[Writer] = []
        if form != "times" or self.chance(0.3):
            options.append(f"until={end.name}")
            writers.append(end)
        if self.chance(0.1) and form != "order":
            options.append("max_steps=2")
        if form == "until":  # all steps have frontiers of their own
            made, after = (self._compute(""), self._reduce(""), self._gather(""))[: self.pick([1, 2, 3])], start
        else:
            made, after = self.steps(start)
        loop = self.node("Loop", options, *writers, fields=fields)
        loop = replace(loop, inner=self.back(made, after, start))
        return Node("Sequence", (), (), frozenset(), (clear, loop)), kind

    def _order(self, kind: str, fields: set[str]) -> str:
        """An order by keys that nobody writes, kept exactly: any other may not change what the steps find."""
        key = "rank" if kind == "vertex" else "cost"
        fields.add(key)
        width = self.pick(["", "", ", delta=2", ", delta=2.5"])
        into = self.pick(["", ", into='r'"])
        fields |= {"r"} if into else set()
        return f"order=fr.by({key!r}, exact=True{width}{into})"

    def _recorded(self, kind: str, clear: Node, count: str) -> Node:
        """A search that keeps its frontiers, and a loop over these from the last on."""
        self.records += 1
        name = f"kept{self.records}"
        forget = self.writer("vertex")
        forget.line(f"p.claim[{forget.end('v')}] = -1")
        forget.result = forget.text(None)  # type: ignore[attr-defined]
        mark = self.writer("vertex")
        mark.line(f"p.claim[{mark.end('v')}] = 0")
        mark.result = mark.text(None)  # type: ignore[attr-defined]
        source = self.pick(["'source'", "'far'", "'vertices'"])
        fields = frozenset({"claim", "source", "far", count})
        options = self.pick([[], ["edges='in'"]])
        far = "src" if options else "dst"
        search = self._claim(far, list(options))
        before, _ = self.steps("vertex", 0, 1) if self.chance(0.0) else ((), "")
        loop = Node("Loop", (f"over={source}", f"count={count!r}", f"record={name!r}"), (), fields, (*before, search))
        if self.chance(0.2):
            loop = replace(loop, options=(*loop.options, "max_steps=3"))
        again, _ = self.steps("vertex", 1, 2)
        counted = (f"count={count!r}",) if self.chance(0.6) else ()
        replay = Node("Loop", (f"replay={name!r}", *counted), (), fields, again)
        clears = Node("Compute", (forget.name, "over='vertices'"), (forget.result,), fields)  # type: ignore[attr-defined]
        marks = Node("Compute", (mark.name, f"over={source}"), (mark.result,), fields)  # type: ignore[attr-defined]
        return Node("Sequence", (), (), frozenset(), (clear, clears, marks, loop, replay))


def _around(node: Node, rng: np.random.Generator) -> Node:
    """Give some loops and sequences schedules, which hold for the steps inside."""
    inner = tuple(_around(each, rng) for each in node.inner)
    if inner and rng.random() < 0.15:
        way = "pull" if rng.random() < 0.7 else "push"
        return replace(node, inner=inner, options=(*node.options, f"schedule=fr.Schedule(direction={way!r})"))
    return replace(node, inner=inner)


def program(seed: int, wild: bool = False) -> Program:
    """The program of a seed."""
    rng = np.random.default_rng(seed)
    weights = [None, "int32", "int64", "float32", "float64"][int(rng.integers(5))]
    maker = _Maker(rng, weights, wild)
    kind = maker.pick(["vertex", "vertex", "edge"])
    made, _ = maker.steps(kind, 1, 4)
    choices = [
        "fr.Schedule()", "fr.Schedule()", "fr.Schedule(direction='push')", "fr.Schedule(direction='pull')",
        "fr.Schedule(alpha=1e9, beta=3.0)", "fr.Schedule(alpha=4.0, beta=50.0)",
        "fr.Schedule(direction='push', balance='thread')", "fr.Schedule(balance='twc', dedup='bitmap')",
        "fr.Schedule(switch='gunrock', do_a=1e-6)", "fr.Schedule(switch='hubs', gamma=0.1)",
        "fr.Schedule(order='buckets')", "fr.Schedule(fuse=False)", "fr.Schedule(deterministic=True)",
    ]  # fmt: skip
    schedule = maker.pick(choices)
    root = _around(Node("Sequence", (), (), frozenset(), made), np.random.default_rng([seed, 1]))
    return Program(root, kind, weights, bool(rng.random() < 0.5), schedule, wild)


def smaller(program: Program) -> Iterator[Program]:
    """Programs with one step less, or with the steps of a loop in its place."""

    def without(node: Node) -> Iterator[Node]:
        for i, inner in enumerate(node.inner):
            if len(node.inner) > 1:
                yield replace(node, inner=(*node.inner[:i], *node.inner[i + 1 :]))
            for less in without(inner):
                yield replace(node, inner=(*node.inner[:i], less, *node.inner[i + 1 :]))

    for node in without(program.root):
        yield replace(program, root=node)
