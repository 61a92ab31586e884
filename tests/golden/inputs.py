"""Generated answers, and the examples that the repository ships."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

LABELS = ("joy", "fear", "awe", "sadness")


@dataclass(frozen=True)
class Table:
    """Answers with what goes beside them."""

    answers: dict[str, list[Any]]
    scale: str | None
    raters: dict[str, list[Any]] | None = None
    stimuli: dict[str, list[Any]] | None = None


def examples(name: str) -> Path:
    """Copy an example into the working folder."""
    source = Path(__file__).resolve().parents[2] / "examples" / name
    if source.is_dir():
        shutil.copytree(source, name, dirs_exist_ok=True)
    else:
        shutil.copy(source, name)
    return Path(name)


def cube(
    stimuli: int, raters: int, labels: int, seed: int, *, noise: float = 1.0, top: float = 7.0
) -> np.ndarray[Any, Any]:
    """Make whole answers from 0 to `top`: stimuli x raters x labels, with bias and noise."""
    rng = np.random.default_rng(seed)
    truth = top * rng.beta(0.8, 1.1, (stimuli, 1, labels))
    bias = rng.normal(0, 0.1 * top, (1, raters, 1))
    spread = noise * top * rng.uniform(0.06, 0.2, (1, raters, 1))
    seen = truth + bias + spread * rng.normal(size=(stimuli, raters, labels))
    return np.clip(np.rint(seen), 0, top)


def long(
    values: np.ndarray[Any, Any], raters: list[str], labels: tuple[str, ...]
) -> dict[str, list[Any]]:
    """Give stimuli x raters x labels as columns, without what is nan."""
    stimulus, rater, label = np.nonzero(~np.isnan(values))
    return {
        "stimulus": [f"s{k:02d}" for k in stimulus],
        "rater": [raters[k] for k in rater],
        "label": [labels[k] for k in label],
        "value": values[stimulus, rater, label].tolist(),
    }


def _names(n: int, letter: str = "r") -> list[str]:
    return [f"{letter}{k:02d}" for k in range(n)]


def _with_gaps(values: np.ndarray[Any, Any], share: float, seed: int) -> np.ndarray[Any, Any]:
    gone = np.random.default_rng(seed).random(values.shape[:2]) < share
    return np.where(gone[:, :, None], np.nan, values)


def full() -> Table:
    return Table(long(cube(24, 6, 4, 1), _names(6), LABELS), "0-7")


def gaps() -> Table:
    return Table(long(_with_gaps(cube(40, 8, 3, 2), 0.4, 3), _names(8), LABELS), "0-7")


def ties() -> Table:
    return Table(long(cube(30, 5, 2, 4, top=2.0), _names(5), LABELS), "0-2")


def unanimous() -> Table:
    values = np.repeat(cube(12, 1, 2, 5), 4, axis=1)
    values[:, :, 1] = 3.0
    return Table(long(values, _names(4), LABELS), "0-7")


def one_rater() -> Table:
    return Table(long(cube(20, 1, 2, 6), ["r00"], LABELS), "0-7")


def two_raters() -> Table:
    return Table(long(_with_gaps(cube(20, 2, 1, 7), 0.1, 8), _names(2), LABELS), "0-7")


def two_scales() -> Table:
    first, second = cube(25, 5, 1, 9, top=6.0) + 1, cube(25, 5, 1, 10, top=100.0)
    values = np.concatenate([first, second], axis=2)
    return Table(long(values, _names(5), ("plausibility", "arousal")), "0-100 interval")


def guessed() -> Table:
    """Answers whose scale nobody declared."""
    return Table(long(cube(20, 4, 2, 11, top=5.0), _names(4), LABELS), None)


def slider() -> Table:
    """One question, answered on a slider; many raters, few answers each."""
    values = _with_gaps(cube(60, 12, 1, 12, top=100.0), 0.3, 13)
    answers = long(values, _names(12), ("difference",))
    del answers["label"]
    return Table(answers, "0-100 interval")


def binary() -> Table:
    values = (_with_gaps(cube(40, 6, 3, 14), 0.2, 15) > 3).astype(float)
    values[np.isnan(_with_gaps(cube(40, 6, 3, 14), 0.2, 15))] = np.nan
    return Table(long(values, _names(6), LABELS), "binary")


def nominal() -> Table:
    """One category for each stimulus, by six people and three models."""
    rng = np.random.default_rng(16)
    truth = rng.integers(0, 8, 60)
    names = ("amusement", "contentment", "awe", "excitement", "fear", "sadness", "disgust", "anger")
    raters = [*_names(6, "p"), "net", "mini", "dice"]
    rows: dict[str, list[Any]] = {"stimulus": [], "rater": [], "value": []}
    for number, rater in enumerate(raters):
        right = rng.random(60) < (0.75, 0.8, 0.5, 0.7, 0.65, 0.9, 0.72, 0.55, 0.1)[number]
        answered = rng.random(60) < 0.92
        chosen = np.where(right, truth, rng.integers(0, 8, 60))
        for k in np.flatnonzero(answered):
            rows["stimulus"].append(f"s{k:02d}")
            rows["rater"].append(rater)
            rows["value"].append(names[chosen[k]])
    return Table(
        rows,
        f"nominal:{','.join(names)}",
        {
            "rater": raters,
            "rater_kind": ["human"] * 6 + ["model", "model", "baseline"],
            "group": ["x", "y"] * 3 + [None] * 3,
        },
        {
            "stimulus": [f"s{k:02d}" for k in range(60)],
            "album": [f"a{k % 12}" for k in range(60)],
            "gender": ["woman", "man", "man"] * 20,
        },
    )


def models() -> Table:
    """People and models on one scale, with clusters, batches and groups of stimuli and raters."""
    values = _with_gaps(cube(48, 9, 3, 17), 0.1, 18)
    values[:, 8] = np.random.default_rng(19).integers(0, 8, (48, 3))
    raters = [*_names(6, "p"), "net", "mini", "dice"]
    return Table(
        long(values, raters, LABELS),
        "0-7",
        {
            "rater": raters,
            "rater_kind": ["human"] * 6 + ["model", "model", "baseline"],
            "family": [None] * 6 + ["large", "small", "none"],
            "gender": ["f", "m"] * 3 + [None] * 3,
        },
        {
            "stimulus": [f"s{k:02d}" for k in range(48)],
            "actor": [f"a{k // 4:02d}" for k in range(48)],
            "gender": ["woman", "man"] * 24,
            "batch": [str(k // 24) for k in range(48)],
        },
    )


def controls() -> Table:
    """A model, and runs of it that control what it was shown; what became of each question."""
    values = cube(30, 5, 2, 20)
    values[:, 4] = 3
    raters = ["ann", "ben", "net", "hinted", "blind"]
    answers = long(values, raters, LABELS)
    outcome = np.random.default_rng(21).choice(
        ["ok", "refused", "empty", "transport"], len(answers["value"]), p=[0.85, 0.08, 0.04, 0.03]
    )
    machine = np.isin(answers["rater"], raters[2:])
    answers["hint"] = ["joy" if rater == "hinted" else None for rater in answers["rater"]]
    answers["outcome"] = np.where(machine, outcome, "ok").tolist()
    answers["value"] = [
        value if found == "ok" else None
        for value, found in zip(answers["value"], answers["outcome"], strict=True)
    ]
    return Table(
        answers,
        "0-7",
        {
            "rater": raters,
            "rater_kind": ["human"] * 2 + ["model"] * 3,
            "control": [None, None, None, "decoy_hint", "no_image"],
            "of": [None, None, None, "net", "net"],
        },
    )


def repeats() -> Table:
    """Sessions with golden and repeated trials, seconds, and some who do not look."""
    rng = np.random.default_rng(22)
    rows: dict[str, list[Any]] = {
        name: []
        for name in ("stimulus", "rater", "session", "trial", "trial_kind", "value", "rt_ms")
    }
    truth = rng.uniform(0, 100, 30)
    golden = {"g0": 4.0, "g1": 95.0, "g2": 50.0}
    for number, rater in enumerate(_names(8)):
        careless = number == 5
        shown = [(f"s{k:02d}", "main") for k in range(30)]
        shown += [(name, "golden") for name in golden]
        shown += [(f"s{k:02d}", "repeat") for k in range(0, 30, 6)]
        for trial, (stimulus, kind) in enumerate(shown):
            centre = golden.get(stimulus, truth[int(stimulus[1:])] if stimulus[0] == "s" else 0.0)
            value = rng.uniform(0, 100) if careless else centre + rng.normal(3 * (number % 3), 8)
            row = (
                stimulus,
                rater,
                f"{rater}-{trial // 20}",
                trial + 1,
                kind,
                60.0 if number == 6 else float(np.clip(np.rint(value), 0, 100)),
                float(np.rint(rng.uniform(300, 600) if careless else rng.lognormal(8, 0.4))),
            )
            for name, item in zip(rows, row, strict=True):
                rows[name].append(item)
    return Table(rows, "0-100 interval")


def text() -> Table:
    """Answers in words."""
    rng = np.random.default_rng(23)
    words = np.array(
        [
            "the",
            "calm",
            "sea",
            "was",
            "so",
            "happy",
            "and",
            "bright",
            "but",
            "storm",
            "came",
            "with",
            "cold",
            "fear",
        ]
    )
    stimuli = [f"s{k:02d}" for k in range(30)]
    emotion = [("joy", "fear", "sadness")[k % 3] for k in range(30)]
    said = [
        " ".join(rng.choice(words, 8)) + (" happy" if one == "joy" else " cold") for one in emotion
    ]
    return Table(
        {
            "stimulus": stimuli * 2,
            "rater": ["ann"] * 30 + ["ben"] * 30,
            "label": emotion * 2,
            "text": said + said[::-1],
        },
        "text",
        stimuli={"stimulus": stimuli, "caption": [f"caption {k}" for k in range(30)], "text": said},
    )


def shares() -> Table:
    """Scores of models from 0 to 1 for the categories of :func:`nominal`."""
    rng = np.random.default_rng(24)
    names = ("amusement", "contentment", "awe", "excitement", "fear", "sadness", "disgust", "anger")
    values = rng.dirichlet(np.full(8, 0.4), (60, 2))
    return Table(
        long(values, ["net", "mini"], names),
        "0-1 interval",
        {"rater": ["net", "mini"], "rater_kind": ["model", "model"]},
    )


TABLES: dict[str, Callable[[], Table]] = {
    made.__name__: made
    for made in (
        full,
        gaps,
        ties,
        unanimous,
        one_rater,
        two_raters,
        two_scales,
        guessed,
        slider,
        binary,
        nominal,
        models,
        controls,
        repeats,
        text,
        shares,
    )
}


def _near(rng: np.random.Generator, value: float, sd: float) -> float:
    return float(np.clip(value + rng.normal(0, sd), 0, 100))


def pair_table() -> dict[str, list[Any]]:
    """Scores of pairs of faces of five actors: within expressions and between them."""
    rng = np.random.default_rng(25)
    roles = ["peak", "near_peak", "middle", "near_neutral", "neutral"]
    rows: list[tuple[Any, ...]] = []
    for actor in ("ada", "bo", "cleo", "dan", "eve"):
        for expression in ("joy", "awe", "fear", "anger", "Jaw Left", "Jaw Right"):
            for first, second, value in (
                *((roles[k], roles[k + 1], (18, 35, 30, 21)[k]) for k in range(4)),
                *((roles[k], "neutral", (78, 66, 45)[k]) for k in range(3)),
            ):
                rows.append(
                    (
                        actor,
                        expression,
                        first,
                        expression,
                        second,
                        _near(rng, value, 5),
                        rng.uniform(1.5, 4),
                    )
                )
        for first, second, value in (
            ("joy", "awe", 30),
            ("joy", "fear", 75),
            ("joy", "anger", 82),
            ("awe", "fear", 60),
            ("awe", "anger", 70),
            ("fear", "anger", 45),
            ("Jaw Left", "Jaw Right", 20),
            ("joy", "Jaw Left", 66),
        ):
            rows += [
                (actor, first, role, second, role, _near(rng, value, 6), rng.uniform(1.5, 4))
                for role in ("peak", "middle")
            ]
    names = ("actor", "expression_a", "role_a", "expression_b", "role_b", "value", "se")
    return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def frame_table() -> dict[str, list[Any]]:
    """The times of the frames that :func:`pair_table` compares."""
    rng = np.random.default_rng(26)
    rows = [
        (actor, expression, role, float(150 * number + rng.integers(0, 90)))
        for actor in ("ada", "bo", "cleo", "dan", "eve")
        for expression in ("joy", "awe", "fear", "anger", "Jaw Left", "Jaw Right")
        for number, role in enumerate(["peak", "near_peak", "middle", "near_neutral", "neutral"])
    ]
    names = ("actor", "expression", "role", "time_ms")
    return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def classified(n: int = 120) -> tuple[list[str], list[str], list[str]]:
    """True labels of Mikels' wheel and those of two classifiers, one of them milder."""
    rng = np.random.default_rng(27)
    names = np.array(
        ["amusement", "contentment", "awe", "excitement", "fear", "sadness", "disgust", "anger"]
    )
    truth = rng.integers(0, 8, n)
    near = np.where(rng.random(n) < 0.6, truth, (truth + 1) % 8)
    far = np.where(rng.random(n) < 0.65, truth, rng.integers(0, 8, n))
    return names[truth].tolist(), names[near].tolist(), names[far].tolist()
