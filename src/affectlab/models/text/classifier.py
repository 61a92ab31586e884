"""What all text classifiers share, whatever computes their scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.registry import Registry
from affectlab.core.types import Bools, Floats
from affectlab.core.words import count, shown
from affectlab.evaluation.soft_labels import Calibration
from affectlab.models.runs import HubModel
from affectlab.models.text.decisions import (
    DecisionKind,
    LevelTuning,
    ScalingKind,
    tune_level,
)
from affectlab.models.text.explanations import Contributions
from affectlab.models.text.folder import load_model, save_model
from affectlab.models.text.labels import (
    check_texts,
    group_targets,
    level_logits,
    membership,
    targets_at,
)
from affectlab.models.text.model import Report, TextModel
from affectlab.models.text.settings import check_settings
from affectlab.models.text.warnings import (
    fingerprint,
    fingerprints,
    warn_of_seen,
    warn_of_test,
)
from affectlab.ratings import Ratings, mark_training
from affectlab.taxonomy import Taxonomy

__all__ = [
    "TextClassifier",
    "answers",
    "as_ratings",
    "list_backends",
    "load_backend",
    "note_tuning",
    "rate_texts",
    "tune_levels",
]

# What a model says of texts at a level: probabilities, and what is chosen.


def answers(
    model: TextClassifier,
    texts: Iterable[str],
    level: str | None,
    coherent: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> tuple[Floats, Bools]:
    """Give probabilities at a level and the groups that are chosen there, shape (n, groups).

    Chosen are those whose probability reaches the threshold of the level; or, `coherent`, those of
    the labels that are chosen without a level.

    Raises
    ------
    InputError
        When the model is not trained, a text is empty or no string, or there is no such level.
    """
    model._require_fitted()
    if level is not None and level not in model.taxonomy.levels:
        raise unknown_name("level", level, model.taxonomy.levels, model.taxonomy.name)
    outputs = model._logits(check_texts(texts), progress)

    def said(level: str | None) -> Floats:
        logits = level_logits(model.plan, outputs, level, model.group_scores)
        return model._scaling(level).apply(logits)

    probabilities = said(level)
    if level is None or not coherent:
        return probabilities, model.decision(level).decide(probabilities)
    chosen: Bools = model.decision().decide(said(None)) @ membership(model.taxonomy, level)
    return probabilities, chosen


# Calibration and thresholds of all levels of a model.


def note_tuning(model: TextClassifier, texts: Sequence[str], split: str, what: str) -> None:
    """Warn of texts that cannot serve, and keep with the model what their results suffer from."""
    warned = warn_of_test(split, what) + warn_of_seen(texts, model.seen, what)
    model.training["warnings"] = warned
    model.training["early_stopping"] = model._stopped_on(texts)


def tune_levels(
    model: TextClassifier,
    outputs: Floats,
    targets: Floats,
    *,
    judged: Floats | None = None,
    calibrate: ScalingKind,
    decision: DecisionKind,
    at_least_one: bool,
    source: str,
) -> None:
    """Fit calibration and thresholds of every level, and keep them with what they reach.

    Parameters
    ----------
    outputs
        Logits of all outputs, shape (n, outputs).
    targets
        Of the labels, 0/1 or shares of raters, shape (n, labels).
    judged
        Other logits of the same texts for what is reached, by default `outputs`.
    """
    model.decisions, model.scalings, model.tuning = {}, {}, {}
    for level in (None, *model.tuned_levels):
        wanted = targets
        if level is not None:
            wanted = group_targets(targets, membership(model.taxonomy, level))
        key = level or ""
        for held in (outputs,) if judged is None else (outputs, judged):
            scaling, rule, model.tuning[key] = tune_level(
                level_logits(model.plan, held, level, model.group_scores),
                wanted,
                model.labels_at(level),
                level=key,
                calibrate=calibrate,
                decision=decision,
                at_least_one=at_least_one,
                fitted_on=f"{source or 'texts kept aside'} ({count(len(targets))} texts)",
                seed=model.seed,
            )
            if held is outputs:
                model.scalings[key], model.decisions[key] = scaling, rule


class TextClassifier(HubModel, TextModel):
    """Gives texts probabilities of labels, and sets of labels; a rater like any other.

    A subclass is a back end: it computes one logit per text and output. Everything else is here:
    labels in any form, levels of the taxonomy, calibration, thresholds, saving, and answers as
    :class:`~affectlab.ratings.Ratings`.

    Parameters
    ----------
    taxonomy
        Taxonomy of the labels, or what :func:`~affectlab.taxonomy.load_taxonomy` finds it by.
    level
        Train on the groups of this level in place of the labels; the groups are then the labels.
    levels
        Levels whose groups are outputs beside the labels, learned at the same time; by default all
        levels that nest (Ekman and sentiment for GoEmotions), none with `level`.
    group_scores
        How groups of a level are scored: from the labels by ``"noisy_or"`` or ``"max"`` (see
        :func:`group_probabilities`), by their ``"own"`` outputs, or by a ``"blend"``, the mean of
        the logits of own output and noisy-or. Levels without outputs of their own take noisy-or for
        the latter two.
    name
        Name of the model as a rater; by default that of its back end.
    seed
        For whatever is random in training.

    Examples
    --------
    >>> TextClassifier.make("linear", taxonomy="ekman").backend
    'linear'
    """

    # -- making, training ------------------------------------------------------------------------

    @staticmethod
    def make(backend: str, **settings: Any) -> TextClassifier:
        """Make a classifier of a back end by its name.

        Raises
        ------
        InputError
            When there is no such back end, or a setting is not known or does not fit.
        """

        found = load_backend(backend)
        check_settings(backend, settings)
        try:
            return found(**settings)
        except TypeError as error:
            raise InputError(f"back end {backend!r}: {error}") from None

    def fit(
        self,
        texts: Iterable[str],
        labels: Any,
        *,
        dev: tuple[Iterable[str], Any] | None = None,
        tune: bool = True,
        source: str = "",
        progress: Report | None = None,
    ) -> Self:
        """Train on texts with known labels.

        Parameters
        ----------
        texts
            Shape (n,).
        labels
            Per text a name, or a list of names or label numbers; or an array of shape (n, labels)
            with 0/1, or with the share of raters who chose each label, which is learned as it is
            (soft labels). With `level`, labels of the taxonomy or groups of the level.
        dev
            Texts and labels kept aside: for early stopping, where the back end has it, and for
            :meth:`tune`.
        tune
            Whether to tune on `dev`, with the defaults.
        source
            Where the texts come from, for the model card.
        progress
            Is told of progress.

        Raises
        ------
        InputError
            When a text is empty or no string, or a label is not known.
        """
        given = check_texts(texts)
        targets = self._targets(labels, len(given), "labels")
        beside = None
        if dev is not None:
            dev_texts = check_texts(dev[0], "dev texts")
            dev_targets = self._targets(dev[1], len(dev_texts), "dev labels")
            beside = (dev_texts, self.plan.targets(dev_targets))
        self.seen = fingerprints(given)
        self.decisions, self.scalings, self.tuning = {}, {}, {}
        self._fit(given, self.plan.targets(targets), beside, progress)
        self.fitted = True
        soft = bool(((targets > 0) & (targets < 1)).any())
        self.training = {
            "source": source,
            "n_texts": len(given),
            "soft": soft,
            "texts_per_label": dict(
                zip(self.labels, np.round(targets.sum(axis=0), 6).tolist(), strict=True)
            ),
        }
        if dev is not None and tune:
            self.tune(dev_texts, dev_targets, progress=progress)
        return self

    def _targets(self, labels: Any, n: int, where: str) -> Floats:
        """Targets of the labels; with a level, of its groups, also from labels that make them."""
        return targets_at(labels, self.given_taxonomy, self.level, n, where)

    def truth_of(self, labels: Any, n: int) -> Bools:
        """Say which labels of the model each of n texts has, shape (n, labels).

        Parameters
        ----------
        labels
            As for :meth:`fit`; a share of raters counts from one half on.

        Raises
        ------
        InputError
            When a label is not known, or there are not n.
        """
        return np.asarray(self._targets(labels, n, "labels") >= 0.5)

    def tune(
        self,
        texts: Iterable[str],
        labels: Any,
        *,
        calibrate: ScalingKind = "temperature",
        decision: DecisionKind = "per_label",
        at_least_one: bool = False,
        source: str = "",
        split: str = "",
        progress: Report | None = None,
    ) -> dict[str, LevelTuning]:
        """Fit calibration and thresholds of every level to texts that were kept aside.

        Parameters
        ----------
        texts, labels
            As for :meth:`fit`. Calibration is fitted to shares of raters as they are; for
            thresholds and F1 a label is true from one half of the raters on.
        calibrate
            See :func:`fit_scaling`.
        decision, at_least_one
            See :func:`fit_decision`.
        source
            Where the texts come from, kept with the rules.
        split
            Name of their split. Fitting on a test split, or on texts seen in training, warns.

        Returns
        -------
        dict
            By level what the rules reach on halves of the texts that they were not fitted to; the
            labels themselves are under ``""``.
        """
        self._require_fitted()
        given = check_texts(texts)
        targets = self._targets(labels, len(given), "labels")
        note_tuning(self, given, split or source, "calibration and thresholds")
        tune_levels(
            self,
            self._logits(given, progress),
            targets,
            calibrate=calibrate,
            decision=decision,
            at_least_one=at_least_one,
            source=source,
        )
        return self.tuning

    def _stopped_on(self, texts: Sequence[str]) -> list[str]:
        """Say which networks had the epoch chosen whose weights they keep by these very texts."""
        stopped = getattr(self, "stopped_on", None)
        return [f"{self.backend}: {stopped.said()}"] if stopped and stopped.saw(texts) else []

    # -- answers ---------------------------------------------------------------------------------

    def predict_proba(
        self, texts: Iterable[str], level: str | None = None, *, progress: Report | None = None
    ) -> Floats:
        """Give the probability of each label, or each group of a level, shape (n, labels).

        Each is a probability of its own: they need not sum to 1. Calibrated once :meth:`tune` ran.

        Raises
        ------
        InputError
            When a text is empty or no string, or there is no such level.
        """
        return answers(self, texts, level, progress=progress)[0]

    def predict(
        self, texts: Iterable[str], level: str | None = None, *, coherent: bool = False
    ) -> NDArray[np.uint8]:
        """Give 0/1 for each label in the order of the taxonomy, shape (n, labels).

        Parameters
        ----------
        coherent
            Groups of a level are those of the labels that are chosen without it. By default a level
            has thresholds of its own, which are the best for F1 at that level: they may choose a
            group without any of its labels, or none for a label that is chosen.

        Raises
        ------
        InputError
            As :meth:`predict_proba`.
        """
        return answers(self, texts, level, coherent)[1].astype(np.uint8)

    def predict_labels(
        self, texts: Iterable[str], level: str | None = None, *, coherent: bool = False
    ) -> list[tuple[str, ...]]:
        """Give the names of the labels of each text; parameters as of :meth:`predict`."""
        names = self.labels_at(level)
        chosen = self.predict(texts, level, coherent=coherent)
        return [tuple(names[place] for place in np.flatnonzero(row)) for row in chosen]

    def rate(
        self,
        texts: Iterable[str],
        stimuli: Sequence[str] | None = None,
        rater: str | None = None,
        *,
        level: str | None = None,
        coherent: bool = False,
        progress: Report | None = None,
    ) -> Ratings:
        """Answer as a rater: the probability of every label for every text.

        Parameters
        ----------
        texts
            Shape (n,).
        stimuli
            Their names; by default ``text 1``, ``text 2``, …
        rater
            Name of the rater; by default that of the model.
        level
            Answer groups of this level.
        coherent
            As for :meth:`predict`.

        Returns
        -------
        Ratings
            On the interval scale 0 to 1, ``rater_kind`` model. The column ``chosen`` says 1 for
            labels that the thresholds of the model choose. ``n_seen`` and ``share_seen`` of the
            rater count the texts that the model was trained on, ``in_training`` says which.

        Raises
        ------
        InputError
            When names do not fit the texts, or one occurs twice.
        """

        return rate_texts(self, texts, stimuli, rater, level, coherent, progress)

    def reliability(
        self, texts: Iterable[str], labels: Any, level: str | None = None, **settings: Any
    ) -> Calibration:
        """Measure calibration, pooled: every probability of every label is one claim.

        Shares of raters are taken as they are. That of each label for itself stands in
        :attr:`tuning`.

        Parameters
        ----------
        settings
            Of :func:`affectlab.evaluation.calibration`, such as ``n_bins``.
        """
        from affectlab.evaluation import calibration

        given = check_texts(texts)
        targets = self._targets(labels, len(given), "labels")
        if level is not None:
            targets = group_targets(targets, membership(self.taxonomy, level))
        return calibration(self.predict_proba(given, level).ravel(), targets.ravel(), **settings)

    def explain(self, text: str, level: str | None = None) -> Contributions:  # noqa: ARG002
        """Say which words moved a prediction; not all back ends can.

        Raises
        ------
        InputError
            When the back end cannot.
        """
        raise InputError(f"back end {self.backend!r} does not say which words moved a prediction")

    # -- storing ---------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write the model to a folder, with its thresholds and a model card.

        Raises
        ------
        InputError
            When the folder cannot be made, or holds something else.
        """
        return save_model(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> TextClassifier:
        """Read a model; the folder says which back end it is of.

        Nothing in the folder is executed: it holds JSON, text and arrays of numbers.

        Raises
        ------
        InputError
            When the folder holds no model, one of another version or back end, or is not complete.
        """
        folder = Path(path)

        def backend(name: str) -> type[TextClassifier]:
            # A class that is asked itself need not be in the list.
            found = cls if name == getattr(cls, "backend", None) else load_backend(name)
            if not issubclass(found, cls):
                raise InputError(
                    f"{folder} holds a model of back end {name!r}; expected {cls.backend!r}"
                )
            return found

        return load_model(backend, folder)

    def __repr__(self) -> str:
        state = "" if self.fitted else ", not trained"
        return f"{type(self).__name__}({len(self.labels)} labels of {self.taxonomy.name}{state})"


# From probabilities to a table of ratings.


def as_ratings(
    texts: Sequence[str],
    stimuli: Sequence[str] | None,
    probabilities: Floats,
    chosen: Bools,
    *,
    taxonomy: Taxonomy,
    rater: str,
    said: str,
) -> Ratings:
    """Make a table of ratings with one row per text and label."""
    import polars as pl

    names = [f"text {row}" for row in range(1, len(texts) + 1)] if stimuli is None else [*stimuli]
    if len(names) != len(texts):
        raise InputError(
            f"stimuli: {len(names)} names; expected one for each of {len(texts)} texts"
        )
    first: dict[str, int] = {}
    for row, name in enumerate(names, 1):
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"stimuli, row {row}: {name!r} is no name; expected text")
        if first.setdefault(name, row) != row:
            raise InputError(
                f"stimuli, row {row}: {shown(name, 40)!r} stands in row {first[name]} already; "
                "expected a name of its own for each text"
            )
    k = len(taxonomy)
    stimulus = pl.Series("stimulus", names, dtype=pl.String)
    frame = pl.DataFrame(
        {
            "stimulus": stimulus.gather(np.repeat(np.arange(len(names)), k)),
            "rater": pl.Series([rater]).new_from_index(0, len(names) * k),
            "label": pl.Series(list(taxonomy.labels) * len(names), dtype=pl.String),
            "value": probabilities.ravel(),
            "chosen": chosen.ravel().astype(np.int8),
        }
    )
    return Ratings(
        frame,
        scale="0-1 interval",
        raters=pl.DataFrame({"rater": [rater], "rater_kind": ["model"], "answers": [said]}),
        stimuli=pl.DataFrame([stimulus, pl.Series("text", list(texts), dtype=pl.String)]),
        taxonomy=taxonomy,
        source=rater,
    )


def rate_texts(
    model: TextClassifier,
    texts: Iterable[str],
    stimuli: Sequence[str] | None,
    rater: str | None,
    level: str | None,
    coherent: bool,
    progress: Callable[[str, int, int], None] | None,
) -> Ratings:
    """Let a model rate texts; see :meth:`TextClassifier.rate`."""
    given = check_texts(texts)
    probabilities, chosen = answers(model, given, level, coherent, progress)
    from_labels = coherent and level is not None
    rule = model.decision(None if from_labels else level)
    how = "calibrated" if model._scaling(level).kind != "none" else "not calibrated"
    found = as_ratings(
        given,
        stimuli,
        probabilities,
        chosen,
        taxonomy=model.taxonomy if level is None else model.taxonomy.coarsen(level),
        rater=rater or model.name,
        said=f"probabilities of the {model.backend} text model {model.name!r}, {how}; "
        f"{'groups of labels ' if from_labels else ''}chosen by {rule.said()}, fitted on "
        f"{rule.fitted_on}",
    )
    if model.seen is None:
        return found
    marks = np.isin(np.array([fingerprint(text) for text in given], dtype=np.uint64), model.seen)
    names = found.stimulus_names if stimuli is None else stimuli
    return mark_training(found, [name for name, known in zip(names, marks, strict=True) if known])


# Back ends by name: those of affectlab, and those that installed packages add.


def _subclass(found: Any, where: str) -> type[TextClassifier] | None:  # noqa: ARG001
    return found if isinstance(found, type) and issubclass(found, TextClassifier) else None


_BACKENDS = Registry[type[TextClassifier]](
    kind="back end",
    group="affectlab.text_backends",
    accept=_subclass,
    expected="a subclass of TextClassifier",
    # A model's folder names its back end, and may come from others.
    from_modules=False,
    ours={
        "linear": "affectlab.models.text.linear.classifier:LinearTextClassifier",
        "transformer": "affectlab.models.text.encoders.transformer:TransformerTextClassifier",
        "embedding": "affectlab.models.text.encoders.embedding:EmbeddingTextClassifier",
        "choice": "affectlab.models.text.encoders.choice:ChoiceTextClassifier",
        "choice-embedding": "affectlab.models.text.encoders.choice:ChoiceEmbeddingTextClassifier",
    },
)


def list_backends() -> tuple[str, ...]:
    """Names of the back ends, affectlab's own first.

    Another package adds one by an entry point in the group ``affectlab.text_backends`` that leads
    to a subclass of :class:`TextClassifier`.

    Examples
    --------
    >>> "linear" in list_backends()
    True
    """
    return _BACKENDS.names()


def load_backend(name: str) -> type[TextClassifier]:
    """Find the class of a back end; its libraries are imported now.

    Raises
    ------
    InputError
        When the name is not known, or an entry point does not lead to a text classifier.
    MissingDependencyError
        When the back end needs an extra that is not installed.
    """
    return _BACKENDS.load(name)
