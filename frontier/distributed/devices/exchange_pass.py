"""The pass that makes a program one of several GPUs: what they exchange after each step, and where they meet.

Each GPU has copies of fields and the elements of a frontier that it owns. The work of a step, a node ``Local``, runs on
these. Then follows the exchange (that of steps which claim vertices is another one, see
:mod:`frontier.distributed.devices.claim_exchange`):

1. If a push has changed elements of others, all meet, and owners bring together what all have made of theirs.
2. All meet. What each tells makes the size of the next frontier, and says whether anybody has failed or is to stop.
3. All copy what owners have changed of *mirrored* fields, which some step needs of elements of others.

What decides the control flow is the same on all GPUs: scalars, how a frontier is represented, and sizes, for which the
pass puts those of the whole frontiers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frontier.backends.cuda.compile.runtime_words import MAX, MIN, OR, SUM
from frontier.backends.cuda.program import CudaProgram
from frontier.distributed.devices.barriers import all_meet, can_meet
from frontier.distributed.devices.claim_exchange import ClaimExchange
from frontier.distributed.devices.combining_phases import combining, following
from frontier.distributed.devices.meeting_words import REAL
from frontier.distributed.devices.own_frontiers import OwnFrontiers
from frontier.distributed.devices.packing_phases import moving
from frontier.distributed.devices.phases import copying, finding, merging, sharing
from frontier.distributed.devices.printer import PeersPrinter
from frontier.distributed.devices.touches import OneKernelError
from frontier.lowering.ir import (
    Assign,
    Branch,
    Call,
    Counter,
    Deferred,
    Exit,
    Leave,
    Local,
    Loop,
    Phase,
    Region,
    Swap,
    Var,
    cast,
    equal,
    inside,
    rewritten,
    walk,
)
from frontier.lowering.kernels import Made
from frontier.lowering.loops import lower
from frontier.lowering.variables import SLOT, WORDS, WORKER, pointer

if TYPE_CHECKING:
    from frontier.backends.cuda.program import Build
    from frontier.distributed.devices.touches import Touches
    from frontier.lowering.frontier_state import FrontierState
    from frontier.lowering.ir import Expr, Node, Value
    from frontier.lowering.kernels import Constant
    from frontier.program.layout import Layout
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["program_of_part"]

#: GPUs meet in one of so many passes, a power of two, of a loop that needs no meeting: it takes longer than a pass may.
SELDOM = 64

_OPERATIONS = {"SUM": SUM, "MIN": MIN, "MAX": MAX, "OR": OR}


def program_of_part(
    step: Step, layout: Layout, schedule: ResolvedSchedule, given: str | None, build: Build, touches: Touches
) -> CudaProgram:
    """The program of a step that each of several GPUs runs."""

    def make(layout: Layout, schedule: ResolvedSchedule) -> CudaProgram:
        b = CudaProgram(layout, schedule, build, lambda b: OwnFrontiers(b, touches))
        assert isinstance(b.frontiers, OwnFrontiers)
        peers = b.frontiers.peers
        # With 40 registers a thread instead of 64, shortest paths of R-MAT 24 take a twentieth longer on two H100s, and
        # a step with next to nothing to do 5 microseconds. But pulls of a search wait for memory: they take a sixth
        # less with 40 registers, and more warps.
        b.low_occupancy = not touches.claimed or schedule.direction == "push"
        b.acceptance = ClaimExchange(b, b.frontiers)
        b.runners = "several GPUs, each of which runs: "
        b.imports = "\nfrom frontier.distributed.devices.meeting import *\n"
        b.prints = lambda program: PeersPrinter(program, peers)
        return b

    program = lower(step, layout, schedule, given, make)
    assert isinstance(program, CudaProgram)
    ExchangePass(program).run()
    return program


class ExchangePass:
    """The pass over one program."""

    def __init__(self, b: CudaProgram) -> None:
        assert isinstance(b.frontiers, OwnFrontiers)
        assert isinstance(b.acceptance, ClaimExchange)
        self.b, self.frontiers, self.peers = b, b.frontiers, b.frontiers.peers
        self.touches, self.claims = self.peers.touches, b.acceptance
        #: The size of what this GPU has -> that of what all have.
        self._whole: dict[Expr, Expr] = {}
        for current in b.frontiers.all:
            self._whole |= zip((current.count, current.edges), self.peers.size(current), strict=True)
        for name, _ in b.layout.of_kind("pile"):
            if f"held:{name}" in b.state:
                self._whole[b.state[f"held:{name}"]] = self.peers.held_in(name)

    def run(self) -> None:
        """Change the program."""
        nodes = self.b.nodes
        self._control(nodes)
        done = nodes.pop()
        with self.b.inside(nodes):
            self.peers.meet(alone=True)  # where whoever has failed says so
        nodes.append(done)

    # ---- what all decide alike -----------------------------------------------------------------------------

    def _of_all(self, made: Expr) -> Expr:
        """An expression with the sizes of what all GPUs have."""
        return rewritten(made, self._whole.get)

    def _control(self, nodes: list[Node]) -> None:
        """Change control flow: it goes by the sizes of whole frontiers."""
        sizes = {*self._whole, *self._whole.values()}  # whoever assigns these knows which is which
        for node in nodes:
            if isinstance(node, Local):
                self._decisions_of_one(node.body)
                if node.step is not None:
                    self._work(node)
            elif isinstance(node, (Region, Deferred)):
                self._control(node.body)
            elif isinstance(node, Branch):
                node.condition = self._of_all(node.condition)
                self._control(node.yes)
                self._control(node.no)
            elif isinstance(node, Exit):
                node.when = None if node.when is None else self._of_all(node.when)
                node.unless = None if node.unless is None else self._of_all(node.unless)
            elif isinstance(node, Assign) and node.target not in sizes:
                node.value = self._of_all(node.value)
            elif isinstance(node, Loop):
                self._control(node.body)
                self._meet_seldom(node)
            elif isinstance(node, Phase) and node.functors:
                raise OneKernelError(f"{node.title!r}, which is not marked as the work of a step")
            elif isinstance(node, Phase) and any(isinstance(each, Branch) for each in node.after):
                raise OneKernelError("a decision by what each GPU has counted")

    def _meet_seldom(self, loop: Loop) -> None:
        """Meet once in a while, if the passes of a loop do not: else nobody learns that all are to stop."""
        if loop.passes is not None and not all_meet(loop.body):
            with self.b.inside(loop.body), self.b.when(equal(loop.passes & (SELDOM - 1), 0)):
                self.peers.meet(alone=True)

    def _decisions_of_one(self, nodes: list[Node]) -> None:
        """Check what a GPU decides by the size of its part: all must meet at the same places nevertheless."""
        for branch in inside(nodes):
            if not (isinstance(branch, Branch) and any(each in self._whole for each in walk(branch.condition))):
                continue
            assert not any(isinstance(each, Phase) and each.meets for each in inside([branch]))
            if branch.yes and isinstance(leave := branch.yes[-1], Leave):  # it says so when it meets the others
                branch.yes.pop()
                with self.b.inside(branch.yes):
                    self.b.set(self.peers.failed, Var(leave.code))
                    self.b.phase(Call("nothing"), title="tell the other GPUs").meets = True

    # ---- the work of a step --------------------------------------------------------------------------------

    def _work(self, node: Local) -> None:
        """Let changes be noted that concern others, and exchange them."""
        step = node.step
        if step.far and node.kinds - {"vertex"}:
            raise OneKernelError("edges whose far ends others own")
        claim, pushed = self.touches.claim(step), node.way == "push"
        watched = self.touches.watched(step, pushed) if claim is None else []
        nodes, node.body = node.body, []
        partial = self._scalars(nodes)
        self._watch(nodes, node, watched)
        with self.b.inside(node.body):
            if node.way == "claim":
                self.claims.at_owners(node, nodes)
                return
            self.claims.catch_up(step)
            self.b.add(*nodes)
            self._exchange_swaps(nodes)
            for name, value in partial.items():
                self._combine(step, name, value)
            if claim is not None:
                self.claims.after(step, claim, node.target, node.way)
            else:
                self._exchange(step, node.target, pushed, watched)

    def _watch(self, nodes: list[Node], work: Local, watched: list[str]) -> None:
        """Let phases see fields such that it is noted what they change."""
        fields = {var: key.removeprefix("field:") for key, var in self.b.state.items() if key.startswith("field:")}
        claim = self.touches.claim(work.step)

        def noting(made: Expr) -> Expr | None:
            var = made.arguments[0] if isinstance(made, Call) and made.arguments else None
            if not (isinstance(var, Var) and var in fields):
                return None
            name = fields[var]
            if claim is not None:
                return self.claims.watched(claim, name, made, work.way)
            watch = "watch" if name in self.touches.mirrored else "watch_stores"
            if name in self.touches.claimed:
                watch = "watch_bits"
            return Call(watch, made, *self.peers.touched(name)) if name in watched else None

        def seen(call: Call) -> Call:
            return Call(call.function, *(rewritten(each, noting) for each in call.arguments))

        for phase in inside(nodes):
            if isinstance(phase, Phase):
                phase.call, phase.more = seen(phase.call), tuple(map(seen, phase.more))

    def _scalars(self, nodes: list[Node]) -> dict[str, Expr]:
        """The scalars that are assigned after phases, and their values; others get what all GPUs know."""
        names, found = {var: name for name, var in self.b.scalars.items()}, {}
        after = {each for phase in inside(nodes) if isinstance(phase, Phase) for each in inside(phase.after)}
        for node in inside(nodes):
            if isinstance(node, Assign) and isinstance(node.target, Var) and node.target in names:
                if node in after:
                    found[names[node.target]] = node.value
                else:
                    node.value = self._of_all(node.value)
        return found

    def _combine(self, step: Step, name: str, found: Expr) -> None:
        """Combine what a scalar has on each GPU, in their order."""
        reduction = dict(step.partial()).get(name)
        if reduction is None:
            raise OneKernelError(f"what {step!r} finds for p.{name}")
        operation = reduction.runtime
        real = any(isinstance(each, Var) and each.dtype == "float64" for each in walk(found))
        dtype, function = ("float64", "publish_real") if real else ("int64", "publish")
        how = (REAL if real else 1) + _OPERATIONS[operation]
        told = Call(function, WORDS, SLOT, WORKER, cast(dtype, self.b.scalars[name]), how)
        value: Expr = Call("float_of", Counter("ALL_VALUE")) if real else Counter("ALL_VALUE")
        title = f"combine the results of the GPUs: {operation.lower()}"
        self.b.phase(told, [self.b.assign(name, value)], title).meets = True

    def _exchange_swaps(self, nodes: list[Node]) -> None:
        """Exchange, along with two fields, where they lie on the other GPUs."""
        keys = {var: key for key, var in self.b.state.items()}
        for node in nodes:
            if isinstance(node, Swap) and node.first in keys:
                stem, _, first = keys[node.first].partition(":")
                second = keys[node.second].partition(":")[2]
                stems: tuple[str, ...] = ("all_held",) if stem == "pile" else ()
                if stem == "field" and self.b.layout.kind(first) == "vertex":
                    stems = ("fields", "base", "bases")
                self.b.add(*(Swap(self.b.keep(f"{each}:{first}"), self.b.keep(f"{each}:{second}")) for each in stems))

    # ---- what steps exchange that do not claim -------------------------------------------------------------

    def _exchange(self, step: Step, current: FrontierState, pushed: bool, watched: list[str]) -> None:
        """Bring together what GPUs have changed, and let all know the size of the next frontier."""
        self.frontiers.other_bitmap()
        peers, combined = self.peers, self.touches.combined(step, pushed)
        finds = bool(pushed and step.far and not step.passes_through and getattr(step, "output", None) == "vertex")
        tells = [peers.tell(name, everything=name in combined) for name in watched]
        if finds:
            tells.append(peers.tell("", everything=True))
        if combined or finds:
            peers.together(*tells, title="tell what has changed")
            self._bring_together(step, current, combined, finds)
        elif not step.passes_through:
            if not tells and can_meet(self.b.within):
                peers.meet(peers.sized(current))
            else:
                peers.publish(current, *tells)
        elif tells:
            peers.together(*tells, title="tell what has changed")
        elif self.touches.needs(step) or self.touches.meets_claims(step):
            # Before anybody changes what this step reads and another GPU may still be copying, or claims at its owner
            # what this step still looks at.
            peers.meet()
        self._take_over([name for name in watched if name in self.touches.mirrored])
        for name in step.fills():
            peers.publish_pile(name)
        for name in watched:
            peers.turn(name)

    def _bring_together(self, step: Step, current: FrontierState, combined: dict[str, str], finds: bool) -> None:
        """Owners merge what all have made of their elements, and find the next frontier."""
        leaders = {name: self.touches.leader(step, name) for name in combined}
        ordered = sorted(combined, key=lambda name: (leaders[name] not in combined, name))  # before their leaders
        merges, title = [self._merge(name, combined, leaders[name]) for name in ordered], "owners merge changes"
        if finds:
            made, after = self._find(step, current), self.frontiers.found(current)
            self.peers.together(*merges, made, after=after, title=f"{title}, and find the next frontier")
        elif step.passes_through:
            self.peers.together(*merges, title=title)
        else:
            self.peers.publish(current, *merges)

    def _merge(self, name: str, combined: dict[str, str], leader: str) -> Call:
        """Owners bring together what all have made of their elements of a field."""
        peers, (bring, bases) = self.peers, self._combining(name, combined[name])
        if leader in combined:
            lead, of_leader = self._combining(leader, combined[leader])
            parts: dict[str, Constant] = {
                "at": peers.pointer_of(name), "lead": lead, "lead_at": peers.pointer_of(leader),
                "mirrored": name in self.touches.mirrored,
            }  # fmt: skip
            bring = Made(following, parts)
            table = peers.field_table(leader)
            bases = Call("Shared", self.b.field(leader), table, peers.told(leader)[1], of_leader)
        told, marked = peers.told(name)
        given: dict[str, Value] = {
            "mine": self.b.field(name), "packed": peers.packed(name)[0], "told": told,
            "fields": peers.field_table(name), "marked": marked, "bases": bases, "rank": peers.rank,
            "received": peers.received, **peers.own(),
        }  # fmt: skip
        pack, size = peers.packing(name), peers.itemsize(name)
        return self.b.kernel("merge", merging, given, bring=bring, pack=pack, size=size)

    def _combining(self, name: str, combine: str) -> tuple[Made, Value]:
        """Return what makes one value of those of all GPUs, and the old values that it needs for that."""
        at, dtype = self.peers.pointer_of(name), str(self.b.layout.dtype(name))
        bring = Made(combining, {"at": at, "combine": combine, "dtype": dtype})
        return bring, self.peers.base(name)[1] if name in self.touches.summed else 0

    def _find(self, step: Any, current: FrontierState) -> Call:
        """Owners bring together which of their vertices have been found: the next frontier."""
        given: dict[str, Value] = {
            "made": pointer("uint32", self.frontiers.next_bits(current)), "marked": self.peers.told("")[1],
            "degrees": self.b.lists(step.edges)[0], **self.peers.own(),
        }  # fmt: skip
        return self.b.kernel("find", finding, given, big=self.b.big)

    def _take_over(self, names: list[str]) -> None:
        """Take over what owners have changed of fields."""
        if names:
            title = f"take over what owners have changed of {', '.join(names)}"
            self.peers.together(*map(self._share, names), title=title, meets=False)

    def _share(self, name: str) -> Call:
        peers = self.peers
        based, packs, table = name in self.touches.summed, peers.packs(name), peers.field_table(name)
        given: dict[str, Value] = {
            "mine": self.b.field(name), "base": peers.base(name)[0] if based else 0, "fields": table,
            "packs": peers.packed(name)[1] if packs else table, "marked": peers.told(name)[1],
            "blocks": peers.blocks, "received": peers.received, **peers.who(),
        }  # fmt: skip
        move, unpack = (Made(moving, {"packs": False, "unpacks": each, "based": based}) for each in (False, True))
        copy = Made(copying, {"move": move, "unpack": unpack if packs else None, "size": peers.itemsize(name)})
        return self.b.kernel("share", sharing, given, at=peers.pointer_of(name), copy=copy)
