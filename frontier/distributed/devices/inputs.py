"""Inputs of programs that several GPUs run together: who owns what, and where arrays of all GPUs lie.

A *shared array* is one that other GPUs read or write; a table has the addresses of that array on each GPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from frontier.lowering.inputs import Input

__all__ = ["BOX", "Base", "Bound", "Box", "Field", "Group", "InputArray", "Packed", "SharedArray", "Table"]


@dataclass(frozen=True)
class Group(Input):
    """The rank of this GPU, how many there are, where the ranges of all begin, or how many blocks a field has."""

    what: Literal["rank", "parts", "starts", "blocks"]


@dataclass(frozen=True)
class Bound(Input):
    """The first vertex or edge that this GPU owns, or the one after the last."""

    kind: str
    end: bool


@dataclass(frozen=True)
class Box(Input):
    """The array by which this GPU meets the others."""


@dataclass(frozen=True)
class Packed(Input):
    """Values of a field that this GPU has changed, side by side: one of two arrays in turns."""

    field: str
    side: str


@dataclass(frozen=True)
class Field:
    """A field of the problem."""

    name: str


@dataclass(frozen=True)
class Base:
    """What a field to which others add had when they began."""

    name: str


@dataclass(frozen=True)
class InputArray:
    """The array of another input, by its key: a buffer of this GPU."""

    key: str


SharedArray = Box | Packed | Field | Base | InputArray

BOX = Box()


@dataclass(frozen=True)
class Table(Input):
    """Addresses of a shared array on all GPUs."""

    array: SharedArray
