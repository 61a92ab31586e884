"""Controls: answers that repeat, runs without the image, wrong images, wrong hints."""

from __future__ import annotations

import io
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import cohen_kappa_score

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import control_checks
from affectlab.evaluation.controls import ControlChecks
from affectlab.evaluation.people_and_models import main_runs
from affectlab.evaluation.wording import NO_CONTROL
from affectlab.ratings import Ratings, StepKind, step

LABELS = ("joy", "fear", "awe")


def ratings_of(runs, *, raters=None, scale="0-7", labels=LABELS, hints=None):
    """Make ratings of arrays (stimuli, labels), people first; names with 'p' are people."""
    parts = []
    for name, values in runs.items():
        values = np.asarray(values, dtype=float)
        n, k = values.shape
        columns = {
            "stimulus": np.repeat([f"s{j}" for j in range(n)], k),
            "rater": [name] * (n * k),
            "value": values.ravel(),
        }
        if k > 1:
            columns["label"] = list(labels[:k]) * n
        if hints is not None:
            columns["hint"] = np.repeat(hints, k).tolist() if "hint" in name else [None] * (n * k)
        parts.append(pl.DataFrame(columns, schema_overrides={"hint": pl.String} if hints else None))
    frame = pl.concat(parts).with_columns(pl.col("value").fill_nan(None)).drop_nulls("value")
    table = {"rater": list(runs), "control": [None] * len(runs), "of": [None] * len(runs)}
    table["rater_kind"] = ["human" if name.startswith("p") else "model" for name in runs]
    for name, (control, of) in (raters or {}).items():
        table["control"][list(runs).index(name)] = control
        table["of"][list(runs).index(name)] = of
    made = pl.DataFrame(table, schema_overrides={"control": pl.String, "of": pl.String})
    return Ratings(frame, scale=scale, raters=made)


def simulated(n=150, seed=0):
    """People who look, a model that looks, one that does not, and their control runs."""
    rng = np.random.default_rng(seed)
    truth = np.clip(rng.normal([4, 1, 2], 1.5, (n, 3)), 0, 7)

    def answer(values, noise):
        return np.clip(np.rint(values + rng.normal(0, noise, values.shape)), 0, 7)

    usual = np.tile([4.0, 1.0, 2.0], (n, 1))
    runs = {f"p{k}": answer(truth, 0.8) for k in range(4)}
    runs["net"] = answer(truth, 1.0)
    runs["net/blind"] = answer(usual, 0.5)
    runs["net/wrong"] = answer(truth[rng.permutation(n)], 1.0)
    runs["lazy"] = answer(usual, 0.5)
    runs["lazy/blind"] = answer(usual, 0.5)
    controls = {
        "net/blind": ("no_image", "net"),
        "net/wrong": ("wrong_image", "net"),
        "lazy/blind": ("no_image", "lazy"),
    }
    return ratings_of(runs, raters=controls)


@pytest.fixture(scope="module")
def checks() -> ControlChecks:
    return control_checks(simulated(), n_boot=400)


# -- repeated answers ---------------------------------------------------------------------------


@settings(max_examples=40)
@given(hnp.arrays(np.float64, (12, 2), elements=st.sampled_from([0.0, 1.0, 2.0, np.nan])))
def test_repeats_equal_plain_counting(values):
    values[0] = [1.0, 2.0]
    answered = [tuple(row) for row in values if not np.isnan(row).all()]
    vectors = Counter(tuple(-1 if cell != cell else cell for cell in row) for row in answered)
    repeated = sum(count for count in vectors.values() if count > 1)
    found = control_checks(ratings_of({"m": values}), n_boot=0).duplicates
    row = found.to_frame().row(0, named=True)
    assert row["n_items"] == len(answered)
    if len(answered) > 1:
        assert row["value"] == pytest.approx(repeated / len(answered))
        assert row["low"] <= row["value"] <= row["high"]
        assert row["n_vectors"] == len(vectors)
        assert row["n_most_repeated"] == max(vectors.values())


@settings(max_examples=30)
@given(hnp.arrays(np.float64, (9, 2), elements=st.sampled_from([0.0, 1.0, 2.0])))
def test_standard_error_is_the_jackknife(values):
    def share(rows):
        sizes = Counter(map(tuple, rows))
        return np.mean([sizes[tuple(row)] > 1 for row in rows])

    n = len(values)
    without = np.array([share(np.delete(values, k, axis=0)) for k in range(n)])
    expected = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    found = control_checks(ratings_of({"m": values}), n_boot=0).duplicates["m"]
    assert found.se == pytest.approx(expected if expected > 0 else np.nan, nan_ok=True)


def test_repeats_are_compared_with_people_and_chance():
    rng = np.random.default_rng(1)
    values = rng.integers(0, 8, (300, 3)).astype(float)
    values[:100] = [7, 0, 0]
    people = rng.integers(0, 8, (300, 3)).astype(float)
    people[30:] = np.nan
    found = control_checks(ratings_of({"p1": people, "m": values}), n_boot=0)
    row = found.duplicates.to_frame().row(0, named=True)
    assert row["value"] > 0.33
    assert row["most_repeated"] == "joy 7, 0 on 2 labels"
    assert row["n_most_repeated"] == (values == [7, 0, 0]).all(axis=1).sum()
    # The person saw 30 stimuli, all of which the model answered alike.
    assert row["same_stimuli"] == 1.0
    assert row["people"] < 0.3
    assert NO_CONTROL in found.by_model["m"]


def test_answers_that_hang_together_repeat_more_often_than_by_chance():
    values = np.random.default_rng(3).random((300, 3))
    values[:100] = [0.5, 0.25, 0.0]
    found = control_checks(ratings_of({"m": values}, scale="0-1 interval"), n_boot=0).duplicates
    assert found["m"].value == pytest.approx(1 / 3)
    # All three labels of a shuffled answer are the common ones with probability 1/27.
    assert found.to_frame()["chance"][0] == pytest.approx(1 / 27, abs=0.02)


def test_independent_answers_repeat_as_chance_does():
    rng = np.random.default_rng(2)
    values = rng.integers(0, 3, (200, 3)).astype(float)
    found = control_checks(ratings_of({"m": values}), n_boot=0).duplicates.to_frame()
    assert found["chance"][0] == pytest.approx(found["value"][0], abs=0.05)


def test_one_label_says_little():
    found = control_checks(ratings_of({"m": np.array([[1.0], [1.0], [2.0]])}), n_boot=0)
    assert found.duplicates["m"].value == pytest.approx(2 / 3)


def test_one_stimulus_cannot_be_repeated():
    found = control_checks(ratings_of({"m": [[1.0, 2.0, 3.0]]}), n_boot=0)
    assert not found.duplicates["m"].ok


# -- runs without the image ---------------------------------------------------------------------


def test_agreement_equals_scikit_learn(checks):
    ratings = simulated()
    target = np.median([ratings.select(raters=f"p{k}").value.reshape(-1, 3) for k in range(4)], 0)
    target = np.floor(target)
    people = ratings_of({"p1": target})
    runs = {name: ratings.select(raters=name).value.reshape(-1, 3) for name in ("net", "net/blind")}
    models = ratings_of(runs, raters={"net/blind": ("no_image", "net")})
    found = control_checks(people, models, n_boot=0).runs

    def kappa(a, b):
        return cohen_kappa_score(a, b, weights="quadratic", labels=range(8))

    main, blind = runs["net"], runs["net/blind"]
    key = ("net", "net/blind", "answers")
    assert found[(*key, "main")].value == pytest.approx(kappa(main.ravel(), target.ravel()))
    assert found[(*key, "control")].value == pytest.approx(kappa(blind.ravel(), target.ravel()))
    assert found[(*key, "same")].value == pytest.approx(kappa(main.ravel(), blind.ravel()))
    each = [kappa(main[:, k], target[:, k]) for k in range(3)]
    assert found["net", "net/blind", "labels", "main"].value == pytest.approx(np.mean(each))
    main_value, control = found[(*key, "main")].value, found[(*key, "control")].value
    assert found[(*key, "kept")].value == pytest.approx(control / main_value)
    assert found[(*key, "gain")].value == pytest.approx(main_value - control)


def test_nominal_agreement_equals_scikit_learn():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 4, 80)
    main = np.where(rng.random(80) < 0.7, truth, rng.integers(0, 4, 80))
    blind = rng.integers(0, 4, 80)
    runs = {"p1": truth, "m": main, "b": blind}
    ratings = ratings_of(
        {name: np.asarray(values, float)[:, None] for name, values in runs.items()},
        raters={"b": ("no_image", "m")},
        scale="nominal:joy,fear,awe,anger",
    )
    found = control_checks(ratings, n_boot=50).runs
    assert found["m", "b", "answers", "main"].value == pytest.approx(cohen_kappa_score(truth, main))
    assert found["m", "b", "answers", "same"].value == pytest.approx(cohen_kappa_score(main, blind))
    assert found["m", "b", "answers", "main"].statistic.startswith("Cohen's kappa")


def test_plurality_leaves_ties_out():
    people = {"p1": [[0.0], [1.0], [2.0]], "p2": [[0.0], [1.0], [3.0]], "p3": [[1.0], [1.0], [0.0]]}
    runs = {**people, "m": [[0.0], [1.0], [2.0]], "b": [[0.0], [1.0], [2.0]]}
    ratings = ratings_of(runs, raters={"b": ("no_image", "m")}, scale="nominal:a,b,c,d")
    found = control_checks(ratings, n_boot=0).runs["m", "b", "answers", "main"]
    assert found.n_items == 2
    assert found.value == 1.0


def test_who_looks_and_who_does_not(checks):
    runs = checks.runs
    assert runs["net", "net/blind", "labels", "kept"].high < 0.3
    assert runs["net", "net/blind", "answers", "gain"].low > 0
    assert runs["net", "net/wrong", "labels", "kept"].high < 0.3
    assert runs["lazy", "lazy/blind", "answers", "gain"].low <= 0
    assert set(checks.by_model) == {"net", "lazy"}


def test_a_share_of_no_agreement_is_not_defined():
    rng = np.random.default_rng(4)
    runs = {name: rng.integers(0, 8, (40, 3)) for name in ("p1", "m", "b")}
    ratings = ratings_of(runs, raters={"b": ("no_image", "m")})
    found = control_checks(ratings, n_boot=200).runs["m", "b", "answers", "kept"]
    assert np.isnan(found.value)
    assert found.reason == Reason(Cause.NONE, of="clear agreement to keep in the main run")


def test_constant_answers_agree_with_nothing():
    truth = np.arange(8.0)[:, None] * [1, 1, 1]
    runs = {"p1": truth, "m": truth, "b": np.full((8, 3), 3.0)}
    found = control_checks(ratings_of(runs, raters={"b": ("no_image", "m")}), n_boot=100).runs
    assert found["m", "b", "labels", "kept"].value == 0.0


@pytest.mark.long
def test_interval_covers_the_truth():
    """The share kept by a run that mixes what it sees with what is usual."""
    truth = []
    covered = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        seen = rng.normal(0, 1, (4000, 1))
        noise = rng.normal(0, 1, (4000, 2))
        runs = {"p1": seen, "m": seen + noise[:, :1], "b": 0.5 * seen + noise[:, 1:]}
        part = {name: values[:80] for name, values in runs.items()}
        wide = control_checks(
            ratings_of(runs, raters={"b": ("no_image", "m")}, scale="interval"), n_boot=0
        )
        truth.append(wide.runs["m", "b", "answers", "kept"].value)
        narrow = control_checks(
            ratings_of(part, raters={"b": ("no_image", "m")}, scale="interval"), n_boot=200
        ).runs["m", "b", "answers", "kept"]
        covered += narrow.low <= np.mean(truth) <= narrow.high
    assert covered >= 34


def test_missing_answers_are_compared_on_what_all_answered():
    truth = np.arange(12.0)[:, None] % 8 * [1, 1, 1]
    blind = truth.copy()
    blind[6:] = np.nan
    found = control_checks(
        ratings_of({"p1": truth, "m": truth, "b": blind}, raters={"b": ("no_image", "m")}), n_boot=0
    ).runs["m", "b", "answers", "kept"]
    assert found.n_items == 6
    assert found.value == 1.0


def test_without_people_runs_are_compared_with_each_other():
    ratings = simulated().models()
    found = control_checks(ratings, n_boot=50)
    nobody = Reason(Cause.NONE, of="people")
    assert found.runs["net", "net/blind", "answers", "main"].reason == nobody
    assert found.runs["net", "net/blind", "answers", "same"].ok
    assert found.duplicates.to_frame()["people"].is_nan().all()


def test_models_in_a_table_of_their_own():
    ratings = simulated()
    apart = control_checks(ratings.humans(), ratings.models(), n_boot=20, seed=5)
    together = control_checks(ratings, n_boot=20, seed=5)
    assert apart.by_model == together.by_model
    assert apart.runs.frame.equals(together.runs.frame)


def test_same_seed_same_numbers():
    first, second = (control_checks(simulated(60), n_boot=30, seed=9) for _ in range(2))
    assert first.runs.frame.equals(second.runs.frame)
    assert first.duplicates.frame.equals(second.duplicates.frame)


# -- hints --------------------------------------------------------------------------------------


def hinted(accept=0.5, n=400, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.zeros((n, 3))
    truth[:, 0] = 5
    hints = rng.choice(["fear", "awe", "joy"], n)
    values = truth.copy()
    taken = rng.random(n) < accept
    for k in np.flatnonzero(taken):
        values[k, LABELS.index(hints[k])] = 4
    runs = {"p1": truth, "m": truth, "m/hint": values}
    found = ratings_of(runs, raters={"m/hint": ("decoy_hint", "m")}, hints=list(hints))
    return found, hints, taken


def test_acceptance_of_hints():
    ratings, hints, taken = hinted()
    found = control_checks(ratings, n_boot=300).hints
    decoys = hints != "joy"
    row = found["m", "m/hint", "accepted"]
    assert row.n_items == decoys.sum()
    assert row.value == pytest.approx(taken[decoys].mean())
    assert row.low < 0.5 < row.high
    assert found["m", "m/hint", "unprompted"].value == 0.0
    assert found["m", "m/hint", "difference"].value == pytest.approx(row.value)
    assert found["m", "m/hint", "difference"].low > 0.3
    # People confirm joy, so it is no decoy.
    assert found.to_frame()["n_confirmed"].to_list() == [(~decoys).sum()] * 3


def test_no_hint_followed_has_an_interval():
    found = control_checks(hinted(accept=0.0)[0], n_boot=100)
    accepted = found.hints["m", "m/hint", "accepted"]
    assert accepted.value == accepted.low == 0.0
    assert 0 < accepted.high < 0.05


def test_hints_that_cannot_be_judged():
    ratings, _, _ = hinted(n=5)
    no_column = ratings_of(
        {"p1": np.ones((2, 3)), "m": np.ones((2, 3)), "h": np.ones((2, 3))},
        raters={"h": ("decoy_hint", "m")},
    )
    with pytest.raises(InputError, match="no column 'hint'"):
        control_checks(no_column)
    wrong = ratings.to_frame().with_columns(
        pl.when(pl.col("hint").is_not_null()).then(pl.lit("rage")).alias("hint")
    )
    with pytest.raises(InputError, match="unknown label 'rage'"):
        control_checks(Ratings(wrong, scale="0-7", raters=ratings.raters))
    below_zero = Ratings(ratings.to_frame(), scale="-7..7", raters=ratings.raters)
    with pytest.raises(InputError, match="not at all"):
        control_checks(below_zero)


# -- which run controls which --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raters", "words"),
    [
        ({"b": ("noimage", "m")}, "unknown control 'noimage'; did you mean 'no_image'"),
        ({"b": ("no_image", None)}, "attribute 'of' is empty"),
        ({"b": ("no_image", "mm")}, "unknown rater 'mm'"),
        ({"b": ("no_image", "c"), "c": ("no_image", "m")}, "itself a no_image run"),
        ({"b": ("no_image", "b")}, "itself a no_image run"),
    ],
)
def test_bad_controls(raters, words):
    runs = {name: np.ones((3, 3)) for name in ("p1", "m", "b", "c")}
    with pytest.raises(InputError, match=words):
        control_checks(ratings_of(runs, raters=raters))


def blind(name):
    return Ratings(
        {
            "stimulus": ["s0", "s1"],
            "rater": ["b", "b"],
            "label": ["joy", "joy"],
            "value": [1, 2],
            name: ["no_image"] * 2,
            name.replace("control", "of"): ["m"] * 2,
        },
        scale="0-7",
        raters={"rater": ["b"], "rater_kind": ["model"]},
    )


@pytest.mark.parametrize("name", ["control", "rater_control"])
def test_a_file_of_one_run_says_so_of_its_rater(name):
    assert name in blind(name).raters.columns
    with pytest.raises(InputError, match="unknown rater 'm'"):
        control_checks(ratings_of({"p1": np.ones((2, 3))}), blind(name))
    main = ratings_of({"m": np.ones((2, 3))})
    found = control_checks(main.merge(blind(name)), n_boot=0)
    assert found.runs.to_frame()["run"].unique().to_list() == ["b"]


def test_a_control_of_stimuli_is_refused():
    stimuli = {"stimulus": ["s0", "s1"], "control": ["no_image"] * 2, "of": ["m"] * 2}
    one = Ratings(
        {"stimulus": ["s0", "s1"], "rater": ["b"] * 2, "label": ["joy"] * 2, "value": [1, 2]},
        scale="0-7",
        raters={"rater": ["b"], "rater_kind": ["model"]},
        stimuli=stimuli,
    )
    # Beside other runs it would make all of them controls.
    with pytest.raises(InputError, match="name it 'rater_control'"):
        control_checks(ratings_of({"m": np.ones((2, 3))}).merge(one))


def test_main_runs():
    ratings = simulated(20)
    kept = main_runs(ratings)
    assert kept.rater_names == ("p0", "p1", "p2", "p3", "net", "lazy")
    assert kept.history[-1] == step(StepKind.CONTROLS_LEFT_OUT, n=3)
    assert main_runs(kept) is kept


def test_scales_that_cannot_be_compared():
    people = ratings_of({"p1": np.ones((2, 3))})
    models = ratings_of({"m": np.ones((2, 3))}, scale="interval")
    with pytest.raises(InputError, match="that of models has no bounds"):
        control_checks(people, models)
    with pytest.raises(InputError, match="n_boot -1"):
        control_checks(people, models, n_boot=-1)
    with pytest.raises(InputError, match="no rater is a model"):
        control_checks(people)


def test_shown_for_people(checks):
    from rich.console import Console

    console = Console(width=100, file=io.StringIO())
    console.print(checks)
    text = console.file.getvalue()
    for words in ("Repeated answers", "Agreement with people", "net/blind"):
        assert words in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 100
    assert {"duplicates", "runs", "hints"} <= set(checks.to_dict())
    assert repr(checks) == f"ControlChecks({checks.sentences[0]})"
