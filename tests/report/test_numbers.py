"""Tables of the report hold what the statistics say."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

from affectlab.ratings import Ratings
from affectlab.reliability import interrater_correlation, krippendorff_alpha, pairwise_kappa
from affectlab.report import write_report
from affectlab.report.statistics.study import Study


def table(report, name: str) -> pl.DataFrame:
    path = next(path for path in report.tables if path.stem == name)
    return pl.read_csv(path, schema_overrides={"rater": pl.String, "label": pl.String})


def test_alpha(report, panel):
    ours = (
        table(report, "agreement").sort("label").select("label", "value", "low", "high", "n_items")
    )
    theirs = krippendorff_alpha(panel.humans()).to_frame()
    assert_frame_equal(ours, theirs.sort("label").select(ours.columns))


def test_alpha_is_sorted_and_holds_correlations(report, panel):
    frame = table(report, "agreement")
    assert frame["value"].is_sorted(descending=True)
    theirs = interrater_correlation(panel.humans(), exclude=()).to_frame()
    joined = frame.join(theirs, on="label", suffix="_theirs")
    np.testing.assert_allclose(joined["correlation"], joined["value_theirs"])


def test_pairs(report, panel):
    """Every pair on every label against scikit-learn."""
    answers = panel.answers()
    names, kinds = answers.rater_names, answers.rater_kinds
    matrices = {label: answers.matrix(label) for label in answers.label_names}
    frame = table(report, "pairs")
    assert frame.height == len(matrices) * len(names) * (len(names) - 1) // 2
    for row in frame.iter_rows(named=True):
        a, b = names.index(row["rater_a"]), names.index(row["rater_b"])
        first, second = matrices[row["label"]][[a, b]]
        both = ~np.isnan(first) & ~np.isnan(second)
        kappa = cohen_kappa_score(
            first[both].astype(int), second[both].astype(int), labels=range(8), weights="quadratic"
        )
        assert row["value"] == pytest.approx(kappa)
        assert row["n_items"] == both.sum()
        assert row["pair_kind"] == f"{kinds[a]}-{kinds[b]}"


def test_pairs_by_kind(report, panel):
    frame = table(report, "pairs_by_kind")
    theirs = pairwise_kappa(panel)
    for row in frame.iter_rows(named=True):
        values = theirs.of_kind(row["pair_kind"])["value"].drop_nans()
        assert row["mean"] == pytest.approx(values.mean())
        assert row["median"] == pytest.approx(values.median())
        assert row["n"] == len(values)


def test_self_consistency(report, panel):
    """Independent computation, answer by answer."""
    frame = table(report, "self_consistency")
    keys = ["rater", "stimulus", "label"]
    rows = panel.to_frame()
    main = {
        tuple(r[:3]): r[3] for r in rows.filter(trial_kind="main").select(*keys, "value").rows()
    }
    again = rows.filter(trial_kind="repeat").select(*keys, "value").rows()
    for row in frame.iter_rows(named=True):
        pairs = [
            (main[rater, stimulus, label], value)
            for rater, stimulus, label, value in again
            if rater == row["rater"] and (rater, stimulus, label) in main
        ]
        assert row["n_items"] == len(pairs)
        if pairs:
            first, second = np.transpose(pairs)
            assert row["value"] == pytest.approx(np.abs(first - second).mean())
            assert row["correlation"] == pytest.approx(spearmanr(first, second).statistic)


def test_who_always_answers_the_same_is_not_the_most_consistent(tmp_path):
    rng = np.random.default_rng(1)
    rows = []
    for rater in "abc":
        for item in range(24):
            value = 4 if rater == "c" else int(rng.integers(0, 7))
            rows.append((f"s{item}", rater, value, "main"))
            if item < 8:
                rows.append((f"s{item}", rater, value if rater == "c" else value + 1, "repeat"))
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "value", "trial_kind"], orient="row")
    paths = write_report(Ratings(frame, scale="0-7"), tmp_path, n_boot=0)
    text = paths.html.read_text(encoding="utf-8")
    assert "runs from 1.00 (a) to 1.00 (b) points of the scale" in text
    assert "c is not among them: one and the same answer throughout" in text
    statuses = dict(table(paths, "self_consistency").select("rater", "status").rows())
    assert statuses == {"a": "ok", "b": "ok", "c": "always gives the same answer"}


def test_with_the_other_people_leaves_models_out(report, panel):
    frame = table(report, "raters")
    people = panel.answers().humans()
    for row in frame.iter_rows(named=True):
        if row["rater_kind"] == "model":
            assert row["correlation"] is None
            assert row["bias"] is None
            continue
        k = people.rater_names.index(row["rater"])
        found = []
        for label in people.label_names:
            matrix = people.matrix(label)
            others = np.delete(matrix, k, 0)
            both = ~np.isnan(matrix[k]) & ~np.isnan(others).all(axis=0)
            mean = np.round(np.nanmean(others[:, both], axis=0), 9)
            found.append(spearmanr(matrix[k][both], mean).statistic)
        assert row["correlation"] == pytest.approx(np.mean(found))
    assert "With the other people</th>" in report.html.read_text(encoding="utf-8")


def test_bias_and_inconsistency_are_those_of_the_raters(tmp_path):
    """Known raters: half a point low, half a point high, and one with thrice the error."""
    rng = np.random.default_rng(2)
    truth = rng.uniform(20, 80, 400)
    bias, error = np.array([-5.0, 5.0, 0.0, 0.0]), np.array([3.0, 3.0, 3.0, 9.0])
    values = truth[:, None] + bias + error * rng.normal(0, 1, (400, 4))
    ratings = Ratings(
        {
            "stimulus": np.repeat(np.arange(400), 4).astype(str),
            "rater": ["low", "high", "plain", "careless"] * 400,
            "value": values.ravel(),
        },
        scale="interval",
    )
    frame = table(write_report(ratings, tmp_path, n_boot=0), "raters")
    np.testing.assert_allclose(frame["bias"], bias, atol=1)
    np.testing.assert_allclose(frame["inconsistency"], error, rtol=0.15)


@pytest.mark.parametrize("scale", ["binary", "nominal:no,yes"])
def test_no_bias_where_answers_are_no_scores(tmp_path, scale):
    frame = {
        "stimulus": np.repeat(np.arange(20), 3).astype(str),
        "rater": list("abc") * 20,
        "value": np.random.default_rng(3).integers(0, 2, 60),
    }
    columns = table(write_report(Ratings(frame, scale=scale), tmp_path, n_boot=0), "raters").columns
    assert "bias" not in columns
    assert ("mean" in columns) == (scale == "binary")


def test_raters(report, panel):
    frame = table(report, "raters")
    answers = panel.answers()
    for row in frame.iter_rows(named=True):
        value = answers.value[answers.rater_code == answers.rater_names.index(row["rater"])]
        assert row["n_ratings"] == value.size
        assert row["mean"] == pytest.approx(value.mean())
        assert row["sd"] == pytest.approx(value.std(ddof=1))
        assert row["share_of_scale"] == pytest.approx(np.unique(value).size / 8)
    assert frame["rater_kind"].to_list() == ["human"] * 5 + ["model"] * 2


def test_answers_and_use_of_labels(report, panel):
    answers = panel.answers()
    frame = table(report, "answers")
    assert frame["people_count"].sum() + frame["models_count"].sum() == answers.n_ratings
    for value, n in zip(range(8), frame["people_count"], strict=True):
        assert (answers.humans().value == value).sum() == n
    use = table(report, "label_frequencies")
    assert use["n_ratings_used"].sum() == (answers.value > 0).sum()


def test_shown_numbers_are_those_of_the_file(report):
    text = report.html.read_text(encoding="utf-8")
    best = table(report, "agreement").row(0, named=True)
    assert f"highest for {best['label']} ({best['value']:.2f})" in text


def test_consensus_flow_is_found_in_sequential_votes(tmp_path):
    rows = []
    for item in range(60):
        votes = [1, 1, 1] if item < 30 else [1, 0] if item < 45 else [0]
        rows += [(f"s{item}", f"r{k}", "joy", vote) for k, vote in enumerate(votes)]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    paths = write_report(Ratings(frame, scale="binary"), tmp_path, n_boot=0)
    flow = table(paths, "consensus_flow")
    assert flow["items"].to_list() == [60, 45, 30]
    assert flow["agreement"].to_list() == pytest.approx([0.75, 30 / 45, 1.0])
    assert "The votes look as if they were collected in rounds" in paths.html.read_text("utf-8")


def test_consensus_flow_of_recorded_batches_is_no_guess(tmp_path):
    rows = []
    for item in range(40):
        votes = [1, 1, 1] if item < 20 else [1, 0] if item < 30 else [0]
        rows += [
            (f"s{item}", f"r{k}", "joy", vote, k + 1, "affirmative") for k, vote in enumerate(votes)
        ]
        rows.append((f"s{item}", "r3", "awe", int(item < 4), 1, "contrastive"))
    names = ["stimulus", "rater", "label", "value", "step", "batch_kind"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    paths = write_report(Ratings(frame, scale="binary"), tmp_path, n_boot=0)
    flow = table(paths, "consensus_flow")
    assert flow["items"].to_list() == [40, 30, 20, 40]
    assert flow["agreement"].to_list() == pytest.approx([0.75, 20 / 30, 1.0, 0.9])
    text = paths.html.read_text("utf-8")
    assert "The votes were collected in rounds" in text
    assert "of the 40 items in batch 4 (as absent)" in text.replace("\n", " ")
    for guess in ("look as if", "looks like a yes/no", "inferred", "What the votes allow"):
        assert guess not in text


def test_votes_by_everybody_are_no_flow(tmp_path):
    rng = np.random.default_rng(0)
    frame = {
        "stimulus": np.repeat([f"s{k}" for k in range(40)], 3),
        "rater": ["a", "b", "c"] * 40,
        "value": rng.integers(0, 2, 120),
    }
    paths = write_report(Ratings(frame, scale="binary"), tmp_path, n_boot=0)
    assert "consensus_flow" not in {path.stem for path in paths.tables}


def votes_with_gaps(yes: float, n_raters: int, missing: float, seed: int = 0) -> Ratings:
    """Independent votes, some of which are missing."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"s{item}", f"r{k}", int(rng.random() < yes))
        for item in range(300)
        for k in range(n_raters)
        if rng.random() > missing
    ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "value"], orient="row")
    return Ratings(frame, scale="binary")


@pytest.mark.parametrize("yes", [0.93, 0.99])
@pytest.mark.parametrize("n_raters", [2, 3, 4])
@pytest.mark.parametrize("missing", [0.1, 0.25, 0.4])
def test_votes_that_are_nearly_all_yes_with_gaps_are_no_flow(yes, n_raters, missing):
    """Few items have two times no, but those with fewer votes did not stop at a no."""
    assert Study(votes_with_gaps(yes, n_raters, missing), n_boot=0).flow is None


def test_contrastive_single_votes_do_not_hide_a_flow():
    rows = []
    for item in range(60):
        votes = [1, 1, 1] if item < 30 else [1, 0] if item < 45 else [0]
        rows += [(f"s{item}", f"r{k}", "joy", vote) for k, vote in enumerate(votes)]
        rows.append((f"s{item}", "r0", "anger", int(item < 40)))
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    flow = Study(Ratings(frame, scale="binary"), n_boot=0).flow
    assert flow is not None
    assert [batch.items for batch in flow.batches[:3]] == [60, 45, 30]
