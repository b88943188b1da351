"""Environment variables that mean nothing are said, not passed over."""

import pytest

import frontier as fr
from frontier.lowering.phases import checking
from frontier.native import notice
from frontier.system import environment


@pytest.mark.parametrize("text", ["yes", "2", "-1", "abc"])
def test_a_switch_is_one_or_zero(text, monkeypatch):
    monkeypatch.setenv("FRONTIER_CHECK", text)
    with pytest.raises(fr.FrontierError, match=f"^FRONTIER_CHECK='{text}': 1 to check every access .* or 0"):
        checking()
    monkeypatch.setenv("FRONTIER_QUIET", text)
    with pytest.raises(fr.FrontierError, match=f"^FRONTIER_QUIET='{text}': 1 to compile without saying so, or 0"):
        notice.announce("Advance")


@pytest.mark.parametrize(("text", "found"), [("", False), ("0", False), (" 1 ", True), (None, False)])
def test_what_switches_mean(text, found, monkeypatch):
    if text is None:
        monkeypatch.delenv("FRONTIER_CHECK", raising=False)
    else:
        monkeypatch.setenv("FRONTIER_CHECK", text)
    assert checking() is found


@pytest.mark.parametrize("text", ["abc", "-1", "1.5", "1e9", "17"])
def test_integers_have_bounds(text, monkeypatch):
    monkeypatch.setenv("FRONTIER_ANY", text)
    with pytest.raises(fr.FrontierError, match=f"^FRONTIER_ANY='{text}': from 0 to 16$"):
        environment.integer("FRONTIER_ANY", "from 0 to 16", 3, most=16)


@pytest.mark.parametrize("text", ["abc", "-1", "nan", "inf"])
def test_numbers_are_finite_and_not_negative(text, monkeypatch):
    monkeypatch.setenv("FRONTIER_ANY", text)
    with pytest.raises(fr.FrontierError, match=f"^FRONTIER_ANY='{text}': seconds$"):
        environment.number("FRONTIER_ANY", "seconds", 3.0)
    monkeypatch.setenv("FRONTIER_ANY", "0.5")
    assert environment.number("FRONTIER_ANY", "seconds", 3.0) == 0.5
