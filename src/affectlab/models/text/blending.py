"""Two classifiers whose logits are mixed, with a weight fitted to texts kept aside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Floats, Ints
from affectlab.models.runs import read_json, write_json
from affectlab.models.text.classifier import TextClassifier, note_tuning, tune_levels
from affectlab.models.text.decisions import (
    DecisionKind,
    LevelTuning,
    ScalingKind,
    best_thresholds,
    fit_scaling,
    sigmoid,
)
from affectlab.models.text.labels import check_texts
from affectlab.models.text.model import Report
from affectlab.models.text.settings import check_settings

__all__ = ["BlendTextClassifier", "Criterion", "blend", "fit_blend_weight"]

Criterion: TypeAlias = Literal["macro_f1", "loss"]

_WEIGHTS = "weights.json"
_PARTS = ("first", "second")
_STEPS = 20


class BlendTextClassifier(TextClassifier):
    """The weighted mean of the logits of two classifiers.

    Logits of each are first divided by a temperature, so that the weight says how much each counts
    and not how loud it is. Temperatures and weight are fitted to dev texts (see
    :func:`fit_blend_weight`), again whenever thresholds are tuned. What :attr:`tuning` says is
    cross-fitted: no text is judged by a weight that was fitted to it.

    Parameters
    ----------
    first, second
        Back ends by name, or classifiers; trained ones are kept as they are by :func:`blend`.
    first_settings, second_settings
        Settings of the back ends that are given by name.
    criterion
        What the weight is chosen for, see :func:`fit_blend_weight`.
    settings
        Of :class:`TextClassifier`.

    Examples
    --------
    >>> model = BlendTextClassifier(taxonomy="ekman", first="linear", second="linear",
    ...                             second_settings={"pairs": False})
    >>> model.parts[1].settings()["pairs"]
    False
    """

    backend: ClassVar[str] = "blend"

    def __init__(
        self,
        *,
        first: str | TextClassifier = "linear",
        second: str | TextClassifier = "embedding",
        first_settings: Mapping[str, Any] | None = None,
        second_settings: Mapping[str, Any] | None = None,
        criterion: Criterion = "macro_f1",
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        check_choice("criterion", criterion, get_args(Criterion))
        self.criterion: Criterion = criterion
        self.parts: tuple[TextClassifier, TextClassifier] = (
            self._part(first, first_settings),
            self._part(second, second_settings),
        )
        """The two classifiers."""
        self.weight = 0.5
        """Share of the second in the mean."""
        self.temperatures = (1.0, 1.0)

    def _part(self, given: str | TextClassifier, own: Mapping[str, Any] | None) -> TextClassifier:
        if isinstance(given, TextClassifier):
            if own:
                raise InputError("settings of a part go with its name; this part is a classifier")
            if given.plan.outputs != self.plan.outputs:
                raise InputError(
                    f"{given!r} has other outputs than the blend; expected the same taxonomy and "
                    "levels"
                )
            return given
        check_settings(given, own or {}, shared=False)
        return TextClassifier.make(
            given,
            taxonomy=self.given_taxonomy,
            level=self.level,
            levels=self.plan.levels,
            group_scores=self.group_scores,
            seed=self.seed,
            **(own or {}),
        )

    def settings(self) -> dict[str, Any]:
        """Give the settings of this back end, as plain values."""
        names = dict(zip(_PARTS, (part.backend for part in self.parts), strict=True))
        own = {
            f"{name}_settings": part.settings()
            for name, part in zip(_PARTS, self.parts, strict=True)
        }
        return {**names, **own, "criterion": self.criterion}

    def _fit(
        self, texts: Sequence[str], targets: Floats, dev: Any, progress: Report | None
    ) -> None:
        if dev is None:
            raise InputError("a blend needs dev texts to fit its weight to; expected dev=")
        for part in self.parts:
            part._fit(texts, targets, dev, progress)
            part.fitted = True
        self._weigh(*self._both(dev[0], progress), dev[1])

    def _both(self, texts: Sequence[str], progress: Report | None) -> tuple[Floats, Floats]:
        first, second = (part._logits(texts, progress) for part in self.parts)
        return first, second

    def _weigh(self, first: Floats, second: Floats, targets: Floats) -> None:
        k = len(self.taxonomy)
        self.weight, self.temperatures = fit_blend_weight(
            first[:, :k], second[:, :k], targets[:, :k], self.criterion
        )

    def _logits(self, texts: Sequence[str], progress: Report | None = None) -> Floats:
        return _mixed(*self._both(texts, progress), self.weight, self.temperatures)

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
        """Fit weight, calibration and thresholds; parameters as of :meth:`TextClassifier.tune`."""
        self._require_fitted()
        given = check_texts(texts)
        targets = self._targets(labels, len(given), "labels")
        note_tuning(self, given, split or source, "weight, calibration and thresholds")
        first, second = self._both(given, progress)
        self._weigh(first, second, targets)
        tune_levels(
            self,
            _mixed(first, second, self.weight, self.temperatures),
            targets,
            judged=self._out_of_fold(first, second, targets),
            calibrate=calibrate,
            decision=decision,
            at_least_one=at_least_one,
            source=source,
        )
        return self.tuning

    def _stopped_on(self, texts: Sequence[str]) -> list[str]:
        return [said for part in self.parts for said in part._stopped_on(texts)]

    def _out_of_fold(self, first: Floats, second: Floats, targets: Floats) -> Floats:
        """Mix each half of the texts with the weight of the other half."""
        k = len(self.taxonomy)
        order: Ints = np.random.default_rng(self.seed).permutation(len(first))
        halves = order[: len(order) // 2], order[len(order) // 2 :]
        found = np.empty_like(first)
        for fit, judge in (halves, halves[::-1]):
            # One text alone has nothing beside it that a weight could be fitted to.
            rows = fit if len(fit) else judge
            weight, temperatures = fit_blend_weight(
                first[rows, :k], second[rows, :k], targets[rows], self.criterion
            )
            found[judge] = _mixed(first[judge], second[judge], weight, temperatures)
        return found

    def _save(self, folder: Path) -> None:
        for name, part in zip(_PARTS, self.parts, strict=True):
            (folder / name).mkdir(exist_ok=True)
            part._save(folder / name)
        write_json(
            folder / _WEIGHTS,
            {"weight": self.weight, "temperatures": list(self.temperatures)},
        )

    def _load(self, folder: Path) -> None:
        held = read_json(folder / _WEIGHTS)
        try:
            self.weight = float(held["weight"])
            first, second = (float(value) for value in held["temperatures"])
            fits = 0 <= self.weight <= 1 and 0 < first < np.inf and 0 < second < np.inf
        except (KeyError, TypeError, ValueError, OverflowError):
            fits = False
        if not fits:
            raise InputError(
                f"{folder / _WEIGHTS}: expected a weight and two temperatures, 0 to 1 and above 0"
            )
        self.temperatures = (first, second)
        for name, part in zip(_PARTS, self.parts, strict=True):
            part._load(folder / name)
            part.fitted = True


def blend(
    first: TextClassifier,
    second: TextClassifier,
    texts: Iterable[str],
    labels: Any,
    *,
    criterion: Criterion = "macro_f1",
    name: str = "",
    source: str = "",
    progress: Report | None = None,
) -> BlendTextClassifier:
    """Blend two trained classifiers, and tune the blend on texts that were kept aside.

    Parameters
    ----------
    first, second
        Trained on the same taxonomy and levels.
    texts, labels, source
        As for :meth:`TextClassifier.tune`; neither may have been trained on them.

    Raises
    ------
    InputError
        When the two have other outputs, or one is not trained.
    """
    for part in (first, second):
        part._require_fitted()
    found = BlendTextClassifier(
        taxonomy=first.given_taxonomy,
        level=first.level,
        levels=first.plan.levels,
        group_scores=first.group_scores,
        name=name,
        seed=first.seed,
        first=first,
        second=second,
        criterion=criterion,
    )
    held = [part.seen for part in (first, second) if part.seen is not None]
    found.seen = np.unique(np.concatenate(held)) if held else None
    found.training = dict(first.training)
    found.fitted = True
    found.tune(texts, labels, source=source, progress=progress)
    return found


def fit_blend_weight(
    first: Floats, second: Floats, targets: Floats, criterion: Criterion = "macro_f1"
) -> tuple[float, tuple[float, float]]:
    """Fit the weight of two sets of logits in their mean.

    Parameters
    ----------
    first, second
        Logits of the labels, shape (n, labels).
    targets
        0/1 or shares, the same shape.
    criterion
        ``"macro_f1"``: the weight, in steps of 0.05, with the highest macro F1 at the best
        threshold of each label. ``"loss"``: that with the least log loss.

    Returns
    -------
    tuple
        Weight of the second, 0 to 1, and the temperatures that both are divided by before.

    Examples
    --------
    >>> true = np.array([[1.0], [0.0], [1.0], [0.0]])
    >>> logits = np.array([[2.0], [-1.0], [-0.5], [0.5]])
    >>> fit_blend_weight(logits, 3 * logits, true, "loss")[0]
    0.5
    """
    truth = targets >= 0.5
    temperatures = (
        fit_scaling(first, targets).temperature,
        fit_scaling(second, targets).temperature,
    )
    reached: list[float] = []
    weights = np.linspace(0.0, 1.0, _STEPS + 1)
    for weight in weights:
        mixed = _mixed(first, second, float(weight), temperatures)
        if criterion == "loss":
            # A mean of two is less sure than it should be: its own temperature is fitted later.
            mixed = mixed / fit_scaling(mixed, targets).temperature
            reached.append(-float((np.logaddexp(0.0, mixed) - targets * mixed).mean()))
        else:
            f1 = best_thresholds(sigmoid(mixed), truth)[1]
            reached.append(float(np.nanmean(f1)) if not np.isnan(f1).all() else 0.0)
    # Of equals the middle one: neither part is left out without a reason.
    best = np.flatnonzero(np.isclose(reached, np.max(reached), rtol=0, atol=1e-12))
    return float(weights[best[len(best) // 2]]), temperatures


def _mixed(
    first: Floats, second: Floats, weight: float, temperatures: tuple[float, float]
) -> Floats:
    found: Floats = (1 - weight) * first / temperatures[0] + weight * second / temperatures[1]
    return found
