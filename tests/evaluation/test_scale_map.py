"""One model on several scales of its own: the same ranks, and the same verdict by every verb."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr
from tests.cli.command import run_here
from tests.evaluation.panels import Array, people_of, table

from affectlab import InputError, Ratings
from affectlab.evaluation import (
    ResultFile,
    alignment,
    alt_test,
    data_set,
    discrepancy,
    fairness,
    leaderboard,
    published_tables,
    write_result,
)

FORMS = {
    "own": (lambda mean: mean, "1-9 interval"),
    "shares": (lambda mean: (mean - 1) / 8, "0-1 interval"),
    "percent": (lambda mean: (mean - 1) / 8 * 100, "0-100 interval"),
    "undeclared": (lambda mean: (mean - 1) / 8, None),
    "percent undeclared": (lambda mean: (mean - 1) / 8 * 100, None),
    "heads": (lambda mean: 3 * (mean - 5), "interval"),
}
MAPPED = ("own", "shares", "percent")


def rated(n: int = 20, n_people: int = 12) -> Array:
    """People by label and stimulus, on a scale from 1 to 9."""
    rng = np.random.default_rng(1)
    truth = rng.normal(5, 2, (3, n))
    return np.clip(np.rint(truth + rng.normal(0, 1.2, (n_people, 3, n))), 1, 9)


def model_of(people: Array, form: str) -> Ratings:
    make, scale = FORMS[form]
    values = make(people.mean(axis=0))[None]
    if scale is not None:
        return table(values, ["net"], "model", scale)
    plain = table(values, ["net"], "model", "interval").to_frame()
    return Ratings(plain, raters={"rater": ["net"], "rater_kind": ["model"]})


def test_two_scales_without_bounds_are_one_only_in_one_table() -> None:
    rng = np.random.default_rng(1)
    values = np.clip(np.rint(rng.uniform(0, 7, (2, 30)) + rng.normal(0, 1, (8, 2, 30))), 0, 7)
    people = table(values, [f"p{k}" for k in range(8)], "human", "interval")
    model = table(values.mean(axis=0)[None] / 7, ["net"], "model", "interval")
    apart = alignment(people, model, target="sample")
    assert apart.primary == "spearman"
    assert apart.to_frame()["spearman"][0] > 0.9
    with pytest.raises(InputError, match="neither scale has bounds"):
        fairness(people_on_gender(people), model, by="stimulus.gender", metric="bias", n_boot=0)
    beside = alignment(people.merge(model), target="sample")
    assert beside.primary != "spearman"
    assert not any("bounds" in note for note in beside.notes)


def people_on(values: Array) -> Ratings:
    return people_on_gender(people_of(values, scale="1-9"))


def people_on_gender(people: Ratings) -> Ratings:
    n = len(people.stimulus_names)
    gender = {
        "stimulus": [f"s{k:04d}" for k in range(n)],
        "gender": ["man", "woman"] * (n // 2),
    }
    return people.with_stimuli(pl.DataFrame(gender))


@pytest.mark.parametrize("form", FORMS)
def test_ranks_are_those_of_the_models_own_values(form: str) -> None:
    values = rated()
    found = alignment(people_of(values, scale="1-9"), model_of(values, form), target="sample")
    others = [np.median(np.delete(values, j, axis=0), axis=0) for j in range(len(values))]
    mean = values.mean(axis=0)
    expected = np.mean([[spearmanr(m[k], mean[k]).statistic for k in range(3)] for m in others])
    row = found.to_frame().row(0, named=True)
    assert row["spearman"] == pytest.approx(expected, abs=1e-12)
    assert row["spearman"] > 0.9


@pytest.mark.parametrize("form", FORMS)
def test_agreement_is_that_on_the_peoples_scale_or_is_left_out_with_the_reason(form: str) -> None:
    values = rated(60)
    people = people_of(values, scale="1-9")
    own = alignment(people, model_of(values, "own"), seed=1)
    found = alignment(people, model_of(values, form), seed=1)
    assert found.verdicts == own.verdicts == {"net": "above"}
    if form in MAPPED:
        assert found.primary == "kappa"
        for name in ("agreement", "difference", "low", "high", "spearman", "winning_rate"):
            ours, theirs = (one.to_frame()[name][0] for one in (own, found))
            assert theirs == pytest.approx(ours, abs=1e-9), name
        return
    why = "has no bounds" if form == "heads" else "is not declared"
    assert found.primary == "spearman"
    assert found.alt.to_frame()["passed"].to_list() == [None]
    tables = published_tables(people, model_of(values, form))
    assert (tables.kappa, tables.discrepancy) == (None, None)
    assert set(tables.alpha.to_frame()["side"]) == {"human", "model"}
    for measure in (alt_test, discrepancy):
        with pytest.raises(InputError, match=why):
            measure(people, model_of(values, form))


@pytest.mark.parametrize("form", MAPPED)
def test_verbs_agree_on_a_page(form: str, tmp_path: Path) -> None:
    """Alignment, report, fairness and leaderboard give one number for one thing."""
    from affectlab.report.statistics.study import Study

    values = rated(40)
    people, model = people_on(values), model_of(values, form)
    beside = alignment(people, model, seed=3)
    report = Study(people, model, n_boot=50, seed=3).beside.alignment
    assert report is not None
    assert report.sentences == beside.sentences
    assert report.to_frame().equals(beside.to_frame())

    women = people.select(stimuli=[f"s{k:04d}" for k in range(1, 40, 2)])
    options = {"by": "stimulus.gender", "n_permutations": 0}
    kappa = fairness(people, model, metric="quadratic_kappa", **options).groups["net", "woman"]
    by_group = alignment(women, model, target="sample")
    assert kappa.value == pytest.approx(by_group.to_frame()["agreement"][0], abs=1e-9)
    bias = fairness(people, model, metric="bias", **options).groups["net", "woman"]
    means = discrepancy(women, model).to_frame()["value"].to_list()
    assert bias.value == pytest.approx(-np.mean(means), abs=1e-9)

    data = data_set(people, "page")
    for measure in ("kappa", "spearman"):
        one = {measure: beside.agreement[measure, "net"]}
        write_result(ResultFile.from_estimates("net", one, data=data), tmp_path / measure)
        board = leaderboard(tmp_path / measure).boards[0]
        metric = board.columns[measure][0].metric
        assert metric is not None
        of_alignment = beside.to_frame("models_and_people")[measure][0]
        assert metric.value == pytest.approx(of_alignment, abs=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("form", ["shares", "percent", "percent undeclared"])
def test_verbs_agree_in_the_terminal(form: str, tmp_path: Path) -> None:
    values = rated(40)
    people, model = people_on(values), model_of(values, form)
    people.to_frame().select("stimulus", "rater", "label", "value").write_csv(tmp_path / "p.csv")
    people.stimuli.write_csv(tmp_path / "s.csv")
    model.to_frame().select("stimulus", "rater", "label", "value").write_csv(tmp_path / "m.csv")
    reading = [tmp_path / "p.csv", "--scale", "1-9", "--models", tmp_path / "m.csv"]
    if FORMS[form][1] is not None:
        reading += ["--models-scale", FORMS[form][1]]

    def result(*verb: str, code: int = 0, more: tuple[object, ...] = ()) -> dict[str, object]:
        drawn = () if "alignment" in verb else ("--n-boot", "30")
        done = run_here(*verb, *reading, *more, *drawn, "--json", code=code)
        return json.loads(done.stdout)["result"] if not code else {"error": done.stderr}

    beside = result("evaluate", "alignment")
    result("report", more=("--out", tmp_path / "out"))
    page = pl.read_csv(tmp_path / "out" / "tables" / "models.csv")
    row = beside["models"][0]  # type: ignore[index]
    for name in ("verdict", "measure"):
        assert page[name][0] == row[name]
    for name in ("agreement", "difference", "spearman"):
        assert page[name][0] == pytest.approx(row[name], abs=1e-6)
    html = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    rare = tmp_path / "rare.toml"
    rare.write_text("n_permutations = 0\n", encoding="utf-8")
    gaps = ("--by", "stimulus.gender", "--stimuli", tmp_path / "s.csv", "--config", rare)
    if form in MAPPED:
        assert "mapped to 1–9, linearly" in html
        assert result("evaluate", "fairness", more=gaps)
    else:
        assert "that of models is not declared" in html
        refused = result("evaluate", "fairness", more=gaps, code=2)["error"]
        assert "that of models is not declared" in " ".join(str(refused).split())
        ranks = result("evaluate", "fairness", more=(*gaps, "--metric", "spearman"))
        assert all(group["value"] > 0.9 for group in ranks["groups"])  # type: ignore[attr-defined]


def test_pairs_of_a_report_correlate_the_models_own_values() -> None:
    """On a slider from 0 to 100 shares lie between whole points: rounding would make ties."""
    from affectlab.report.statistics.study import Study

    rng = np.random.default_rng(2)
    people = np.rint(50 + rng.normal(0, 20, (3, 1, 30))).clip(0, 100)
    own = np.argsort(np.argsort(people.mean(axis=0), axis=1)) / 1000 + 0.5
    model = table(own[None], ["net"], "model", "0-1 interval")
    pairs = Study(people_of(people, scale="0-100"), model, n_boot=0).pairs
    assert pairs is not None
    rows = pairs.frame.filter(pl.col("pair_kind") == "human-model")
    expected = [spearmanr(said[0], own[0]).statistic for said in people]
    np.testing.assert_allclose(sorted(rows["value"]), sorted(expected), atol=1e-12)
