"""Memory of several GPUs at one range of addresses: what the driver is asked for, by a double of it."""

from __future__ import annotations

import gc
import sys
import types

import pytest
import strict_cupy

from frontier.errors import GraphError
from frontier.memory import sparse, spread

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
        self.zeroed = []

    def _result(self, name, *values):
        return (self.failing.get(name, 0), *values)

    def cuMemGetAllocationGranularity(self, properties, flag):
        return 0, PIECE

    def cuMemAddressReserve(self, size, alignment, address, flags):
        self.reserved.append(size)
        return 0, 1 << 40

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
    with strict_cupy.simulated():
        yield made


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
