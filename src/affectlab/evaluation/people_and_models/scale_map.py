"""One map from the scale of models to that of people, for every measure that needs one scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.types import Floats
from affectlab.core.words import joined, option, shown
from affectlab.evaluation.people_and_models.sides import Sides, check_models
from affectlab.ratings import Ratings, Scale, Step, StepKind, fits_scale, step

Rounding: TypeAlias = Literal["round", "truncate", "none"]

_DIGITS = 9
"""Decimals, in steps, to which a mapped answer is exact: 4.5 stays half-way on every scale."""

_OF_SCALES = (StepKind.SCALE_MAPPED, StepKind.MODEL_SCALE, StepKind.WHOLE_STEPS)
"""Steps that put answers on another scale than they were read on."""


@dataclass(frozen=True)
class ScaleMap:
    """How the answers of models get onto the scale of people, or why they cannot."""

    source: Scale
    target: Scale
    guess: str = ""
    """What was assumed of a scale that was not declared, in words."""
    missing: str = ""
    """Why there is no map; empty where there is one."""

    @property
    def same(self) -> bool:
        """Whether both sides have the same bounds and steps."""
        ours, theirs = self.target, self.source
        return ours == theirs or (
            (ours.kind, ours.low, ours.high, ours.step)
            == (theirs.kind, theirs.low, theirs.high, theirs.step)
            and not (ours.categories or theirs.categories)
        )

    @property
    def spreads(self) -> bool:
        """Whether bounds differ, so that answers are mapped linearly."""
        ends = (self.source.low, self.source.high), (self.target.low, self.target.high)
        return not (self.guess or self.missing) and ends[0] != ends[1]

    def apply(self, value: Floats, how: Rounding = "none") -> Floats:
        """Move answers to the scale of people; ``nan`` where there is no map."""
        if self.missing:
            return np.full(value.shape, np.nan)
        low, high = float(self.target.low or 0.0), float(self.target.high or 0.0)
        if self.spreads:
            low_there, high_there = float(self.source.low or 0.0), float(self.source.high or 0.0)
            value = low + (value - low_there) * ((high - low) / (high_there - low_there))
            # Answers lie within the declared bounds: what is cut off here is rounding noise.
            value = np.clip(value, low, high)
        step = self.target.step
        if how == "none" or step is None or self.same:
            return value
        places = np.round((value - low) / step, _DIGITS)
        return low + (np.floor(places) if how == "truncate" else np.rint(places)) * step

    def step(self, how: Rounding, whose: str = "models") -> Step:
        """Say what is done to the answers."""
        target = self.target if how != "none" else _without_steps(self.target)
        ends = (self.source.low, self.source.high, target.low, target.high)
        rounding = "truncated" if how == "truncate" else "rounded"
        return step(
            StepKind.SCALE_MAPPED,
            whose=whose,
            guess=self.guess,
            ends=ends if self.spreads else (),
            rounding="" if target.step is None else rounding,
            target=str(target),
        )


def _without_steps(scale: Scale) -> Scale:
    return Scale("interval", scale.low, scale.high, declared=scale.declared)


def scale_map(
    models: Ratings, scale: Scale, *, together: bool = False, named: bool = False
) -> ScaleMap:
    """Find the map: none is needed on the same bounds, a linear one between declared bounds.

    Answers on a scale that was not declared are taken on that of people where all lie within its
    bounds, unless all lie between 0 and 1 and the scale is longer: these may be shares. The words
    of the map say so. Models are `named` in the option that would declare their scale where others
    stand beside them. Two scales without bounds are one where both sides come `together`, in one
    table; in tables of their own, nothing tells what the numbers of one are on the other.

    Raises
    ------
    InputError
        When one of two different scales has no order.
    """
    theirs = models.scale
    between = f"from the scale of models ({theirs}) to that of people ({scale})"
    if not together and theirs.kind == scale.kind == "interval":
        ends = {theirs.low, theirs.high, scale.low, scale.high}
        if ends == {None}:
            return ScaleMap(theirs, scale, missing=f"{_no_way(between)} neither scale has bounds")
    if theirs == scale:
        return ScaleMap(theirs, scale)
    for name, given in (("the people's scale", scale), ("the models' scale", theirs)):
        if given.kind in ("nominal", "text"):
            raise InputError(f"{name} ({given}) has no order; expected numbers to compare")
    if scale.low is None or scale.high is None:
        return ScaleMap(theirs, scale, missing=f"{_no_way(between)} that of people has no bounds")
    if (theirs.low, theirs.high) == (scale.low, scale.high):
        return ScaleMap(theirs, scale)
    if not theirs.declared:
        if fits_scale(models.value, scale):
            guess = (
                "scale not declared: all lie within the bounds of that of people, and are taken "
                f"on it ({option('models_scale', '…')} for another)"
            )
            return ScaleMap(theirs, scale, guess=guess)
        why = f"that of models is not declared ({_example(models, named=named)})"
        return ScaleMap(theirs, scale, missing=f"{_no_way(between)} {why}")
    if theirs.low is None or theirs.high is None:
        why = f"that of models has no bounds ({_example(models, named=named)})"
        return ScaleMap(theirs, scale, missing=f"{_no_way(between)} {why}")
    if not scale.declared:
        why = f"that of people is not declared ({option('scale', '0-7')})"
        return ScaleMap(theirs, scale, missing=f"{_no_way(between)} {why}")
    return ScaleMap(theirs, scale)


def _example(models: Ratings, *, named: bool) -> str:
    """Name the option, with a scale on which the answers of models lie."""
    given = models.value[~np.isnan(models.value)]
    low, high = (0.0, 1.0) if not given.size else (float(given.min()), float(given.max()))
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif low == high:
        high = low + 1
    scale = f"{np.floor(low):g}{'..' if low < 0 else '-'}{np.ceil(high):g} interval"
    whose = [f"{name}={scale}" for name in models.rater_names] if named else [scale]
    return option("models_scale", ",".join(whose))


def _no_way(between: str) -> str:
    return f"there is no map {between}:"


def on_scale(models: Ratings, scale: Scale, how: Rounding = "round") -> Ratings:
    """Bring the answers of models to the scale of people.

    Answers on another declared scale are mapped linearly, from its bounds to those of `scale`; they
    are never cut off at a bound.

    Parameters
    ----------
    models
        Answers of models.
    scale
        The scale of the people.
    how
        ``"round"`` takes the nearest step (halves go to the even one); ``"truncate"`` the next
        lower one, as the EmoNet-Face study does, which loses half a step on average; ``"none"``
        keeps the fractions, on a scale with the bounds of `scale` and no steps.

    Returns
    -------
    Ratings on `scale`; :attr:`~affectlab.ratings.Ratings.history` says what was done.

    Raises
    ------
    InputError
        When a scale has no order, or there is no map: different bounds, not all of them declared.

    Examples
    --------
    >>> model = Ratings({"stimulus": ["a", "b"], "rater": ["m", "m"], "value": [0.4, 1.0]},
    ...                 scale="0-1 interval")
    >>> on_scale(model, Scale.parse("0-7")).value.tolist()
    [3.0, 7.0]
    >>> on_scale(model, Scale.parse("0-7"), "none").history[-1].text
    'answers of models: 0–1 mapped to 0–7, linearly (interval 0 to 7)'
    """
    check_models(models)
    return moved(models, scale, how)


def moved(models: Ratings, scale: Scale, how: Rounding, *, together: bool = False) -> Ratings:
    """Do as ``on_scale``, for models in a table of their own or `together` with people."""
    way = scale_map(models, scale, together=together)
    if way.missing:
        raise InputError(way.missing)
    if how == "none" and scale.kind not in ("nominal", "text"):
        scale = _without_steps(scale)
    if models.scale == scale:
        return models
    value = way.apply(np.array(models.value, dtype=np.float64), how)
    return models.with_values(value, scale, step=way.step(how))


def check_shares(models: Ratings, why: str) -> None:
    """Refuse scores outside 0 to 1 on a scale that nobody declared, where shares are expected.

    Raises
    ------
    InputError
        When there are such scores; the sentence begins with who gave them, and says `why` they
        cannot be used.
    """
    unknown = [
        code
        for code, scale in enumerate(models.scales.values())
        if not (scale.declared and (scale.low, scale.high) != (None, None))
        and scale.kind not in ("nominal", "text", "binary")
    ]
    rows = np.isin(models.label_code, unknown) & ~np.isnan(models.value)
    wrong = rows & ((models.value < 0) | (models.value > 1))
    if not wrong.any():
        return
    code = models.rater_code[np.argmax(wrong)]
    own = models.value[rows & (models.rater_code == code)]
    name = models.rater_names[code]
    raise InputError(
        f"{name}: scores from {own.min():.4g} to {own.max():.4g} are no probabilities, and {why}; "
        "write the sigmoid (or softmax) of logits, or declare the scale of the scores "
        f"({_example(models.select(raters=name), named=True)})"
    )


@dataclass(frozen=True)
class Mapped:
    """Models on the scale of people, each from its own."""

    table: Ratings | None
    """Those with a map to that scale; None where no model has one."""
    missing: Mapping[str, str]
    """Why the others have none, by model."""

    def all(self) -> Ratings:
        """Give the models where each is on the scale of people.

        Raises
        ------
        InputError
            When a model has no map to it.
        """
        if self.table is None or self.missing:
            raise InputError(self.why())
        return self.table

    def why(self) -> str:
        """Say why models are left out, and which where others are not."""
        reasons: dict[str, list[str]] = {}
        for name, reason in self.missing.items():
            reasons.setdefault(reason, []).append(shown(name))
        if self.table is None and len(reasons) == 1:
            return next(iter(reasons))
        return "; ".join(f"{joined(names)}: {why}" for why, names in reasons.items())


def on_people(both: Sides, how: Rounding) -> Mapped:
    """Bring each model from its own scale to that of people; see :func:`on_scale`."""
    found: list[Ratings] = []
    missing: dict[str, str] = {}
    for table in both.tables:
        several = len(both.tables) > 1
        why = scale_map(table, both.people.scale, together=both.together, named=several).missing
        if why:
            missing |= dict.fromkeys(table.rater_names, why)
        else:
            found.append(moved(table, both.people.scale, how, together=both.together))
    if len(found) < 2:
        return Mapped(next(iter(found), None), missing)
    models, scales = found[0].merge(*found[1:]), found[0].scales
    # A scale that nobody declared is that of people, and not inferred again from models.
    one = next(iter(scales.values()))
    return Mapped(
        models._derive(models._body, scales=dict.fromkeys(models.label_names, one)), missing
    )


def answer_steps(*tables: Ratings) -> tuple[str, ...]:
    """Word the steps of histories that changed the scale of answers, each once."""
    steps = (one for table in tables for one in table.history if one.kind in _OF_SCALES)
    return tuple(dict.fromkeys(map(str, steps)))
