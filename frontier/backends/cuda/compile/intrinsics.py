"""Intrinsics that the compilers lack: raw pointers, atomics on them, ordered loads, one shared scratch memory, a clock.

Pointers carry no length. So there is no bounds check, and negative indices do not count from the end; the instructions
for that would cost a third of a loop over edges. ``frontier.backends.cuda.simulator.operations`` has the same names in
plain Python.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba import types

from frontier.backends.cuda.compile import target
from frontier.backends.cuda.compile.target import instructions, intrinsic, models, register_model
from frontier.compile.elements import Flags, Half, Locked, Narrow, Packed, Rows, Sparse, pointer_type
from frontier.compile.fields import packed, pairs, sparse
from frontier.compile.translation.texts import device

__all__ = [
    "POINTERS",
    "SHARED",
    "any_lane",
    "ballot",
    "block_index",
    "block_size",
    "clock",
    "compare_exchange",
    "compare_exchange_system",
    "exchange",
    "fence_system",
    "fetch_add",
    "fetch_add_system",
    "fetch_max",
    "fetch_min",
    "fetch_or",
    "find_first",
    "first_of",
    "float_of",
    "load_acquire",
    "load_acquire_system",
    "load_once",
    "load_relaxed",
    "match_any",
    "num_blocks",
    "popcount",
    "prefetch",
    "release_add",
    "set_bits_system",
    "shuffle",
    "shuffle_down",
    "shuffle_up",
    "store_relaxed_system",
    "store_release",
    "sync",
    "sync_or",
    "sync_warp",
    "thread_index",
    "word_of",
]

_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)


@register_model(Flags)
class _FlagsModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, _I8.as_pointer())


@register_model(Narrow)
class _NarrowModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, ir.IntType(fe_type.dtype.bitwidth).as_pointer())


@register_model(Half)
class _HalfModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, manager[fe_type.dtype].get_value_type().as_pointer())


@register_model(Rows)
class _RowsModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, manager[fe_type.inner].get_value_type())


@register_model(Packed)
class _PackedModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, list(zip(("frames", "words"), fe_type.kinds, strict=True)))


@register_model(Sparse)
class _SparseModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, list(zip(sparse.MEMBERS, fe_type.kinds, strict=True)))


@register_model(Locked)
class _LockedModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, list(zip(("key", "other", "locks"), fe_type.kinds, strict=True)))


# ---- memory ------------------------------------------------------------------------------------------


def _pointer_to(made: Any) -> Any:
    @intrinsic
    def pointer(typingctx: Any, address: Any) -> Any:
        """The memory at an address, as an array of one type without a length."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return target.pointer(builder, args[0], context.get_value_type(signature.return_type))

        return made(types.int64), generate

    return pointer


def _shared(made: Any) -> Any:
    @intrinsic
    def shared(typingctx: Any, offset: Any) -> Any:
        """The block's scratch memory from an offset on, in bytes. All phases share this memory."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            module = builder.module
            array = ir.ArrayType(_I8, 0)
            found = module.globals.get("frontier_scratch")
            if found is None:
                found = ir.GlobalVariable(module, array, "frontier_scratch", addrspace=3)
                found.linkage, found.align = "external", 16
            first = builder.bitcast(found, ir.PointerType(_I8, 3))
            there = builder.gep(first, [args[0]])
            kind = context.get_value_type(signature.return_type)
            # Cast to the type before the generic address space, so that NVVM still knows that this is shared memory.
            typed = builder.bitcast(there, ir.PointerType(kind.pointee, 3))
            return builder.addrspacecast(typed, kind)

        return made(types.int64), generate

    return shared


_DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 wide_int8 wide_int16 wide_int32"


class _Pointers(dict[str, Any]):
    """Pointers to fields that go along with others have many types, so they are made when asked for."""

    def __missing__(self, name: str) -> Any:
        kind = pointer_type(name)
        own: dict[type, Any] = {Locked: pairs.locked, Packed: packed.assembled, Sparse: sparse.assembled}
        make = own.get(type(kind))
        self[name] = made = _pointer_to(kind) if make is None else make(intrinsic, kind)
        return made


#: dtype name -> function from an address (int64) to a pointer.
POINTERS = _Pointers({name: _pointer_to(pointer_type(name)) for name in _DTYPES.split()})

#: dtype name -> function from an offset in bytes to a pointer into the block's scratch memory.
SHARED = {
    name: _shared(types.CPointer(getattr(types, name))) for name in ("int32", "uint32", "int64", "float64")
}


def _element(builder: Any, args: Any, kind: Any = None) -> Any:
    return pairs.place(builder, args) if isinstance(kind, Half) else builder.gep(args[0], [args[1]])


def _is_pointer(kind: Any) -> bool:
    return isinstance(kind, (types.CPointer, Half, Narrow))


# ---- atomics -----------------------------------------------------------------------------------------


def _add_float(builder: Any, number: Any, place: Any, value: Any) -> Any:
    """Add atomically. Older architectures are compiled by LLVM 7, which has no ``atomicrmw fadd``."""
    kind, letter = (ir.DoubleType(), "d") if number.bitwidth == 64 else (ir.FloatType(), "f")
    address = builder.ptrtoint(place, _I64)
    text = f"atom.global.add.f{number.bitwidth} $0, [$1], $2;"
    where = f"={letter},l,{letter},~{{memory}}"
    return builder.asm(ir.FunctionType(kind, [_I64, kind]), text, where, [address, value], True)


def _extreme_float(builder: Any, number: Any, place: Any, value: Any, least: bool) -> Any:
    """Minimum or maximum of floats by integer atomics.

    Without the sign bit floats are ordered as signed integers are; with it, in reverse as unsigned ones. NaN, which
    would be beyond all of them, is taken for the infinity that changes nothing.
    """
    whole = ir.IntType(number.bitwidth)
    pointer = builder.bitcast(place, whole.as_pointer())
    nothing = ir.Constant(value.type, math.inf if least else -math.inf)
    bits = builder.bitcast(builder.select(builder.fcmp_unordered("uno", value, value), nothing, value), whole)
    positive = builder.icmp_signed(">=", bits, ir.Constant(whole, 0))
    first, second = ("min", "umax") if least else ("max", "umin")
    with builder.if_else(positive) as (then, otherwise):
        with then:
            a = builder.atomic_rmw(first, pointer, bits, "monotonic")
            from_a = builder.basic_block
        with otherwise:
            b = builder.atomic_rmw(second, pointer, bits, "monotonic")
            from_b = builder.basic_block
    old = builder.phi(whole)
    old.add_incoming(a, from_a)
    old.add_incoming(b, from_b)
    return builder.bitcast(old, value.type)


def _read_modify_write(name: str, integers: tuple[str, str], real: Any) -> Any:
    """An intrinsic made of LLVM's ``atomicrmw``: (pointer, index, value) -> old value."""

    @intrinsic
    def operation(typingctx: Any, pointer: Any, index: Any, value: Any) -> Any:
        if not _is_pointer(pointer):
            return None
        number = pointer.dtype

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = _element(builder, args, pointer)
            if isinstance(number, types.Float):
                return real(builder, number, place, args[2])
            op = integers[0] if number.signed else integers[1]
            return builder.atomic_rmw(op, place, args[2], "monotonic")

        return number(pointer, types.intp, number), generate

    operation.__name__ = operation.__qualname__ = name
    return operation


def _no_float(builder: Any, number: Any, place: Any, value: Any) -> Any:
    raise NotImplementedError(f"no such atomic on {number}")


fetch_add = _read_modify_write("fetch_add", ("add", "add"), _add_float)
fetch_min = _read_modify_write("fetch_min", ("min", "umin"), lambda *given: _extreme_float(*given, True))
fetch_max = _read_modify_write("fetch_max", ("max", "umax"), lambda *given: _extreme_float(*given, False))
fetch_or = _read_modify_write("fetch_or", ("or", "or"), _no_float)
exchange = _read_modify_write("exchange", ("xchg", "xchg"), _no_float)


@intrinsic
def compare_exchange(typingctx: Any, pointer: Any, index: Any, expected: Any, value: Any) -> Any:
    """If the element is ``expected``, it becomes ``value``; returns the old value."""
    if not _is_pointer(pointer):
        return None
    number = pointer.dtype

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pair = builder.cmpxchg(_element(builder, args, pointer), args[2], args[3], target.ORDER, "monotonic")
        return builder.extract_value(pair, 0)

    return number(pointer, types.intp, number, number), generate


@intrinsic
def compare_exchange_system(typingctx: Any, pointer: Any, index: Any, expected: Any, value: Any) -> Any:
    """The same for an integer that other GPUs may exchange at the same time, in the memory of any of them."""
    number = pointer.dtype
    bits, letter = (64, "l") if number.bitwidth == 64 else (32, "r")

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.IntType(bits)
        address = builder.ptrtoint(_element(builder, args, pointer), _I64)
        text = f"atom.relaxed.sys.cas.b{bits} $0, [$1], $2, $3;"
        where = f"={letter},l,{letter},{letter},~{{memory}}"
        return builder.asm(ir.FunctionType(kind, [_I64, kind, kind]), text, where, [address, *args[2:]], True)

    return number(pointer, types.intp, number, number), generate


@intrinsic
def fetch_add_system(typingctx: Any, pointer: Any, index: Any, value: Any) -> Any:
    """Add to a word in the memory of any GPU, to which others may add at the same time; returns the old value."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = builder.ptrtoint(_element(builder, args), _I64)
        kind = ir.FunctionType(_I64, [_I64, _I64])
        text = "atom.relaxed.sys.add.u64 $0, [$1], $2;"
        return builder.asm(kind, text, "=l,l,l,~{memory}", [address, args[2]], True)

    return types.int64(types.CPointer(types.int64), types.intp, types.int64), generate


@intrinsic
def set_bits_system(typingctx: Any, pointer: Any, index: Any, bits: Any) -> Any:
    """Set bits of a word of 32 in the memory of any GPU, of which others may set more at the same time."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = builder.ptrtoint(_element(builder, args), _I64)
        kind = ir.FunctionType(ir.VoidType(), [_I64, _I32])
        builder.asm(kind, "red.relaxed.sys.or.b32 [$0], $1;", "l,r,~{memory}", [address, args[2]], True)
        return context.get_dummy_value()

    return types.none(pointer, types.intp, types.uint32), generate


def fetch_pair(better: str) -> Any:
    """An intrinsic for the minimum (``"<"``) or maximum of words whose upper half is a key; gives the key before.

    The first atomic brings the key, with a lower half that no companion loses against. So the word changes only if the
    key gets better. Then an exchange brings the companion, unless a better key has come since; nothing waits for it.
    (docs/notes/performance-history.md compares this with a loop of exchanges and with other ways.)
    """

    @intrinsic
    def operation(typingctx: Any, half: Any, index: Any, value: Any, other: Any) -> Any:
        if not isinstance(half, Half) or half.other is None:
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            word = pairs.word_of(builder, args)
            key, companion = (builder.zext(builder.bitcast(each, _I32), _I64) for each in args[2:])
            key = builder.shl(key, _I64(32))
            new = builder.or_(key, companion)
            old = _change_word(builder, half.dtype, better, word, args[2], key, new)
            return builder.bitcast(builder.trunc(builder.lshr(old, _I64(32)), _I32), args[2].type)

        return half.dtype(half, types.intp, half.dtype, half.other), generate

    return operation


def _change_word(builder: Any, number: Any, better: str, word: Any, value: Any, key: Any, new: Any) -> Any:
    """Bits of floats are ordered as signed integers are, or without a sign in reverse: see _extreme_float."""
    least = better == "<"
    if not isinstance(number, types.Float):
        return _replace(builder, least, number.signed, word, key, new)
    positive = builder.icmp_signed(">=", key, _I64(0))
    number_is = builder.fcmp_ordered("ord", value, value)
    with builder.if_else(builder.or_(positive, builder.not_(number_is))) as (then, otherwise):
        with then:
            a = _replace(builder, least, True, word, key, new, number_is)
            from_a = builder.basic_block
        with otherwise:
            b = _replace(builder, not least, False, word, key, new)
            from_b = builder.basic_block
    old = builder.phi(_I64)
    old.add_incoming(a, from_a)
    old.add_incoming(b, from_b)
    return old


def _replace(builder: Any, least: bool, signed: bool, word: Any, key: Any, new: Any, may: Any = None) -> Any:
    """Bring a key into a word, if it is better, and then its companion; ``may`` is false for NaN."""
    order = ("" if signed else "u") + ("min" if least else "max")
    offered = builder.or_(key, _I64(0xFFFFFFFF)) if least else key
    if may is not None:
        nothing = _I64((0x7FFFFFFF if least else -0x80000000) << 32 | 0xFFFFFFFF * least)
        offered = builder.select(may, offered, nothing)
    old = builder.atomic_rmw(order, word, offered, "monotonic")
    compare = builder.icmp_signed if signed else builder.icmp_unsigned
    with builder.if_then(compare("<" if least else ">", offered, old)):
        builder.cmpxchg(word, offered, new, target.ORDER, "monotonic")
    return old


# ---- order between blocks ----------------------------------------------------------------------------


def _load(instruction: str) -> Any:
    @intrinsic
    def load(typingctx: Any, pointer: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address = builder.ptrtoint(_element(builder, args), _I64)
            text = f"{instruction} $0, [$1];"
            return builder.asm(ir.FunctionType(_I64, [_I64]), text, "=l,l,~{memory}", [address], True)

        return types.int64(types.CPointer(types.int64), types.intp), generate

    return load


#: Read with acquire semantics: what was written before the value was stored is visible afterwards.
load_acquire = _load("ld.acquire.gpu.global.b64")
#: Read what other blocks have written, bypassing the multiprocessor's own cache.
load_relaxed = _load("ld.relaxed.gpu.global.b64")
#: As load_acquire, of what another GPU may have written.
load_acquire_system = _load("ld.acquire.sys.global.b64")


def _store(instruction: str) -> Any:
    @intrinsic
    def store(typingctx: Any, pointer: Any, index: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address = builder.ptrtoint(_element(builder, args), _I64)
            kind = ir.FunctionType(ir.VoidType(), [_I64, _I64])
            builder.asm(kind, f"{instruction} [$0], $1;", "l,l,~{memory}", [address, args[2]], True)
            return context.get_dummy_value()

        return types.void(types.CPointer(types.int64), types.intp, types.int64), generate

    return store


#: Add with release semantics: threads that read the sum also see all earlier writes of this block.
release_add = _store("red.release.gpu.global.add.u64")
#: Write with release semantics: threads that read the value also see all earlier writes.
store_release = _store("st.release.gpu.global.b64")
#: Write what another GPU reads by :data:`load_acquire_system`.
store_relaxed_system = _store("st.relaxed.sys.global.b64")


@intrinsic
def load_once(typingctx: Any, pointer: Any, index: Any) -> Any:
    """Read an element that is not read again soon, so that it does not displace what is from the caches.

    Ids of compressed lists are read as always: several lie in one word.
    """
    compressed = isinstance(pointer, Packed)
    if not compressed and not (isinstance(pointer, types.CPointer) and pointer.dtype in (types.int32, types.int64)):
        return None
    kind = types.int64 if compressed else pointer.dtype

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if compressed:
            return packed.element(builder, *args)
        bits = kind.bitwidth
        address = builder.ptrtoint(_element(builder, args), _I64)
        form = ir.FunctionType(ir.IntType(bits), [_I64])
        text, constraint = f"ld.global.cs.b{bits} $0, [$1];", "=r,l" if bits == 32 else "=l,l"
        made = builder.asm(form, text, constraint, [address], False)
        made.attributes.add("readonly")  # not moved across barriers: a window of lists may be another one behind it
        return made

    return kind(pointer, types.intp), generate


@intrinsic
def fence_system(typingctx: Any) -> Any:
    """Let all GPUs that see what is written afterwards also see what was written, or seen, before."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.asm(ir.FunctionType(ir.VoidType(), []), "fence.acq_rel.sys;", "~{memory}", [], True)
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def float_of(typingctx: Any, word: Any) -> Any:
    """The float64 that a word holds."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@intrinsic
def word_of(typingctx: Any, real: Any) -> Any:
    """The bits of a float64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], _I64)

    return types.int64(types.float64), generate


@intrinsic
def prefetch(typingctx: Any, pointer: Any, index: Any) -> Any:
    """Bring the line of an element, or its frame or word of a directory, into the second-level cache."""
    find = {Packed: packed.place, Sparse: sparse.place}.get(type(pointer))
    if find is None and not _is_pointer(pointer):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _element(builder, args, pointer) if find is None else find(builder, *args)
        address = builder.ptrtoint(place, _I64)
        kind = ir.FunctionType(ir.VoidType(), [_I64])
        builder.asm(kind, "prefetch.global.L2 [$0];", "l", [address], True)
        return context.get_dummy_value()

    return types.void(pointer, types.intp), generate


@intrinsic
def clock(typingctx: Any) -> Any:
    """Nanoseconds of a clock that only goes forward."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.asm(ir.FunctionType(_I64, []), "mov.u64 $0, %globaltimer;", "=l,~{memory}", [], True)

    return types.int64(), generate


# ---- where a thread stands ---------------------------------------------------------------------------


def _register(name: str) -> Any:
    @intrinsic
    def read(typingctx: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            called = f"llvm.nvvm.read.ptx.sreg.{name}"
            made = builder.module.globals.get(called)
            if made is None:
                made = ir.Function(builder.module, ir.FunctionType(_I32, []), called)
            return builder.call(made, [])

        return types.int32(), generate

    return read


thread_index = _register("tid.x")
block_index = _register("ctaid.x")
num_blocks = _register("nctaid.x")
block_size = _register("ntid.x")

@device
def sync():
    """All threads of the block meet."""
    instructions.syncthreads()


@device
def sync_or(flag):
    """All threads of the block meet; returns whether the flag of any is set."""
    return instructions.syncthreads_or(types.int32(flag)) != 0


@device
def sync_warp():
    """The 32 threads of a warp meet."""
    instructions.syncwarp()


@device
def ballot(flag):
    """Bit i: the flag of lane i."""
    return types.uint32(instructions.ballot_sync(0xFFFFFFFF, flag))


@device
def any_lane(flag):
    """Whether the flag of any lane is set."""
    return instructions.any_sync(0xFFFFFFFF, flag)


@device
def match_any(value):
    """Bit i: whether lane i has the same value of 64 bits. All lanes call it."""
    return types.uint32(instructions.match_any_sync(0xFFFFFFFF, value))


@device
def shuffle(value, lane):
    """Return one lane's value to all lanes."""
    return instructions.shfl_sync(0xFFFFFFFF, value, lane)


@device
def shuffle_up(value, delta):
    """The value of the lane ``delta`` places before this one."""
    return instructions.shfl_up_sync(0xFFFFFFFF, value, delta)


@device
def shuffle_down(value, delta):
    """The value of the lane ``delta`` places after this one."""
    return instructions.shfl_down_sync(0xFFFFFFFF, value, delta)


@device
def popcount(word):
    """Number of one bits."""
    return types.int32(instructions.popc(word))


@device
def find_first(word):
    """Index of the lowest one bit of a word that is not 0."""
    return types.int32(instructions.ffs(word) - 1)


@intrinsic
def first_of(typingctx, everything):
    """The first element of a frontier that is a range: 0, or what is told as in ``Builder.in_a_row``."""
    known = isinstance(everything, types.Boolean)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return ir.Constant(_I64, 0) if known else builder.sub(args[0], ir.Constant(_I64, 1))

    return types.int64(types.boolean if known else types.int64), generate
