"""Verdicts on models in words, and what a reader has to know beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from affectlab._words import count, joined, number, percent, plural, shown
from affectlab.estimates import Estimates
from affectlab.evaluation._alignment_draws import Draws
from affectlab.evaluation._alignment_measures import Measure
from affectlab.evaluation._alignment_panel import Panel
from affectlab.evaluation._alignment_spread import mean_of_defined
from affectlab.evaluation._alt_test import AltTest

__all__ = ["notes_on", "sentence_on"]

_FEW_PEOPLE = 5
_FEW_SHARED = 30
_WIDE = 0.5
"""Share of the agreement of people from which on a margin is wide."""
_FEW_REPLICATES = 100
_LITTLE = 0.2
"""Agreement of people below which a smaller epsilon is advised."""
_HARDLY = 0.1
"""Share of the median agreement of people below which a person hardly agrees with anybody."""


def sentence_on(
    panel: Panel,
    f: int,
    measures: Sequence[Measure],
    difference: Estimates,
    alt: AltTest,
    draws: Draws,
    confidence: float,
    alpha: float,
) -> str:
    """Say in one sentence where a model stands, and what that rests on."""
    model, name = panel.models[f], shown(panel.models[f])
    rows = {row["measure"]: row for row in difference.frame.to_dicts() if row["rater"] == model}
    first = rows[measures[0].name]
    basis = _basis(panel, f, first)
    if first["verdict"] == "undefined":
        why = first["status"].removeprefix("undefined: ")
        return f"{name} cannot be placed: {why} ({basis})."
    scope = _scope(panel, first, draws)
    parts = [f"{name} {_opening(first, measures[0], scope, confidence, alpha)}"]
    second = None if measures[0].name == "spearman" else rows.get("spearman")
    if second is not None and not math.isnan(second["value"]):
        parts.append(
            f"its Spearman correlation with the median of people is "
            f"{number(second['agreement'], 3)}, that of a person left out "
            f"{number(second['people'], 3)}{_order(second, confidence)}"
        )
    parts.append(_alternative(alt, model, first))
    return "; ".join(parts) + f" ({basis})."


def _scope(panel: Panel, row: dict[str, Any], draws: Draws) -> str:
    """Say whom, or what, the interval is about where it is not about any people and stimuli."""
    if draws.resample == "both" or not draws.n_boot:
        return ""
    if draws.resample == "units":
        return f" of these {count(panel.n_people)} people"
    return f" on these {plural(row['n_items'], 'stimulus', 'stimuli')}"


def _order(row: dict[str, Any], confidence: float) -> str:
    """Say how far the order of stimuli differs, and whether that is shown."""
    if math.isnan(row["se"]):
        return f" (difference {number(row['value'], 3)})"
    shown_to = "" if row["low"] > 0 or row["high"] < 0 else ": not shown to differ in order"
    return (
        f" (difference {number(row['value'], 3)}, {percent(confidence)} interval "
        f"{number(row['low'], 3)} to {number(row['high'], 3)}{shown_to})"
    )


def _opening(
    row: dict[str, Any], measure: Measure, scope: str, confidence: float, alpha: float
) -> str:
    own, people = number(row["agreement"], 3), number(row["people"], 3)
    name = measure.words if measure.pooled else f"mean {measure.words}"
    compared = f"its {name} with people is {own}, theirs with one another {people}"
    if measure.name == "spearman":
        compared = (
            f"its Spearman correlation with the median of people is {own}, that of a person left "
            f"out {people}"
        )
    where = f"the human range{scope}"
    if math.isnan(row["se"]):
        return f"is not shown to be inside {where}, for want of an interval: {compared}"
    margin = number(row["margin"], 2 if round(row["margin"], 2) == row["margin"] else 3)
    interval = (
        f"difference {number(row['value'], 3)}, {percent(confidence)} interval "
        f"{number(row['low'], 3)} to {number(row['high'], 3)}"
    )
    p = _p(row["p"])
    verdict = row["verdict"]
    if verdict == "inside":
        return (
            f"is inside {where}: {compared} ({interval}), a difference shown to be smaller "
            f"than the margin of {margin} (two one-sided tests, {p}: {percent(1 - 2 * alpha)} "
            f"interval {number(row['test_low'], 3)} to {number(row['test_high'], 3)})"
        )
    if verdict == "below":
        return (
            f"is below {where}: {compared} ({interval}), less by more than the margin of {margin}"
        )
    if verdict == "above":
        return (
            f"is above {where}: {compared} ({interval}), more by more than the margin of "
            f"{margin}; it agrees with people better than they do with one another"
        )
    if row["margin"] >= row["people"]:
        return (
            f"is not shown to be inside {where}: {compared} ({interval}), and the margin of "
            f"{margin} shows nothing, since a model that agrees with nobody would lie within it"
        )
    if row["low"] > 0:
        open_question = f"it agrees more, and whether by more than the margin of {margin} is open"
    elif row["high"] < 0:
        open_question = f"it agrees less, and whether by more than the margin of {margin} is open"
    else:
        open_question = (
            f"the data do not say whether they differ by more than the margin of {margin}"
        )
    if row["at_least"] and not row["high"] < 0:
        open_question += (
            f", though worse by more than that it is not (one-sided test, "
            f"{percent(1 - 2 * alpha)} interval from {number(row['test_low'], 3)})"
        )
    return f"is not shown to be inside {where}: {compared} ({interval}), so {open_question}"


def _alternative(alt: AltTest, model: str, first: dict[str, Any]) -> str:
    row = next(row for row in alt.to_frame().to_dicts() if row["rater"] == model)
    test = f"the alternative-annotator test (ε = {row['epsilon']:g})"
    if row["passed"] is None:
        why = row["status"].removeprefix("undefined: ")
        return f"{test} cannot be done: {why}"
    won = f"with {row['wins']} of {plural(row['n_people'], 'person', 'people')} won against"
    if row["passed"]:
        but = "yet " if first["verdict"] == "below" else ""
        return f"{but}it passes {test}, {won}"
    but = "yet " if first["verdict"] in ("inside", "above") else ""
    return f"{but}it does not pass {test}, {won}"


def _basis(panel: Panel, f: int, row: dict[str, Any]) -> str:
    people = plural(panel.n_people, "person", "people")
    labels = plural(row["n_labels"] or len(panel.labels), "label")
    stimuli = count(row["n_items"])
    total = panel.n_offered_stimuli
    of = f" of {count(total)}" if row["n_items"] != total else ""
    share = panel.coverage[f]
    covered = "" if share > 1 - 1e-9 else f", {percent(share, 1)} of what people rated"
    word = "stimulus" if total == 1 else "stimuli"
    return f"{people}, {stimuli}{of} {word}, {labels}{covered}"


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {number(value, 3)}"


def notes_on(
    panel: Panel,
    measures: Sequence[Measure],
    difference: Estimates,
    draws: Draws,
    alt: AltTest,
    alpha: float,
) -> tuple[str, ...]:
    """Say what weakens the comparison."""
    first = measures[0]
    rows = [row for row in difference.frame.to_dicts() if row["measure"] == first.name]
    notes = [f"{note[:1].upper()}{note[1:]}." for note in panel.notes]
    if panel.unmapped:
        notes.append(
            "Kappa, the alternative-annotator test and differences of means need one scale for "
            f"models and people, and are left out: {panel.unmapped}. Models are judged by their "
            "order of stimuli, which needs none."
        )
    notes += _on_people(panel, first, draws)
    notes += _on_strangers(panel, first)
    notes += _on_margin(rows, first.words, alt)
    partial = [
        f"{shown(row['rater'])} ({percent(row['coverage'], 1)})"
        for row in rows
        if row["coverage"] < 1 - 1e-9
    ]
    if partial:
        notes.append(
            f"Compared on the part of the answers of people that they share: {joined(partial)}; "
            "what a model leaves out may be what is hard."
        )
    for measure in measures:
        left_out = [
            f"{shown(name)} ({plural(n, 'label')})"
            for name, n in zip(panel.models, measure.left_out, strict=True)
            if n and panel.n_people > 1
        ]
        if left_out:
            notes.append(
                f"Labels without a defined {measure.words} are left out of the means of models "
                f"and people: {joined(left_out)}. A model that answers the same throughout on hard "
                "labels is spared them."
            )
    notes += _on_several(rows, alpha)
    if 0 < draws.n_boot < _FEW_REPLICATES:
        notes.append(f"Intervals rest on {draws.n_boot} replicates, which is few; 1,000 are usual.")
    return tuple(notes)


def _on_several(rows: list[dict[str, Any]], alpha: float) -> list[str]:
    """Say what holds for all models together, where there are several."""
    tested = [row for row in rows if not math.isnan(row["p"])]
    inside = [row for row in tested if row["verdict"] == "inside"]
    if len(tested) < 2 or not inside:
        return []
    held = [shown(row["rater"]) for row in inside if row["p_holm"] <= alpha]
    lost = [shown(row["rater"]) for row in inside if row["p_holm"] > alpha]
    text = f"{count(len(tested))} models are judged, each at a level of {percent(alpha)}. "
    if not lost:
        return [f"{text}With Holm's correction for all of them, the same are inside."]
    kept = f"only {joined(held)} {'is' if len(held) == 1 else 'are'}" if held else "none is"
    return [f"{text}With Holm's correction for all of them, {kept} shown to be inside."]


def _on_people(panel: Panel, measure: Measure, draws: Draws) -> list[str]:
    n = panel.n_people
    notes = []
    if n == 1:
        notes.append("One person cannot show how far people agree; two or more are needed.")
    elif n == 2 and draws.n_boot:
        notes.append(
            "Two people cannot be resampled: intervals are over stimuli, and about these two alone."
        )
    elif n < _FEW_PEOPLE and draws.n_boot and draws.resample != "units":
        notes.append(
            f"With {n} people the intervals rest on {plural(n - 1, 'degree')} of freedom for the "
            "choice of people, and are wide."
        )
    if draws.n_boot and draws.resample == "units" and n > 2:
        notes.append("Intervals are over stimuli: about these people, and no others.")
    if n > 1:
        notes += _on_shared(_shared_by_pairs(panel), measure)
    return notes


def _on_shared(shared: float, measure: Measure) -> list[str]:
    """Say what follows where two people share few stimuli."""
    middle = plural(round(shared), "stimulus", "stimuli")
    meet = f"Two people who meet share {middle} in the middle"
    if measure.pooled:
        return [
            f"{meet}, a person and a model more. A mean of kappas of pairs, each biased towards 0 "
            "on few stimuli, would put models above people; so disagreement is pooled over pairs "
            f"before it is divided ({measure.words}). Tables of pairs are not, and models "
            "and people must not be compared in them."
        ]
    if shared < _FEW_SHARED and measure.name != "spearman":
        return [
            f"{meet}, as do a person and a model, so the {measure.words} of any pair is uncertain "
            "and somewhat too near to 0, of models and people alike."
        ]
    return []


def _on_strangers(panel: Panel, measure: Measure) -> list[str]:
    """Name people who hardly agree with anybody, while the others do."""
    own = mean_of_defined(measure.persons[:, :, 0], axis=1)
    known = own[~np.isnan(own)]
    middle = float(np.median(known)) if known.size > 2 else 0.0
    if middle < _HARDLY:
        return []
    far = [
        f"{shown(name)} ({number(value, 3)})"
        for name, value in zip(panel.people, own, strict=True)
        if value < _HARDLY * middle
    ]
    if not far:
        return []
    return [
        f"Hardly in agreement with any other person, where the middle person reaches "
        f"{number(middle, 3)}: {joined(far)}. Beside careless people any model looks good; screen "
        "people before models are judged."
    ]


def _shared_by_pairs(panel: Panel) -> float:
    """Median number of stimuli that two people share who share any, on the fullest label."""
    part = max(panel.parts, key=lambda part: part.value.size)
    if part.whole:
        return float(part.rated.sum())
    n = panel.n_people
    if n * part.n_items > 1 << 26:
        # Too large for a table: what a person shares with the average other person they meet.
        size = np.bincount(part.item, minlength=part.n_items)
        met = np.bincount(part.person, weights=size[part.item] - 1.0, minlength=n)
        return float(np.median(met / (n - 1)))
    table = np.zeros((n, part.n_items), dtype=np.float32)
    table[part.person, part.item] = 1.0
    together = (table @ table.T)[np.triu_indices(n, 1)]
    shared = together[together > 0]
    return float(np.median(shared)) if shared.size else 0.0


def _on_margin(rows: list[dict[str, Any]], measure: str, alt: AltTest) -> list[str]:
    people = [row["people"] for row in rows if not math.isnan(row["people"])]
    if not people:
        return []
    least, margin, notes = min(people), rows[0]["margin"], []
    if margin >= least:
        notes.append(
            f"The margin of {margin:g} is not below the agreement of people ({number(least, 3)}): "
            "a model that agrees with nobody would lie within it, so that no model is shown to be "
            "inside. State a smaller one."
        )
    elif margin >= _WIDE * least:
        notes.append(
            f"The margin of {margin:g} is {percent(margin / least)} of the agreement of people "
            f"(mean {measure} {number(least, 3)}), which is wide."
        )
    if least < _LITTLE and alt.epsilon > 0.1:
        notes.append(
            f"People agree little; the authors of the alternative-annotator test advise a smaller "
            f"epsilon than {alt.epsilon:g} then."
        )
    return notes
