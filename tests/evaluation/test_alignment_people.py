"""Who is compared: control runs, people who are hardly there, and what is said about it."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from tests.evaluation.panels import Array, models_of, people_of, study, table

from affectlab import InputError, Ratings
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import Target
from affectlab.evaluation import alignment, spearman_with_people
from affectlab.evaluation.human_alignment import wording

# -- control runs ----------------------------------------------------------------------------------


def with_control(models: Array) -> Ratings:
    return table(
        models,
        ["net", "net, no image"],
        "model",
        "0-7 interval",
        control=[None, "no_image"],
        of=[None, "net"],
    )


def test_control_runs_are_no_models() -> None:
    people, models = study(np.random.default_rng(13), 5, 40, 2, [1.5, 6.0])
    found = alignment(people_of(people), with_control(models), seed=0)
    assert list(found.verdicts) == ["net"]
    assert len(found.sentences) == 1
    assert any("control" in note and "net, no image" in note for note in found.notes)
    alone = alignment(
        people_of(people), table(models[:1], ["net"], "model", "0-7 interval"), seed=0
    )
    assert found.difference.frame.equals(alone.difference.frame)


def test_control_runs_in_the_table_of_people() -> None:
    people, models = study(np.random.default_rng(14), 4, 40, 1, [1.5, 6.0])
    models = np.rint(models)
    judged = table(models, ["net", "blind"], "model", control=[None, "no_image"], of=[None, "net"])
    found = alignment(people_of(people).merge(judged), target="sample")
    assert list(found.verdicts) == ["net"]


def test_nothing_but_control_runs() -> None:
    people, models = study(np.random.default_rng(15), 4, 40, 1, [6.0])
    judged = table(models, ["blind"], "model", "0-7 interval", control=["no_image"], of=["net"])
    with pytest.raises(InputError):
        alignment(people_of(people), judged, target="sample")


def test_an_attribute_of_stimuli_named_control_may_mean_something_else() -> None:
    """In an experiment some pictures are controls; that says nothing about runs of models."""
    people, models = study(np.random.default_rng(16), 4, 40, 1, [1.5, 2.0])
    judged = models_of(models)
    pictures = pl.DataFrame(
        {
            "stimulus": judged.stimulus_names,
            "control": ["yes" if k % 2 else "no" for k in range(40)],
        }
    )
    found = alignment(people_of(people), judged.with_stimuli(pictures), target="sample")
    assert list(found.verdicts) == ["m0", "m1"]


# -- people who are hardly there -------------------------------------------------------------------


def test_one_person_cannot_show_how_people_agree() -> None:
    people, models = study(np.random.default_rng(17), 1, 40, 2, [1.5])
    found = alignment(people_of(people), models_of(models), seed=0)
    assert found.verdicts == {"m0": "undefined"}
    reason = Reason.of_row(found.difference.frame["reason"][0])
    assert reason == Reason(Cause.ONE_PERSON)
    basis = wording.Basis(1, 40, 40, 2, 1.0)
    assert found.sentences[0] == wording.cannot_be_placed("m0", str(reason), basis)
    assert wording.one_person() in found.notes
    # The model's agreement with that person is still there.
    assert found.agreement["kappa", "m0"].value > 0.3


def test_two_people_tell_nothing_of_others() -> None:
    people, models = study(np.random.default_rng(18), 2, 60, 2, [1.5])
    found = alignment(people_of(people), models_of(models), seed=0)
    assert set(found.difference.frame["target"]) == {"stimuli"}
    assert wording.about_these("stimuli", 2) in found.notes


@pytest.mark.parametrize("n_people", [1, 2])
def test_one_or_two_give_no_interval_about_other_people(n_people: int) -> None:
    people, models = study(np.random.default_rng(18), n_people, 60, 1, [1.5])
    found = alignment(people_of(people), models_of(models), target="raters")
    assert found.verdicts == {"m0": "not shown" if n_people > 1 else "undefined"}
    frame = found.difference.frame
    assert frame["low"].is_nan().all()
    assert set(frame["target"]) == {"none"}
    if n_people > 1:
        assert {why["cause"] for why in frame["reason"]} == {Cause.TWO_RATERS}


@pytest.mark.parametrize("target", ["stimuli", "raters", "both"])
def test_the_sentence_says_whom_the_interval_is_about(target: Target) -> None:
    people, models = study(np.random.default_rng(31), 5, 80, 1, [1.5])
    found = alignment(people_of(people), models_of(models), target=target, seed=0)
    row = found.difference.frame.filter(measure="kappa").row(0, named=True)
    assert row["target"] == target
    words, basis = f"mean {found.measure_words}", wording.Basis(5, 80, 80, 1, 1.0)
    assert found.sentences[0] == wording.verdict(row, words, target, basis, 0.95)


def test_several_models_are_noted() -> None:
    """Holm's correction, by its definition: p times the number of models not yet rejected."""
    people, models = study(np.random.default_rng(32), 12, 200, 2, [1.4, 1.6, 1.8, 5.0])
    found = alignment(people_of(people), models_of(models), margin=0.15, seed=0)
    frame = found.to_frame()
    p = frame["p"].to_numpy()
    order = np.argsort(p)
    running, expected = 0.0, np.zeros(4)
    for place, k in enumerate(order):
        running = max(running, p[k] * (4 - place))
        expected[k] = min(running, 1.0)
    np.testing.assert_allclose(frame["p_holm"], expected)
    assert list(found.verdicts.values()).count("inside") >= 2
    inside = [name for name, verdict in found.verdicts.items() if verdict == "inside"]
    held = frame.filter(pl.col("rater").is_in(inside) & (pl.col("p_holm") <= 0.05))["rater"]
    assert wording.several_models(4, 0.05, inside, held.to_list()) in found.notes
    alone = alignment(people_of(people), models_of(models[:1]), margin=0.15, seed=0)
    assert len(alone.notes) == len(found.notes) - 1
    np.testing.assert_allclose(alone.to_frame()["p"], alone.to_frame()["p_holm"])


def test_a_model_gains_nothing_by_constant_answers_on_a_hard_label() -> None:
    people, models = study(np.random.default_rng(33), 5, 80, 2, [1.5])
    lazy = models.copy()
    lazy[:, 0] = 0.0
    sides = people_of(people), models_of(np.concatenate([models, lazy]))
    table = spearman_with_people(*sides).to_frame()
    assert table["rater"].to_list() == ["m0", "m1"]
    of_lazy = table.row(1, named=True)
    assert (of_lazy["n_labels"], of_lazy["n_undefined"]) == (1, 1)
    assert of_lazy["value_all"] == pytest.approx(of_lazy["value"] / 2)
    found = alignment(*sides, target="sample")
    assert found.to_frame()["spearman_labels"].to_list() == [2, 1]
    assert wording.undefined_labels("Spearman correlation", {"m1": 1}) in found.notes


def test_a_person_with_one_answer_throughout_is_named() -> None:
    people, models = study(np.random.default_rng(19), 6, 60, 2, [1.5])
    clean = alignment(people_of(people), models_of(models), seed=0)
    people[2] = 3.0
    found = alignment(people_of(people), models_of(models), without=(), seed=0)
    assert len(found.notes) > len(clean.notes)
    own = found.to_frame("models_and_people").filter(rater_kind="person")
    assert own.filter(pl.col("kappa") < 0.1)["rater"].to_list() == ["p02"]
    named = wording.disagreeing_people({"p02": 0.0}, own["kappa"].median())
    assert named in found.notes
    assert clean.notes != found.notes


def test_constant_people_and_constant_models() -> None:
    people, models = study(np.random.default_rng(20), 4, 40, 2, [1.5, 2.0])
    models[1] = 3.0
    found = alignment(people_of(people), models_of(models), seed=0)
    assert found.verdicts["m1"] == "below"
    rows = found.difference.frame.filter(pl.col("rater") == "m1")
    assert rows["agreement"][0] == 0.0
    assert math.isnan(rows.filter(pl.col("measure") == "spearman")["value"][0])
    same = np.full_like(people, 2.0)
    nobody = alignment(people_of(same), models_of(np.full_like(models, 2.0)), seed=0)
    assert set(nobody.verdicts.values()) == {"undefined"}
    reasons = {why["cause"] for why in nobody.difference.frame["reason"]}
    assert reasons == {Cause.NONE}


def test_people_who_never_meet() -> None:
    """Every stimulus has one person: nobody can be compared with anybody."""
    people, models = study(np.random.default_rng(21), 4, 40, 1, [1.5])
    owner = np.arange(40) % 4
    people[np.arange(4)[:, None, None] != owner] = np.nan
    found = alignment(people_of(people), models_of(models), seed=0)
    assert found.verdicts == {"m0": "undefined"}


def test_no_interval_no_verdict() -> None:
    people, models = study(np.random.default_rng(22), 4, 40, 1, [1.5])
    found = alignment(people_of(people), models_of(models), target="sample")
    assert found.verdicts == {"m0": "not shown"}
    assert math.isnan(found.to_frame()["p"].fill_null(math.nan)[0])


def test_a_margin_as_wide_as_the_agreement_of_people_shows_nothing() -> None:
    rng = np.random.default_rng(23)
    people = rng.integers(0, 8, (5, 1, 60)).astype(float)
    people[:, 0, :20] = np.arange(20) % 8
    found = alignment(people_of(people), models_of(people[:1] * 1.0), margin=0.9, seed=0)
    row = found.difference.frame.row(0, named=True)
    # The interval lies within the margin, and still that is no verdict.
    assert row["test_low"] > -0.9
    assert row["test_high"] < 0.9
    assert found.verdicts == {"m0": "not shown"}
    assert row["at_least"] is None
    assert row["margin"] == 0.9
    assert wording.wide_margin(0.9, row["people"]) in found.notes
    wide = alignment(people_of(people), models_of(people[:1] * 1.0), margin=0.25, seed=0)
    assert wording.wide_margin(0.25, row["people"]) in wide.notes


@pytest.mark.parametrize(("n_labels", "has_interval"), [(12, True), (3, False)])
def test_a_label_that_one_stimulus_makes_vary(n_labels: int, has_interval: bool) -> None:
    """Without it the label says nothing: a mean of many does not jump, one of few has no error."""
    people, models = study(np.random.default_rng(23), 6, 40, n_labels, [1.5])
    clean = alignment(people_of(people), models_of(models)).difference
    people[:, 0], models[:, 0] = 0.0, 0.0
    people[:, 0, 7], models[:, 0, 7] = [3.0, 4, 4, 3, 5, 4], 4.0
    found = alignment(people_of(people), models_of(models))
    rare = found.by_label["kappa", "m0", "e0"]
    assert not math.isnan(rare.value)
    assert math.isnan(rare.low)
    assert rare.reason == Reason(Cause.UNDEFINED_WITHOUT_ONE, of="stimuli")
    row = found.difference["kappa", "m0"]
    assert math.isnan(row.low) != has_interval
    if has_interval:
        assert row.se < 1.3 * clean["kappa", "m0"].se
        labels = found.by_label.frame.filter(measure="kappa")["value"]
        assert row.value == pytest.approx(labels.mean())
    else:
        assert found.verdicts == {"m0": "not shown"}


def test_careless_people_do_not_count_unless_they_are_asked_for() -> None:
    """Beside people who answer at random, or always the same, any model looks good."""
    people, models = study(np.random.default_rng(20), 10, 80, 2, [1.8])
    clean = alignment(people_of(people[:8]), models_of(models), seed=0)
    people[8] = np.random.default_rng(1).integers(0, 8, people[8].shape)
    people[9] = 3.0
    found = alignment(people_of(people), models_of(models), seed=0)
    assert found.without == ("p08", "p09")
    assert found.to_frame().equals(clean.to_frame())
    everyone = alignment(people_of(people), models_of(models), without=(), seed=0)
    assert found.with_everyone is not None
    assert found.with_everyone.to_frame().equals(everyone.to_frame())
    assert found.to_frame("with_everyone").equals(everyone.to_frame())
    assert everyone.difference.frame["value"][0] > found.difference.frame["value"][0] + 0.1
    assert found.sentences[0] == wording.without_careless(found.without, found.changed)
