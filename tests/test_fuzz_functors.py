"""Functors whose constants and helpers change: a few; minutes of them by ``python -m tests.fuzz_functors``."""

from __future__ import annotations

import os
import re
from typing import Any

import fuzz_functors
import pytest

from frontier.functors import captures, descriptions
from frontier.memory import detection


def fuzzed(capfd: Any, *options: str) -> str:
    """What is said of some worlds; of minutes of them, if FRONTIER_FUZZ_MINUTES says so."""
    minutes = os.environ.get("FRONTIER_FUZZ_MINUTES")
    assert fuzz_functors.main([*options, *([f"--minutes={minutes}"] if minutes else [])]) == 0, capfd.readouterr().out
    return capfd.readouterr().out


@pytest.mark.skipif(detection.simulated(), reason="the cpu backend is what is tested")
def test_no_stale_code_runs_on_cpu(capfd: Any) -> None:
    said = fuzzed(capfd, "--worlds=4", "--seed=100")
    runs, differences = re.findall(r"(\d+) runs, (\d+) differences", said)[-1]
    assert int(runs) > 100
    assert differences == "0"


@pytest.mark.gpu
def test_no_stale_code_runs_on_cuda(capfd: Any) -> None:
    assert "0 differences" in fuzzed(capfd, "--worlds=2", "--seed=200", "--backend=cuda")


@pytest.mark.parametrize("blind", ["to changes", "to constants within functions"])
def test_stale_code_is_found(blind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the same worlds, where what captures are compared by misses something."""
    if blind == "to changes":
        monkeypatch.setattr(captures.Captures, "unchanged", lambda self: True)
    else:
        described = descriptions._constant
        monkeypatch.setattr(
            descriptions, "_constant", lambda value: value.co_code if hasattr(value, "co_code") else described(value)
        )
    found = (fuzz_functors.fuzz(seed, 8, "cpu") for seed in range(8, 60))
    assert any("differs" in one for one in found)


def test_worlds_are_the_same_for_the_same_seed() -> None:
    first, again = (fuzz_functors.World(7) for _ in range(2))
    assert [first.change() for _ in range(20)] == [again.change() for _ in range(20)]
    assert first.done == again.done
