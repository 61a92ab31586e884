"""Small simulated data of the kinds that labs have, one maker for each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from affectlab.ratings import Ratings

EMOTIONS = ("joy", "sadness", "anger", "fear", "disgust", "surprise")


def _table(columns: tuple[str, ...], rows: list[tuple]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=list(columns), orient="row")


def _gender(n: int) -> list[str]:
    return [("woman", "man")[k % 2] for k in range(n)]


def intensities(careless: int = 0) -> Ratings:
    """Faces rated on three questions from 1 to 7 by twelve people, some of whom did not look."""
    rng = np.random.default_rng(11)
    questions = {"arousal": 1.6, "trust": 0.9, "dominance": 1.2}
    rows = []
    for label, spread in questions.items():
        truth = 4 + rng.normal(0, spread, 60) + 0.4 * (np.arange(60) % 2)
        bias = rng.normal(0, 0.5, 12)
        for r in range(12):
            for s in rng.permutation(60)[:45]:
                value = truth[s] + bias[r] + rng.normal(0, 1.1)
                if r >= 12 - careless:
                    value = rng.uniform(1, 7)
                rows.append(
                    (f"face{s:02d}", f"p{r:02d}", label, float(np.clip(np.rint(value), 1, 7)))
                )
    stimuli = {
        "stimulus": [f"face{s:02d}" for s in range(60)],
        "gender": _gender(60),
        "age": rng.integers(18, 75, 60),
    }
    raters = {"rater": [f"p{r:02d}" for r in range(12)], "gender": _gender(12)}
    return Ratings(
        _table(("stimulus", "rater", "label", "value"), rows),
        scale="1-7",
        stimuli=stimuli,
        raters=raters,
        source="faces.csv",
    )


def recognised(models: int = 0) -> Ratings:
    """One emotion chosen for each posed face, with what was posed."""
    rng = np.random.default_rng(5)
    names = (*EMOTIONS, "none of these")
    sure = dict(zip(EMOTIONS, (0.92, 0.7, 0.6, 0.45, 0.55, 0.8), strict=True))
    taken = {"fear": "surprise", "disgust": "anger", "anger": "disgust", "sadness": "none of these"}
    stimuli = [
        (f"{emotion}{k:02d}", emotion, f"actor{k}") for emotion in EMOTIONS for k in range(8)
    ]
    raters = [f"p{r:02d}" for r in range(20)] + [f"net{m}" for m in range(models)]
    rows = []
    for rater in raters:
        for name, emotion, _ in stimuli:
            if rng.random() < sure[emotion]:
                answer = emotion
            elif rng.random() < 0.6 and emotion in taken:
                answer = taken[emotion]
            else:
                answer = names[rng.integers(len(names))]
            rows.append((name, rater, answer))
    kinds = ["human"] * 20 + ["model"] * models
    return Ratings(
        _table(("stimulus", "rater", "value"), rows),
        scale=f"nominal:{','.join(names)}",
        stimuli=_table(("stimulus", "intended", "actor"), stimuli),
        raters={"rater": raters, "rater_kind": kinds},
        source="posed.csv",
    )


def categories() -> Ratings:
    """One topic chosen for each text by five of fifteen people."""
    rng = np.random.default_rng(7)
    names = ("praise", "complaint", "question", "joke")
    rows = []
    for s in range(80):
        chances = rng.dirichlet(np.full(4, 0.35))
        chosen = [(r, names[rng.choice(4, p=chances)]) for r in rng.permutation(15)[:5]]
        rows += [(f"t{s:02d}", f"p{r:02d}", name) for r, name in chosen]
    stimuli = {
        "stimulus": [f"t{s:02d}" for s in range(80)],
        "text": [f"Text {s}." for s in range(80)],
    }
    return Ratings(
        _table(("stimulus", "rater", "value"), rows),
        scale=f"nominal:{','.join(names)}",
        stimuli=stimuli,
        source="topics.csv",
    )


def label_sets(models: int = 0) -> Ratings:
    """Several labels for each comment, chosen by three of nine people."""
    rng = np.random.default_rng(9)
    common = dict(zip(EMOTIONS, (0.4, 0.25, 0.2, 0.08, 0.06, 0.12), strict=True))
    care = dict(zip(EMOTIONS, (0.95, 0.9, 0.85, 0.9, 0.7, 0.6), strict=True))
    raters = [f"p{r}" for r in range(9)] + [f"net{m}" for m in range(models)]
    rows = []
    for s in range(150):
        truth = {label: rng.random() < share for label, share in common.items()}
        for rater in [f"p{r}" for r in rng.permutation(9)[:3]] + raters[9:]:
            for label in EMOTIONS:
                seen = truth[label] if rng.random() < care[label] else rng.random() < common[label]
                rows.append((f"c{s:03d}", rater, label, float(seen)))
    return Ratings(
        _table(("stimulus", "rater", "label", "value"), rows),
        scale="binary",
        raters={"rater": raters, "rater_kind": ["human"] * 9 + ["model"] * models},
        source="comments.csv",
    )


def pairs() -> Ratings:
    """Which of two replies is better: four systems, two of which never met the others' judges."""
    rng = np.random.default_rng(13)
    strength = {"large": 0.9, "medium": 0.3, "small": -0.4, "human": 0.6}
    names = list(strength)
    items, rows = [], []
    for k in range(120):
        a, b = rng.choice(4, 2, replace=False)
        if {names[a], names[b]} == {"small", "human"}:
            a, b = 0, 1
        left = rng.choice(["A", "B"])
        items.append((f"i{k:03d}", names[a], names[b], left, f"prompt{k % 30}"))
        for r in rng.permutation(10)[:4]:
            u = strength[names[a]] - strength[names[b]] + (0.25 if left == "A" else -0.25)
            if rng.random() < 0.15:
                answer = ("both", "neither")[int(rng.random() < 0.4)]
            else:
                answer = "A" if rng.random() < 1 / (1 + np.exp(-1.4 * u)) else "B"
            if r == 9:
                answer = "AB"[rng.integers(2)]
            rows.append((f"i{k:03d}", f"judge{r}", answer))
    return Ratings(
        _table(("stimulus", "rater", "value"), rows),
        scale="nominal:A,B,both,neither",
        stimuli=_table(("stimulus", "A", "B", "left", "pair"), items),
        source="arena.csv",
    )


def dimensions(models: int = 0) -> Ratings:
    """Valence and arousal of films, from 1 to 9."""
    rng = np.random.default_rng(17)
    raters = [f"p{r}" for r in range(10)] + [f"net{m}" for m in range(models)]
    films = [f"film{s:02d}" for s in range(40)]
    truth = {"valence": rng.normal(5, 2.0, 40), "arousal": rng.normal(5, 1.3, 40)}
    rows = []
    for label, values in truth.items():
        for r, rater in enumerate(raters):
            bias, noise = (rng.normal(0, 0.5), 1.0) if r < 10 else (0.6, 0.8)
            for s, film in enumerate(films):
                value = float(np.clip(np.rint(values[s] + bias + rng.normal(0, noise)), 1, 9))
                rows.append((film, rater, label, value))
    return Ratings(
        _table(("stimulus", "rater", "label", "value"), rows),
        scale="1-9",
        stimuli={"stimulus": films, "genre": [("war", "comedy")[s % 2] for s in range(40)]},
        raters={"rater": raters, "rater_kind": ["human"] * 10 + ["model"] * models},
        source="films.csv",
    )


def traces() -> Ratings:
    """Valence during three films, followed by six people, each with a lag of their own."""
    rng = np.random.default_rng(19)
    rows = []
    for film in range(3):
        start = rng.uniform(0, 6)
        for r in range(6):
            lag, bias = 0.5 * (r % 3), rng.normal(0, 6)
            at = np.arange(0, 60, 0.5)
            noise = np.convolve(rng.normal(0, 5, at.size), np.ones(4) / 4, "same")
            if film == 2 and r > 2:
                noise += np.where(at > 40, rng.normal(0, 45), 0)
            value = 50 + 25 * np.sin((at - lag) / 5 + start) + bias + noise
            rows += [
                (f"film{film}", f"p{r}", float(t), float(np.clip(np.rint(v), 0, 100)))
                for t, v in zip(at, value, strict=True)
            ]
    return Ratings(
        _table(("stimulus", "rater", "at", "value"), rows), scale="0-100", source="traces.csv"
    )


def beside(careless: int = 1) -> Ratings:
    """Models beside people on intensities, one of them at random; some people did not look."""
    rng = np.random.default_rng(23)
    labels = ("joy", "fear", "anger")
    people, models = 8, ("twin", "shifted", "random")
    raters = [f"p{r}" for r in range(people)] + list(models)
    rows = []
    for label in labels:
        truth = rng.uniform(0, 7, 80)
        for rater in raters:
            value = truth + rng.normal(0, 1.2, 80)
            if rater == "shifted":
                value = truth + 1.5 + rng.normal(0, 1.2, 80)
            if rater == "random" or rater in [f"p{people - 1 - k}" for k in range(careless)]:
                value = rng.uniform(0, 7, 80)
            rows += [
                (f"s{s:02d}", rater, label, float(np.clip(np.rint(v), 0, 7)))
                for s, v in enumerate(value)
            ]
    kinds = ["human"] * people + ["model"] * len(models)
    return Ratings(
        _table(("stimulus", "rater", "label", "value"), rows),
        scale="0-7",
        raters={"rater": raters, "rater_kind": kinds},
        stimuli={"stimulus": [f"s{s:02d}" for s in range(80)], "gender": _gender(80)},
        source="panel.csv",
    )


KINDS: dict[str, Callable[[], Ratings]] = {
    "intensities": intensities,
    "careless": lambda: intensities(careless=3),
    "recognised": recognised,
    "recognised-models": lambda: recognised(models=2),
    "categories": categories,
    "label-sets": label_sets,
    "label-sets-models": lambda: label_sets(models=2),
    "pairs": pairs,
    "dimensions": dimensions,
    "dimensions-models": lambda: dimensions(models=2),
    "traces": traces,
    "beside": beside,
}
