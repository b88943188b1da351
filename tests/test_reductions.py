"""The table of reductions: identities are neutral, order does not matter where it says so, the interpreter reads it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import frontier as fr
from frontier.operators.shared import reductions
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
    nothing = reduced(op, [], kept)
    assert nothing == identity(op, kept)
    with np.errstate(all="ignore"):
        assert kept.type(nothing) == nothing, "the dtype holds it"
    for value in some(dtype):
        alone = reduced(op, [value], kept)
        assert reduced(op, [value, nothing], kept) == reduced(op, [nothing, value], kept) == alone


@pytest.mark.parametrize(("op", "dtype"), PAIRS)
def test_order_does_not_matter_where_it_says_so(op, dtype):
    kept = np.dtype(dtype)
    found = {float(reduced(op, order, kept)) for order in itertools.permutations(some(dtype))}
    assert len(found) == 1 or kept.kind not in REDUCTIONS[op].exact
    huge = [1e16, 1.0, -1e16]
    if kept == np.float64 and op != "or":
        found = {float(reduced(op, order, kept)) for order in itertools.permutations(huge)}
        assert (len(found) == 1) == ("f" in REDUCTIONS[op].exact)


def test_the_interpreter_and_the_checks_read_the_table(monkeypatch):
    """One that is added has a meaning there; compiled code must be told another way."""
    product = reductions.Reduction(
        lambda dtype: 1, lambda total, value: total * value, lambda given, dtype, what: int(given), "i", "i", "integers"
    )
    monkeypatch.setitem(REDUCTIONS, "product", product)
    for module in ("reduce", "gather"):
        monkeypatch.setattr(f"frontier.operators.{module}.OPS", tuple(REDUCTIONS))
    p = fr.Problem(
        fr.star(4).to("python"), made=fr.vertex("int64"), total=fr.scalar("int64"), wrong=fr.scalar("float64")
    )
    f = fr.Frontier.all(p.graph)
    fr.Reduce(lambda p, v: v + 1, "product", into="total")(p, f)
    fr.Gather(lambda p, src, dst: src + 2, "product", into="made")(p, f)
    assert p.total == np.prod(np.arange(1, p.graph.num_vertices + 1))
    assert p.made[0] == np.prod(np.arange(1, p.graph.num_vertices) + 2)
    with pytest.raises(fr.FrontierError, match=r"Reduce\(op='product', into='wrong'\).*product needs integers"):
        fr.Reduce(lambda p, v: v + 1, "product", into="wrong")(p, f)


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
