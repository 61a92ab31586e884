"""What the controls say about a model, in one sentence."""

from __future__ import annotations

from affectlab._words import count, number, percent
from affectlab.estimates import Estimate, Estimates
from affectlab.evaluation._controls_data import Panel

__all__ = ["sentence_of"]

_WITHOUT = {"no_image": "without the image it", "wrong_image": "shown a wrong image it"}
_MOST = 0.5
"""Share of the agreement from which on most of it is left."""


def sentence_of(
    name: str, panel: Panel, repeated: Estimates, runs: Estimates, hints: Estimates
) -> str:
    """Put what is known of one model into a sentence."""
    parts = [_repeated(name, panel, repeated)]
    for control in panel.controls:
        if control.of != name:
            continue
        if control.kind == "decoy_hint":
            parts.append(
                _hinted(
                    hints[name, control.run, "accepted"], hints[name, control.run, "unprompted"]
                )
            )
        else:
            parts.append(_kept(name, control.run, control.kind, panel, runs))
    if len(parts) == 1:
        parts.append("no control run says whether its answers need the image")
    return f"{name} {'; '.join(parts)}."


def _repeated(name: str, panel: Panel, repeated: Estimates) -> str:
    found = repeated[name]
    if not found.ok:
        return f"answered {count(found.n_items)} stimuli, too few to repeat itself"
    row = next(row for row in repeated.to_frame().iter_rows(named=True) if row["rater"] == name)
    thing = "answer vector" if len(panel.labels) > 1 else "answer"
    text = f"gave the same {thing} to {percent(found.value)} of stimuli as to another one"
    beside = []
    if row["people"] == row["people"]:
        beside.append(f"people on the same stimuli: {percent(row['people'])}")
        # On the stimuli of one person there are fewer to repeat an answer on.
        if percent(row["same_stimuli"]) != percent(found.value):
            beside.append(f"the model there: {percent(row['same_stimuli'])}")
    if len(panel.labels) == 1 and found.value > 0:
        beside.append("with one label that says little")
    return text + (f" ({'; '.join(beside)})" if beside else "")


def _kept(name: str, run: str, kind: str, panel: Panel, runs: Estimates) -> str:
    found = {
        (measure, quantity): runs[name, run, measure, quantity]
        for measure in (("answers", "labels") if len(panel.labels) > 1 else ("answers",))
        for quantity in ("main", "control", "same", "kept", "gain")
    }
    whole = {quantity: found["answers", quantity] for quantity in ("main", "control", "kept")}
    start = _WITHOUT[kind]
    if not whole["main"].ok:
        same = found["answers", "same"]
        if same.ok:
            return f"{start} agrees with itself at {number(same.value)}"
        return f"{start} cannot be compared ({same.status.removeprefix('undefined: ')})"
    if not whole["kept"].ok:
        return (
            f"{start} agrees with people at {number(whole['control'].value)}, else at "
            f"{number(whole['main'].value)}: there is no clear agreement to explain"
        )
    coefficient = "kappa" if panel.scale.kind == "nominal" else "quadratic kappa"
    over = " over all answers" if len(panel.labels) > 1 else ""
    text = (
        f"{start} keeps {percent(max(whole['kept'].value, 0.0))} of its agreement with people"
        f"{over} ({coefficient} {number(whole['control'].value)} of {number(whole['main'].value)})"
    )
    within = found.get(("labels", "kept"))
    if within is not None and within.ok:
        text += f" and {percent(max(within.value, 0.0))} of its agreement within labels"
    return text + _verdict(found["answers", "gain"], whole["kept"], within)


def _verdict(gain: Estimate, kept: Estimate, within: Estimate | None) -> str:
    """Conclude, where the interval allows it."""
    if gain.low != gain.low:
        return ""
    if gain.low <= 0:
        return ": its score does not show that it looks"
    if kept.value < _MOST:
        return ""
    if within is not None and within.ok and within.value < _MOST:
        return ": most of a score over all answers does not need the image"
    return ": most of its score does not need the image"


def _hinted(accepted: Estimate, unprompted: Estimate) -> str:
    if not accepted.ok:
        return "no wrong hint can be judged"
    return (
        f"it followed {percent(accepted.value)} of {count(accepted.n_items)} wrong hints, and gave "
        f"these labels to {percent(unprompted.value)} without a hint"
    )
