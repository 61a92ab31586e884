"""Counts of votes name nobody: what is about raters refuses them, and the rest is of stimuli."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from affectlab import evaluation, reliability
from affectlab.cli.operations import Operation
from affectlab.cli.tree import declared
from affectlab.core.errors import InputError
from affectlab.core.result import Result
from affectlab.evaluation import label_distributions, recognition
from affectlab.ratings import Ratings, read_ratings
from affectlab.reliability import fleiss_kappa, krippendorff_alpha, rater_agreement
from affectlab.reliability.agreement import load_coefficients
from affectlab.report import write_report

NAMES = ("anger", "fear", "joy")
NEEDED: dict[str, dict[str, Any]] = {
    "mixed_model": {"fixed": ["intended"]},
    "fairness": {"by": "stimulus.intended"},
    "plan": {"goal": 10},
    "choose_golden": {"n": 3},
    "enough_ratings": {"width": 0.2},
    "batch_overlap": {"main": ["f0"]},
}
"""Arguments without which functions cannot be called."""
ABOUT_RATERS = {"raters", "both"}


def votes(tmp_path: Path, names: tuple[str, ...] = NAMES, **options: Any) -> Ratings:
    rng = np.random.default_rng(4)
    chance = np.full((30, len(names)), 0.5 / (len(names) - 1))
    chance[np.arange(30), np.arange(30) % len(names)] = 0.5
    counts = np.stack([rng.multinomial(8, row) for row in chance])
    frame = pl.DataFrame({"stimulus": [f"f{k}" for k in range(30)]}).with_columns(
        intended=pl.Series([names[k % len(names)] for k in range(30)]),
        **{name: counts[:, k] for k, name in enumerate(names)},
    )
    path = tmp_path / "votes.csv"
    frame.write_csv(path)
    return read_ratings(path, wide="votes", attributes=["intended"], **options)


@pytest.fixture
def named(tmp_path: Path) -> Ratings:
    return votes(tmp_path, scale=f"nominal:{','.join(NAMES)}")


@pytest.fixture
def graded(tmp_path: Path) -> Ratings:
    return votes(tmp_path, ("1", "2", "3", "4"), scale="1-4")


def net() -> Ratings:
    return Ratings(
        {
            "stimulus": [f"f{k}" for k in range(30)],
            "rater": ["net"] * 30,
            "value": [NAMES[k % 3] for k in range(30)],
        },
        scale=f"nominal:{','.join(NAMES)}",
        raters={"rater": ["net"], "rater_kind": ["model"]},
    )


def verbs() -> Iterator[Callable[..., Any]]:
    for verb in declared():
        if isinstance(verb, Operation) and verb.reads:
            yield verb.function()


def takes_ratings(function: object) -> bool:
    if not callable(function) or inspect.isclass(function):
        return False
    first = next(iter(inspect.signature(function).parameters), "")
    return first in ("ratings", "pilot")


FUNCTIONS = {
    function.__name__: function
    for function in (
        *verbs(),
        *(getattr(reliability, name) for name in reliability.__all__),
        *(getattr(evaluation, name) for name in evaluation.__all__),
    )
    if takes_ratings(function)
}
OF_STIMULI = {"stimulus_scores", "mean_opinion_scores"}
"""Scores of a stimulus have an interval about other people who judge it: votes are of such."""
OF_RATERS = {
    *("screen", "duplicate_raters", "subject_model", "variance_components", "mixed_model"),
    *("plan", "plan_model", "pilot_report", "choose_golden", "dawid_skene", "pairwise_kappa"),
    *("interrater_correlation", "intraclass_correlation", "split_half", "self_consistency"),
    *("concordance", "alignment", "human_ceiling", "alt_test"),
    *("published_tables", "spearman_with_people", "discrepancy", "rater_severity"),
}


def targets(found: object) -> set[str]:
    if not isinstance(found, Result):
        return set()
    frames = [table.frame for table in found.tables]
    return {t for frame in frames if "target" in frame.columns for t in frame["target"].to_list()}


def test_readers_say_that_raters_are_not_known(named: Ratings, tmp_path: Path) -> None:
    assert not named.raters_known
    assert not named.select(stimuli="f1").raters_known
    assert net().raters_known
    both = named.merge(net())
    assert not both.humans().raters_known
    assert both.models().raters_known
    for name in ("again.csv", "again.parquet"):
        assert not read_ratings(named.write(tmp_path / name)).raters_known


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", ["named", "graded"])
def test_no_result_is_about_raters(name: str, kind: str, request: pytest.FixtureRequest) -> None:
    given = request.getfixturevalue(kind)
    function = FUNCTIONS[name]
    two = list(inspect.signature(function).parameters)[1:2] == ["models"] and kind == "named"
    try:
        found = function(given, *([net()] if two else []), **NEEDED.get(name, {}))
    except InputError as error:
        found = str(error)
    if name in OF_RATERS:
        assert "raters are not known" in str(found)
    if name not in OF_STIMULI:
        assert not targets(found) & ABOUT_RATERS


def test_a_target_that_is_about_raters_is_refused(graded: Ratings) -> None:
    for target in ABOUT_RATERS:
        with pytest.raises(InputError, match=f"target '{target}': raters are not known"):
            krippendorff_alpha(graded, target=target)


def test_fleiss_kappa_and_shares_are_those_of_the_counts(named: Ratings) -> None:
    counts = named.frame.pivot("value", index="stimulus", values="rater", aggregate_function="len")
    table = counts.select("0.0", "1.0", "2.0").fill_null(0).to_numpy().astype(float)
    shares = label_distributions(named)
    order = [shares.labels.index(name) for name in NAMES]
    assert shares.values[:, order] == pytest.approx(table / 8)
    # Fleiss (1971), from the counts.
    agree = ((table**2).sum(axis=1) - 8) / (8 * 7)
    chance = (table.sum(axis=0) / table.sum()) ** 2
    kappa = fleiss_kappa(named)
    assert kappa.frame["value"][0] == pytest.approx(
        (agree.mean() - chance.sum()) / (1 - chance.sum())
    )
    assert kappa.frame["target"].to_list() == ["stimuli"]


def test_all_coefficients_that_need_raters_are_left_out(graded: Ratings) -> None:
    found = rater_agreement(graded, more=True)
    tables = {table.name for table in found.tables}
    of_raters = {one.name for one in load_coefficients() if one.of_raters}
    assert of_raters == {"intraclass_correlation"}
    assert not tables & {*of_raters, "interrater_correlation", "kappa", "pairs"}
    assert {"krippendorff_alpha", "fleiss_kappa", "gwet_ac"} <= tables
    assert "among 240 votes" in found.sentences[0]
    assert any("raters of counted votes are not known" in note for note in found.notes)


@pytest.mark.parametrize("function", [evaluation.preferences, evaluation.preference_scale])
def test_preferences_of_votes_are_about_other_items(
    function: Callable[..., Result], tmp_path: Path
) -> None:
    choices = ("A", "B", "both", "neither")
    given = votes(tmp_path, choices, scale=f"nominal:{','.join(choices)}")
    found = function(given)
    assert not targets(found) & ABOUT_RATERS
    assert any("judges unknown" in note for note in found.notes)
    with pytest.raises(InputError, match="the judges are not known"):
        function(given, target="both")


def test_recognition_pools_votes(named: Ratings) -> None:
    found = recognition(named)
    measures = set(found.to_frame("estimates")["measure"])
    assert measures == {"pooled_hit_rate", "pooled_unbiased_hit_rate"}
    assert "raters" not in {table.name for table in found.tables}


@pytest.mark.parametrize("kind", ["named", "graded"])
def test_a_report_says_nothing_of_raters(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    paths = write_report(request.getfixturevalue(kind), tmp_path / "report", n_boot=50)
    page = paths.html.read_text()
    assert "the raters of counted votes are not known" in page
    assert "other raters and" not in page
    assert not (tmp_path / "report/tables/raters.csv").exists()
    assert not (tmp_path / "report/tables/pairs.csv").exists()
