"""Simulated judges of two options, who see systems of planted strengths."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import select

from affectlab.study.design import sides_of, systems_of
from affectlab.study.rehearsal.crowd import Crowd, Planted, draw_crowd
from affectlab.study.store import Store
from affectlab.study.tables import stimuli, trials

__all__ = ["Judges", "draw_judges"]

_CAREFUL = ("careful",)
_CARELESS = ("always left", "at random")
_SPREAD = 2.0
"""Logits between the strongest system and the weakest."""
_OF_ITEM = 0.4
"""Standard deviation, in logits, of how much an item favours one of its options."""
_LEAN = 1.2
"""Logits by which an item favours the option that it says is nearer to the truth."""
_NEARER = "nearer"
"""Attribute of items that names the system whose option is nearer, or anything else for neither."""
_TIES = 0.35
"""Weight of all choices but the two options, where the options are equally good (Davidson)."""
_SECONDS = 9.0


@dataclass(frozen=True, eq=False)
class Judges(Crowd):
    """Simulated judges."""

    strengths: Mapping[str, float]
    """Strength of each system, in logits."""
    favours: Mapping[str, float]
    """How much each item favours its first option, in logits."""

    def answer(
        self,
        store: Store,
        number: int,
        stimulus: str,
        trial: Mapping[str, Any],
        again: bool,
    ) -> dict[str, Any]:
        """Choose as one of them would; the answer names a side, as a page does."""
        drawn = self.rng(number, stimulus, again)
        others = store.study.protocol.scale.categories[2:]
        one = self.profiles[number]
        if not one.attentive:
            random = str(drawn.choice(["left", "right", *others]))
            return {"value": "left" if one.preset == "always left" else random}
        stimulus_id, swapped = _layout(store, int(trial["id"]))
        first, second = _pair(store, stimulus_id)
        gap = self.strengths[first] - self.strengths[second] + self.favours[stimulus]
        # Davidson's model of ties: they are likeliest where the two are close.
        weights = np.array(
            [np.exp(gap / 2), np.exp(-gap / 2), *[_TIES / len(others)] * len(others)]
        )
        choice = int(drawn.choice(weights.size, p=weights / weights.sum()))
        if choice >= 2:
            return {"value": others[choice - 2]}
        return {"value": ("left", "right")[choice ^ int(swapped)]}


def draw_judges(store: Store, n: int, careless: int, seed: int) -> Judges:
    """Draw judges, and how strong each system is.

    The truth that is planted is a table of ``system`` and ``strength``: the difference of two is
    the logit of choosing the first over the second, on an item that favours neither. Where all
    items say which option is nearer to the truth, systems are alike, and judges choose that one
    rather: then the difference is the mean logit over the items.
    """
    import polars as pl

    rng = np.random.default_rng(seed)
    names = [str(content["name"]) for content in store.content.values()]
    pairs = {number: _pair(store, number) for number in store.content}
    systems = sorted({system for pair in pairs.values() for system in pair})
    spread = np.linspace(_SPREAD / 2, -_SPREAD / 2, len(systems))
    strengths = dict(zip(systems, rng.permutation(spread).tolist(), strict=True))
    favours = dict(zip(names, rng.normal(0, _OF_ITEM, len(names)).tolist(), strict=True))
    people, seconds = draw_crowd(n, careless, (_CAREFUL, _CARELESS), names, _SECONDS, rng)
    truth = pl.DataFrame({"system": systems, "strength": [strengths[one] for one in systems]})
    nearer = _nearer(store)
    if nearer and len(systems) == 2:
        leans = {}
        for number, content in store.content.items():
            name, (first, second) = str(content["name"]), pairs[number]
            lean = _LEAN * ((nearer[name] == first) - (nearer[name] == second))
            favours[name] += lean
            leans[name] = lean if first == systems[0] else -lean
        mean = sum(leans.values()) / len(leans)
        truth = truth.with_columns(strength=pl.Series([mean / 2, -mean / 2]))
        strengths = dict.fromkeys(systems, 0.0)
    return Judges(people, Planted(truth), seconds, seed, strengths, favours)


def _pair(store: Store, stimulus: int) -> tuple[str, str]:
    """Systems of a stimulus; the names of the options where no systems are named."""
    sides = sides_of(store.study.protocol)
    named = systems_of(store.study.protocol, store.content[stimulus])
    return named.get(sides[0], sides[0]), named.get(sides[1], sides[1])


def _nearer(store: Store) -> dict[str, str]:
    """Give the system whose option is nearer to the truth, by item; empty where some do not say."""
    with store.database.read() as connection:
        rows = connection.execute(select(stimuli.c.name, stimuli.c.attributes)).all()
    found = {str(row.name): json.loads(row.attributes).get(_NEARER) for row in rows}
    return {} if None in found.values() else {name: str(said) for name, said in found.items()}


def _layout(store: Store, trial: int) -> tuple[int, bool]:
    """What a trial shows, and whether its options stand the other way round.

    A judge sees which option is where; a simulated one, who sees nothing, is told.
    """
    with store.database.read() as connection:
        row = connection.execute(
            select(trials.c.stimulus_id, trials.c.layout).where(trials.c.id == trial)
        ).one()
    return row.stimulus_id, bool(json.loads(row.layout).get("swapped", False))
