"""Blocks: the nodes of a program cut into straight-line code, in which each block names the next one.

A backend compiles one function with a variable ``pc``, the number of the current block. So a run can return to the host
at every boundary, and continue later at the block where it stopped. Blocks are ordered such that the shortest loop
tests ``pc`` as rarely as possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from frontier.lowering.ir import (
    Assign,
    Branch,
    Decide,
    Deferred,
    Exit,
    Expr,
    Leave,
    Loop,
    Node,
    Phase,
    Region,
    Resume,
    Swap,
    Together,
)

__all__ = ["Block", "Flow", "Jump", "Lines", "laid_out"]


@dataclass(eq=False)
class Jump(Node):
    """Go to a block, always, or where a condition holds (does not)."""

    label: int
    when: Expr | None = None
    unless: Expr | None = None

    @property
    def always(self) -> bool:
        """Whether what follows is never reached."""
        return self.when is None and self.unless is None


@dataclass(eq=False)
class Lines(Node):
    """Code that a printer has written already."""

    lines: list[str]


@dataclass
class Block:
    """Nodes without phases, the jumps among them, and the number by which others go here."""

    label: int
    nodes: list[Node] = field(default_factory=list)


class Flow:
    """The blocks of a program.

    Parameters
    ----------
    nodes : list of Node
    phase : callable
        Adds what a phase is on a machine: with :meth:`add`, :meth:`label` and :meth:`place`.
    whole : bool
        Whether what is deferred is there. Without it all other blocks have the same labels, so that a run which leaves
        for it can go on in the whole program.

    Attributes
    ----------
    left_out : bool
        Whether what is added now is deferred, and not wanted.
    """

    def __init__(self, nodes: list[Node], phase: Callable[[Flow, Phase], None], whole: bool = True) -> None:
        self._phase, self._labels, self._ends, self._whole = phase, 0, [-1], whole
        self.left_out = False
        self.blocks = [Block(0)]
        self.nodes(nodes)

    def label(self) -> int:
        """Number of a block to be placed later."""
        self._labels += 1
        return self._labels

    def place(self, label: int) -> None:
        """End the current block here and begin the labelled one."""
        self.add(Jump(label))
        self.blocks.append(Block(label))

    def add(self, *nodes: Node) -> None:
        """Add nodes to the current block."""
        self.blocks[-1].nodes.extend(nodes)

    def nodes(self, nodes: list[Node]) -> None:
        """Add nodes of any kind."""
        for node in nodes:
            self._node(node)

    def _node(self, node: Node) -> None:
        if straight(node):
            self.add(node)
        elif isinstance(node, Phase):
            self._phase(self, node)
        elif isinstance(node, Branch):
            self._branch(node)
        elif isinstance(node, Loop):
            self._loop(node)
        elif isinstance(node, Exit):
            self.add(Jump(self._ends[-1], node.when, node.unless))
        elif isinstance(node, Resume):
            self.place(self.label())
        elif isinstance(node, Region):
            self.nodes(node.body)
        elif isinstance(node, Deferred):
            self._deferred(node)
        else:
            raise AssertionError(f"no node of a program: {node!r}")

    def _branch(self, node: Branch) -> None:
        otherwise = self.label()
        end = self.label() if node.no else otherwise
        self.add(Jump(otherwise, unless=node.condition))
        self.nodes(node.yes)
        if node.no:
            self.add(Jump(end))
            self.blocks.append(Block(otherwise))
            self.nodes(node.no)
        self.place(end)

    def _deferred(self, node: Deferred) -> None:
        self.place(label := self.label())
        if self._whole:
            self.nodes(node.body)
            return
        before, outer = len(self.blocks) - 1, self.left_out
        self.left_out = True
        self.nodes(node.body)
        self.left_out = outer
        self.blocks[before:] = [Block(label, [Leave("NEED_CODE")])]

    def _loop(self, node: Loop) -> None:
        head, end = self.label(), self.label()
        self.place(head)
        self._ends.append(end)
        self.nodes(node.body)
        self._ends.pop()
        self.add(Jump(head))
        self.blocks.append(Block(end))


def straight(node: Node) -> bool:
    """Whether a node is part of a block, for nothing in it is a boundary."""
    if isinstance(node, Branch):
        return all(straight(each) for each in (*node.yes, *node.no))
    return isinstance(node, (Assign, Swap, Decide, Together, Leave, Lines))


def laid_out(blocks: list[Block]) -> Iterator[tuple[Block, set[int]]]:
    """Blocks in the order in which they are written, each with the labels of those below it.

    The shortest loop's first block comes first. To go to a block farther down is not to begin the function's loop
    anew: the tests between them fail, which compilers see, while they do not follow ``pc`` through a loop's beginning.
    """
    first = _shortest_loop(blocks)
    ordered = blocks[first:] + blocks[:first]
    for i, block in enumerate(ordered):
        yield block, {other.label for other in ordered[i + 1 :]}


def _shortest_loop(blocks: list[Block]) -> int:
    """Where the loop of the fewest blocks begins."""
    at = {block.label: i for i, block in enumerate(blocks)}
    spans = [
        (i - at[node.label], at[node.label])
        for i, block in enumerate(blocks)
        for node in block.nodes
        if isinstance(node, Jump) and at[node.label] <= i
    ]
    return min(spans)[1] if spans else 0
