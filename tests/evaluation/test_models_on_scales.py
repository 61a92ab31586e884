"""Models on several scales: each is judged beside others as it is alone."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from affectlab.cli import main
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import (
    alignment,
    alt_test,
    control_checks,
    discrepancy,
    evaluate_classification,
    evaluate_soft_labels,
    fairness,
    outcome_table,
    published_tables,
    spearman_with_people,
)
from affectlab.evaluation.rater_comparison import merged
from affectlab.ratings import Ratings, read_models
from affectlab.reliability import pairwise_kappa
from affectlab.report.statistics import Study

N = 60
STIMULI = [f"s{k:02d}" for k in range(N)]
TRUTH = np.random.default_rng(3).integers(0, 8, (2, N))


def table(names: list[str], value: np.ndarray, scale: str | None, kind: str = "model") -> Ratings:
    """Answers of shape (raters, labels, stimuli)."""
    shape = value.shape
    return Ratings(
        {
            "stimulus": STIMULI * (shape[0] * shape[1]),
            "rater": np.repeat(names, shape[1] * N).tolist(),
            "label": np.tile(np.repeat(["joy", "fear"][: shape[1]], N), shape[0]).tolist(),
            "value": value.ravel(),
        },
        scale=scale,
        raters={"rater": names, "rater_kind": [kind] * len(names)},
    )


def noisy(noise: float, seed: int, n: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.clip(np.rint(TRUTH + rng.normal(0, noise, (n, 2, N))), 0, 7)


PEOPLE = table([f"p{k}" for k in range(6)], noisy(2, 1, 6), "0-7", "human")
VALUES = {
    # The mean of people, as shares; the same as percent; a noisy one in steps; one from -1 to 1.
    "share": (noisy(2, 1, 6).mean(axis=0, keepdims=True) / 7, "0-1 interval"),
    "percent": (noisy(2, 1, 6).mean(axis=0, keepdims=True) / 0.07, "0-100 interval"),
    "steps": (noisy(3, 2), "0-7"),
    "polar": (noisy(1, 4) / 3.5 - 1, "-1..1 interval"),
}
MODELS = {name: table([name], *given) for name, given in VALUES.items()}


def test_a_model_gets_beside_others_what_it_gets_alone() -> None:
    options = {"seed": 1}
    together = alignment(PEOPLE, list(MODELS.values()), **options).to_frame()
    # Holm's correction alone is about all models.
    together = together.drop("p_holm")
    for name, one in MODELS.items():
        alone = alignment(PEOPLE, one, **options).to_frame().drop("p_holm")
        assert together.filter(rater=name).equals(alone), name
    share, percent = (together.row(at, named=True) for at in (0, 1))
    assert share["agreement"] == percent["agreement"] > share["people"]


def test_what_fits_no_scale_is_judged_by_ranks_beside_others() -> None:
    value = VALUES["share"][0]
    unknown = table(["unknown"], value, None)
    alone = alignment(PEOPLE, unknown)
    both = alignment(PEOPLE, [MODELS["steps"], unknown])
    row = both.to_frame().filter(rater="unknown").drop("p_holm")
    assert row.equals(alone.to_frame().drop("p_holm"))
    assert row["measure"].item() == "spearman"
    assert both.to_frame().filter(rater="steps")["measure"].item() == "kappa"
    assert len(both.notes) == len(alignment(PEOPLE, [MODELS["steps"]]).notes) + 1
    found = both.difference.frame.filter(rater="unknown", measure="kappa")["reason"].item()
    assert Reason.of_row(found) == Reason(Cause.NO_COMMON_SCALE)


def test_several_models_in_one_table_without_a_scale_are_told_apart() -> None:
    """The scale of each is inferred alone, not over the answers of all."""
    value = np.concatenate([VALUES["share"][0], VALUES["steps"][0]])
    found = alignment(PEOPLE, table(["share", "steps"], value, None), target="sample")
    steps = alignment(PEOPLE, MODELS["steps"], target="sample")
    assert dict(found.to_frame().select("rater", "measure").iter_rows()) == {
        "share": "spearman",
        "steps": "kappa",
    }
    rows = found.to_frame().filter(rater="steps").select("agreement", "difference")
    assert rows.equals(steps.to_frame().select("agreement", "difference"))


def of_alt(models: Any) -> pl.DataFrame:
    return alt_test(PEOPLE, models).to_frame()


def of_discrepancy(models: Any) -> pl.DataFrame:
    return discrepancy(PEOPLE, models, target="sample").to_frame()


def of_spearman(models: Any) -> pl.DataFrame:
    return spearman_with_people(PEOPLE, models, n_boot=0).to_frame()


def of_fairness(models: Any) -> pl.DataFrame:
    halves = {"stimulus": STIMULI, "half": ["a", "b"] * (N // 2)}
    found = fairness(PEOPLE.with_stimuli(halves), models, by="half", n_boot=0, n_permutations=0)
    return found.to_frame().select("rater", "group", "value")


def of_outcomes(models: Any) -> pl.DataFrame:
    return outcome_table(PEOPLE, models).to_frame()


def of_pairs(models: Any) -> pl.DataFrame:
    found = pairwise_kappa(merged(PEOPLE, models)).to_frame()
    return found.filter(pair_kind="human-model").rename({"rater_b": "rater"}).drop("rater_a")


def of_published(models: Any) -> pl.DataFrame:
    return published_tables(PEOPLE, models, n_boot=0).to_frame().select("rater", "mean")


@pytest.mark.parametrize(
    "judge",
    [of_alt, of_discrepancy, of_spearman, of_fairness, of_outcomes, of_pairs, of_published],
)
def test_every_measure_takes_models_on_several_scales(
    judge: Callable[[Any], pl.DataFrame],
) -> None:
    together = judge(list(MODELS.values()))
    for name, one in MODELS.items():
        own, alone = (frame.filter(rater=name) for frame in (together, judge(one)))
        assert own.height
        assert own.equals(alone), name


def test_classes_and_soft_labels_take_models_on_several_scales() -> None:
    """Scores of two classes, as shares, percent and from -1 to 1, choose the same class."""
    score = noisy(2, 5)[0]
    score = np.stack([score[0] + 0.25, 7.25 - score[0]])[None] / 7.25
    people = Ratings(
        {
            "stimulus": STIMULI * 3,
            "rater": np.repeat(["a", "b", "c"], N).tolist(),
            "value": np.where(noisy(2, 6, 3)[:, 0].ravel() > 3, "joy", "fear").tolist(),
        }
    )
    shares = table(["share"], score, "0-1 interval")
    percent = table(["percent"], 100 * score, "0-100 interval")
    names = np.where(score[0, 0] > score[0, 1], "joy", "fear")
    named = Ratings(
        {"stimulus": STIMULI, "rater": ["named"] * N, "value": names.tolist()},
        raters={"rater": ["named"], "rater_kind": ["model"]},
    )
    found = evaluate_classification(people, [shares, percent, named], n_boot=0, seed=1)
    accuracy = {name: found.estimates[name, "accuracy"].value for name in ("share", "percent")}
    assert accuracy["share"] == accuracy["percent"] == found.estimates["named", "accuracy"].value
    soft = evaluate_soft_labels(people, [shares, percent, named], n_boot=0).to_frame()
    alone = evaluate_soft_labels(people, shares, n_boot=0).to_frame()
    numbers = pl.selectors.float()
    for name in ("share", "percent"):
        row = soft.filter(rater=name).select(numbers)
        assert np.allclose(row, alone.filter(rater="share").select(numbers), equal_nan=True)


def test_words_beside_numbers_are_refused() -> None:
    words = Ratings(
        {
            "stimulus": STIMULI,
            "rater": ["named"] * N,
            "label": ["joy"] * N,
            "value": ["a", "b"] * (N // 2),
        },
        scale="nominal:a,b",
    )
    with pytest.raises(InputError, match="has no order"):
        alignment(PEOPLE, [MODELS["steps"], words], target="sample")


def test_controls_of_models_on_several_scales() -> None:
    blind = table(["blind"], noisy(9, 8), "0-7").with_raters(
        {"rater": ["blind"], "rater_kind": ["model"], "control": ["no_image"], "of": ["share"]}
    )
    found = control_checks(PEOPLE, [MODELS["share"], blind], n_boot=0)
    assert found.runs["share", "blind", "answers", "same"].ok


def test_a_report_shows_models_on_several_scales() -> None:
    unknown = table(["unknown"], VALUES["share"][0], None)
    study = Study(PEOPLE, [*MODELS.values(), unknown], n_boot=0)
    assert set(study.ratings.models().rater_names) == set(MODELS)
    assert set(study.unmapped) == {"unknown"}
    assert not study.ranks_only
    found = study.beside.alignment
    assert found is not None
    alone = alignment(PEOPLE, MODELS["share"], target="sample").to_frame()["agreement"].item()
    assert dict(found.to_frame().select("rater", "agreement").iter_rows())["share"] == alone


def test_the_command_line_judges_files_on_their_own_scales(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people = PEOPLE.write(tmp_path / "people.parquet")
    files = {}
    for name in ("share", "steps"):
        frame = MODELS[name].frame.pivot("label", index="stimulus", values="value")
        files[name] = tmp_path / f"{name}.csv"
        frame.write_csv(files[name])

    def agreement(*options: str) -> dict[str, float]:
        capsys.readouterr()
        argv = ["evaluate", "alignment", str(people), *options, "--target", "sample", "--json"]
        with pytest.raises(SystemExit) as ended:
            main(argv)
        assert ended.value.code == 0
        found = json.loads(capsys.readouterr().out)["result"]["models"]
        return {row["rater"]: row["agreement"] for row in found if row["measure"] == "kappa"}

    both = ["--models", str(files["share"]), "--models", str(files["steps"])]
    expected = {
        name: alignment(PEOPLE, MODELS[name], target="sample").to_frame()["agreement"].item()
        for name in files
    }
    named = ["--models-scale", "share=0-1 interval"]
    assert agreement(*both, *named) == pytest.approx(expected)
    assert agreement(*both, *named, "--models-scale", "steps=0-7") == pytest.approx(expected)
    # What is not declared says nothing of the scale of another.
    del expected["share"]
    assert agreement(*both) == pytest.approx(expected)


def test_stored_scales_hold_beside_one_another(tmp_path: Path) -> None:
    paths = [one.write(tmp_path / f"{name}.parquet") for name, one in MODELS.items()]
    found = read_models(paths, PEOPLE)
    assert {str(one.scale) for one in found} == {str(one.scale) for one in MODELS.values()}
    together = alignment(PEOPLE, found, target="sample").to_frame()
    expected = alignment(PEOPLE, list(MODELS.values()), target="sample").to_frame()
    assert together.equals(expected)
