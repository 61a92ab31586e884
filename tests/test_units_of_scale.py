"""Results do not depend on the unit of the scale: in other units, they are the same in these units.

Of every public statistic of numbers: answers and their scale times a factor give values that are
the same, or times this factor, or its square (of variances). With a constant added to both they are
the same, or higher by the constant.
"""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

from affectlab import Ratings, evaluation, reliability
from affectlab.core.errors import InputError
from affectlab.core.result import Result

ROOMS = ("reliability", "evaluation", "analysis")
PEOPLE = [f"p{k}" for k in range(6)]
LABELS = ("zeal", "awe")


def table(factor: float = 1.0, shift: float = 0.0) -> Ratings:
    """People and a model on two labels of a scale from 0 to 7 in its units, with gaps."""
    rng = np.random.default_rng(5)
    n = 40
    truth = rng.normal(3.5, 1.2, (n, 1, 2))
    felt = truth + rng.normal(0, 0.5, (1, 7, 2)) + rng.normal(0, 0.9, (n, 7, 2))
    value = np.clip(felt, 0, 7) * factor + shift
    stimulus, rater, label = np.nonzero(rng.random(value.shape) < 0.9)
    raters = [*PEOPLE, "net"]
    return Ratings(
        pl.DataFrame(
            {
                "stimulus": [f"s{k}" for k in stimulus],
                "rater": [raters[k] for k in rater],
                "label": [LABELS[k] for k in label],
                "value": value[stimulus, rater, label],
            }
        ),
        scale=f"{shift!r}..{7 * factor + shift!r} interval",
        raters={"rater": raters, "rater_kind": ["human"] * 6 + ["model"]},
        stimuli={
            "stimulus": [f"s{k}" for k in range(n)],
            "sex": ["man", "woman"] * (n // 2),
            "setting": ["a", "b", "c", "d"] * (n // 4),
        },
    )


CALLS: dict[str, Callable[[Ratings], Any]] = {
    "fairness": lambda r: evaluation.fairness(r, by="stimulus.sex", n_boot=20, seed=1),
    "mixed_model": lambda r: reliability.mixed_model(r, fixed=["sex"]),
    "split_half": lambda r: reliability.split_half(r, n_splits=5, seed=1),
}
"""Calls that need more than ratings."""

APART = {
    "choose_golden": "its tolerance is in units of the scale",
    "discrepancy": "its mixed columns are those of published tables",
    "label_map": "places on a map have no unit",
    "plan": "its goal is in units of the scale",
    "screen": "its thresholds are in units of the scale",
    "screening_policy": "its thresholds are in units of the scale",
}
"""What is exempt, and why."""


def statistics() -> dict[str, Callable[..., Any]]:
    """Public functions that take ratings and need nothing else, or have a call."""
    found: dict[str, Callable[..., Any]] = {}
    for room in ROOMS:
        module = importlib.import_module(f"affectlab.{room}")
        for name in module.__all__:
            one = getattr(module, name)
            if not inspect.isfunction(one) or not inspect.signature(one).parameters:
                continue
            first, *others = inspect.signature(one).parameters.values()
            needed = [p for p in others if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
            if re.search(r"\bRatings\b", str(first.annotation)) and (not needed or name in CALLS):
                found[name] = one
    return found


STATISTICS = statistics()


def call(name: str, ratings: Ratings) -> Any:
    if name in CALLS:
        return CALLS[name](ratings)
    taken = inspect.signature(STATISTICS[name]).parameters
    few = {"n_boot": 20, "n_splits": 5, "n_permutations": 49, "seed": 1}
    return STATISTICS[name](ratings, **{key: few[key] for key in few if key in taken})


def frames(found: Any) -> Iterator[pl.DataFrame]:
    """Tables of results, whatever holds them."""
    if isinstance(found, list | tuple):
        for one in found:
            yield from frames(one)
    elif isinstance(found, Result):
        yield from (part.frame for part in found.tables)
    elif isinstance(found, Ratings):
        yield found.to_frame()
    elif isinstance(found, pl.DataFrame):
        yield found
    elif hasattr(found, "to_frame"):
        yield found.to_frame()


def numbers(found: Any) -> list[tuple[str, np.ndarray]]:
    return [
        (column.name, column.cast(pl.Float64).to_numpy())
        for frame in frames(found)
        for column in frame.get_columns()
        if column.dtype.is_numeric() or column.dtype == pl.Boolean
    ]


def outcome(name: str, ratings: Ratings) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call(name, ratings)
        except InputError:
            return None


def differing(one: Any, other: Any, forms: Callable[[np.ndarray], list[np.ndarray]]) -> list[str]:
    """Columns in which a number is none of those that it may be."""
    first, second = numbers(one), numbers(other)
    assert [name for name, _ in first] == [name for name, _ in second]
    wrong = []
    for (name, old), (_, new) in zip(first, second, strict=True):
        assert old.shape == new.shape, name
        # Optima are found up to a tolerance, which counts where p values are tiny, and where an end
        # of an interval is the small difference of a value and its error.
        least = 1e-6 if name.startswith("p") else 0.0
        allowed = np.stack([np.isclose(new, form, rtol=3e-4, atol=least) for form in forms(old)])
        size = np.nanmax(np.abs(old), initial=0.0)
        # What rounding leaves of nothing has no unit.
        nothing = np.stack([np.abs(new) <= 1e-7 * form for form in forms(np.full(old.shape, size))])
        same = (
            allowed.any(axis=0)
            | (np.isnan(old) & np.isnan(new))
            | ((np.abs(old) <= 1e-7 * size) & nothing.any(axis=0))
        )
        wrong += [f"{name} of row {k}: {old[k]} became {new[k]}" for k in np.flatnonzero(~same)]
    return wrong


def test_what_is_exempt_exists() -> None:
    assert set(CALLS) <= set(STATISTICS)
    assert len(STATISTICS) > 35


@pytest.mark.long
@pytest.mark.parametrize("factor", [1e-6, 1e6])
@pytest.mark.parametrize("name", sorted(set(STATISTICS) - set(APART)))
def test_other_units_give_the_same(name: str, factor: float) -> None:
    here, there = outcome(name, table()), outcome(name, table(factor))
    assert (here is None) == (there is None)
    wrong = differing(here, there, lambda old: [old, old * factor, old * factor**2])
    assert not wrong


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(STATISTICS) - set(APART)))
def test_another_zero_gives_the_same(name: str) -> None:
    shift = 1e4
    here, there = outcome(name, table()), outcome(name, table(shift=shift))
    assert (here is None) == (there is None)
    if name == "mixed_model":
        # Whether means of levels differ from zero depends on where that is.
        here, there = (
            [one.drop("t", "p") if "level" in one.columns else one for one in frames(found)]
            for found in (here, there)
        )
    assert not differing(here, there, lambda old: [old, old + shift])
