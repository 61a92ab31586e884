"""The paragraph of a paper: what was computed of which answers, and what intervals are about."""

import json
import math

import numpy as np
import polars as pl
import pytest
from tests.cli.command import run_here

import affectlab as al
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause
from affectlab.core.result import Result, read_result
from affectlab.core.tables import Key, Table
from affectlab.reliability import (
    intraclass_correlation,
    krippendorff_alpha,
    mixed_model,
    rater_agreement,
    split_half,
    variance_components,
)


@pytest.fixture(scope="module")
def ratings():
    rng = np.random.default_rng(1)
    stimulus, rater = (part.ravel() for part in np.indices((40, 6)))
    value = np.clip(stimulus % 7 + rng.integers(0, 2, 240), 0, 7)
    gender = {"stimulus": [str(k) for k in range(40)], "gender": ["man", "woman"] * 20}
    table = {"stimulus": stimulus, "rater": rater, "value": value}
    return al.Ratings(table, scale="0-7", stimuli=gender)


def test_statistic_answers_interval_target_and_version(ratings):
    text = krippendorff_alpha(ratings).methods()
    assert text.startswith(
        "We computed Krippendorff's alpha, ordinal (Krippendorff, 2011), from 240 ratings of 40 "
        "stimuli by 6 raters. "
    )
    assert (
        "onfidence intervals come from a jackknife over stimuli and raters, with Student's "
        "quantiles (Miller, 1974; Owen, 2007); they are about other stimuli rated by other raters."
    ) in text
    assert "issing ratings" not in text  # A result does not know what was done before.
    assert ratings.missing == "Missing ratings were not replaced by other values."
    assert krippendorff_alpha(ratings).methods(missing=ratings.missing).count(ratings.missing) == 1
    assert text.endswith(f"affectlab {al.__version__} (The affectlab developers, 2026).")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"interval": "percentile", "target": "stimuli", "n_boot": 50},
            "come from a percentile bootstrap, 50 replicates; they are about other stimuli rated "
            "by the same raters.",
        ),
        (
            {"interval": "bca", "target": "stimuli", "n_boot": 50},
            "bca bootstrap, 50 replicates (Efron, 1987); they",
        ),
        ({"target": "raters"}, "they are about the same stimuli rated by other raters."),
    ],
)
def test_what_an_interval_is_about_is_what_was_asked_for(ratings, options, said):
    assert said in krippendorff_alpha(ratings, **options).methods()


@pytest.fixture
def gaps(tmp_path):
    """People who left labels out, a model that has all, and both in a file of their own."""
    people = tmp_path / "people.csv"
    rows = ["stimulus,rater,joy,fear"]
    rows += [f"s{k},{who},{k % 5},{'' if k % 3 else k % 4}" for k in range(9) for who in "abc"]
    people.write_text("\n".join(rows) + "\n", encoding="utf-8")
    model = tmp_path / "model.csv"
    rows = ["stimulus,rater,label,value"]
    rows += [f"s{k},m,{label},{k % 5}" for k in range(9) for label in ("joy", "fear")]
    model.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return people, model


@pytest.mark.parametrize(
    ("absent", "said"),
    [
        ("zero", "Missing ratings were taken as 0, as asked (18 ratings)."),
        ("missing", "Missing ratings were not replaced by other values."),
    ],
)
def test_missing_ratings_are_said_to_be_what_reading_made_of_them(gaps, absent, said):
    verb = ("reliability", "agreement", gaps[0], "--scale", "0-7", "--wide", "labels")
    verb += ("--absent", absent, "--methods")
    assert json.loads(run_here(*verb, "--json").stdout)["result"]["methods"].count(said) == 1
    shown = " ".join(run_here(*verb).stdout.split())
    assert shown.count("Missing ratings") == 1
    assert said in shown


def test_missing_ratings_of_people_and_models_apart(gaps):
    people, model = gaps
    verb = ("evaluate", "alignment", people, "--scale", "0-7", "--models", model)
    text = json.loads(
        run_here(*verb, "--wide", "labels", "--absent", "zero", "--methods", "--json").stdout
    )["result"]["methods"]
    assert "Missing ratings of people were taken as 0, as asked (18 ratings)." in text
    assert "Missing ratings of models were not replaced by other values." in text


def test_what_was_filled_and_partly_left_out_later():
    table = {"stimulus": list("aabb"), "rater": list("xyxy"), "label": ["j", "f", "j", "j"]}
    filled = al.Ratings({**table, "value": [1, 2, 3, 4]}, scale="0-7").fill_absent(2)
    assert filled.missing == "Missing ratings were taken as 2 (4 ratings)."
    kept = filled.select(raters="x")
    assert kept.missing == "Missing ratings were taken as 2 (up to 4 ratings)."


def test_no_interval_is_not_spoken_of(ratings):
    assert "interval" not in krippendorff_alpha(ratings, target="sample").methods()


def test_works_are_cited_once(ratings):
    text = intraclass_correlation(ratings).methods()
    assert text.count("Shrout & Fleiss, 1979") == 1
    assert "ICC(1,1), complete units (McGraw & Wong, 1996; Shrout & Fleiss, 1979); ICC(2,1)" in text


def test_the_level_of_measurement_is_not_taken_for_an_interval(ratings):
    text = krippendorff_alpha(ratings, level="interval").methods()
    assert "Krippendorff's alpha, interval (Krippendorff, 2011), from 240" in text


def test_results_of_several_tables(ratings):
    text = mixed_model(ratings, fixed=["gender"]).methods()
    assert "F tests of fixed effects (type III) (REML, degrees of freedom by" in text
    assert "95 % confidence intervals" in text.replace("\u00a0", " ")
    agreement = rater_agreement(ratings).methods()
    assert "We also tabulated kappa by kind of pair" in agreement
    assert "; and interrater correlation" in agreement


def test_undefined_values_and_withheld_intervals_are_counted():
    values = Estimates.build(
        {"label": ["joy", "fear", "awe"]},
        value=[0.5, math.nan, 1.0],
        se=[0.1, math.nan, 0.0],
        low=[0.3, math.nan, 1.0],
        high=[0.7, math.nan, 1.0],
        statistic="percent agreement",
        n_items=[10, 0, 12],
        n_raters=3,
        n_ratings=[30, 0, 36],
        reason=[None, Cause.ONE_CATEGORY, None],
        target="stimuli",
    )
    text = values.methods()
    assert (
        "percent agreement for each label, each from 30 to 36 ratings of 10 to 12 stimuli" in text
    )
    assert "Of 3 values, 1 was not defined (one category) and is reported as missing." in text
    assert "for 1 of 3 values (no variation to estimate an error from)" in text


def test_a_result_without_estimates_says_what_it_holds():
    frame = pl.DataFrame({"label": ["joy"], "n": [2]})
    result = Result((Table("counts", "Answers by label.", frame, (Key("label"),)),))
    assert result.methods().startswith("We tabulated answers by label. Computations used")


def test_what_was_written_says_the_same(ratings, tmp_path):
    result = variance_components(ratings)
    assert read_result(result.write(tmp_path)).methods() == result.methods()


def test_bibtex_holds_what_the_paragraph_cites(ratings):
    result = split_half(ratings, n_splits=3)
    keys = [
        line.partition("{")[2].rstrip(",")
        for line in result.bibtex().splitlines()
        if line[:1] == "@"
    ]
    assert keys == ["affectlab", "miller1974", "owen2007", "patterson1971", "saha2025"]
    assert "Patterson & Thompson, 1971; Saha et al., 2025" in result.methods()
