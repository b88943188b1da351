"""Files with right checksums and wrong content: some here; ten thousand by ``python -m tests.fuzz_files``."""

from __future__ import annotations

from typing import Any

import fuzz_files
import pytest

from frontier.io import stored
from frontier.memory import detection

#: Frontier graphs of which edges alone say that they are none.
SEEDS = (78, 96, 102, 156, 180, 210)


@pytest.mark.deep
@pytest.mark.skipif(detection.simulated(), reason="the cpu backend is what is tested")
def test_some_files_are_refused_or_right(capfd: Any) -> None:
    assert fuzz_files.main(["--mutations", "40", "--seed", "500"]) == 0, capfd.readouterr().out
    assert "40 files, 0 wrong" in capfd.readouterr().out


def test_they_are_refused() -> None:
    assert [fuzz_files.one(seed) for seed in SEEDS] == ["frontier refused"] * len(SEEDS)


def test_what_is_not_looked_at_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "check_edges", lambda *_, **__: None)
    monkeypatch.setattr(fuzz_files, "search", fuzz_files.check_is_graph)
    for seed in SEEDS:
        with pytest.raises(AssertionError):
            fuzz_files.one(seed)
