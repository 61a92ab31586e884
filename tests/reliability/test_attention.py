"""Careless raters: how many are found, and how many honest ones are taken for careless."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from affectlab import Ratings
from affectlab.core.types import Floats
from affectlab.reliability import screen
from affectlab.reliability.screening import careless_raters
from affectlab.reliability.screening.panel_rules import attention_of
from affectlab.reliability.screening.trials import trials_of
from affectlab.reliability.screening.wording import careless_rates

DESIGNS = {"30 x 8": (30, 8, 0.0), "60 x 12": (60, 12, 0.0), "300 x 60": (300, 60, 0.9)}
"""Stimuli, raters and gaps; of 300 x 60 each rater answers 30."""
KINDS = ("uniform", "shuffled", "constant", "reversed")


@dataclass(frozen=True)
class Answers:
    """Simulated answers, and who of the raters is careless."""

    ratings: Ratings
    careless: dict[str, str]


def study(
    rng: np.random.Generator,
    design: str,
    kinds: tuple[str, ...] = (),
    *,
    scale: str = "1-7",
    labels: int = 1,
    slopes: float = 0.0,
    zeros: float = 0.0,
) -> Answers:
    """Honest raters differ in level (SD .5) and noise (log-SD .25); the last ones are careless."""
    n_stimuli, n, gaps = DESIGNS[design]
    latent = rng.normal(0, 1, (n_stimuli, labels)) * np.exp(rng.normal(0, slopes, n))[:, None, None]
    latent = latent + rng.normal(0, 0.5, n)[:, None, None]
    noise = np.exp(rng.normal(0, 0.25, n))[:, None, None]
    latent = latent + noise * rng.normal(size=latent.shape)
    if zeros:
        start = np.quantile(latent, zeros)
        steps = {"binary": 100.0, "0-7": 1.8}[scale]
        value = np.clip(np.ceil((latent - start) * steps), 0, 1 if scale == "binary" else 7)
        choices = np.arange(value.max() + 1)
    else:
        value, choices = np.clip(np.rint(4 + latent), 1, 7), np.arange(1.0, 8.0)
    planted = {}
    for k, kind in enumerate(kinds):
        who = n - len(kinds) + k
        planted[f"r{who:02d}"] = kind
        value[who] = _careless(rng, kind, value[who], choices)
    rater, stimulus = np.nonzero(rng.random((n, n_stimuli)) >= gaps)
    table: dict[str, Any] = {
        "rater": [f"r{k:02d}" for k in np.repeat(rater, labels)],
        "stimulus": [f"s{k:03d}" for k in np.repeat(stimulus, labels)],
        "value": value[rater, stimulus].ravel(),
    }
    if labels > 1:
        table["label"] = [f"l{k}" for k in np.tile(np.arange(labels), rater.size)]
    return Answers(Ratings(table, scale=scale), planted)


def _careless(rng: np.random.Generator, kind: str, own: Floats, choices: Floats) -> Floats:
    if kind == "uniform":
        return rng.choice(choices, own.shape)
    if kind == "shuffled":
        return rng.permutation(own)
    if kind == "constant":
        return np.full(own.shape, np.median(choices))
    return choices[0] + choices[-1] - own


def counted(
    n: int, design: str, kinds: tuple[str, ...], **how: Any
) -> tuple[dict[str, int], float]:
    """Count studies in which a kind is found, and give the share of honest raters refused."""
    rng = np.random.default_rng([35, len(kinds), n])
    found, wrongly, honest = dict.fromkeys(kinds, 0), 0, 0
    for _ in range(n):
        answers = study(rng, design, kinds, **how)
        dropped = set(careless_raters(answers.ratings).raters_to_drop())
        for name, kind in answers.careless.items():
            found[kind] += name in dropped
        wrongly += len(dropped - set(answers.careless))
        honest += answers.ratings.n_raters - len(kinds)
    return found, wrongly / honest


def test_gross_carelessness_is_found_and_honest_raters_are_kept() -> None:
    found, wrongly = counted(20, "60 x 12", ("uniform", "constant"))
    assert min(found.values()) >= 16
    assert wrongly < 0.01


@pytest.mark.long
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("kind", ["uniform", "shuffled"])
def test_how_many_are_found(design: str, kind: str) -> None:
    """At 30 answers, of stimuli that differ as much as the noise, three in four at random are."""
    found, wrongly = counted(40, design, (kind, "constant", *KINDS[3:] * (design != "30 x 8")))
    assert found[kind] >= 27
    assert found["constant"] == 40
    assert found.get("reversed", 40) >= 38
    assert wrongly < 0.01


@pytest.mark.long
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"slopes": 0.4},
        {"scale": "0-7", "zeros": 0.79},
        {"scale": "binary", "zeros": 0.95},
        {"scale": "binary", "zeros": 0.8},
        {"scale": "binary", "zeros": 0.95, "labels": 8},
    ],
    ids=lambda how: "-".join(map(str, how.values())) or "plain",
)
def test_honest_raters_are_kept(how: dict[str, Any]) -> None:
    share = [counted(10, design, (), **how)[1] for design in DESIGNS]
    assert share[2] < 0.01
    assert np.mean(share) < 0.01


def test_always_the_same_answer_counts_only_where_others_differ() -> None:
    rng = np.random.default_rng(1)
    graded, rare = (
        study(rng, "60 x 12", ("constant",)),
        study(rng, "60 x 12", scale="binary", zeros=0.95),
    )
    assert careless_raters(graded.ratings).raters_to_drop() == ("r11",)
    silent = rare.ratings.with_values(
        np.where(rare.ratings.rater_code == 3, 0.0, rare.ratings.value), step="never yes"
    )
    assert careless_raters(silent).raters_to_drop() == ()


def test_nobody_is_judged_by_categories_alone_but_by_what_was_shown() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 5, 60)
    chosen = np.where(rng.random((10, 60)) < 0.7, truth, rng.integers(0, 5, (10, 60)))
    chosen[8], chosen[9] = rng.permutation(chosen[8]), 2
    rater, stimulus = np.divmod(np.arange(600), 60)
    words = np.array(["joy", "fear", "anger", "awe", "calm"])[chosen.ravel()]
    table = {"rater": rater, "stimulus": stimulus, "value": words}
    ratings = Ratings(table, scale="nominal:joy,fear,anger,awe,calm")
    assert careless_raters(ratings).raters_to_drop() == ("8", "9")


def test_results_do_not_depend_on_unit_or_order() -> None:
    answers = study(np.random.default_rng(2), "60 x 12", ("uniform", "reversed"))
    frame = answers.ratings.to_frame().select("stimulus", "rater", "value")
    plain = careless_raters(answers.ratings).evidence.filter(check="careless").sort("rater")
    moved = frame.sample(fraction=1, shuffle=True, seed=1).with_columns(
        value=frame.sample(fraction=1, shuffle=True, seed=1)["value"] * 1e-6
    )
    again = careless_raters(Ratings(moved, scale="interval")).evidence
    again = again.filter(check="careless").sort("rater")
    assert again["measure"].to_numpy() == pytest.approx(plain["measure"].to_numpy(), abs=1e-6)


def test_error_rates_are_said_without_being_asked() -> None:
    answers = study(np.random.default_rng(4), "30 x 8", ("uniform",))
    found = attention_of(trials_of(answers.ratings, per_session=False, golden=None))
    rates = careless_rates(found.refused_honest, found.found_random)
    assert screen(answers.ratings, policy="panel").sentences[1] == rates
    assert len(screen(answers.ratings, policy="correlation").sentences) == 2


@pytest.mark.long
def test_the_policy_correlation_seldom_refuses_an_honest_rater() -> None:
    """A limit of .2 held against the correlation itself did so in two of three such studies."""
    rng = np.random.default_rng(6)
    wrong = found = 0
    for _ in range(30):
        answers = study(rng, "300 x 60", ("reversed", "constant"))
        dropped = set(screen(answers.ratings, policy="correlation").raters_to_drop())
        wrong += bool(dropped - set(answers.careless))
        found += len(dropped & set(answers.careless))
    assert wrong <= 1
    assert found >= 50
