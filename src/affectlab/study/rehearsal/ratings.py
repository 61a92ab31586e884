"""Simulated participants: who they are, and what each of them answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.core.errors import InputError
from affectlab.study.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from affectlab.protocols import ScaleSpec
    from affectlab.simulate.raters import RaterProfile, Truth

__all__ = ["CARELESS", "People", "by_cell", "draw_people", "presets_of", "times_of"]

_SCALE = "0-7"
"""Scale on which the truth is drawn; answers are brought to that of the protocol."""
_WHOLE = "rating"
"""What the truth calls the value of a stimulus as a whole, where no labels are asked for."""
_PRESENT = 3.0
"""Intensity, of 7, from which on people say that an emotion is there."""
CARELESS = ("straight_liner", "lazy", "reversed")
_CAREFUL = ("careful", "average", "average", "generous", "stern", "cautious")


@dataclass(frozen=True, eq=False)
class People:
    """Simulated people, the truth they see, and what each says of each stimulus."""

    profiles: tuple[RaterProfile, ...]
    presets: tuple[str, ...]
    truth: Truth
    said: tuple[Mapping[tuple[str, str, str], float], ...]
    """What (rater, stimulus, label) is rated when seen first, and when seen again."""
    seconds: Mapping[tuple[str, str], float]
    """Time that (rater, stimulus) takes."""

    def about(self, number: int) -> dict[str, Any]:
        """What the export says of one of them."""
        profile = self.profiles[number]
        return {
            "planted": self.presets[number],
            "careless": not profile.attentive,
            "planted_bias": round(profile.bias, 3),
            "planted_inconsistency": round(profile.inconsistency, 3),
        }

    def answer(
        self,
        store: Store,
        number: int,
        stimulus: str,
        trial: Mapping[str, Any],
        again: bool,
    ) -> dict[str, Any]:
        """Answer a trial, as a page gets it, as one of them would."""
        labels = [label["name"] for label in trial["labels"]]
        name = self.profiles[number].name
        said = self.said[again]
        if store.study.protocol.answer == "value":
            seen = said.get((name, stimulus, _WHOLE), 0.0)
            return {"value": _single(seen, store.study.protocol.scale)}
        found = {label: said.get((name, stimulus, label)) for label in labels}
        known = {label: value for label, value in found.items() if value is not None}
        protocol = store.study.protocol
        if protocol.answer == "choices":
            return {"chosen": _chosen(known, labels, protocol.rules.exclusive)}
        if protocol.scale.kind == "binary":
            return {"ratings": {label: int(known.get(label, 0) >= _PRESENT) for label in labels}}
        scaled = {label: _on_scale(value, protocol.scale) for label, value in known.items()}
        return {"ratings": scaled or {labels[0]: _on_scale(0.0, protocol.scale)}}


def draw_people(store: Store, n: int, careless: int, seed: int) -> People:
    """Draw people and what they answer, the same for the same seed.

    Parameters
    ----------
    store
        The open study; the expression of a drawn face, or the label that a stimulus is meant to
        show, is what people see in it. Of other stimuli it is drawn.
    n
        Number of people.
    careless
        Of these, people who do not look, or turn the scale round.

    Raises
    ------
    InputError
        When there are more careless people than people.
    """
    from affectlab.simulate import simulate_raters, simulate_truth
    from affectlab.simulate.raters import rater_profile

    rng = np.random.default_rng(seed)
    # Where the stimulus as a whole is asked about, one value is planted for each.
    labels = store.study.protocol.labels() or (_WHOLE,)
    names = [str(content["name"]) for content in store.content.values()]
    shown = _shown(store)
    truth = simulate_truth(len(names), labels, _SCALE, seed=rng, stimuli=names, **shown)
    presets = presets_of(n, careless, _CAREFUL, CARELESS, rng)
    profiles = tuple(
        rater_profile(preset, f"p{number:03d}", scale=_SCALE)
        for number, preset in enumerate(presets, start=1)
    )
    seen = [simulate_raters(truth, profiles, seed=rng).ratings.to_frame() for _ in range(2)]
    return People(
        profiles, presets, truth, tuple(by_cell(frame) for frame in seen), times_of(seen[0])
    )


def presets_of(
    n: int,
    careless: int,
    careful_kinds: Sequence[str],
    careless_kinds: Sequence[str],
    rng: np.random.Generator,
) -> tuple[str, ...]:
    """Give out kinds of people in turn, in an order of chance.

    Raises
    ------
    InputError
        When there are more careless people than people.
    """
    if not 0 <= careless <= n:
        raise InputError(f"careless {careless}: expected 0 to {n}, the number of people")
    kinds = [careless_kinds[k % len(careless_kinds)] for k in range(careless)]
    kinds += [careful_kinds[k % len(careful_kinds)] for k in range(n - careless)]
    return tuple(kinds[k] for k in rng.permutation(n))


def _shown(store: Store) -> dict[str, Any]:
    """Say what each stimulus expresses, where that is known for all of them."""
    column = store.study.design.stimuli.intended or "expression"
    labels = store.study.protocol.labels()
    taxonomy = store.study.protocol.taxonomy()
    attributes = [json.loads(content["attributes"]) for content in store.content.values()]
    named = [str(one.get(column) or "") for one in attributes]
    known = {"neutral", *(labels if taxonomy is None else ())}
    found = []
    for name in named:
        own = name if taxonomy is None or name not in taxonomy else taxonomy.name_of(name)
        if own not in labels and own not in known:
            return {}
        found.append(own)
    shown: dict[str, Any] = {"expressions": found}
    if all("intensity" in one for one in attributes):
        shown["intensities"] = [float(one["intensity"]) for one in attributes]
    return shown


def by_cell(frame: pl.DataFrame) -> dict[tuple[str, str, str], float]:
    """Give the answers by rater, stimulus and label."""
    columns = (frame[name].cast(str).to_list() for name in ("rater", "stimulus", "label"))
    return dict(zip(zip(*columns, strict=True), frame["value"].to_list(), strict=True))


def times_of(frame: pl.DataFrame) -> dict[tuple[str, str], float]:
    """Give the seconds that answers took by rater and stimulus."""
    columns = (frame[name].cast(str).to_list() for name in ("rater", "stimulus"))
    seconds = (frame["rt_ms"] / 1000).to_list()
    return dict(zip(zip(*columns, strict=True), seconds, strict=True))


def _chosen(known: dict[str, float], labels: list[str], exclusive: Sequence[str]) -> list[str]:
    """Labels that are clearly there; else one that stands for none of them, else the strongest."""
    alone = [label for label in labels if label == "neutral" or label in exclusive]
    present = [label for label, value in known.items() if value >= _PRESENT and label not in alone]
    if present:
        return present
    if alone:
        return alone[:1]
    return [max(known, key=lambda label: known[label])] if known else labels[:1]


def _single(value: float, scale: ScaleSpec) -> float | str:
    """Bring a value of 0 to 7 to the scale of an answer about the stimulus as a whole."""
    if scale.categories:
        n = len(scale.categories)
        return scale.categories[min(n - 1, int(value / 7 * n))]
    return int(value >= _PRESENT) if scale.kind == "binary" else _on_scale(value, scale)


def _on_scale(value: float, scale: ScaleSpec) -> float:
    """Bring a value of 0 to 7 to the protocol's scale."""
    low, high = float(scale.low or 0.0), float(scale.high or 0.0)
    spread = low + value / 7 * (high - low)
    if not scale.step:
        return round(spread, 1)
    stepped = low + round((spread - low) / scale.step) * scale.step
    return int(stepped) if float(stepped).is_integer() else stepped
