"""Tables over seeds, as benchmarks print them: intervals, and sentences that follow from them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks._seed_tables import Interval, Page, means_table, paired_table
from benchmarks.rank_losses import drawn_costs, gathered, says
from benchmarks.semi_supervised import THRESHOLDS, _kept, _key, _run

from affectlab.simulate.scenes import label_places
from affectlab.taxonomy import load_taxonomy


def test_an_interval_is_that_of_student() -> None:
    # Mean 3, standard deviation 1.5811, t of 4 degrees of freedom 2.7764.
    one = Interval.of(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert (one.mean, one.half) == pytest.approx((3.0, 2.7764 * 1.58114 / 5**0.5), abs=1e-4)
    assert one.shown
    assert not Interval.of(np.array([-1.0, 1.0, 0.5])).shown
    assert Interval(0.012, 0.004).difference() == "**+1.2 [+0.8, +1.6]**"
    assert Interval(0.012, 0.02).difference() == "+1.2 [-0.8, +3.2]"


def test_differences_are_paired(tmp_path: Path) -> None:
    runs = [
        {name: {"acc": base + more, "emc": 0.5} for name, more in (("a", 0.02), ("b", 0.0))}
        for base in (0.1, 0.5, 0.9)
    ]
    found = gathered(runs)
    page = Page("Title", tmp_path / "page.md")
    means_table(page, found, "loss")
    told = paired_table(page, found, [("a", "b")])
    # Seeds differ by far more than methods do, and yet the difference is exact.
    assert told["a", "b"]["acc"].half < 1e-12
    assert says(told) == ["- a against b: higher ACC."]
    page.write()
    text = (tmp_path / "page.md").read_text()
    assert "| a − b | **+2.0 [+2.0, +2.0]** | +0.0 [+0.0, +0.0] |" in text
    assert "| loss | ACC | EMC |" in text
    down = {("a", "b"): {"acc": Interval(-0.1, 0.05), "emc": Interval(0.0, 0.1)}}
    assert says(down) == ["- a against b: lower ACC."]
    none = {("a", "b"): {"acc": Interval(-0.1, 0.2)}}
    assert says(none) == ["- a against b: no difference that the seeds support."]


@pytest.mark.parametrize("seed", [0, 3])
def test_costs_of_a_control_follow_how_it_is_drawn(seed: int) -> None:
    taxonomy = load_taxonomy("mikels")
    places = label_places(taxonomy, "random", seed)
    costs = drawn_costs(taxonomy.labels, seed)
    pairs = [(a, b) for a in taxonomy.labels for b in taxonomy.labels]
    far = np.array([np.linalg.norm(places[a] - places[b]) for a, b in pairs])
    cost = np.array([costs.cost(a, b) for a, b in pairs])
    order = np.argsort(cost, kind="stable")
    assert np.all(np.diff(far[order]) > -1e-9)
    assert not np.array_equal(costs.matrix, taxonomy.cost_matrix().reorder(costs.labels).matrix)


def test_runs_that_are_kept_are_not_run_again(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    key = _key("FixMatch", 0.05, 0, 3200, THRESHOLDS["FixMatch"])
    file.write_text(json.dumps({"key": key, "found": {"acc": 0.25}}) + "\n")
    kept = _kept(file)
    assert _run(kept, file, "FixMatch", 0.05, 0, 3200, THRESHOLDS["FixMatch"]) == {"acc": 0.25}
    assert _kept(tmp_path / "none") == {}
