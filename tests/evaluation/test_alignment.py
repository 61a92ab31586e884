"""Models on the range of people: planted truth, plain twins, invariances, hostile input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score
from tests.evaluation.panels import Array, models_of, people_of, study, table

from affectlab import InputError, Ratings
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import alignment
from affectlab.evaluation.human_alignment import AlignmentResult, wording


def true_differences(noises: Sequence[float], n_labels: int) -> Array:
    """Differences where stimuli and people are many."""
    found = []
    for seed in range(6):
        people, models = study(np.random.default_rng(900 + seed), 50, 600, n_labels, noises)
        result = alignment(people_of(people), models_of(models), target="sample")
        found.append(result.difference.frame["value"].to_numpy())
    return np.asarray(np.mean(found, axis=0))


# -- planted truth ---------------------------------------------------------------------------------


def test_planted_models_are_found_where_they_are() -> None:
    """As good as people, clearly worse, and better than people (no noise at all)."""
    people, models = study(np.random.default_rng(1), 24, 400, 4, [1.6, 3.5, 0.0])
    found = alignment(people_of(people), models_of(models), seed=1)
    assert found.verdicts == {"m0": "inside", "m1": "below", "m2": "above"}
    passed = found.alt.to_frame()["passed"].to_list()
    assert passed == [True, False, True]
    basis = wording.Basis(24, 400, 400, 4, 1.0)
    rows = found.difference.frame.filter(measure="kappa").rows(named=True)
    words = f"mean {found.measure_words}"
    assert found.sentences == tuple(
        wording.verdict(row, words, "both", basis, 0.95) for row in rows
    )


def test_few_data_show_nothing() -> None:
    """The same model is not inside where the interval is wide: absence of evidence."""
    people, models = study(np.random.default_rng(2), 4, 30, 2, [1.6])
    found = alignment(people_of(people), models_of(models), seed=1)
    assert found.verdicts == {"m0": "not shown"}
    assert wording.few_people(4) in found.notes


@pytest.mark.long
def test_intervals_cover_and_a_model_on_the_margin_is_rarely_inside() -> None:
    noises, n_labels, n_studies = [1.5, 2.4], 2, 80
    truth = true_differences(noises, n_labels)
    margin = -float(truth[1])
    rng = np.random.default_rng(3)
    covered, inside = np.zeros(4), 0
    for seed in range(n_studies):
        people, models = study(rng, 8, 80, n_labels, noises)
        found = alignment(people_of(people), models_of(models), margin=margin, seed=seed)
        frame = found.difference.frame
        covered += (frame["low"].to_numpy() <= truth) & (truth <= frame["high"].to_numpy())
        inside += found.verdicts["m1"] == "inside"
    # A share of .95 has a standard error of .024 over 80 studies.
    assert (covered / n_studies > 0.87).all()
    # Where the true difference is the margin, 5 % or fewer are wrong: more than 10 of 80 are not.
    assert inside <= 10


def test_drawing_people_widens_the_interval() -> None:
    people, models = study(np.random.default_rng(4), 6, 150, 2, [1.6])
    sides = people_of(people), models_of(models)
    both, units, raters = (
        alignment(*sides, target=how, seed=0).difference.frame
        for how in ("both", "stimuli", "raters")
    )
    assert both["se"][0] > 1.2 * units["se"][0]
    assert both["se"][0] > raters["se"][0]
    assert set(both["target"]) == {"both"}
    assert set(units["target"]) == {"stimuli"}
    assert units["people_share"].to_list() == [0.0, 0.0]
    assert 0.2 < both["people_share"][0] <= 1


# -- plain twins -----------------------------------------------------------------------------------


def _kappa(a: Array, b: Array) -> float:
    both = ~np.isnan(a) & ~np.isnan(b)
    a, b = a[both], b[both]
    if np.unique(np.concatenate([a, b])).size < 2:
        return math.nan
    return float(cohen_kappa_score(a, b, weights="quadratic", labels=range(8)))


def _rho(a: Array, b: Array) -> float:
    if np.unique(a).size < 2 or np.unique(b).size < 2:
        return math.nan
    return float(spearmanr(a, b).statistic)


def plain(people: Array, model: Array) -> dict[str, tuple[float, float]]:
    """Model with people, and people with one another, label by label with libraries."""
    n_people, n_labels, _ = people.shape
    kappa, rank = [], []
    for e in range(n_labels):
        seen = ~np.isnan(model[e])
        rounded = np.rint(model[e])
        own = np.nanmean([_kappa(rounded, person) for person in people[:, e]])
        pairs = [
            _kappa(np.where(seen, people[i, e], np.nan), people[j, e])
            for i in range(n_people)
            for j in range(i)
        ]
        kappa.append((own, np.nanmean(pairs)))
        of_model, of_person = [], []
        for i in range(n_people):
            median = np.nanmedian(np.delete(people[:, e], i, axis=0), axis=0)
            here = seen & ~np.isnan(people[i, e]) & ~np.isnan(median)
            of_model.append(_rho(model[e][here], median[here]))
            of_person.append(_rho(people[i, e][here], median[here]))
        rank.append((np.mean(of_model), np.mean(of_person)))
    return {"kappa": tuple(np.mean(kappa, axis=0)), "spearman": tuple(np.mean(rank, axis=0))}


@pytest.mark.parametrize("gaps", [0.0, 0.25])
@pytest.mark.parametrize("partial", [0.0, 0.3])
def test_values_are_those_of_scipy_and_scikit_learn(gaps: float, partial: float) -> None:
    rng = np.random.default_rng(5)
    people, models = study(rng, 5, 60, 3, [1.5, 2.5])
    # Two people answer everything, so that nobody is without others.
    people[:3, :, 3:][rng.random((3, 3, 57)) < gaps] = np.nan
    models[1, :, 3:][:, rng.random(57) < partial] = np.nan
    found = alignment(people_of(people), models_of(models), target="sample")
    # Gaps as small as these keep means over pairs; see test_alignment_sparse.py for larger ones.
    assert not found.pooled
    for f, model in enumerate(models):
        for name, (own, theirs) in plain(people, model).items():
            row = found.difference.frame.filter(
                (pl.col("rater") == f"m{f}") & (pl.col("measure") == name)
            ).row(0, named=True)
            assert row["agreement"] == pytest.approx(own, abs=1e-12)
            assert row["people"] == pytest.approx(theirs, abs=1e-12)
            assert row["value"] == pytest.approx(own - theirs, abs=1e-12)
            assert found.agreement[name, f"m{f}"].value == pytest.approx(own, abs=1e-12)
    answered = ~np.isnan(models[1][0])
    row = found.to_frame().row(1, named=True)
    assert row["n_items"] == answered.sum()
    assert row["coverage"] == pytest.approx(answered.mean())
    if partial:
        assert wording.partial_answers({"m1": row["coverage"]}) in found.notes


def test_nominal_answers_have_unweighted_kappa_and_no_ranks() -> None:
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 4, (1, 1, 200))
    values = np.where(rng.random((5, 1, 200)) < 0.3, rng.integers(0, 4, (5, 1, 200)), truth)
    scale = "nominal:awe,fear,joy,rage"
    sides = (
        people_of(values[:4].astype(float), scale=scale),
        models_of(values[4:].astype(float), scale=scale),
    )
    found = alignment(*sides, seed=0)
    assert found.difference.frame["measure"].to_list() == ["kappa"]
    expected = np.mean([cohen_kappa_score(values[4, 0], one[0]) for one in values[:4]])
    assert found.to_frame()["agreement"][0] == pytest.approx(expected, abs=1e-12)
    assert found.to_frame()["spearman"].to_list() == [None]
    assert "Spearman" not in found.sentences[0]


def test_a_scale_without_steps_has_concordance() -> None:
    rng = np.random.default_rng(7)
    truth = rng.normal(0, 10, (1, 1, 100))
    values = truth + rng.normal(0, 8, (5, 1, 100))
    people = people_of(values[:4], scale="interval")
    models = models_of(values[4:], scale="interval")
    # In one table, because nothing else tells that both mean the same numbers.
    found = alignment(people.merge(models), seed=0)
    assert found.primary == "concordance"

    def lin(a: Array, b: Array) -> float:
        return float(
            2 * np.cov(a, b, ddof=0)[0, 1] / (a.var() + b.var() + (a.mean() - b.mean()) ** 2)
        )

    expected = np.mean([lin(values[4, 0], one[0]) for one in values[:4]])
    assert found.to_frame()["agreement"][0] == pytest.approx(expected, abs=1e-12)


def test_tables_fit_together() -> None:
    people, models = study(np.random.default_rng(8), 6, 50, 3, [1.5, 2.5])
    found = alignment(people_of(people), models_of(models), seed=0)
    by_label = found.by_label.to_frame()
    assert by_label.height == 2 * 2 * 3
    means = by_label.group_by("measure", "rater", maintain_order=True).agg(pl.col("value").mean())
    np.testing.assert_allclose(means["value"], found.difference.frame["value"], atol=1e-12)
    frame = found.to_frame()
    assert frame["rater"].to_list() == ["m0", "m1"]
    everybody = found.to_frame("models_and_people")
    person = everybody["rater_kind"] == "person"
    own, judged = everybody.filter(person), everybody.filter(~person)
    for row in frame.iter_rows(named=True):
        assert row["people_below"] == (own["kappa"] < row["agreement"]).sum()
        assert row["test_low"] > row["low"]
        assert row["test_high"] < row["high"]
    assert found.ceiling["kappa"].value == pytest.approx(own["kappa"].mean(), abs=0.02)
    assert judged["kappa"].to_list() == frame["agreement"].to_list()
    assert repr(found) == f"AlignmentResult({found.sentences[0]})"


def test_the_narrow_interval_decides() -> None:
    people, models = study(np.random.default_rng(9), 10, 150, 2, [1.4, 1.8, 2.2, 3.0])
    for margin in (0.02, 0.05, 0.1, 0.2):
        found = alignment(people_of(people), models_of(models), margin=margin, seed=0, alpha=0.1)
        assert found.alpha == 0.1
        for row in found.to_frame().iter_rows(named=True):
            inside = -margin < row["test_low"] and row["test_high"] < margin
            assert (row["verdict"] == "inside") == inside
            assert (row["verdict"] == "below") == (row["test_high"] < -margin)
            assert (row["verdict"] == "inside") == (row["p"] <= 0.1)


def test_the_same_seed_gives_the_same_bytes() -> None:
    people, models = study(np.random.default_rng(10), 5, 150, 2, [1.5])

    def once(seed: int) -> AlignmentResult:
        return alignment(people_of(people), models_of(models), seed=seed)

    first, again, other = once(1), once(1), once(2)
    assert first.difference.frame.equals(again.difference.frame)
    assert first.sentences == again.sentences
    assert not first.difference.frame["se"].equals(other.difference.frame["se"])


# -- invariances -----------------------------------------------------------------------------------


def _values(found: AlignmentResult) -> dict[tuple[str, str], tuple[float, float]]:
    return {
        (row["measure"], row["rater"]): (row["agreement"], row["people"])
        for row in found.difference.frame.iter_rows(named=True)
    }


def _close(a: dict[Any, tuple[float, float]], b: dict[Any, tuple[float, float]]) -> None:
    assert a.keys() == b.keys()
    for key, value in a.items():
        assert value == pytest.approx(b[key], abs=1e-9, nan_ok=True)


@given(st.integers(0, 10_000), st.floats(0, 0.5))
@settings(max_examples=12, deadline=None)
def test_order_of_rows_means_nothing(seed: int, gaps: float) -> None:
    rng = np.random.default_rng(seed)
    people, models = study(rng, 4, 15, 2, [1.5, 3.0])
    people[:, :, 1:][rng.random((4, 2, 14)) < gaps] = np.nan
    sides = people_of(people), models_of(models)
    expected = _values(alignment(*sides, target="sample"))
    mixed = []
    for side in sides:
        rows = side.to_frame().select("stimulus", "rater", "label", "value")
        rows = rows[rng.permutation(rows.height)]
        mixed.append(Ratings(rows, scale=side.scale, raters=side.raters))
    _close(_values(alignment(*mixed, target="sample")), expected)
    # Models may stand in the same table as people.
    together = sides[0].merge(
        Ratings(
            sides[1]
            .to_frame()
            .with_columns(pl.col("value").round())
            .drop("rater_kind", strict=False),
            scale="0-7",
            raters=sides[1].raters,
        )
    )
    found = _values(alignment(together, target="sample"))
    for rater in ("m0", "m1"):
        assert found["kappa", rater] == pytest.approx(expected["kappa", rater], nan_ok=True)


@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_a_rising_curve_keeps_ranks_and_a_mirrored_scale_keeps_everything(seed: int) -> None:
    rng = np.random.default_rng(seed)
    people, models = study(rng, 4, 20, 2, [1.5])
    first = _values(alignment(people_of(people), models_of(models), target="sample"))
    bent = 7 * (models / 7) ** 3
    second = _values(alignment(people_of(people), models_of(bent), target="sample"))
    assert second["spearman", "m0"] == pytest.approx(first["spearman", "m0"], abs=1e-9)
    mirrored = _values(alignment(people_of(7 - people), models_of(7 - models), target="sample"))
    _close(mirrored, first)


def test_other_models_change_nothing() -> None:
    people, models = study(np.random.default_rng(11), 5, 40, 2, [1.5, 2.5, 4.0])
    models[2, :, ::2] = np.nan
    together = alignment(people_of(people), models_of(models), seed=0)
    alone = alignment(people_of(people), models_of(models[:1]), seed=0)
    a, b = (found.difference.frame.filter(pl.col("rater") == "m0") for found in (together, alone))
    np.testing.assert_allclose(a["value"], b["value"], atol=1e-12)
    np.testing.assert_allclose(a["se"], b["se"], atol=1e-12)
    assert together.sentences[0] == alone.sentences[0]


def test_a_label_that_nobody_used_is_left_out_and_said() -> None:
    people, models = study(np.random.default_rng(12), 5, 40, 2, [1.5])
    base = alignment(people_of(people), models_of(models), seed=0)
    unused = np.zeros((5, 1, 40))
    wide = np.concatenate([people, unused], axis=1)
    said = np.concatenate([models, np.zeros((1, 1, 40))], axis=1)
    found = alignment(people_of(wide), models_of(said), seed=0)
    _close(_values(found), _values(base))
    assert found.to_frame()["n_labels"].to_list() == [2]
    for measure in ("quadratic kappa", "Spearman correlation"):
        assert wording.undefined_labels(measure, {"m0": 1}) in found.notes
    assert found.by_label["kappa", "m0", "e2"].reason == Reason(Cause.CONSTANT, of="answers")
    without = alignment(people_of(wide), models_of(said), exclude=["e2"], target="sample")
    assert without.notes == base.notes[: len(without.notes)]


# -- scales and bad input --------------------------------------------------------------------------


def test_models_on_another_scale() -> None:
    people, models = study(np.random.default_rng(24), 4, 60, 2, [1.5])
    shares = models / 7
    spread = alignment(people_of(people), models_of(shares, scale="0-1 interval"), target="sample")
    plainly = alignment(people_of(people), models_of(models), target="sample")
    _close(_values(spread), _values(plainly))
    assert len(spread.notes) == 1  # How the scale was mapped.
    cut = alignment(people_of(people), models_of(models), truncate=True, target="sample")
    floors = alignment(people_of(people), models_of(np.floor(models)), target="sample")
    assert _values(cut)["kappa", "m0"] == pytest.approx(_values(floors)["kappa", "m0"])
    # Ranks see the fractions, whatever kappa does with them.
    assert _values(cut)["spearman", "m0"] == pytest.approx(_values(plainly)["spearman", "m0"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"margin": 0.0}, "margin"),
        ({"margin": -1.0}, "margin"),
        ({"alpha": 0.7}, "alpha"),
        ({"confidence": 1.0}, "confidence"),
        ({"epsilon": 1.0}, "epsilon"),
        ({"target": "everything"}, "target"),
        ({"exclude": ["joy"]}, "unknown label 'joy'"),
        ({"exclude": ["e0", "e1"]}, "no label is left"),
    ],
)
def test_bad_options(options: dict[str, Any], words: str) -> None:
    people, models = study(np.random.default_rng(25), 3, 20, 2, [1.5])
    with pytest.raises(InputError, match=words):
        alignment(people_of(people), models_of(models, scale="interval"), **options)


def test_sides_that_do_not_fit() -> None:
    people, models = study(np.random.default_rng(26), 3, 20, 2, [1.5])
    panel, judged = people_of(people), models_of(models)
    with pytest.raises(InputError, match="no rater is a model"):
        alignment(panel)
    with pytest.raises(InputError, match="no rater is human"):
        alignment(judged, judged)
    elsewhere = judged.to_frame().with_columns(pl.col("stimulus").cast(pl.String) + "x")
    elsewhere = elsewhere.select("stimulus", "rater", "label", "value")
    with pytest.raises(InputError, match="share no stimulus"):
        alignment(panel, Ratings(elsewhere, scale="0-7 interval", raters=judged.raters))
    with pytest.raises(InputError, match="share no label"):
        alignment(panel, models_of(models, labels=["joy", "awe"]))
    with pytest.raises(InputError, match="'p00' is the name of a person and of a model"):
        alignment(panel, table(models, ["p00"], "model", "0-7 interval"))


@pytest.mark.long
@given(
    st.integers(0, 10_000),
    st.integers(1, 5),
    st.integers(1, 3),
    st.integers(1, 12),
    st.floats(0, 0.9),
)
@settings(max_examples=60, deadline=None)
def test_any_small_table_gets_an_answer(
    seed: int, n_people: int, n_models: int, n: int, gaps: float
) -> None:
    """Legitimate data are never refused, whatever is missing or constant in them."""
    rng = np.random.default_rng(seed)
    people = rng.integers(0, rng.integers(1, 8) + 1, (n_people, 2, n)).astype(float)
    models = rng.uniform(0, 7, (n_models, 2, n))
    for values in (people, models):
        values[:, :, 1:][rng.random(values[:, :, 1:].shape) < gaps] = np.nan
    found = alignment(people_of(people), models_of(models), seed=0)
    assert set(found.verdicts) == {f"m{k}" for k in range(n_models)}
    assert len(found.sentences) == n_models
    frame = found.difference.frame
    known = frame.filter(pl.col("value").is_not_nan())
    assert known["agreement"].is_between(-1 - 1e-9, 1 + 1e-9).all()
    assert known["people"].is_between(-1 - 1e-9, 1 + 1e-9).all()
    assert set(frame["verdict"]) <= {"inside", "below", "above", "not shown", "undefined"}
    assert ((frame["status"] == "ok") == frame["value"].is_not_nan()).all()


def test_few_stimuli_that_carry_the_error_leave_few_degrees_of_freedom() -> None:
    """Those of a variance of the kurtosis that leaving out each stimulus shows."""
    rng = np.random.default_rng(6)
    n = 24
    latent = 2 * rng.normal(size=n) - 1 + rng.normal(0, 1.5, (7, 1, n))
    values = np.clip(np.rint(latent), 0, 7)
    people, model = values[:6], values[6:]
    found = alignment(people_of(people), models_of(model), without="none", target="stimuli")
    left = []
    for k in range(n):
        kept = np.arange(n) != k
        sides = people_of(people[:, :, kept]), models_of(model[:, :, kept])
        part = alignment(*sides, without="none", target="sample")
        left.append(part.difference["kappa", "m0"].value)
    kurtosis = stats.kurtosis(left, fisher=False)
    by_hand = 2 / (kurtosis / n - (n - 3) / (n * (n - 1)))
    assert 4 < by_hand < n - 2
    df = dict(found.difference.frame.select("measure", "df").iter_rows())
    assert df == {"kappa": pytest.approx(by_hand, rel=1e-9), "spearman": pytest.approx(n - 1)}
