"""Values that GPUs take over from each other, packed where few of those that lie side by side have changed."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import strict_cupy
from conftest import COUNT, GPUS

import frontier as fr
from frontier.compile.codes import BLOCK
from frontier.distributed.devices import exchange_pass, packing_phases, phases
from frontier.distributed.devices.spreading import starts_of
from frontier.memory import detection
from frontier.memory.arrays import to_host

pytestmark = pytest.mark.gpu

N = 7_003 if detection.simulated() else 300_007

#: Of so many vertices in a row, which share changes.
STRETCH, SHARES = 900, (0.0, 0.005, 0.1, 0.5, 0.9, 1.0)


@pytest.fixture(params=["cuda:0,0,0", GPUS])
def several(request: pytest.FixtureRequest) -> Iterator[str]:
    if detection.simulated():
        if request.param != GPUS:
            pytest.skip("in the simulator one placement")
        with strict_cupy.simulated():
            yield request.param
    elif request.param == GPUS and len(detection.every()) < COUNT:
        pytest.skip("there is one GPU only")
    else:
        yield request.param


def write(p, v):
    if p.chosen[v]:
        p.value[v] = p.value[v] % 50 + v % 17


def read(p, src, dst):
    fr.atomic_add(p.seen, src, np.int64(p.value[dst]) + 2 * p.total[dst])


def lower(p, src, dst):
    if p.chosen[src]:
        fr.atomic_min(p.value, dst, p.seen[src] % 90)


def add(p, src, dst):
    if not p.chosen[src]:
        fr.atomic_add(p.total, dst, 1 + src % 3)


#: Twice, for values lie in two arrays in turns; the reads bring what others have changed.
PROGRAM = fr.Sequence(
    *2 * (
        fr.Compute(write, over="vertices"),
        fr.Advance(read, output=None, over="vertices"),
        fr.Advance(lower, output=None, over="vertices"),
        fr.Advance(add, output=None, over="vertices"),
        fr.Advance(read, output=None, over="vertices"),
    ),
)  # fmt: skip


def chosen() -> np.ndarray:
    share = np.take(SHARES, np.arange(N) // STRETCH % len(SHARES))
    found: np.ndarray = np.random.default_rng(4).random(N) < share
    return found


def sizes(g: fr.Graph, parts: int) -> np.ndarray:
    """How many elements of each four blocks change, as owners walk over them."""
    found = []
    for first, end in itertools.pairwise(starts_of(g, parts).tolist()):
        cuts = np.arange(first // BLOCK * BLOCK, end, 4 * BLOCK)
        own = np.concatenate((np.zeros(first, np.bool_), chosen()[first:end]))
        found += [int(own[cut : cut + 4 * BLOCK].sum()) for cut in cuts.tolist()]
    return np.array(found)


def write_narrow(p, v):
    if p.chosen[v]:
        p.value[v] = p.value[v] % 50 + v % 17
        p.flag[v] = not p.flag[v]


def read_narrow(p, src, dst):
    fr.atomic_add(p.seen, src, np.int64(p.value[dst]) + 1000 * np.int64(p.flag[dst]))


NARROW = fr.Sequence(
    *2 * (fr.Compute(write_narrow, over="vertices"), fr.Advance(read_narrow, output=None, over="vertices"))
)


@pytest.mark.parametrize("dtype", ["int16", "uint8"])
def test_narrow_values(several: str, dtype: str) -> None:
    src = np.arange(N)
    g = fr.from_edges(src, (src + N // 2 + 1) % N, num_vertices=N)
    found = []
    for there in (g, g.to(several)):
        p = fr.Problem(
            there, chosen=fr.vertex("bool", chosen()), value=fr.vertex(dtype, src % 97),
            flag=fr.vertex("bool", src % 3 == 0), seen=fr.vertex("int64"),
        )  # fmt: skip
        NARROW(p)
        found.append({name: to_host(array).tolist() for name, array in p.arrays.items()})
    assert found[1] == found[0]


@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_what_others_have_changed(several: str, dtype: str) -> None:
    src = np.arange(N)
    g = fr.from_edges(src, (src + N // 2 + 1) % N, num_vertices=N)
    many = sizes(g, len(several.split(",")))
    packed = np.array([packing_phases.is_packed(each) for each in many.tolist()])
    assert packed.any()
    assert (many[~packed] > 3 * BLOCK).any()
    assert ((many[~packed] > 0) & (many[~packed] < 16)).any()
    found = []
    for there in (g, g.to(several)):
        p = fr.Problem(
            there, chosen=fr.vertex("bool", chosen()), value=fr.vertex(dtype, src % 97, combine="min"),
            total=fr.vertex("int32", combine="sum"), seen=fr.vertex("int64"),
        )  # fmt: skip
        PROGRAM(p)
        found.append({name: to_host(array).tolist() for name, array in p.arrays.items()})
    assert found[1] == found[0]


def grow(factor: int, third: int) -> Any:
    def grown(p, v):
        if v % 3 == third:
            p.value[v] = p.value[v] * factor + v

    return grown


def add_seen(p, src, dst):
    fr.atomic_add(p.seen, src, p.value[dst] % 1000)


def late(at: Any, copy: Any) -> Any:
    """Take over what others have changed, but the first part is slow."""
    made = phases.sharing(at, copy)

    def phase(p, C, slot, w, W, mine, base, fields, packs, marked, starts, rank, parts, blocks, received):
        if rank == 0 and w == 0:
            time.sleep(0.4)
        made(p, C, slot, w, W, mine, base, fields, packs, marked, starts, rank, parts, blocks, received)

    return phase


@pytest.mark.skipif(not detection.simulated(), reason="lets a thread of a kernel sleep, as the simulator can")
def test_a_slow_part_reads_what_was_packed_for_it(several: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others go on, and pack the same field again, while it still reads what they packed the time before."""
    monkeypatch.setattr(exchange_pass, "sharing", late)
    n, draws = 300, np.random.default_rng(1)
    g = fr.from_edges(*draws.integers(0, n, (2, 600)), num_vertices=n)
    steps = [fr.Compute(grow(factor, third), over="vertices") for factor, third in ((3, 0), (5, 1), (7, 2))]
    found = []
    for there in (g, g.to(several)):
        p = fr.Problem(there, value=fr.vertex("int64", np.arange(n)), seen=fr.vertex("int64", combine="sum"))
        fr.Sequence(*steps, fr.Advance(add_seen, output=None, over="vertices"))(p)
        found.append(to_host(p.arrays["seen"]).tolist())
    assert found[1] == found[0]
