"""Memory of several GPUs at one range of addresses: what the driver is asked for, by a double of it."""

from __future__ import annotations

import gc
import sys
import types

import pytest
import strict_cupy

from frontier.errors import GraphError
from frontier.memory import kept, sparse, spread
from frontier.memory.gpu import gpu

PIECE = 1 << 21


class Driver(types.ModuleType):
    """A driver that notes what is mapped where, and who may read it; ``failing`` calls return an error."""

    CUmemAllocationType = types.SimpleNamespace(CU_MEM_ALLOCATION_TYPE_PINNED=1)
    CUmemAllocationGranularity_flags = types.SimpleNamespace(CU_MEM_ALLOC_GRANULARITY_MINIMUM=0)
    CUmemLocationType = types.SimpleNamespace(CU_MEM_LOCATION_TYPE_DEVICE=1)
    CUmemAccess_flags = types.SimpleNamespace(CU_MEM_ACCESS_FLAGS_PROT_READWRITE=3)
    CUmemAllocationProp = CUmemLocation = CUmemAccessDesc = types.SimpleNamespace

    def __init__(self):
        super().__init__("driver")
        self.pieces, self.readers, self.reserved, self.held, self.failing = {}, {}, [], 0, {}
        self.zeroed, self.end = [], 0

    def _result(self, name, *values):
        return (self.failing.get(name, 0), *values)

    def cuMemGetAllocationGranularity(self, properties, flag):
        return 0, PIECE

    def cuMemAddressReserve(self, size, alignment, address, flags):
        start = self.end if self.reserved else 0
        self.reserved.append(size)
        self.end = start + size
        return 0, (1 << 40) + start

    def cuMemCreate(self, size, properties, flags):
        self.held += not self.failing.get("cuMemCreate")
        return self._result("cuMemCreate", (size, properties.location.id))

    def cuMemMap(self, at, size, offset, handle, flags):
        assert handle[0] == size
        if not self.failing.get("cuMemMap"):
            self.pieces[at - (1 << 40)] = handle
        return self._result("cuMemMap")

    def cuMemRelease(self, handle):
        self.held -= 1
        return (0,)

    def cuMemSetAccess(self, at, size, found, number):
        assert len(found) == number
        self.readers[at - (1 << 40)] = [each.location.id for each in found]
        return (0,)

    def cuMemUnmap(self, at, size):
        assert self.pieces.pop(at - (1 << 40))[0] == size
        return (0,)

    def cuMemsetD8(self, at, value, size):
        assert value == 0
        self.zeroed.append((at - (1 << 40), size))
        return (0,)

    def cuMemAddressFree(self, at, size):
        self.reserved.remove(size)

    def cuDeviceGet(self, index):
        return 0, index

    def cuDevicePrimaryCtxRetain(self, device):
        return 0, device

    def _nothing(self, *given):
        return (0,)

    cuCtxPushCurrent = cuCtxSynchronize = cuCtxPopCurrent = cuDevicePrimaryCtxRelease = _nothing


@pytest.fixture
def driver(monkeypatch):
    made = Driver()
    bindings = types.ModuleType("bindings")
    bindings.driver = made
    monkeypatch.setitem(sys.modules, "cuda", types.ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.bindings", bindings)
    kept.release()
    spread._most.cache_clear()
    with strict_cupy.simulated():
        yield made
        kept.release()
    spread._most.cache_clear()


@pytest.mark.parametrize(
    ("cuts", "devices", "expected"),
    [
        ([0, 1.2, 4], [0, 1], {0: (1, 0), 1: (4, 1)}),
        ([0, 0.2, 4], [0, 1], {0: (5, 1)}),
        ([0, 2, 2, 3.5], [0, 0, 0], {0: (2, 0), 2: (2, 0)}),
        ([0, 1.7, 1.9], [1, 0], {0: (2, 1)}),
    ],
)
def test_each_gpu_has_its_stretch_and_all_read_it(driver, cuts, devices, expected):
    block = spread._Block(int(cuts[-1] * PIECE), [int(cut * PIECE) for cut in cuts], devices)
    assert driver.pieces == {at * PIECE: (size * PIECE, device) for at, (size, device) in expected.items()}
    assert set(map(tuple, driver.readers.values())) == {tuple(dict.fromkeys(devices))}
    assert driver.held == 0  # what is mapped needs no handle
    assert driver.reserved == [sum(size for size, _ in expected.values()) * PIECE]
    del block
    gc.collect()
    assert driver.pieces == {}
    assert driver.reserved == []


@pytest.mark.parametrize(("name", "error", "kind"), [("cuMemCreate", 2, MemoryError), ("cuMemMap", 1, GraphError)])
def test_what_the_driver_does_not_give(driver, name, error, kind):
    driver.failing[name] = error
    with pytest.raises(kind):
        spread._Block(3 * PIECE, [0, PIECE, 3 * PIECE], [0, 1])
    gc.collect()
    assert (driver.pieces, driver.reserved, driver.held) == ({}, [], 0)


def test_parts_of_an_array_get_memory_when_they_are_needed(driver):
    piece = sparse.PIECE
    block = sparse._Block(5 * piece - 100, 0)
    assert set(driver.pieces) == {at * piece for at in range(5)}  # behind all of which lies the same, to be read
    assert (driver.zeroed, driver.held) == ([], 0)
    block.have([slice(piece // 4 - 1, piece // 4 + 1), slice(9, 9)], 4)
    assert driver.zeroed == [(0, piece), (piece, piece)]
    block.have([slice(0, 7), slice(5 * piece // 4 - 30, 5 * piece // 4 - 25)], 4)
    assert driver.zeroed[2:] == [(4 * piece, piece)]
    assert set(driver.pieces) == {at * piece for at in range(5)}
    driver.failing["cuMemCreate"] = 2
    with pytest.raises(MemoryError):
        block.have([slice(0, 5 * piece // 4 - 25)], 4)
    assert block._has.tolist() == [True, True, False, False, True]
    assert driver.held == 0
    del block
    gc.collect()
    assert (driver.pieces, driver.reserved) == ({}, [])


# ---- what is kept for later arrays -----------------------------------------------------------------------


def used(cuts=(0, 1, 3), devices=(0, 1), keep=True, check=lambda: None):
    """What an array over several GPUs holds, with cuts in pieces."""
    return spread._Use(cuts[-1] * PIECE - 100, [cut * PIECE for cut in cuts], devices, keep, check)


def has_room(driver, monkeypatch, pieces):
    """Let the GPUs together have memory for so many pieces."""
    create = driver.cuMemCreate

    def taken():
        return sum(size for size, _ in driver.pieces.values())

    monkeypatch.setattr(
        driver, "cuMemCreate",
        lambda size, *given: create(size, *given) if taken() + size <= pieces * PIECE else (2,),
    )  # fmt: skip
    runtime = strict_cupy.module.cuda.runtime
    monkeypatch.setattr(runtime, "memGetInfo", lambda: (pieces * PIECE - taken(), 1 << 40))


def test_memory_is_kept_for_the_next_array_that_is_alike(driver, monkeypatch):
    waited, checked = [], []
    runtime = strict_cupy.module.cuda.runtime
    monkeypatch.setattr(runtime, "deviceSynchronize", lambda: waited.append(strict_cupy.Device.current))
    first, second = used(), used()
    blocks = {first.block, second.block}
    assert len(blocks) == 2
    assert kept.bytes_on(0) == 0
    del first, second
    assert (kept.bytes_on(0), kept.bytes_on(1)) == (2 * PIECE, 4 * PIECE)
    waited.clear()
    again = used(check=lambda: checked.append(1))
    assert again.block in blocks
    assert checked == []  # for it takes no new memory
    assert waited == []  # who writes to it waits for what the array before was used for
    assert (kept.bytes_on(0), kept.bytes_on(1)) == (PIECE, 2 * PIECE)
    for other in ({"cuts": (0, 2, 3)}, {"devices": (1, 0)}, {"cuts": (0, 1, 4)}, {"keep": False}):
        assert used(**other, check=lambda: checked.append(1)).block not in blocks
    assert len(checked) == 4
    assert used(devices=(0, 0)).block.sizes == {0: 3 * PIECE}


def test_little_is_kept(driver, monkeypatch):
    """So many blocks, and so much of each GPU's memory; what is too much goes when somebody asks for memory."""
    many = [used() for _ in range(kept.MOST + 3)]
    first = id(many[0].block)
    while many:
        many.pop(0)
    assert len(kept._kept) == kept.MOST + 3  # garbage may be collected while kernels run, which then go on
    assert kept.take(None) is None
    assert len(kept._kept) == kept.MOST
    assert first not in {id(block) for _, block in kept._kept}  # it was the first to come
    kept.release()
    assert driver.pieces == {}
    spread._most.cache_clear()
    monkeypatch.setattr(strict_cupy.pool, "limit", 5 * PIECE * spread.ONE_IN)
    many = [used() for _ in range(4)]
    del many
    assert kept.take(None) is None
    assert (kept.bytes_on(0), kept.bytes_on(1)) == (2 * PIECE, 4 * PIECE)
    whole = used(cuts=(0, 0, 6))
    del whole
    assert kept.take(None) is None
    assert kept.bytes_on(1) == 0  # more than may be kept, even without the others


def test_what_is_kept_is_given_back_when_memory_is_short(driver, monkeypatch):
    has_room(driver, monkeypatch, 4)
    first = used()
    del first
    assert kept.bytes_on(1) == 2 * PIECE
    second = used(cuts=(0, 2, 4))
    assert kept.bytes_on(1) == 0
    with pytest.raises(MemoryError):
        used()
    assert second.block.sizes == {0: 2 * PIECE, 1: 2 * PIECE}


def test_what_is_kept_counts_as_free(driver, monkeypatch):
    has_room(driver, monkeypatch, 4)
    first = used()
    del first
    memory = gpu(0)
    assert memory.free(PIECE) == PIECE  # there is as much without it
    assert kept.bytes_on(0) == PIECE
    assert memory.free(2 * PIECE) == 4 * PIECE
    assert kept.bytes_on(0) == 0
    first = used()
    del first
    assert memory.free() == 4 * PIECE
    assert driver.pieces == {}
