"""A report computes each statistic once, of answers that are arranged once."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from affectlab import Ratings
from affectlab.ratings import answers_of
from affectlab.reliability import interrater_correlation
from affectlab.reliability.correlation import of_labels_and_raters
from affectlab.report import write_report
from affectlab.report.statistics import study as studies
from affectlab.report.statistics.study import Study

pytestmark = pytest.mark.long


def answers(models: int, scale: str = "0-7", n: int = 40, gaps: float = 0.0) -> Ratings:
    rng = np.random.default_rng(3)
    truth = rng.gamma(1, 2, (n, 1, 3))
    value = np.clip(np.rint(truth + rng.normal(size=(n, 5 + models, 3))), 0, 7)
    if scale == "binary":
        value = (value > 1).astype(float)
    unit, rater, label = (place.ravel() for place in np.indices(value.shape))
    kept = rng.random(unit.size) >= gaps
    names = [f"p{k}" for k in range(5)] + [f"m{k}" for k in range(models)]
    return Ratings(
        {
            "stimulus": [f"s{k:02d}" for k in unit[kept]],
            "rater": [names[k] for k in rater[kept]],
            "label": [f"e{k}" for k in label[kept]],
            "value": value.ravel()[kept],
        },
        scale=scale,
        raters={"rater": names, "rater_kind": ["human"] * 5 + ["model"] * models},
    )


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], Counter[Any]]:
    """Count the calls of a function, wherever it is called from, by the labels of its ratings."""

    def count(function: Any, by: str) -> Counter[Any]:
        calls: Counter[Any] = Counter()

        @wraps(function)
        def called(ratings: Any, *more: Any, **how: Any) -> Any:
            how_said = tuple(sorted((name, repr(value)) for name, value in how.items()))
            if isinstance(ratings, Ratings):
                calls[getattr(ratings, by), ratings.n_raters, how_said if by else ()] += 1
            return function(ratings, *more, **how)

        name = function.__name__
        for module in list(sys.modules.values()):
            if getattr(module, name, None) is function and "affectlab" in module.__name__:
                monkeypatch.setattr(module, name, called)
        return calls

    return count


@pytest.mark.parametrize(
    ("models", "scale"), [(0, "0-7"), (2, "0-7"), (0, "binary"), (2, "binary")]
)
def test_no_statistic_is_computed_twice(
    models: int, scale: str, counted: Any, tmp_path: Path
) -> None:
    from affectlab.evaluation import discrepancy
    from affectlab.evaluation.human_alignment import alignment
    from affectlab.reliability import (
        intraclass_correlation,
        krippendorff_alpha,
        mean_opinion_scores,
        mean_spearman,
        pairwise_kappa,
        subject_model,
    )
    from affectlab.reliability.duplicates import likeness
    from affectlab.reliability.screening import careless_raters
    from affectlab.reliability.stimulus_scores import scores_of

    functions = (
        *(krippendorff_alpha, intraclass_correlation, of_labels_and_raters, scores_of),
        *(pairwise_kappa, subject_model, likeness, mean_opinion_scores, mean_spearman),
        *(careless_raters, alignment, discrepancy),
    )
    calls = {one.__name__: counted(one, "label_names") for one in functions}
    write_report(answers(models, scale), tmp_path, n_boot=20)
    twice = {
        name: {key: n for key, n in one.items() if n > 1}
        for name, one in calls.items()
        if any(n > 1 for n in one.values())
    }
    assert not twice
    assert calls["krippendorff_alpha"]
    assert calls["scores_of"]
    assert calls["of_labels_and_raters"] or scale == "binary"


def test_people_and_models_are_told_apart_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told: Counter[Any] = Counter()
    select, put_together = Ratings.select, Ratings.merge

    def selected(self: Ratings, **what: Any) -> Ratings:
        told[tuple(sorted((name, str(value)) for name, value in what.items()))] += 1
        return select(self, **what)

    def merged(self: Ratings, *others: Ratings) -> Ratings:
        made = put_together(self, *others)
        told["merge"] += made is not self
        return made

    monkeypatch.setattr(Ratings, "select", selected)
    monkeypatch.setattr(Ratings, "merge", merged)
    write_report(answers(2), tmp_path, n_boot=20)
    assert told
    assert max(told.values()) == 1
    assert told["merge"] == 0


@pytest.mark.parametrize("models", [0, 2])
def test_answers_of_a_table_are_arranged_once(
    models: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    arranged: Counter[int] = Counter()
    known: list[Ratings] = []
    plain = answers_of.__wrapped__  # type: ignore[attr-defined]
    held = Ratings.holding

    def holding(self: Ratings) -> Ratings:
        made = held(self)
        known.append(made)
        assert made._held is not None

        class Once(dict[Any, Any]):
            def __setitem__(self, key: Any, value: Any) -> None:
                arranged[id(made)] += key not in self
                assert key not in self
                super().__setitem__(key, value)

        made._held = Once()
        return made

    monkeypatch.setattr(Ratings, "holding", holding)
    table = answers(models)
    write_report(table, tmp_path, n_boot=20)
    assert known
    assert arranged
    # A user's table keeps nothing of it.
    assert table._held is None
    assert plain(table).value.size == len(table)


def test_held_answers_are_those_of_the_table() -> None:
    table = answers(2)
    held = table.holding()
    for how in ({}, {"by_names": True}):
        first = answers_of(held, **how)
        assert answers_of(held, **how) is first
        fresh = answers_of(table, **how)
        for name in ("unit", "rater", "label", "value"):
            assert np.array_equal(getattr(first, name), getattr(fresh, name))
    assert answers_of(table) is not answers_of(table)
    # A part of the table is another table.
    people = held.humans()
    assert set(answers_of(people).raters) == {f"p{k}" for k in range(5)}


def test_correlations_of_the_report_are_those_of_the_function() -> None:
    table = answers(0, gaps=0.1)
    study = Study(table, n_boot=0)
    assert study.correlation is not None
    value = interrater_correlation(table, exclude=()).to_frame()["value"]
    assert study.correlation.to_frame()["value"].to_list() == value.to_list()
    by_rater = interrater_correlation(table, exclude=(), by_rater=True).to_frame()
    assert study.correlations is not None
    assert study.correlations.equals(by_rater)


def test_many_answers_are_drawn_less_often_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = answers(2)
    assert Study(table, n_boot=1000).n_boot == 1000
    assert Study(table, n_boot=0).n_boot == 0
    monkeypatch.setattr(studies, "_MOST_DRAWN", 150 * len(table))
    assert Study(table, n_boot=1000).n_boot == 150
    assert Study(table, n_boot=20).n_boot == 20
    page = write_report(table, tmp_path, n_boot=1000).html.read_text(encoding="utf-8")
    assert "150 in place of 1,000, for 840 answers" in page
