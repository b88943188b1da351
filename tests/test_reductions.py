"""The table of reductions: identities are neutral, order does not matter where it says so, the interpreter reads it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import frontier as fr
from frontier.operators.shared.reductions import REDUCTIONS, identity, reduced

DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float32", "float64"]
PAIRS = [(op, dtype) for op, made in REDUCTIONS.items() for dtype in DTYPES if np.dtype(dtype).kind in made.kinds]


def some(dtype):
    kind = np.dtype(dtype).kind
    whole = [3, 0, 1, 7, 5] if kind == "u" else [3, -2, 0, 7, -5]
    return [True, False, True] if kind == "b" else [x + 0.25 for x in whole] if kind == "f" else whole


@pytest.mark.parametrize(("op", "dtype"), PAIRS)
def test_nothing_gives_the_identity_and_it_is_neutral(op, dtype):
    kept = np.dtype(dtype)
    made = REDUCTIONS[op]
    nothing = reduced(made, [], kept)
    assert nothing == identity(made, kept)
    with np.errstate(all="ignore"):
        assert kept.type(nothing) == nothing, "the dtype holds it"
    for value in some(dtype):
        alone = reduced(made, [value], kept)
        assert reduced(made, [value, nothing], kept) == reduced(made, [nothing, value], kept) == alone


@pytest.mark.parametrize(("op", "dtype"), PAIRS)
def test_order_does_not_matter_where_it_says_so(op, dtype):
    kept = np.dtype(dtype)
    found = {float(reduced(REDUCTIONS[op], order, kept)) for order in itertools.permutations(some(dtype))}
    assert len(found) == 1 or kept.kind not in REDUCTIONS[op].exact
    huge = [1e16, 1.0, -1e16, 0.3, 7.7]
    if kept == np.float64 and op != "or":
        found = {float(reduced(REDUCTIONS[op], order, kept)) for order in itertools.permutations(huge)}
        assert (len(found) == 1) == ("f" in REDUCTIONS[op].exact)


def bits(p, v):
    return -1 - v


def far_bits(p, src, dst):
    return -1 - src


@pytest.mark.parametrize("dtype", ["uint64", "uint32"])
def test_or_of_all_bits_of_unsigned_fields(backend, dtype):
    p = fr.Problem(backend(fr.path(4)), made=fr.vertex(dtype), total=fr.scalar(dtype))
    fr.Reduce(bits, "or", into="total")(p, f := fr.Frontier.all(p.graph))
    fr.Gather(far_bits, "or", into="made")(p, f)
    most = int(np.iinfo(dtype).max)
    assert int(p.total) == most
    assert p.made.tolist() == [most - 1, most, most - 1, most - 2]
