"""A model for weak labels, trained on a small batch that people have annotated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab._words import number, plural
from affectlab.errors import InputError
from affectlab.models.text._base import TextClassifier
from affectlab.models.text._pilot_predictor import PilotPredictor
from affectlab.models.text._shares import cross_fitted_f1, f1_by_chance, rule_by_shares
from affectlab.ratings import Ratings
from affectlab.stimuli import labelled_corpus
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = ["FEWEST_AGREED", "PilotModel", "train_pilot_model"]

_NOTE = ".pilot.json"
"""Behind the name of a model's folder: the file beside it that tells the answers it is of."""
FEWEST_AGREED = 40
"""Texts with an agreed label below which no thresholds can be chosen."""
_SPLITS = {"train": 0.8, "dev": 0.2}


@dataclass(frozen=True)
class PilotModel:
    """A model trained on a pilot, and how good it is; see :func:`train_pilot_model`."""

    folder: Path
    agree: int
    """Raters who had to choose a label for it to be true."""
    n_answered: int
    """Texts that were answered."""
    n_agreed: int
    """Texts with a label that enough raters chose; from these the model learned."""
    n_dev: int
    """Those of them that were kept aside, for thresholds and these numbers."""
    macro_f1: float
    """On the texts kept aside, thresholds from one half of them and judged on the other: mean over
    the labels that some of them has."""
    micro_f1: float
    chance_f1: float
    """Micro F1 that the same predictions, given to the wrong texts, exceed in one of twenty
    shuffles."""
    trained_now: bool
    """False where the model of the same answers was there already."""
    replaced: bool = False
    """Whether the model of other answers was there before."""

    @property
    def predictor(self) -> PilotPredictor:
        """The model as :func:`affectlab.stimuli.curation.curate` takes it."""
        return PilotPredictor.of_folder(self.folder)


def train_pilot_model(
    answers: Ratings,
    path: str | Path,
    *,
    taxonomy: str | Taxonomy = "goemotions",
    agree: int | None = None,
    seed: int = 0,
    resume: bool = True,
) -> PilotModel:
    """Train a text model on a pilot, for weak labels of a larger pool (goemotions, section 3.1).

    A fifth of the texts on which raters agree is kept aside. Thresholds are chosen on it so that
    each label is predicted about as often as raters chose it: the steps that need predictions count
    labels, and thresholds made for the best F1 would have them count far too many. Texts without an
    agreed label are not learned from.

    Parameters
    ----------
    answers
        Binary answers about stimuli with the attribute ``text``; training, golden and repeated
        trials, and refused answers, are left out.
    path
        For the model and its card.
    taxonomy
        Name or TOML file of the taxonomy of the labels.
    agree
        Raters who must choose a label for it to be true. None: 2, or 1 where most texts have one
        rater alone.
    seed
        Draws the texts that are kept aside.
    resume
        Where a model of the same answers and settings is in the folder, take it as it is.

    Raises
    ------
    InputError
        When answers are not binary or have no texts, a label is not in the taxonomy, there are too
        few texts with an agreed label, or the folder cannot be used.

    Examples
    --------
    >>> import tempfile
    >>> from affectlab.ratings import Ratings
    >>> said = {"joy": "so happy and glad today", "fear": "scared of the dark, so afraid"}
    >>> rows = [(f"t{k}", r, "joy" if k % 2 else "fear") for k in range(60) for r in ("a", "b")]
    >>> answers = Ratings(
    ...     {
    ...         "stimulus": [stimulus for stimulus, _, _ in rows],
    ...         "rater": [rater for _, rater, _ in rows],
    ...         "label": [label for _, _, label in rows],
    ...         "value": [1] * len(rows),
    ...     },
    ...     scale="binary",
    ...     stimuli={
    ...         "stimulus": [f"t{k}" for k in range(60)],
    ...         "text": [f"{said['joy' if k % 2 else 'fear']} {k}" for k in range(60)],
    ...     },
    ... )
    >>> made = train_pilot_model(answers, tempfile.mkdtemp(), taxonomy="goemotions")
    >>> made.n_agreed, made.predictor(["I am happy and glad", "afraid of the dark"])
    (60, [['joy'], ['fear']])
    """
    place = Path(path)
    known = load_taxonomy(taxonomy)
    said = answers.source or "the answers"
    given = _checked(answers, said)
    needed = _agree(given) if agree is None else agree
    made = labelled_corpus(given, agree=needed, splits=_SPLITS, seed=seed)
    if len(made) < FEWEST_AGREED:
        raise InputError(
            f"{said}: {plural(len(made), 'text has', 'texts have')} a label that "
            f"{plural(needed, 'rater')} chose; expected {FEWEST_AGREED} at least to learn from"
        )
    key = _key(made.examples.sort("stimulus").rows(), known.to_toml(), needed, seed)
    found = _found(place, key) if resume else None
    if found is not None:
        return found
    TextClassifier.check_folder(place)
    texts, labels = _parts(made.examples, known, said)
    replaced = resume and place.is_dir() and any(place.iterdir())
    model = TextClassifier.make("linear", taxonomy=known, seed=seed, name=place.resolve().name)
    model.fit(texts["train"], labels["train"], tune=False, source=said)
    aside = f"{plural(len(texts['dev']), 'text')} of the pilot"
    model.tune(texts["dev"], labels["dev"], at_least_one=True, source=aside, split="dev")
    truth = model.truth_of(labels["dev"], len(texts["dev"]))
    both = np.concatenate([model.truth_of(labels["train"], len(texts["train"])), truth])
    likely = model.predict_proba(texts["dev"])
    rule = rule_by_shares(
        likely, both.mean(axis=0), model.labels, fitted_on=f"{aside}, to match its shares of labels"
    )
    macro, micro, chosen = cross_fitted_f1(
        likely, truth, both.mean(axis=0), model.labels, seed=seed
    )
    chance = f1_by_chance(chosen, truth, seed=seed)
    model.decisions[""] = replace(rule, f1=macro)
    model.training["warnings"].append(
        "the results below are those of thresholds for the best F1; the labels have others, which "
        "choose each label as often as raters did, and reach a macro F1 of "
        f"{number(macro, 3)} and a micro F1 of {number(micro, 3)} on them, cross-fitted"
    )
    model.save(place)
    pilot = PilotModel(
        place,
        needed,
        made.statistics["n_examples"],
        len(made),
        len(texts["dev"]),
        macro,
        micro,
        chance,
        trained_now=True,
        replaced=replaced,
    )
    apart = ("folder", "trained_now", "replaced")
    told = {name: value for name, value in asdict(pilot).items() if name not in apart}
    _note(place).write_text(json.dumps({"key": key, **told}, indent=1), encoding="utf-8")
    return pilot


def _checked(answers: Ratings, said: str) -> Ratings:
    """Answers about texts, without trials that only train or check raters."""
    if answers.scale.kind != "binary" or not answers.has_labels:
        raise InputError(
            f"{said}: the answers are {answers.scale.kind}{' to labels' * answers.has_labels}; "
            "expected yes or no to each label"
        )
    if "text" not in answers.stimuli.columns:
        raise InputError(
            f"{said}: the stimuli have no attribute 'text'; expected the texts of the pilot"
        )
    given = answers.answers()
    asked = given.frame.select(pl.col("stimulus").cast(pl.String)).unique()
    told = given.stimuli.select(pl.col("stimulus", "text").cast(pl.String))
    without = (
        told.join(asked, on="stimulus", how="semi")
        .filter(pl.col("text").fill_null("").str.strip_chars() == "")
        .sort("stimulus")
    )
    if without.height:
        raise InputError(f"{said}: {without['stimulus'][0]!r} has no text; expected words")
    return given


def _parts(
    examples: pl.DataFrame, known: Taxonomy, said: str
) -> tuple[dict[str, list[str]], dict[str, list[list[str]]]]:
    """Texts and labels of each split."""
    texts, labels = {}, {}
    for name in _SPLITS:
        part = examples.filter(split=name)
        if not part.height:
            raise InputError(
                f"{said}: nearly all texts are the same, so that none can be kept aside; expected "
                "different ones"
            )
        texts[name] = part["text"].cast(pl.String).to_list()
        try:
            labels[name] = [
                [known.name_of(each) for each in row.split("|")] for row in part["labels"]
            ]
        except InputError as problem:
            raise InputError(f"{said}: {problem}") from None
    return texts, labels


def _note(place: Path) -> Path:
    return place.with_name(place.name + _NOTE)


def _agree(answers: Ratings) -> int:
    """Two raters, or one where most texts have no second one."""
    raters = answers.frame.group_by("stimulus").agg(pl.col("rater").n_unique())["rater"]
    return 2 if np.median(raters.to_numpy()) > 1 else 1


def _key(rows: Sequence[tuple[Any, ...]], *settings: Any) -> str:
    return hashlib.sha256(json.dumps([rows, settings], default=str).encode()).hexdigest()


def _found(place: Path, key: str) -> PilotModel | None:
    """Give the model of the same answers and settings, if it is there."""
    note = _note(place)
    if not note.is_file():
        return None
    try:
        told = json.loads(note.read_text(encoding="utf-8"))
        if told.pop("key") != key:
            return None
        found = PilotModel(folder=place, trained_now=False, **told)
        TextClassifier.load(place)
    except (ValueError, TypeError, KeyError, AttributeError, InputError):
        # Not ours, or not complete: it is trained again.
        return None
    return found
