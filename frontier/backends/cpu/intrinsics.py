"""Intrinsics that numba lacks on the CPU: raw pointers, atomic instructions, a clock, yielding the core.

Pointers carry no length and no reference count. So there is no bounds check, negative indices do not count from the
end, and functors do not count references (which takes ten times as long as their work, measured).
"""

from __future__ import annotations

import platform
import sys
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from frontier.backends.cpu.runtime_words import DTYPES
from frontier.compile.elements import Flags, Half, Locked, Narrow, Packed, Rows, Sparse, Summed, pointer_type
from frontier.compile.fields import packed, pairs, sparse

__all__ = [
    "POINTERS",
    "add_summed",
    "call_loop",
    "clock",
    "compare_exchange",
    "exchange",
    "fetch_add",
    "fetch_max",
    "fetch_min",
    "fetch_or",
    "load_acquire",
    "now",
    "prefetch",
    "sleep_while",
    "store_release",
    "this_function",
    "time_of",
    "wake",
    "yield_processor",
]


@register_model(Flags)
class _FlagsModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, ir.IntType(8).as_pointer())


@register_model(Narrow)
class _NarrowModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, ir.IntType(fe_type.dtype.bitwidth).as_pointer())


@register_model(Half)
class _HalfModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, manager[fe_type.dtype].get_value_type().as_pointer())


@register_model(Rows)
class _RowsModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, manager[fe_type.inner].get_value_type())


@register_model(Packed)
class _PackedModel(models.StructModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, list(zip(("frames", "words"), fe_type.kinds, strict=True)))


@register_model(Sparse)
class _SparseModel(models.StructModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, list(zip(sparse.MEMBERS, fe_type.kinds, strict=True)))


@register_model(Locked)
class _LockedModel(models.StructModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, list(zip(("key", "other", "locks"), fe_type.kinds, strict=True)))


@register_model(Summed)
class _SummedModel(models.StructModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, [("pointer", fe_type.inner), ("alone", types.int64)])


def _summed(_: Any, kind: Any) -> Any:
    """From an address, and whether only one worker changes what is there, to a field that is only added to."""

    @intrinsic
    def make(typingctx: Any, address: Any, alone: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            made = ir.Constant(context.get_value_type(kind), ir.Undefined)
            place = builder.inttoptr(args[0], context.get_value_type(kind.inner))
            return builder.insert_value(builder.insert_value(made, place, 0), args[1], 1)

        return kind(types.int64, types.int64), generate

    return make


def _pointer_to(made: Any) -> Any:
    @intrinsic
    def pointer(typingctx: Any, address: Any) -> Any:
        """The memory at an address as numbers of one type."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return made(types.int64), generate

    return pointer


class _Pointers(dict[str, Any]):
    """The types of fields that go along with others are many, and made when asked for."""

    def __missing__(self, name: str) -> Any:
        kind = pointer_type(name)
        own: dict[type, Any] = {
            Locked: pairs.locked, Packed: packed.assembled, Sparse: sparse.assembled, Summed: _summed
        }  # fmt: skip
        make = own.get(type(kind))
        self[name] = made = _pointer_to(kind) if make is None else make(intrinsic, kind)
        return made


#: dtype name -> function from an address (int64) to a pointer; see :func:`pointer_type`.
POINTERS = _Pointers({name: _pointer_to(pointer_type(name)) for name in DTYPES})


def _element(builder: Any, args: Any, kind: Any = None) -> Any:
    return pairs.place(builder, args) if isinstance(kind, Half) else builder.gep(args[0], [args[1]])


def _read_modify_write(name: str, integers: tuple[str, str], real: str | None) -> Any:
    """An intrinsic over LLVM's atomicrmw: (pointer, index, value) -> old value."""

    @intrinsic
    def operation(typingctx: Any, pointer: Any, index: Any, value: Any) -> Any:
        if not isinstance(pointer, (types.CPointer, Narrow, Half)):
            return None
        number = pointer.dtype

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if isinstance(number, types.Float):
                kind = real
            else:
                kind = integers[0] if number.signed else integers[1]
            return builder.atomic_rmw(kind, _element(builder, args, pointer), args[2], "monotonic")

        return number(pointer, types.intp, number), generate

    operation.__name__ = name
    return operation


fetch_add = _read_modify_write("fetch_add", ("add", "add"), "fadd")
fetch_min = _read_modify_write("fetch_min", ("min", "umin"), "fmin")
fetch_max = _read_modify_write("fetch_max", ("max", "umax"), "fmax")
fetch_or = _read_modify_write("fetch_or", ("or", "or"), None)
exchange = _read_modify_write("exchange", ("xchg", "xchg"), "xchg")


@intrinsic
def add_summed(typingctx: Any, field: Any, index: Any, value: Any) -> Any:
    """The same as ``fetch_add``, without an atomic where no other worker changes what is there."""
    if not isinstance(field, Summed):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer, alone = (builder.extract_value(args[0], i) for i in range(2))
        place = builder.gep(pointer, [args[1]])
        with builder.if_else(builder.icmp_signed("!=", alone, ir.Constant(alone.type, 0))) as (yes, no):
            with yes:
                old = builder.load(place)
                builder.store(builder.add(old, args[2]), place)
                from_yes = builder.block
            with no:
                found = builder.atomic_rmw("add", place, args[2], "monotonic")
                from_no = builder.block
        result = builder.phi(old.type)
        result.add_incoming(old, from_yes)
        result.add_incoming(found, from_no)
        return result

    return field.dtype(field, types.intp, field.dtype), generate


@intrinsic
def compare_exchange(typingctx: Any, pointer: Any, index: Any, expected: Any, value: Any) -> Any:
    """If the element is ``expected`` it becomes ``value``; gives the old value."""
    if not isinstance(pointer, (types.CPointer, Narrow, Half)):
        return None
    number = pointer.dtype

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pair = builder.cmpxchg(_element(builder, args, pointer), args[2], args[3], "acq_rel", "monotonic")
        return builder.extract_value(pair, 0)

    return number(pointer, types.intp, number, number), generate


@intrinsic
def load_acquire(typingctx: Any, pointer: Any, index: Any) -> Any:
    """Read; what was written before the value was stored is visible after."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_element(builder, args), "acquire", 8)

    return types.int64(types.CPointer(types.int64), types.intp), generate


@intrinsic
def store_release(typingctx: Any, pointer: Any, index: Any, value: Any) -> Any:
    """Write with release semantics: threads that read the value also see all earlier writes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store_atomic(args[2], _element(builder, args), "release", 8)
        return context.get_dummy_value()

    return types.void(types.CPointer(types.int64), types.intp, types.int64), generate


def _prefetch(typingctx: Any, pointer: Any, index: Any) -> Any:
    """Ask for the memory of an element that is soon read or written; nobody waits for it. A hint, for plain arrays."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if isinstance(pointer, (types.CPointer, Narrow, Flags)):
            short, byte = ir.IntType(32), ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.VoidType(), [byte, short, short, short])
            call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
            place = builder.bitcast(_element(builder, args), byte)
            builder.call(call, [place, *(ir.Constant(short, each) for each in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(pointer, types.intp), generate


prefetch: Any = intrinsic(_prefetch)


@intrinsic
def clock(typingctx: Any) -> Any:
    """Nanoseconds of a clock that only goes forward."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return now(builder)

    return types.int64(), generate


def now(builder: Any) -> Any:
    """Write what :func:`clock` does."""
    return _time(builder, ir.Constant(ir.IntType(32), 1))


def _time(builder: Any, which: Any) -> Any:
    """Nanoseconds of one of the system's clocks."""
    long = ir.IntType(64)
    time = cgutils.alloca_once(builder, ir.ArrayType(long, 2), zfill=True)
    kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32), long.as_pointer()])
    call = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
    builder.call(call, [which, builder.bitcast(time, long.as_pointer())])
    seconds = builder.load(cgutils.gep_inbounds(builder, time, 0, 0))
    rest = builder.load(cgutils.gep_inbounds(builder, time, 0, 1))
    return builder.add(builder.mul(seconds, ir.Constant(long, 1_000_000_000)), rest)


@intrinsic
def time_of(typingctx: Any, thread: Any) -> Any:
    """Nanoseconds for which a thread had a core, by its number; the time of :func:`clock` if that is not known."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if sys.platform != "linux":
            return _time(builder, ir.Constant(ir.IntType(32), 1))
        number = builder.trunc(args[0], ir.IntType(32))
        one = builder.or_(builder.shl(builder.not_(number), ir.Constant(number.type, 3)), ir.Constant(number.type, 6))
        return _time(builder, one)

    return types.int64(types.int64), generate


@intrinsic
def yield_processor(typingctx: Any) -> Any:
    """Let another thread run: the one waited for may share this core."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
        return context.get_dummy_value()

    return types.void(), generate


#: Numbers of Linux's system call futex.
_FUTEX = {"x86_64": 202, "aarch64": 98, "riscv64": 98, "ppc64le": 221}.get(platform.machine())
_WAIT, _WAKE = 128, 129  # among the threads of one process
#: Microseconds of a sleep from which nobody wakes a thread, where there is no futex.
_NAP = 200


def _futex(builder: Any, place: Any, operation: int, value: Any) -> None:
    """Call futex at a word, whose lower half comes first."""
    long = ir.IntType(64)
    call = cgutils.get_or_insert_function(builder.module, ir.FunctionType(long, [long], var_arg=True), "syscall")
    address = builder.ptrtoint(place, long)
    rest = [ir.Constant(long, operation), value, ir.Constant(long, 0)]
    builder.call(call, [ir.Constant(long, _FUTEX), address, *rest])


def _has_futex() -> bool:
    return sys.platform == "linux" and sys.byteorder == "little" and _FUTEX is not None


@intrinsic
def sleep_while(typingctx: Any, pointer: Any, index: Any, value: Any) -> Any:
    """Sleep until woken, but not at all if the element is not the value; may return early."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if _has_futex():
            _futex(builder, _element(builder, args), _WAIT, args[2])
        else:
            short = ir.IntType(32)
            nap = cgutils.get_or_insert_function(builder.module, ir.FunctionType(short, [short]), "usleep")
            builder.call(nap, [ir.Constant(short, _NAP)])
        return context.get_dummy_value()

    return types.void(types.CPointer(types.int64), types.intp, types.int64), generate


@intrinsic
def wake(typingctx: Any, pointer: Any, index: Any) -> Any:
    """Wake the thread that sleeps at an element."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if _has_futex():
            _futex(builder, _element(builder, args), _WAKE, ir.Constant(ir.IntType(64), 1))
        return context.get_dummy_value()

    return types.void(types.CPointer(types.int64), types.intp), generate


@intrinsic
def this_function(typingctx: Any) -> Any:
    """The address of the function in which it is called."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ptrtoint(builder.function, ir.IntType(64))

    return types.int64(), generate


@intrinsic
def call_loop(typingctx: Any, address: Any, table: Any, worker: Any, workers: Any) -> Any:
    """Call a loop function at an address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        long = ir.IntType(64)
        kind = ir.FunctionType(ir.VoidType(), [long, long, long])
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), generate


def _trailing_zeros(typingctx: Any, word: Any) -> Any:
    """Index of the lowest one bit of a 64-bit word that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


trailing_zeros: Any = intrinsic(_trailing_zeros)
