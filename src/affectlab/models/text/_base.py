"""What all text classifiers share, whatever computes their scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from affectlab._types import Bools, Floats
from affectlab.errors import InputError, unknown_name
from affectlab.evaluation import Calibration
from affectlab.models._store import check_folder
from affectlab.models.text._answers import answers
from affectlab.models.text._decide import DecisionKind, DecisionRule
from affectlab.models.text._explain import Contributions
from affectlab.models.text._labels import check_texts, targets_at
from affectlab.models.text._leaks import fingerprints
from affectlab.models.text._levels import (
    GroupScores,
    LevelPlan,
    group_targets,
    level_plan,
    membership,
)
from affectlab.models.text._scaling import Scaling, ScalingKind
from affectlab.models.text._settings import check_settings, check_values
from affectlab.models.text._tune import note_tuning, tune_levels
from affectlab.models.text._tuning import LevelTuning
from affectlab.ratings import Ratings
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = ["Report", "TextClassifier"]

Report: TypeAlias = Callable[[str, int, int], None]
"""Takes what is done, how much of it, and the total (0: not known)."""


class TextClassifier(ABC):
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

    backend: ClassVar[str]
    """Name of the back end."""
    shares_training: ClassVar[bool] = False
    """Whether several processes can train one model together; then each has to call `save`."""

    def __init__(
        self,
        *,
        taxonomy: str | Path | Taxonomy = "goemotions",
        level: str | None = None,
        levels: Sequence[str] | None = None,
        group_scores: GroupScores = "blend",
        name: str = "",
        seed: int = 0,
    ) -> None:
        if group_scores not in get_args(GroupScores):
            raise unknown_name("group_scores", group_scores, get_args(GroupScores))
        check_values({"level": level, "levels": levels, "name": name, "seed": seed})
        self.given_taxonomy = load_taxonomy(taxonomy)
        self.level = level
        self.taxonomy = self.given_taxonomy if level is None else self.given_taxonomy.coarsen(level)
        if "" in self.taxonomy.levels:
            raise InputError(f"taxonomy {self.taxonomy.name}: a level has no name; expected one")
        chosen = () if level is not None and levels is None else levels
        self.plan: LevelPlan = level_plan(self.taxonomy, None if chosen is None else tuple(chosen))
        self.group_scores: GroupScores = group_scores
        self.name = name or f"{self.backend} text model"
        self.seed = seed
        self.fitted = False
        self.training: dict[str, Any] = {}
        """What it was trained on: source, number of texts, texts per label; once tuned also the
        warnings, and the early stopping, that its results on dev suffer from."""
        self.decisions: dict[str, DecisionRule] = {}
        """Rules by level, under ``""`` that of the labels."""
        self.scalings: dict[str, Scaling] = {}
        """Calibration by level."""
        self.tuning: dict[str, LevelTuning] = {}
        """What rules and calibration reach on dev, by level."""
        self.seen: NDArray[np.uint64] | None = None
        """Fingerprints of the training texts."""

    # -- to be written by back ends --------------------------------------------------------------

    @abstractmethod
    def _fit(
        self, texts: Sequence[str], targets: Floats, dev: Any, progress: Report | None
    ) -> None:
        """Learn one logit per output of `plan`, whose targets are given, shape (n, outputs).

        `dev` is a pair of texts and targets in the same form, or None; it is for early stopping.
        """

    @abstractmethod
    def _logits(self, texts: Sequence[str], progress: Report | None = None) -> Floats:
        """Give the logit of every output, shape (n, outputs)."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Keyword arguments of the back end alone, as plain values, to make it again."""

    @abstractmethod
    def _save(self, folder: Path) -> None:
        """Write what was learned."""

    @abstractmethod
    def _load(self, folder: Path) -> None:
        """Read what :meth:`_save` wrote."""

    # -- making, training ------------------------------------------------------------------------

    @staticmethod
    def make(backend: str, **settings: Any) -> TextClassifier:
        """Make a classifier of a back end by its name.

        Raises
        ------
        InputError
            When there is no such back end, or a setting is not known or does not fit.
        """
        from affectlab.models.text._backends import load_backend

        found = load_backend(backend)
        check_settings(backend, settings)
        try:
            return found(**settings)
        except TypeError as error:
            raise InputError(f"back end {backend!r}: {error}") from None

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels, in the order of the taxonomy."""
        return self.taxonomy.labels

    def labels_at(self, level: str | None = None) -> tuple[str, ...]:
        """Labels, or groups of a level, in the order of columns."""
        return self.taxonomy.labels if level is None else tuple(self.taxonomy.groups(level))

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

    @property
    def tuned_levels(self) -> tuple[str, ...]:
        """Levels that thresholds are fitted for."""
        return tuple(dict.fromkeys((*self.plan.levels, *self.taxonomy.nesting_levels())))

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

    def decision(self, level: str | None = None) -> DecisionRule:
        """Give the rule of a level; before :meth:`tune`, probability from 0.5 on."""
        names = self.labels_at(level)
        rule = DecisionRule("global", names, (0.5,) * len(names), fitted_on="nothing: 0.5")
        return self.decisions.get(level or "", rule)

    def _scaling(self, level: str | None) -> Scaling:
        return self.scalings.get(level or "", Scaling())

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
            labels that the thresholds of the model choose.

        Raises
        ------
        InputError
            When names do not fit the texts, or one occurs twice.
        """
        from affectlab.models.text._rate import rate_texts

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
        from affectlab.models.text._folder import save_model

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
        from affectlab.models.text._folder import load_model

        return load_model(cls, Path(path))

    @staticmethod
    def check_folder(path: str | Path) -> None:
        """Say, before training, whether :meth:`save` could write to a folder.

        Raises
        ------
        InputError
            When the path is a file, or a folder that holds something else.
        """
        check_folder(Path(path))

    def _require_fitted(self) -> None:
        if not self.fitted:
            raise InputError("this model is not trained yet; call fit, or load one")

    def __repr__(self) -> str:
        state = "" if self.fitted else ", not trained"
        return f"{type(self).__name__}({len(self.labels)} labels of {self.taxonomy.name}{state})"
