"""A model for weak labels, trained on a small batch that people have annotated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.registry import Registry, callables
from affectlab.core.words import number, plural
from affectlab.models.text import TextClassifier
from affectlab.models.text.decisions import cross_fitted_f1, f1_by_chance, rule_by_shares
from affectlab.ratings import Ratings, read_ratings
from affectlab.stimuli import labelled_corpus
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = [
    "FEWEST_AGREED",
    "PilotModel",
    "PilotPredictor",
    "annotate_texts",
    "list_annotators",
    "read_pilot_answers",
    "train_pilot_model",
]

# What predicts the emotions of a pool: a model in a folder, on this machine and on others.


@dataclass(frozen=True)
class PilotPredictor:
    """Gives the labels of texts, the most likely first: one at least, and none for an empty text.

    It can be pickled, and reads its model when it is first used, so that other processes and
    machines that see the folder can use it.
    """

    folder: Path
    """Folder of a model."""
    name: str
    """Told by what is in the folder: another model has another name."""
    _kept: list[TextClassifier] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def of_folder(cls, path: str | Path) -> PilotPredictor:
        """Make one of the folder of a model.

        Raises
        ------
        InputError
            When the folder holds no model.
        """
        place = Path(path)
        model = TextClassifier.load(place)
        digest = hashlib.sha256()
        for file in sorted(one for one in place.rglob("*") if one.is_file()):
            digest.update(file.relative_to(place).as_posix().encode())
            digest.update(hashlib.sha256(file.read_bytes()).digest())
        return cls(place.resolve(), f"{model.name}-{digest.hexdigest()[:12]}", [model])

    def check_labels(self, taxonomy: str | Taxonomy) -> None:
        """Refuse a model of other labels than those of a taxonomy.

        Raises
        ------
        InputError
            With the first label that the taxonomy does not have.
        """
        known = load_taxonomy(taxonomy)
        strange = [label for label in self.model.labels if label not in known]
        if strange:
            raise InputError(
                f"{self.folder}: its label {strange[0]!r} is not in the taxonomy {known.name}; "
                "expected a model of the same labels, or another taxonomy"
            )

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "name": self.name, "_kept": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for key, value in state.items():
            object.__setattr__(self, key, value)

    @property
    def model(self) -> TextClassifier:
        """The model, read when it is first asked for."""
        if not self._kept:
            self._kept.append(TextClassifier.load(self.folder))
        return self._kept[0]

    def __call__(self, texts: list[str]) -> list[list[str]]:
        """Give the labels that the model's rule chooses, or the likeliest where it chooses none."""
        found: list[list[str]] = [[] for _ in texts]
        there = [row for row, text in enumerate(texts) if text and not text.isspace()]
        if not there:
            return found
        labels = self.model.labels
        probabilities = self.model.predict_proba([texts[row] for row in there])
        chosen = self.model.decision().decide(probabilities)
        order = np.argsort(-probabilities, axis=1, kind="stable")
        for row, of_row, places in zip(there, chosen, order, strict=True):
            own = [labels[place] for place in places if of_row[place]]
            found[row] = own or [labels[places[0]]]
        return found


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

    @property
    def sentences(self) -> tuple[str, ...]:
        """What it learned from, and how good it is."""
        before = "" if self.trained_now else " (trained before)"
        said = (
            f"pilot model: {self.folder}{before}",
            f"  from {self.n_agreed:,} of {self.n_answered:,} answered comments, with a label that "
            f"{plural(self.agree, 'rater')} chose",
            f"  macro F1 {self.macro_f1:.2f}, micro F1 {self.micro_f1:.2f} on {self.n_dev:,} of "
            "them that were kept aside, cross-fitted",
        )
        anew = "  trained anew: answers or settings are others than before"
        return (*said, anew) if self.replaced else said

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why what is balanced by its labels would be noise; empty where it would not be."""
        if self.micro_f1 > self.chance_f1:
            return ()
        return (
            f"the pilot model says no more than chance (micro F1 {self.micro_f1:.2f}; predictions "
            f"given to the wrong comments reach {self.chance_f1:.2f}): what is balanced by it is "
            "noise; have more comments answered, by more raters",
        )


def read_pilot_answers(path: str | Path, taxonomy: str | Taxonomy = "goemotions") -> Ratings:
    """Read the answers of a pilot: a file of ratings, or the folder of an exported study.

    Parameters
    ----------
    path
        The file, or the folder.
    taxonomy
        Taxonomy of the labels that were asked about.

    Raises
    ------
    InputError
        When the folder holds no ratings, or the file has a column for each label.
    """
    place = Path(path)
    file = place / "ratings.parquet" if place.is_dir() else place
    if place.is_dir() and not file.exists():
        raise InputError(
            f"{place}: there is no ratings.parquet; expected the folder that "
            "'affectlab study export' wrote"
        )
    found = read_ratings(file)
    known = load_taxonomy(taxonomy)
    wide = [name for name in found.frame.columns if name in known]
    if wide and not found.has_labels:
        raise InputError(
            f"{place}: there is a column for each label, such as {wide[0]!r}; expected what "
            f"'affectlab ratings convert {place} --wide labels --scale binary' makes of it"
        )
    return found


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
    >>> from affectlab.ratings import Ratings, read_ratings
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
    asked = given.frame.select("stimulus").unique()
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


# Raters that answer a pilot by themselves: models, and functions that installed packages add.


_ANNOTATORS = Registry[Callable[[pl.DataFrame], Any]](
    kind="annotator",
    group="affectlab.annotators",
    accept=callables,
    expected="a function",
    otherwise="the folder of a model may be given, too",
)


def list_annotators() -> tuple[str, ...]:
    """Names of the annotators that installed packages add.

    A package adds one by an entry point in the group ``affectlab.annotators`` that leads to a
    function: it is given a frame with ``stimulus`` and ``text``, and gives :class:`Ratings` with
    binary answers to labels.

    Examples
    --------
    >>> isinstance(list_annotators(), tuple)
    True
    """
    return _ANNOTATORS.names()


def annotate_texts(
    annotator: str | Path | Callable[[pl.DataFrame], Ratings],
    texts: pl.DataFrame,
    path: str | Path | None = None,
    *,
    resume: bool = True,
) -> Ratings:
    """Have texts answered by a rater that is no person.

    Parameters
    ----------
    annotator
        Folder of a :class:`TextClassifier`, name of an entry point (:func:`list_annotators`), or a
        function as these lead to.
    texts
        ``stimulus`` and ``text``, shape (n,).
    path
        Folder that keeps the answers. None: they are kept nowhere.
    resume
        Where the folder holds what the same annotator answered to the same texts, take that.

    Returns
    -------
    Ratings
        Binary answers to labels; the stimuli have the attribute ``text``.

    Raises
    ------
    InputError
        When the annotator is not known, cannot be loaded, fails, or gives something else.

    Examples
    --------
    >>> def cheerful(texts):
    ...     return Ratings(
    ...         {"stimulus": texts["stimulus"], "rater": ["c"], "label": ["joy"], "value": [1]},
    ...         scale="binary",
    ...     )
    >>> told = annotate_texts(cheerful, pl.DataFrame({"stimulus": ["a"], "text": ["What a day"]}))
    >>> told.stimuli["text"].to_list()
    ['What a day']
    """
    if path is not None:
        return _kept_answers(annotator, texts, Path(path), resume=resume)
    if callable(annotator):
        answers, said = annotator(texts), getattr(annotator, "__name__", "the annotator")
    elif Path(annotator).is_dir():
        return _by_model(TextClassifier.load(annotator), texts)
    else:
        said = str(annotator)
        answers = _asked(said, texts)
    if not isinstance(answers, Ratings) or answers.scale.kind != "binary":
        found = answers.scale.kind if isinstance(answers, Ratings) else type(answers).__name__
        raise InputError(f"annotator {said}: gives {found}; expected Ratings with binary answers")
    return _with_texts(answers, texts)


def _kept_answers(annotator: Any, texts: pl.DataFrame, folder: Path, *, resume: bool) -> Ratings:
    """Have texts answered, or read what the same annotator answered to the same texts before."""
    file, note = folder / "answers.parquet", folder / "answers.annotator.json"
    name = getattr(annotator, "__name__", str(annotator))
    told = {
        "annotator": name,
        "model": PilotPredictor.of_folder(name).name if Path(name).is_dir() else "",
        "texts": hashlib.sha256(json.dumps(texts.rows()).encode()).hexdigest(),
    }
    if resume and file.is_file() and note.is_file():
        with suppress(ValueError):
            if json.loads(note.read_text(encoding="utf-8")) == told:
                return read_ratings(file)
    answers = annotate_texts(annotator, texts)
    folder.mkdir(parents=True, exist_ok=True)
    # The note comes last, so that it never speaks of other answers.
    note.unlink(missing_ok=True)
    answers.write(file)
    note.write_text(json.dumps(told, indent=1, ensure_ascii=False), encoding="utf-8")
    return answers


def _asked(name: str, texts: pl.DataFrame) -> Any:
    """What an annotator of another package answers; what goes wrong in it is told in words."""
    function = _ANNOTATORS.load(name)
    try:
        return function(texts)
    except InputError as problem:
        raise InputError(f"annotator {name!r}: {problem}") from None
    except Exception as problem:
        said = f"{type(problem).__name__}: {problem}"
        raise InputError(f"annotator {name!r} failed ({said})") from problem


def _by_model(model: TextClassifier, texts: pl.DataFrame) -> Ratings:
    """Yes or no of a model to each of its labels."""
    chosen = model.predict(texts["text"].to_list())
    table = (
        pl.DataFrame(chosen, schema=list(model.labels))
        .with_columns(texts["stimulus"].cast(pl.String), pl.lit(model.name).alias("rater"))
        .unpivot(index=["stimulus", "rater"], variable_name="label", value_name="value")
    )
    people = {"rater": [model.name], "rater_kind": ["model"]}
    return Ratings(table, scale="binary", raters=people, stimuli=texts.select("stimulus", "text"))


def _with_texts(answers: Ratings, texts: pl.DataFrame) -> Ratings:
    """Put the texts to the stimuli."""
    asked = set(texts["stimulus"].cast(pl.String).to_list())
    strange = [name for name in answers.stimulus_names if name not in asked]
    if strange:
        raise InputError(
            f"the annotator answers about {strange[0]!r}, which it was not asked about"
        )
    if "text" in answers.stimuli.columns:
        return answers
    return Ratings(
        answers.frame,
        scale=answers.scale,
        raters=answers.raters,
        stimuli=texts.select(pl.col("stimulus").cast(pl.String), "text"),
    )
