"""What was planted in simulated answers, and what a report makes of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import betabinom

from affectlab import InputError, Ratings
from affectlab.reliability import screen
from affectlab.reliability.screening import careless_raters
from affectlab.reliability.screening.outliers import LEVEL, _upper_tail, equal_trials
from affectlab.report import write_report
from affectlab.report.statistics.study import Study
from affectlab.simulate import simulate_raters, simulate_truth
from affectlab.simulate.raters import rater_profile

LABELS = ["joy", "fear", "awe", "anger"]


def rehearsal(seed: int, *presets: str, n: int = 24) -> tuple[Ratings, pl.DataFrame]:
    """Let people of given kinds rate, and say in their attributes what they are."""
    truth = simulate_truth(n, LABELS, "0-7", seed=seed)
    people = [rater_profile(preset, f"p{k}", scale="0-7") for k, preset in enumerate(presets)]
    ratings = simulate_raters(truth, people, seed=seed).ratings
    about = pl.DataFrame(
        {
            "rater": [one.name for one in people],
            "rater_kind": ["simulated"] * len(people),
            "planted": list(presets),
            "careless": [not one.attentive for one in people],
        }
    )
    return ratings.with_raters(about), truth.to_frame()


def test_the_lazy_are_noticed_and_the_careful_are_not() -> None:
    """Those who look at two stimuli of five are found in nearly every panel, at little cost."""
    caught = wrongly = 0
    for seed in range(20):
        ratings, _ = rehearsal(seed, *["average"] * 3, "careful", "stern", "cautious", "lazy")
        names = set(Study(ratings, n_boot=0).careless_names)
        caught += "p6" in names
        wrongly += bool(names - {"p6"})
    assert caught >= 18
    assert wrongly <= 2


def test_outliers_do_not_hide_each_other() -> None:
    ratings, _ = rehearsal(5, *["average"] * 5, "careful", "lazy", "lazy", "lazy")
    assert set(Study(ratings, n_boot=0).careless_names) == {"p6", "p7", "p8"}


def test_one_who_turns_the_scale_round_is_named_so() -> None:
    ratings, _ = rehearsal(2, *["average"] * 6, "reversed")
    found = careless_raters(ratings)
    assert found.raters_to_drop() == ("p6",)
    assert "as on a reversed scale" in found.to_frame().row(6, named=True)["evidence"]


def test_screening_and_report_have_one_list() -> None:
    for seed in range(4):
        ratings, _ = rehearsal(seed, *["average"] * 5, "sloppy", "lazy", "straight_liner")
        dropped = set(screen(ratings).raters_to_drop())
        assert {"p6", "p7"} <= dropped
        assert set(careless_raters(ratings).raters_to_drop()) == dropped
        assert set(Study(ratings, n_boot=0).careless_names) == dropped


def test_to_choose_none_of_the_labels_is_no_inattention() -> None:
    """One rater seldom says yes to any of eight rare labels; another to all, or to none."""
    rng = np.random.default_rng(3)
    yes = rng.random((10, 60, 8)) < np.where(rng.random((60, 8)) < 0.08, 0.8, 0.01)
    yes[8] &= rng.random((60, 8)) < 0.1
    yes[9] = np.repeat(rng.random((60, 1)) < 0.5, 8, axis=1)
    rater, stimulus, label = (part.ravel() for part in np.indices(yes.shape))
    table = {"rater": rater, "stimulus": stimulus, "label": label, "value": yes.ravel().astype(int)}
    assert careless_raters(Ratings(table, scale="binary")).raters_to_drop() == ("9",)


def test_equal_trials_are_counted_and_their_tail_is_the_beta_binomials() -> None:
    ratings, _ = rehearsal(4, *["average"] * 5, "lazy")
    wide = ratings.to_frame().group_by("rater", "stimulus").agg(pl.col("value").n_unique())
    equal = wide.filter(pl.col("value") == 1).group_by("rater").len()
    (found,) = equal_trials(ratings, level=LEVEL)
    assert found.rater == "p5"
    assert found.trials == 24
    assert found.equal == equal.filter(pl.col("rater").cast(pl.String) == "p5")["len"].item()
    assert found.others_trials == 5 * 24
    assert found.others_equal == equal["len"].sum() - found.equal
    for least, n, a, b in ((1, 12, 0.5, 84.5), (7, 12, 2.0, 3.0), (0, 5, 1.0, 1.0)):
        expected = betabinom.sf(least - 1, n, a, b)
        assert _upper_tail(least, n, a, b) == pytest.approx(expected, rel=1e-9)


@pytest.mark.long
def test_a_report_says_what_came_back(tmp_path: Path) -> None:
    ratings, truth = rehearsal(3, *["average"] * 3, "careful", "stern", "lazy", "straight_liner")
    paths = write_report(ratings, tmp_path, truth=truth, n_boot=200)
    scores = pl.read_csv(tmp_path / "tables" / "planted_truth.csv")
    means = ratings.to_frame().group_by("stimulus", "label").agg(pl.col("value").mean())
    for row in scores.iter_rows(named=True):
        both = means.with_columns(pl.col("stimulus", "label").cast(pl.String)).join(
            truth.filter(pl.col("label") == row["label"]), on=["stimulus", "label"]
        )
        expected = np.corrcoef(both["value"], both["value_right"])[0, 1]
        assert row["value"] == pytest.approx(expected)
        assert row["low"] < row["value"] < row["high"]
    people = pl.read_csv(tmp_path / "tables" / "planted_people.csv")
    found = dict(people.filter("careless").select("planted", "flagged").rows())
    assert found == {"lazy": True, "straight_liner": True}
    assert not people.filter(~pl.col("careless"))["flagged"].any()
    # How people were made is no attribute of theirs.
    assert "planted" not in pl.read_csv(tmp_path / "tables" / "raters.csv").columns
    page = paths.html.read_text(encoding="utf-8")
    assert "Of 2 people planted as careless, 2 stand out" in page


@pytest.mark.parametrize(
    ("truth", "sentence"),
    [
        (pl.DataFrame({"stimulus": ["a"], "value": [1]}), "column 'label' is missing"),
        (
            pl.DataFrame({"stimulus": ["no"], "label": ["joy"], "value": [1.0]}),
            "no stimulus and label of it was rated",
        ),
    ],
)
def test_a_truth_of_something_else(tmp_path: Path, truth: pl.DataFrame, sentence: str) -> None:
    ratings, _ = rehearsal(1, "average", "careful", "stern")
    with pytest.raises(InputError, match=sentence):
        write_report(ratings, tmp_path, truth=truth, n_boot=0)
