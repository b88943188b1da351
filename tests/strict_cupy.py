"""A double of CuPy on the host: arrays that do not mix with NumPy's, as CuPy's do not.

It has what ``frontier`` uses and refuses what CuPy refuses, so that a forgotten copy fails where there is no GPU.
Memory is counted, so that it can be used up. There are two devices, and as where GPUs do not see each other's memory,
only arrays of the current one can be computed with.
"""

from __future__ import annotations

import functools
import threading
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from frontier.backends.cuda import launch, plain_kernels
from frontier.distributed.devices import fused, together
from frontier.memory import detection, mixed, pinned, spread


class OutOfMemoryError(MemoryError):
    def __init__(self, size: int, total: int) -> None:
        super().__init__(f"Out of memory allocating {size} bytes")
        self._size, self._total = size, total


class Pool:
    """Memory of the one device; ``limit`` bytes can be had at a time."""

    limit = 1 << 40

    def free_bytes(self) -> int:
        return 0

    def used_bytes(self) -> int:
        return 0

    def get_limit(self) -> int:
        return 0

    def free_all_blocks(self) -> None:
        pass


pool = Pool()


_thread = threading.local()


class _Current(type):
    """A class whose ``current`` each thread has for itself."""

    @property
    def current(cls) -> int:
        return getattr(_thread, "device", 0)

    @current.setter
    def current(cls, index: int) -> None:
        _thread.device = index


class Device(metaclass=_Current):
    """``cupy.cuda.Device`` as a context; ``current`` is the id of the thread's current one."""

    def __init__(self, index: int) -> None:
        assert index in (0, 1)
        self.id = index
        self._before: list[int] = []

    def __enter__(self) -> None:
        self._before.append(Device.current)
        Device.current = self.id

    def __exit__(self, *_: Any) -> None:
        Device.current = self._before.pop()


def unwrapped(value: Any) -> Any:
    """What NumPy computes with; refuses arrays of the host and of another device."""
    if isinstance(value, ndarray):
        return value.here
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if isinstance(value, tuple | list):
        return type(value)(map(unwrapped, value))
    return value


def wrapped(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return ndarray(np.asarray(value))
    return tuple(map(wrapped, value)) if isinstance(value, tuple) else value


def call(function: Any, *given: Any, **named: Any) -> Any:
    out = named.get("out")
    made = function(*unwrapped(given), **{name: unwrapped(value) for name, value in named.items()})
    return out if out is not None else wrapped(made)


class Memory:
    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def memset_async(self, value: int, size: int) -> None:
        assert size == self._array.nbytes
        self._array.view(np.uint8)[:] = value

    def copy_from_device_async(self, other: Memory, size: int) -> None:
        """From whichever device."""
        assert size == self._array.nbytes == other._array.nbytes
        self._array.view(np.uint8)[:] = other._array.view(np.uint8)


class ndarray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array "on the device" that is current."""

    def __init__(self, a: np.ndarray) -> None:
        if a.nbytes > pool.limit:
            raise OutOfMemoryError(a.nbytes, 0)
        self._a = a
        self.device = Device(Device.current)
        self.spread = False

    @property
    def here(self) -> np.ndarray:
        """What is computed with."""
        if self.device.id != Device.current:
            raise ValueError(f"array device = {self.device.id} while current = {Device.current}")
        return self._a

    # what CuPy's arrays have
    dtype = property(lambda self: self._a.dtype)
    shape = property(lambda self: self._a.shape)
    ndim = property(lambda self: self._a.ndim)
    size = property(lambda self: self._a.size)
    nbytes = property(lambda self: self._a.nbytes)
    itemsize = property(lambda self: self._a.itemsize)
    strides = property(lambda self: self._a.strides)
    data = property(lambda self: Memory(self._a))
    flags = property(lambda self: self._a.flags)
    __cuda_array_interface__ = property(lambda self: {**self._a.__array_interface__, "version": 3, "stream": None})

    def get(self, out: np.ndarray | None = None) -> np.ndarray:
        if out is None:
            return self._a.copy()
        assert (out.dtype, out.shape, out.flags.c_contiguous) == (self.dtype, self.shape, True)
        out[...] = self._a
        return out

    def set(self, values: np.ndarray) -> None:
        assert type(values) is np.ndarray
        assert (values.dtype, values.shape) == (self.dtype, self.shape)
        self.here[...] = values

    def put(self, at: ndarray, values: ndarray) -> None:
        self.here.put(unwrapped(at), unwrapped(values))

    def fill(self, value: Any) -> None:
        self.here.fill(unwrapped(value))

    def argsort(self, axis: int = -1) -> ndarray:
        return wrapped(self.here.argsort(axis, kind="stable"))

    def sort(self) -> None:
        self.here.sort()

    def view(self, dtype: Any) -> ndarray:
        made = ndarray(self._a.view(dtype))
        made.device = self.device
        return made

    def astype(self, dtype: Any, order: str = "K", copy: bool = True) -> ndarray:
        made = self.here.astype(dtype, order=order, copy=copy)
        return self if made is self._a else ndarray(made)

    def reshape(self, *shape: int) -> ndarray:
        return wrapped(self.here.reshape(*shape))

    def ravel(self) -> ndarray:
        return wrapped(self.here.ravel())

    T = property(lambda self: wrapped(self.here.T))

    # and what they have not
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __iter__(self) -> Any:
        return map(wrapped, self._a)

    def __getitem__(self, key: Any) -> Any:
        basic = isinstance(key, int | slice | np.integer)  # a view
        made = wrapped((self._a if basic else self.here)[unwrapped(key)])
        made.device = self.device
        return made

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        self.here[unwrapped(key)] = unwrapped(value)

    def __len__(self) -> int:
        return len(self._a)

    def __bool__(self) -> bool:
        return bool(self._a)

    def __int__(self) -> int:
        return int(self._a)

    def __float__(self) -> float:
        return float(self._a)

    def __format__(self, form: str) -> str:
        return format(self._a[()], form)

    def __repr__(self) -> str:
        return repr(self._a)

    def __str__(self) -> str:
        return str(self._a)

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **named: Any) -> Any:
        if method != "__call__":
            return NotImplemented
        out = named.pop("out", None)
        made = call(ufunc, *given, **named, **({"out": out[0]} if out else {}))
        return out[0] if out else made

    def __array_function__(self, function: Any, kinds: Any, given: Any, named: Any) -> Any:
        return getattr(module, function.__name__)(*given, **named)


def _method(name: str) -> Any:
    def method(self: ndarray, **named: Any) -> Any:
        copied = name in ("item", "tolist")  # to the host, from wherever it is
        return wrapped(getattr(self._a if copied else self.here, name)(**named))

    return method


for _name in ("all", "any", "argmax", "argmin", "copy", "item", "max", "mean", "min", "sum", "tolist"):
    setattr(ndarray, _name, _method(_name))


def array(values: Any, dtype: Any = None) -> ndarray:
    return ndarray(np.array(values._a if isinstance(values, ndarray) else values, dtype))


def asarray(values: Any, dtype: Any = None) -> ndarray:
    if isinstance(values, ndarray) and values.device.id != Device.current:
        if not values._a.flags.c_contiguous:
            raise NotImplementedError("CuPy cannot copy non-contiguous array between devices.")
        return array(values, dtype)
    if isinstance(values, ndarray) and dtype in (None, values.dtype):
        return values
    if isinstance(values, ndarray):
        return values.astype(dtype)
    if hasattr(values, "__cuda_array_interface__"):
        made = types.SimpleNamespace(__array_interface__=values.__cuda_array_interface__)
        return ndarray(np.asarray(made))
    return array(values, dtype)


def ascontiguousarray(values: Any, dtype: Any = None) -> ndarray:
    made = asarray(values, dtype)
    return made if made._a.flags.c_contiguous else made.copy()


class _Add:
    """``cupy.add``: atomics on the device add to these types only."""

    def at(self, into: ndarray, index: ndarray, values: Any) -> None:
        if into.dtype not in (np.int32, np.uint32, np.uint64, np.float32, np.float64):
            raise TypeError(f"scatter_add does not support {into.dtype}")
        np.add.at(into.here, unwrapped(index), np.asarray(unwrapped(values)).astype(into.dtype))


def bincount(values: Any, minlength: int, weights: Any = None) -> Any:
    if not values.size:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    return call(np.bincount, values, weights=weights, minlength=minlength)


def module_of_double() -> Any:
    """A module in CuPy's place."""
    made = types.ModuleType("strict_cupy_double")
    made.__dict__.update(ndarray=ndarray, array=array, asarray=asarray, ascontiguousarray=ascontiguousarray, add=_Add())
    for name in (
        "abs", "all", "allclose", "any", "arange", "argmax", "argmin", "array_equal", "ceil", "clip",
        "concatenate", "count_nonzero", "cumsum", "diff", "empty", "flatnonzero", "fmax", "fmin", "full", "intersect1d",
        "isfinite", "isnan", "ldexp", "maximum", "median", "minimum", "nan_to_num", "nonzero", "not_equal", "ones",
        "packbits", "ravel", "repeat", "reshape", "rint", "searchsorted", "setdiff1d", "sort", "sqrt", "stack",
        "take", "tile", "union1d", "unique", "unpackbits", "where", "zeros",
    ):  # fmt: skip
        made.__dict__[name] = functools.partial(call, getattr(np, name))
    made.__dict__["bincount"] = bincount
    made.__dict__["ndim"] = lambda values: values.ndim
    made.__dict__["argsort"] = lambda values: values.argsort()  # CuPy's are stable
    made.__dict__["from_dlpack"] = lambda values: ndarray(np.from_dlpack(values))
    runtime = types.SimpleNamespace(
        getDevice=lambda: Device.current,
        setDevice=lambda index: setattr(Device, "current", index),
        getDeviceCount=lambda: 2,
        deviceGetAttribute=lambda number, index: {75: 8, 76: 0}[number],
        getDeviceProperties=lambda index: {"name": b"a double"},
        runtimeGetVersion=lambda: 13000,
        memGetInfo=lambda: (pool.limit, pool.limit),
        deviceSynchronize=lambda: None,
    )
    made.__dict__["cuda"] = types.SimpleNamespace(Device=Device, runtime=runtime)
    made.__dict__["get_default_memory_pool"] = lambda: pool
    return made


module = module_of_double()


def spread_empty(length: int, dtype: Any, bounds: Any, devices: Any, keep: bool = False, check: Any = None) -> ndarray:
    """An array that all devices have, of which what nobody has written is no id."""
    if check is not None:
        check()
    assert Device.current == devices[0]
    assert (bounds[0], bounds[-1]) == (0, length)
    made = ndarray(np.frombuffer(b"\x5a" * (length * np.dtype(dtype).itemsize), dtype).copy())
    made.spread = True
    return made


def seen_by(array: Any, index: int) -> Any:
    """The same memory as an array of another device; one of NumPy's lies on none."""
    if isinstance(array, np.ndarray):
        return array
    made = ndarray(array._a)
    made.device, made.spread = Device(index), array.spread
    return made


@contextmanager
def simulated() -> Iterator[None]:
    """Let the simulator of kernels run on arrays of the double, which do not mix with those of the host."""
    there = types.ModuleType("detection")
    there.__dict__.update(detection.__dict__, simulated=lambda: True)
    memory_at, address_of = launch.memory_at, launch.address_of
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(detection, "simulated", lambda: False)
        patch.setattr(detection, "_ready", True)
        patch.setattr(detection, "cupy", lambda: module)
        patch.setattr(launch, "detection", there)
        patch.setattr(plain_kernels, "detection", there)
        patch.setattr(pinned, "mapped", lambda values, index: array(values))
        patch.setattr(pinned, "buffer", lambda size: (made := np.empty(size, np.uint8), made.ctypes.data))
        patch.setattr(mixed, "mixed", lambda values, *given: array(values))
        patch.setattr(spread, "empty", spread_empty)
        patch.setattr(spread, "seen_by", seen_by)
        patch.setattr(spread, "is_spread", lambda values: getattr(values, "spread", False))
        patch.setattr(spread, "possible", lambda devices: True)
        patch.setattr(together, "at_once", lambda memories: False)  # the current device is that of all threads here
        patch.setattr(fused, "_reach", lambda memories: True)
        patch.setattr(launch, "memory_at", lambda *given: wrapped(memory_at(*given)))
        for each in (launch, plain_kernels):
            patch.setattr(each, "address_of", lambda array: address_of(unwrapped(array)))
        yield
