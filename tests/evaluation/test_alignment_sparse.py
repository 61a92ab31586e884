"""People who share few stimuli: kappa from disagreement pooled over pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.evaluation.panels import Array, copies_of, models_of, people_of, table

from affectlab.core.facts import Reason
from affectlab.evaluation import alignment, human_ceiling
from affectlab.evaluation.human_alignment import wording
from affectlab.evaluation.human_alignment.kappa import kappas, pooled_kappas, shares_little
from affectlab.evaluation.human_alignment.measures import LEAST_SHARED
from affectlab.evaluation.human_alignment.panel import panel_of


def sparse(
    rng: np.random.Generator, n: int, n_people: int, per: int, vary: float = 0.0
) -> tuple[Array, Array]:
    """People who each see some stimuli, and a model that is one more person, who sees all.

    ``vary`` makes people differ in noise, bias and range.
    """
    truth = rng.normal(3, 1.8, n)
    shape = (n_people + 1, 1)
    gain, bias = rng.normal(1, 0.2 * vary, shape), rng.normal(0, 0.5 * vary, shape)
    noise = rng.uniform(1.2 - 0.6 * vary, 1.2 + 0.6 * vary, shape)
    said = 3 + gain * (truth - 3) + bias + noise * rng.normal(size=(n_people + 1, n))
    said = np.clip(np.rint(said), 0, 7)
    asked = rng.permuted(np.tile(np.arange(n_people), (n, 1)), axis=1)[:, :per]
    people = np.full((n_people, 1, n), np.nan)
    for k, chosen in enumerate(asked):
        people[chosen, 0, k] = said[chosen, k]
    return people, said[-1][None, None]


# -- a plain twin ----------------------------------------------------------------------------------


def pooled(
    first: list[tuple[int, int, float, float]],
    second: list[tuple[int, int, float, float]],
    others: Any,
    distance: Any,
) -> float:
    """Kappa of two lists of (stimulus, rater, value, weight), over all pairs of answers.

    Disagreement is that of different raters: observed on one stimulus, where the stimulus counts
    once and by ``others``, and by chance on two.
    """
    observed, pairs, chance, all_pairs = 0.0, 0.0, 0.0, 0.0
    for item, rater, value, (weight, copies) in first:
        for item_b, rater_b, value_b, (weight_b, copies_b) in second:
            if rater == rater_b:
                continue
            both = copies * copies_b
            if item == item_b:
                observed += weight * both / others[item] * distance(value, value_b)
                pairs += weight * both / others[item]
            else:
                chance += weight * weight_b * both * distance(value, value_b)
                all_pairs += weight * weight_b * both
    if not pairs or not chance:
        return float("nan")
    return max(1 - (observed / pairs) / (chance / all_pairs), -1.0)


def squared(a: float, b: float) -> float:
    return (a - b) ** 2


def unequal(a: float, b: float) -> float:
    return float(a != b)


@pytest.mark.long
@pytest.mark.parametrize(
    ("scale", "distance"), [("0-7", squared), ("nominal:a,b,c,d,e,f,g,h", unequal)]
)
def test_every_row_is_what_all_pairs_of_answers_give(scale: str, distance: Any) -> None:
    rng = np.random.default_rng(1)
    for trial in range(3):
        people, model = sparse(rng, 24, 6, 3)
        people[:, 0, 0], people[1, 0, 0] = np.nan, 4.0
        models = np.concatenate([model, 7 - model])
        models[1, 0, 5:9] = np.nan
        names = [f"p{k}" for k in range(6)]
        sides = table(people, names, "human", scale), table(models, ["m", "n"], "model", scale)
        panel = panel_of(*sides)
        draws = copies_of(len(panel.stimuli), panel.n_people, 4, trial)
        found = pooled_kappas(panel, draws)[0]
        kept = [int(name[1:]) for name in panel.stimuli]
        who = [int(name[1:]) for name in panel.people]
        said, judged = people[who, 0][:, kept], models[:, 0][:, kept]
        n_met = (~np.isnan(said)).sum(axis=0)
        for row in range(draws.n_rows):
            weight, copies = draws.stimuli[row].astype(float), draws.raters[row].astype(float)
            for f, answers in enumerate(judged):
                used = np.flatnonzero((n_met > 1) & ~np.isnan(answers))
                lists = [
                    (i, j, said[j, i], (weight[i], copies[j]))
                    for i in used
                    for j in range(len(who))
                    if not np.isnan(said[j, i])
                ]
                expected = pooled(lists, lists, n_met - 1.0, distance)
                assert found.among[f, row] == pytest.approx(expected, abs=1e-9, nan_ok=True)
                # A model stands on a stimulus as often as people do.
                times = np.zeros(len(kept))
                for i, _, _, (_, number) in lists:
                    times[i] += number
                own = [(i, -1, answers[i], (weight[i], times[i])) for i in used]
                by_people = np.where(times > 0, times, 1.0)
                expected = pooled(own, lists, by_people, distance)
                assert found.models[f, row] == pytest.approx(expected, abs=1e-9, nan_ok=True)
                for j in range(len(who)):
                    rest = [entry for entry in lists if entry[1] != j]
                    left = np.zeros(len(kept))
                    for i, _, _, (_, number) in rest:
                        left[i] += number
                    mine = [
                        (i, j, said[j, i], (weight[i], left[i]))
                        for i in used
                        if not np.isnan(said[j, i])
                    ]
                    expected = pooled(mine, rest, np.where(left > 0, left, 1.0), distance)
                    if f == 0:
                        assert found.persons[j, row] == pytest.approx(
                            expected, abs=1e-9, nan_ok=True
                        )


# -- simulated truth -------------------------------------------------------------------------------


def differences(
    n: int, n_people: int, per: int, vary: float, n_studies: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Model less people, pooled and as means over pairs, without a bootstrap."""
    rng = np.random.default_rng(n + n_people)
    of_pooled, of_pairs = [], []
    for _ in range(n_studies):
        people, model = sparse(rng, n, n_people, per, vary)
        panel = panel_of(people_of(people), models_of(model, scale="0-7"))
        draws = copies_of(len(panel.stimuli), panel.n_people, 0)
        for found, kept in (
            (pooled_kappas(panel, draws)[0], of_pooled),
            (kappas(panel, draws)[0], of_pairs),
        ):
            kept.append(found.models[0, 0] - found.among[0, 0])
    return np.array(of_pooled), np.array(of_pairs)


@pytest.mark.long
@pytest.mark.parametrize(
    ("n", "n_people", "per", "bias_of_pairs"),
    [(200, 40, 3, 0.3), (200, 20, 3, 0.15), (200, 12, 3, 0.03), (300, 10, 3, 0.01)],
    ids=["1 shared", "3 shared", "9 shared", "20 shared"],
)
def test_a_model_that_is_one_more_person_is_where_people_are(
    n: int, n_people: int, per: int, bias_of_pairs: float
) -> None:
    """Means over pairs put it above, and far above where pairs share little."""
    of_pooled, of_pairs = differences(n, n_people, per, 0.0, 60)
    error = of_pooled.std(ddof=1) / np.sqrt(of_pooled.size)
    assert abs(of_pooled.mean()) < 3.5 * error
    assert error < 0.006
    assert of_pairs.mean() > bias_of_pairs


@pytest.mark.long
def test_people_who_differ_leave_no_bias_that_matters() -> None:
    of_pooled, _ = differences(200, 20, 4, 1.0, 150)
    assert abs(of_pooled.mean()) < 3.5 * of_pooled.std(ddof=1) / np.sqrt(of_pooled.size)


def test_complete_panels_have_nearly_the_same_value() -> None:
    of_pooled, of_pairs = differences(200, 8, 8, 0.5, 20)
    assert np.abs(of_pooled - of_pairs).max() < 0.01


@pytest.mark.long
@pytest.mark.parametrize(("n", "n_people", "per"), [(200, 40, 3), (120, 8, 4)])
def test_intervals_of_sparse_panels_cover_and_no_model_is_above(
    n: int, n_people: int, per: int
) -> None:
    rng = np.random.default_rng(2)
    n_studies, covered, width, values = 50, 0, [], []
    verdicts: list[str] = []
    for seed in range(n_studies):
        people, model = sparse(rng, n, n_people, per)
        found = alignment(people_of(people), models_of(model, scale="0-7"), seed=seed)
        row = found.difference.frame.row(0, named=True)
        covered += row["low"] <= 0 <= row["high"]
        width.append(row["se"])
        values.append(row["value"])
        verdicts += found.verdicts.values()
    # Of 50 studies .95 is 47.5, with a standard error of 1.5.
    assert covered >= 43
    # Drawing stimuli and people at once would give more than twice the true standard error.
    assert np.mean(width) < 1.7 * np.std(values)
    assert "above" not in verdicts
    assert "below" not in verdicts


def test_poor_models_are_below_in_sparse_panels() -> None:
    people, model = sparse(np.random.default_rng(3), 400, 20, 4)
    worse = np.clip(np.rint(model + np.random.default_rng(4).normal(0, 3, model.shape)), 0, 7)
    found = alignment(people_of(people), models_of(worse, scale="0-7"), seed=0)
    assert found.verdicts == {"m0": "below"}


# -- what is said ----------------------------------------------------------------------------------


def test_the_sentence_and_a_note_say_that_it_is_pooled() -> None:
    people, model = sparse(np.random.default_rng(5), 200, 20, 3)
    sides = people_of(people), models_of(model, scale="0-7")
    found = alignment(*sides, seed=0)
    assert found.pooled
    assert found.measure_words == "pooled quadratic kappa"
    assert wording.pooled(3, found.measure_words) in found.notes
    assert "pooled over pairs" in found.difference["kappa", "m0"].statistic
    ceiling = human_ceiling(sides[0])
    assert ceiling["kappa"].value == found.difference.frame["people"][0]
    assert "pooled over pairs" in ceiling["kappa"].statistic


def test_a_few_missing_answers_change_nothing() -> None:
    """Means over pairs stay where the biases of people and of models are nearly the same."""
    rng = np.random.default_rng(6)
    people, model = sparse(rng, 150, 6, 6)
    whole = alignment(people_of(people), models_of(model, scale="0-7"), target="sample")
    people[rng.integers(0, 6, 10), 0, rng.integers(0, 150, 10)] = np.nan
    nearly = alignment(people_of(people), models_of(model, scale="0-7"), target="sample")
    assert not whole.pooled
    assert not nearly.pooled
    before, after = (found.difference.frame["value"][0] for found in (whole, nearly))
    assert before == pytest.approx(after, abs=0.01)
    many, _ = sparse(rng, 150, 12, 3)
    assert shares_little(panel_of(people_of(many), models_of(model, scale="0-7")))


def test_too_few_stimuli_with_two_people_give_no_verdict() -> None:
    people, model = sparse(np.random.default_rng(7), 100, 4, 1)
    people[:, 0, :9] = np.arange(9) % 8
    found = alignment(people_of(people), models_of(model, scale="0-7"), seed=0)
    assert found.verdicts == {"m0": "undefined"}
    reason = Reason.of_row(found.difference.frame["reason"][0])
    assert reason is not None
    assert f"{LEAST_SHARED} stimuli" in reason.of
