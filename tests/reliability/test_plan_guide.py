"""The snippets of the guide run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from affectlab.simulate import panel, simulate_raters, simulate_truth

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "plan-a-study.md"


@pytest.mark.long
def test_the_guide(tmp_path, monkeypatch, capsys):
    if not GUIDE.is_file():
        pytest.skip("the documentation is not here")
    truth = simulate_truth(60, ["difference"], "0-100 interval", seed=2)
    raters = panel(25, seed=2, scale="0-100 interval", careless=0)
    pilot = simulate_raters(truth, raters, seed=2).ratings
    pilot.write(tmp_path / "pilot.csv")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        exec(block, names)
    shown = capsys.readouterr().out
    assert "Inter-subject correlation" in shown
    assert "raters per stimulus: width of the 95 % interval" in shown
    items = names["golden"].to_frame()
    assert dict(items.select("stimulus", "value").iter_rows()) == names["golden"].reference
    assert items["extreme"].to_list() == ["low"] * 5 + ["high"] * 5
