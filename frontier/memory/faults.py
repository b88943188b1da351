"""A mapped file that is cut off while it is read: an error, and no signal that ends the process.

To a thread that reads pages which a mapped file no longer has, or which the disk cannot read, the system sends SIGBUS.
While the file is read by what looks at it afterwards (:class:`frontier.memory.disk.reading`), a handler of this signal
puts zeros in the place of the whole file and notes it. Zeros are ids of vertices, so what reads them runs on, and its
result is refused. Any other SIGBUS goes to the handler that was there before, or ends the process as ever.

The handler runs in whatever state the process is, so it takes no lock, no memory and nothing of Python's. It is machine
code that loads the table below and calls ``mmap``, ``sigaction`` and ``raise``, which on Linux only ask the kernel. It
is made when a file is first read so, on Linux and 64-bit x86 or Arm; elsewhere a file that is cut off while it is read
ends the process.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import sys
import threading
import weakref
from collections.abc import Iterable
from typing import Any

from frontier.memory import limits
from frontier.system.forks import held

__all__ = ["Range", "begin", "end"]

#: Files that can be watched at the same time; of others the signal ends the process.
CAPACITY = 1024

#: Words of a row of the table: the first address, the one after the last, how many read it, whether it was lost. A row
#: with readers does not change: they keep its file, so that its addresses are those of nothing else either.
LOW, HIGH, READERS, LOST = range(4)
WORDS = 4

_lock = held(threading.RLock())  # a forked child must not begin with a lock that a thread holds which it does not have
_free = list(range(CAPACITY - 1, -1, -1))
_tried = False


class _Action(ctypes.Structure):
    """``struct sigaction`` of the C libraries of Linux, on 64-bit x86 and Arm."""

    _fields_ = (
        ("handler", ctypes.c_void_p), ("mask", ctypes.c_ubyte * 128), ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )  # fmt: skip


_SIGINFO, _RESTART, _ONSTACK = 0x4, 0x10000000, 0x08000000
_FIXED = 0x10  # MAP_FIXED, which the module mmap lacks

# The table, and the action that was there before. Never freed, since the handler may run until the last moment.
_memory = mmap.mmap(-1, CAPACITY * WORDS * 8 + ctypes.sizeof(_Action))
_keep = ctypes.pythonapi.Py_IncRef
_keep(ctypes.py_object(_memory))
_table = (ctypes.c_uint64 * (CAPACITY * WORDS)).from_buffer(_memory)
_before = _Action.from_buffer(_memory, CAPACITY * WORDS * 8)


class Range:
    """The addresses of a mapped file.

    Parameters
    ----------
    owner : object
        The range is forgotten when this is gone.
    address, size : int
    """

    __slots__ = ("_row",)

    def __init__(self, owner: object, address: int, size: int) -> None:
        self._row: int | None = None
        try:
            slot = _free.pop()
        except IndexError:
            return
        row = self._row = slot * WORDS
        _table[row + READERS] = _table[row + LOST] = 0
        _table[row + LOW] = address
        _table[row + HIGH] = address + -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        weakref.finalize(owner, _forget, slot).atexit = False

    @property
    def lost(self) -> bool:
        """Whether zeros have taken the place of the file."""
        return self._row is not None and _table[self._row + LOST] != 0

    def count(self, change: int) -> None:
        """Add to the number of those who read it; the lock must be held."""
        if self._row is not None:
            _table[self._row + READERS] += change


def _forget(slot: int) -> None:
    _table[slot * WORDS + HIGH] = _table[slot * WORDS + LOW] = 0
    _free.append(slot)


def begin(ranges: Iterable[Range]) -> None:
    """Let the handler take care of ranges, which the caller keeps until :func:`end`; then it must look at ``lost``."""
    with _lock:
        _install()
        for each in ranges:
            each.count(1)


def end(ranges: Iterable[Range]) -> None:
    """Undo :func:`begin`."""
    with _lock:
        for each in ranges:
            each.count(-1)


# ---- the handler -----------------------------------------------------------------------------------------


def _install() -> None:
    """Install the handler, once for a process and those that it forks."""
    global _tried
    if _tried:
        return
    _tried = True
    known = sys.platform == "linux" and os.uname().machine in ("x86_64", "aarch64") and sys.maxsize > 2**32
    if not known or limits.address_space_left() is not None:  # where LLVM, if there is no room, ends the process
        return
    try:
        code = _linked()
    except (ImportError, RuntimeError):  # without LLVM, everything else works as before
        return
    sigaction = ctypes.CDLL(None).sigaction
    ours = _Action(handler=code, flags=_SIGINFO | _RESTART | _ONSTACK)
    if sigaction(signal.SIGBUS, None, ctypes.byref(_before)) == 0:
        sigaction(signal.SIGBUS, ctypes.byref(ours), None)


def _linked() -> int:
    """Bring the handler into memory; its address."""
    from llvmlite import binding
    from llvmlite.binding.orcjit import JITLibraryBuilder, create_lljit_compiler

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    linker = create_lljit_compiler(suppress_errors=True)
    library = JITLibraryBuilder().add_ir(_text()).add_current_process().export_symbol("handler").link(linker, "faults")
    _keep(ctypes.py_object((linker, library)))  # as the table
    return int(library["handler"])


def _text() -> str:
    """The handler, in the language of LLVM: ``handler(number, info, context)``, where ``info`` is a ``siginfo_t``."""
    from llvmlite import ir

    word, number = ir.IntType(64), ir.IntType(32)
    module = ir.Module("faults")
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [number, word, word]), "handler")
    names = ("begin", "row", "next", "ours", "other", "function", "default", "again", "end")
    at = {name: function.append_basic_block(name) for name in names}
    b = ir.IRBuilder(at["begin"])
    info = function.args[1]
    cause = b.load(b.inttoptr(b.add(info, word(8)), number.as_pointer()))
    place = b.load(b.inttoptr(b.add(info, word(16)), word.as_pointer()))
    found = b.icmp_signed(">", cause, number(0))  # else another process or thread sent it, and there is no address
    b.cbranch(found, at["row"], at["other"])
    _zeros(b, at, word, number, place)
    _others(b, at, word, function, found)
    b.position_at_end(at["end"])
    b.ret_void()
    return str(module)


def _zeros(b: Any, at: dict[str, Any], word: Any, number: Any, place: Any) -> None:
    """Look for the address, and put zeros where the file that has it was."""
    first, last = ctypes.addressof(_table), ctypes.addressof(_table) + ctypes.sizeof(_table)
    b.position_at_end(at["row"])
    row = b.phi(word)

    def entry(which: int) -> Any:
        return b.inttoptr(b.add(row, word(which * 8)), word.as_pointer())

    row.add_incoming(word(first), at["begin"])
    low, high, readers, again = (b.load_atomic(entry(each), "seq_cst", 8) for each in (LOW, HIGH, READERS, LOW))
    inside = b.and_(b.icmp_unsigned("<=", low, place), b.icmp_unsigned("<", place, high))
    read = b.and_(b.icmp_unsigned("!=", readers, word(0)), b.icmp_unsigned("==", low, again))  # not another's by now
    b.cbranch(b.and_(inside, read), at["ours"], at["next"])

    b.position_at_end(at["next"])
    following = b.add(row, word(WORDS * 8))
    row.add_incoming(following, at["next"])
    b.cbranch(b.icmp_unsigned("<", following, word(last)), at["row"], at["other"])

    b.position_at_end(at["ours"])  # noted first: other threads may read zeros as soon as they are there
    b.store_atomic(word(1), entry(LOST), "seq_cst", 8)
    how = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _FIXED
    mapping = _declared(b, "mmap", word, word, word, number, number, number, word)
    size = b.sub(high, low)  # all of it: a file that was cut off lacks most of its pages, and each would take a signal
    made = b.call(mapping, [low, size, number(mmap.PROT_READ), number(how), number(-1), word(0)])
    b.cbranch(b.icmp_unsigned("==", made, low), at["end"], at["other"])


def _others(b: Any, at: dict[str, Any], word: Any, function: Any, found: Any) -> None:
    """Hand the signal on: to a function that was there, or to what the system does."""
    sent, number = function.args[0], function.args[0].type
    b.position_at_end(at["other"])
    former = b.load(b.inttoptr(word(ctypes.addressof(_before)), word.as_pointer()))
    b.cbranch(b.icmp_unsigned(">", former, word(1)), at["function"], at["default"])  # 0, 1: SIG_DFL and SIG_IGN

    b.position_at_end(at["function"])
    b.call(b.inttoptr(former, function.type), function.args)
    b.branch(at["end"])

    b.position_at_end(at["default"])  # then the instruction is tried again
    b.call(_declared(b, "sigaction", number, number, word, word), [sent, word(ctypes.addressof(_before)), word(0)])
    b.cbranch(found, at["end"], at["again"])

    b.position_at_end(at["again"])  # what was sent has no instruction
    b.call(_declared(b, "raise", number, number), [sent])
    b.branch(at["end"])


def _declared(b: Any, name: str, gives: Any, *given: Any) -> Any:
    """A function of the C library."""
    from llvmlite import ir

    return ir.Function(b.block.module, ir.FunctionType(gives, given), name)
