"""What was planted in simulated answers, and what a report makes of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from affectlab import InputError, Ratings
from affectlab.report import write_report
from affectlab.report._apart import agreement_with_others, apart_from_others
from affectlab.simulate import rater_profile, simulate_raters, simulate_truth

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


def test_agreement_is_that_of_a_plain_computation() -> None:
    ratings, _ = rehearsal(1, "average", "careful", "lazy", "stern")
    wide = ratings.to_frame().pivot(on="rater", index=["stimulus", "label"], values="value")
    found = {one.rater: one.value for one in agreement_with_others(ratings)}
    names = sorted(found)
    for name in names:
        rows = wide.select(names).to_pandas()
        both = rows.assign(rest=rows.drop(columns=name).mean(axis=1)).dropna(subset=[name, "rest"])
        assert found[name] == pytest.approx(np.corrcoef(both[name], both["rest"])[0, 1])


def test_the_lazy_are_noticed_and_the_careful_are_not() -> None:
    """Those who look at two stimuli of five are found in two panels of three, at little cost."""
    caught = wrongly = 0
    for seed in range(20):
        ratings, _ = rehearsal(seed, *["average"] * 3, "careful", "stern", "cautious", "lazy")
        names = {one.rater for one in apart_from_others(ratings)}
        caught += "p6" in names
        wrongly += len(names - {"p6"})
    assert caught >= 12
    assert wrongly <= 4


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
    assert dict(people.filter(pl.col("careless") == "yes").select("planted", "flagged").rows()) == {
        "lazy": "yes",
        "straight_liner": "yes",
    }
    assert set(people.filter(pl.col("careless") == "no")["flagged"]) == {"no"}
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
