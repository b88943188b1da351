"""The view of a problem that functors get on the python backend: its fields, with every access checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import FunctorError
from frontier.functors.adjacency import ARRAYS
from frontier.functors.numbers import refused_float
from frontier.functors.rules import unknown_field

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.program.problem import Problem

__all__ = ["Checked", "View", "stored"]


def stored(name: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """A value as a field or scalar of this dtype takes it; raises where it does not fit."""
    if value is None:
        raise FunctorError(f"{name} = None: the field holds {dtype}")
    if dtype.kind not in "iu":
        return value
    if isinstance(value, (float, np.floating)):
        raise FunctorError(f"{name} = {value}: {refused_float(dtype)}")
    try:
        value, limits = int(value), np.iinfo(dtype)
    except (ValueError, TypeError):
        raise FunctorError(f"{name} = {value!r}: the field holds {dtype}") from None
    if not limits.min <= value <= limits.max:
        raise FunctorError(f"{name} = {value}: overflow, the field holds {dtype}")
    return value


def _read(value: Any) -> Any:
    """A value as functors compute with it: integers have 64 bits, but for uint64."""
    return np.int64(value) if value.dtype.kind in "iu" and value.dtype != np.uint64 else value


class Checked:
    """A field as a functor sees it: indexed by one non-negative integer below its length."""

    __slots__ = ("_array", "_name", "_whole", "companion")

    def __init__(self, name: str, array: NDArray[Any]) -> None:
        self._name, self._array = name, array
        self.companion: Checked | None = None  # the field that goes along with this one
        self._whole = array.dtype.kind in "iu"

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the field."""
        return self._array.dtype

    def _at(self, index: Any) -> Any:
        if self._array.ndim == 2:
            if not isinstance(index, tuple) or len(index) != 2:
                raise FunctorError(f"p.{self._name}[{index!r}]: it has several values, p.{self._name}[v, i]")
            return tuple(self._below(each, length) for each, length in zip(index, self._array.shape, strict=True))
        return self._below(index, len(self._array))

    def _below(self, index: Any, length: int) -> int:
        if not isinstance(index, (int, np.integer)) or isinstance(index, bool):
            raise FunctorError(f"p.{self._name}[{index!r}]: an index is an integer")
        if not 0 <= index < length:
            raise FunctorError(f"p.{self._name}[{index}]: valid are 0..{length - 1}")
        return int(index)

    def __getitem__(self, index: Any) -> Any:
        return _read(self._array[self._at(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        at = self._at(index)
        if self._whole:
            value = stored(f"p.{self._name}[{at}]", value, self.dtype)
        self._array[at] = value

    def _refused(self, *_: Any) -> Any:
        raise FunctorError(f"p.{self._name}: functors use a field one element at a time; pass its length as a scalar")

    __len__ = __iter__ = __contains__ = __array__ = _refused

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise FunctorError(f"p.{self._name}.{name}: functors use a field one element at a time, p.{self._name}[index]")

    def __repr__(self) -> str:
        return f"p.{self._name} = {self._array!r}"


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"):
    setattr(Checked, f"__{_name}__", Checked._refused)
    setattr(Checked, f"__r{_name}__", Checked._refused)
for _name in ("lt", "le", "gt", "ge", "neg", "abs", "invert", "bool", "int", "float", "call"):
    setattr(Checked, f"__{_name}__", Checked._refused)


class View:
    """The first argument of a functor."""

    def __init__(self, p: Problem) -> None:
        store = self.__dict__
        store["_problem"] = p
        for name, array in p.arrays.items():
            store[name] = Checked(name, array)
        for pair in p._pairs:
            store[pair.key].companion = store[pair.other]

    def __getattr__(self, name: str) -> Any:
        p = self._problem
        if name.endswith("__") and name[:-2] in ARRAYS:
            made = self.__dict__[name] = Checked(name, getattr(p.graph, name[:-2]))
            return made
        if name in p.scalars:
            return _read(p.scalars[name][0])
        if name in p.piles:
            raise FunctorError(f"p.{name} is a pile: functors do not see piles")
        raise FunctorError(unknown_field(name, p.fields))

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._problem.scalars:
            raise FunctorError(
                f"p.{name} = ... in a functor: scalars are written by Set, Reduce or count=; "
                "return the value and use Reduce"
            )
        raise FunctorError(f"p.{name} = ... in a functor: write to an element, p.{name}[v] = ...")
