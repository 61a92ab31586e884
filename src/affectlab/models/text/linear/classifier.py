"""Words and pieces of words, weighted (TF-IDF), and logistic regression; needs no torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError
from affectlab.core.types import Floats
from affectlab.models.runs import load_arrays, read_json, save_arrays, write_json
from affectlab.models.text.classifier import TextClassifier
from affectlab.models.text.explanations import Contributions
from affectlab.models.text.features import FeatureSettings, TfidfFeatures, learn_features
from affectlab.models.text.label_penalty import LabelPenalty, label_relations, laplacian
from affectlab.models.text.labels import check_texts
from affectlab.models.text.model import Report
from affectlab.models.text.settings import check_values

if TYPE_CHECKING:
    from affectlab.models.text.linear.logistic import MultiLabelLogistic

__all__ = ["LinearTextClassifier"]

_ARRAYS = "weights.npz"
_FEATURES = "features.json"


class LinearTextClassifier(TextClassifier):
    """The offline default: sparse features and one logistic regression per label.

    Features are tokens, pairs of neighbouring tokens, and pieces of words, as
    :class:`TfidfFeatures` weights them. All labels, and the groups of all levels, are fitted
    together (see :class:`MultiLabelLogistic`). Contributions of words are exact.

    Parameters
    ----------
    cost
        Weight C of the loss against the L2 penalty.
    pairs, pieces, min_texts, min_texts_piece
        See :class:`FeatureSettings`.
    tolerance, max_epochs
        When training stops.
    label_penalty, penalty_weight
        Pull weights of related labels together (see :func:`label_relations`), with this weight;
        groups of levels are not pulled. All labels are then one block, on one core.
    settings
        Of :class:`TextClassifier`: taxonomy, level, levels, group_scores, name, seed.

    Examples
    --------
    >>> model = LinearTextClassifier(taxonomy="ekman", min_texts=1, min_texts_piece=1, cost=20.0)
    >>> _ = model.fit(["so happy today", "what a joy", "i am afraid", "scared of it"],
    ...               ["joy", "joy", "fear", "fear"])
    >>> model.predict_labels(["happy and full of joy"])
    [('joy',)]
    """

    backend: ClassVar[str] = "linear"

    def __init__(
        self,
        *,
        cost: float = 0.7,
        pairs: bool = True,
        pieces: tuple[int, int] | Sequence[int] | None = (3, 5),
        min_texts: int = 2,
        min_texts_piece: int = 5,
        tolerance: float = 1e-4,
        max_epochs: int = 100,
        label_penalty: LabelPenalty | ArrayLike = "none",
        penalty_weight: float = 1.0,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        given = {"cost": cost, "pairs": pairs, "pieces": pieces, "min_texts": min_texts}
        given |= {"min_texts_piece": min_texts_piece, "tolerance": tolerance}
        given |= {"max_epochs": max_epochs, "penalty_weight": penalty_weight}
        check_values(given, "linear")
        lengths = None if pieces is None else (pieces[0], pieces[1])
        self.cost = cost
        self.feature_settings = FeatureSettings(pairs, lengths, min_texts, min_texts_piece)
        self.tolerance, self.max_epochs = tolerance, max_epochs
        self.label_penalty, self.penalty_weight = label_penalty, penalty_weight
        self.features: TfidfFeatures | None = None
        self.regression: MultiLabelLogistic | None = None

    def settings(self) -> dict[str, Any]:
        """Give the settings of this back end, as plain values."""
        penalty = self.label_penalty
        chosen = self.feature_settings
        return {
            "cost": self.cost,
            "pairs": chosen.pairs,
            "pieces": None if chosen.pieces is None else list(chosen.pieces),
            "min_texts": chosen.min_texts,
            "min_texts_piece": chosen.min_texts_piece,
            "tolerance": self.tolerance,
            "max_epochs": self.max_epochs,
            "label_penalty": penalty if isinstance(penalty, str) else np.asarray(penalty).tolist(),
            "penalty_weight": self.penalty_weight,
        }

    def _fit(
        self,
        texts: Sequence[str],
        targets: Floats,
        dev: Any,  # noqa: ARG002
        progress: Report | None,
    ) -> None:
        from affectlab.models.text.linear.logistic import MultiLabelLogistic

        if progress is not None:
            progress("counting words", 0, 0)
        features, matrix = learn_features(texts, self.feature_settings)
        self.features = features
        self.regression = MultiLabelLogistic(
            self.cost, self.tolerance, self.max_epochs, self._coupling(targets), self.seed
        ).fit(matrix, targets, progress)

    def _coupling(self, targets: Floats) -> Floats | None:
        k = len(self.taxonomy)
        relations = label_relations(self.label_penalty, self.taxonomy, targets[:, :k])
        if relations is None or self.penalty_weight == 0:
            return None
        whole = np.zeros((targets.shape[1], targets.shape[1]))
        whole[:k, :k] = self.penalty_weight * laplacian(relations)
        return whole

    def _parts(self) -> tuple[TfidfFeatures, MultiLabelLogistic]:
        if self.features is None or self.regression is None:
            raise InputError("this model is not trained yet; call fit, or load one")
        return self.features, self.regression

    def _logits(self, texts: Sequence[str], progress: Report | None = None) -> Floats:  # noqa: ARG002
        features, regression = self._parts()
        coef, intercept = regression.coef_, regression.intercept_
        found: Floats = features.transform(texts) @ coef.T + intercept
        return found

    def explain(self, text: str, level: str | None = None) -> Contributions:
        """Say exactly how much each word adds to the logit of each label.

        A logit is the bias plus the sum over features of value times weight. What a token or a
        piece of it adds belongs to the word; what a pair adds, to both its words in equal parts.
        Calibration comes after that: it divides all parts alike, or bends their sum.

        Parameters
        ----------
        level
            Explain the level's own outputs; those of groups that are made of labels alone have no
            parts that add up.

        Raises
        ------
        InputError
            When the text is empty, or the level has no outputs of its own.

        Examples
        --------
        >>> model = LinearTextClassifier(taxonomy="ekman", min_texts=1, min_texts_piece=1)
        >>> _ = model.fit(["so happy", "so scared"], ["joy", "fear"])
        >>> found = model.explain("so happy")
        >>> found.top("joy", 1)[0][0]
        'happy'
        """
        from affectlab.models.text.explanations import explain_linear

        features, regression = self._parts()
        (given,) = check_texts([text])
        part = self.plan.part(level)
        if part is None:
            known = (*self.plan.levels,)
            raise InputError(
                f"level {level!r} has no outputs of its own; expected one of: "
                f"{', '.join(known) or 'none'}, or no level"
            )
        return explain_linear(
            given,
            features,
            regression.coef_.T[:, part],
            regression.intercept_[part],
            self.labels_at(level),
            self.predict_proba([given], level)[0],
        )

    def _save(self, folder: Path) -> None:
        features, regression = self._parts()
        save_arrays(
            folder / _ARRAYS,
            {
                "weights": regression.coef_.T,
                "bias": regression.intercept_,
                "idf": features.idf,
            },
        )
        write_json(folder / _FEATURES, [*features.tokens, None, *features.pieces], lines=True)

    def _load(self, folder: Path) -> None:
        arrays = load_arrays(folder / _ARRAYS)
        names = read_json(folder / _FEATURES)
        try:
            gap = names.index(None)
            weights, bias, idf = (arrays[name] for name in ("weights", "bias", "idf"))
            fits = weights.shape == (len(names) - 1, len(self.plan.outputs))
            fits &= bias.shape == weights.shape[1:] and idf.shape == weights.shape[:1]
            fits &= all(isinstance(name, str) for name in (*names[:gap], *names[gap + 1 :]))
        except (ValueError, KeyError, AttributeError):
            fits = False
        if not fits:
            raise InputError(
                f"{folder / _ARRAYS} does not fit {_FEATURES}; the model folder is not complete"
            )
        self.features = TfidfFeatures(
            self.feature_settings, tuple(names[:gap]), tuple(names[gap + 1 :]), idf
        )
        from affectlab.models.text.linear.logistic import MultiLabelLogistic

        self.regression = MultiLabelLogistic()
        self.regression.coef_, self.regression.intercept_ = weights.T, bias.astype(np.float64)
