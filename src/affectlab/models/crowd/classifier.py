"""A classifier that learns from who answered what, as an estimator of scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_is_fitted, validate_data

from affectlab.core.arrays import places_in
from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.types import Floats
from affectlab.models.crowd import wording
from affectlab.models.crowd.network import (
    HOWS,
    Answered,
    Shape,
    fit_network,
    log_probabilities,
)

__all__ = ["CrowdClassifier"]


class CrowdClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Predict what people answer, all together and each of them.

    With h features of a stimulus (of a hidden layer where there is one), the distribution of the
    answers of rater r is

    ===================  ==========================================================================
    ``how``              :math:`p_r(c \mid h)`
    ===================  ==========================================================================
    ``majority``         :math:`\mathrm{softmax}(W h + b)`, fitted to the most frequent answer
    ``soft``             the same, fitted to the distribution of the answers
    ``crowd_layer``      :math:`\mathrm{softmax}(\log q + M_r [\log q, 1])`, q as of soft
    ``rater_embedding``  :math:`\mathrm{softmax}(W h + b + \sum_k e_{rk} V_k [h, 1])`
    ``per_rater``        :math:`\mathrm{softmax}(W h + b + D_r [h, 1])`
    ===================  ==========================================================================

    All are fitted by maximum penalised likelihood with L-BFGS. What raters have of their own
    (:math:`M_r`, :math:`e_r`, :math:`V`, :math:`D_r`) has a normal prior around 0, so that
    raters with few answers are shrunken to what all share. Everybody together, and a rater never
    seen, is predicted by the mean of the distributions of the raters of training, weighted by their
    answers. A crowd layer starts where everybody reports what is there, so that most raters have to
    read alike. It works on log probabilities, and not on probabilities as published: without
    differences between raters every way then is that of soft labels, and what is gained is due to
    who answered.

    Parameters
    ----------
    how
        See above.
    penalty
        Precision of the prior of the shared weights. Features are centred and brought to a mean
        squared length of 1, so that 1 stands for logits with a standard deviation of about 1.
    shrinkage
        Precision of the prior of what raters have of their own, in the same unit.
    width
        Numbers in the embedding of a rater.
    hidden
        Units of a hidden layer (tanh); 0: the model is linear.
    classes
        What can be answered; by default what is answered in training.
    max_iter
        Steps of L-BFGS at most.
    seed
        For starting weights of embeddings of raters and of a hidden layer.

    Attributes
    ----------
    classes_
        What can be answered, shape (classes,).
    raters_
        Names of the raters, shape (raters,).
    n_answers_
        Number of answers of each rater, shape (raters,).
    weights_
        Weights by name.
    n_iter_
        Steps of L-BFGS.

    References
    ----------
    Rodrigues and Pereira (2018), Deep learning from crowds, AAAI. Davani, Díaz and Prabhakaran
    (2022), Dealing with disagreements, TACL 10, for a head per rater. Mokhberian, Marmarelis, Hopp,
    Basile, Morstatter and Lerman (2024), Capturing perspectives of crowdsourced annotators, NAACL,
    for embeddings of raters. Peterson et al. (2019), ICCV, for soft labels.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> answers, item = [0, 0, 1, 1, 1, 1, 0, 0], [0, 1, 2, 3] * 2
    >>> raters = ["ann"] * 4 + ["bob"] * 4
    >>> model = CrowdClassifier("per_rater", penalty=0.1, shrinkage=0.1)
    >>> _ = model.fit(x, answers, raters=raters, items=item)
    >>> model.predict_for(x, "ann").tolist(), model.predict_for(x, "bob").tolist()
    ([0, 0, 1, 1], [1, 1, 0, 0])
    """

    def __init__(
        self,
        how: str = "soft",
        *,
        penalty: float = 0.3,
        shrinkage: float = 3.0,
        width: int = 4,
        hidden: int = 0,
        classes: ArrayLike | None = None,
        max_iter: int = 200,
        seed: int = 0,
    ) -> None:
        self.how = how
        self.penalty = penalty
        self.shrinkage = shrinkage
        self.width = width
        self.hidden = hidden
        self.classes = classes
        self.max_iter = max_iter
        self.seed = seed

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        raters: ArrayLike | None = None,
        items: ArrayLike | None = None,
    ) -> Self:
        """Learn from answers.

        Parameters
        ----------
        X
            Features of stimuli, shape (stimuli, features).
        y
            Answers, shape (answers,); or (answers, labels) of one kind, ``nan`` where a label was
            not answered.
        raters
            Who gave each answer, shape (answers,); by default one rater gave all.
        items
            The row of X that each answer is about, shape (answers,); by default their order.

        Raises
        ------
        ValueError
            When shapes do not fit, or a setting or an answer cannot be used; as an
            :class:`~affectlab.core.errors.InputError` where it is not what scikit-learn checks.
        """
        check_choice("how", self.how, HOWS)
        for name, low in (("penalty", 0.0), ("shrinkage", 0.0)):
            check_number(name, getattr(self, name), low, above=True)
        for name, low in (("width", 1), ("hidden", 0), ("max_iter", 1)):
            check_number(name, getattr(self, name), low, whole=True)
        # Answers about a stimulus may be several; of none at all scikit-learn has the sentence.
        unseen = None if y is None else "no_validation"
        x: Floats = validate_data(self, X, unseen, dtype=np.float64)
        answers = self._answers(y, len(x), raters, items)
        self.mean_ = x.mean(axis=0)
        length = float(np.sqrt(np.square(x - self.mean_).sum(axis=1).mean()))
        self.length_ = length if length > 0 else 1.0
        self.shape_ = Shape(
            self.how,
            x.shape[1],
            answers.code.shape[1],
            len(self.classes_),
            len(self.raters_),
            int(self.hidden),
            int(self.width),
        )
        self.weights_, self.n_iter_ = fit_network(
            self.shape_,
            self._scaled(x),
            answers,
            penalty=self.penalty,
            shrinkage=self.shrinkage,
            max_iter=self.max_iter,
            seed=self.seed,
        )
        return self

    def _answers(self, y: Any, n_items: int, raters: Any, items: Any) -> Answered:
        """Code the answers by their places, sorted by rater."""
        given = np.asarray(y)
        self._flat = given.ndim < 2 or given.shape[1] == 1
        if self._flat:
            given = column_or_1d(given, warn=True)
            assert_all_finite(given, input_name="y", estimator_name=type(self).__name__)
            check_classification_targets(given)
            given = given[:, None]
        n = len(given)
        item = _of_each("items", np.arange(n) if items is None else items, n)
        if items is None:
            check_consistent_length(given, np.empty(n_items))
        elif n and not (
            np.issubdtype(item.dtype, np.integer) and item.min() >= 0 and item.max() < n_items
        ):
            raise InputError(wording.items_outside(n_items))
        who = _of_each("raters", [""] * n if raters is None else raters, n).astype(str)
        known = given == given
        rows = known.any(axis=1)
        if not rows.any():
            raise InputError(wording.NO_ANSWER)
        given, known, item = given[rows], known[rows], item[rows].astype(np.int64)
        found = np.unique(given[known])
        self.classes_ = found if self.classes is None else np.unique(np.asarray(self.classes))
        if not np.isin(found, self.classes_).all():
            raise InputError(wording.no_class(found[~np.isin(found, self.classes_)][0]))
        self.raters_, rater, self.n_answers_ = np.unique(
            who[rows], return_inverse=True, return_counts=True
        )
        code = np.full(given.shape, -1, dtype=np.int64)
        code[known] = np.searchsorted(self.classes_, given[known])
        order = np.argsort(rater, kind="stable")
        return Answered(item[order], rater[order].astype(np.int64), code[order])

    def _scaled(self, X: Floats) -> Floats:
        return np.ascontiguousarray((X - self.mean_) / self.length_)

    def _rows(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        return self._scaled(validate_data(self, X, dtype=np.float64, reset=False))

    def _shown(self, found: Floats) -> Floats:
        """Give probabilities of one label without the axis of labels."""
        return found[:, 0] if self._flat else found

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Predict the distribution of the answers of all raters together.

        Returns
        -------
        Shape (stimuli, classes), or (stimuli, labels, classes) where answers had labels.
        """
        return self._shown(self._mean(self._rows(X)))

    def _mean(self, rows: Floats) -> Floats:
        if not self.shape_.of_raters:
            return np.exp(log_probabilities(self.shape_, self.weights_, rows, None))
        found = np.zeros((len(rows), self.shape_.n_labels, self.shape_.n_classes))
        for at, share in enumerate(self.n_answers_ / self.n_answers_.sum()):
            who = np.full(len(rows), at)
            found += share * np.exp(log_probabilities(self.shape_, self.weights_, rows, who))
        return found

    def latent_proba(self, X: ArrayLike) -> Floats:
        """Predict without what raters have of their own: the bottleneck of a crowd layer.

        It orders stimuli; how frequent a class is in it depends on how raters are shrunken.

        Returns
        -------
        As of :meth:`predict_proba`.
        """
        rows = self._rows(X)
        return self._shown(np.exp(log_probabilities(self.shape_, self.weights_, rows, None)))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the most frequent answer, shape (stimuli,) or (stimuli, labels)."""
        most = self.predict_proba(X).argmax(axis=-1)
        found: NDArray[Any] = self.classes_[most]
        return found

    def predict_proba_for(self, X: ArrayLike, raters: ArrayLike) -> Floats:
        """Predict the distribution of what raters answer.

        Parameters
        ----------
        raters
            The rater who is asked about each row, or one for all. Of raters that were not there in
            training, what all raters together answer is predicted.

        Returns
        -------
        As of :meth:`predict_proba`.
        """
        rows = self._rows(X)
        names = np.asarray(raters).astype(str)
        names = _of_each(
            "raters", np.full(len(rows), names) if names.ndim == 0 else names, len(rows)
        )
        who = places_in(self.raters_.tolist(), names.tolist())
        if not self.shape_.of_raters or (who < 0).all():
            return self._shown(self._mean(rows))
        found = np.empty((len(rows), self.shape_.n_labels, self.shape_.n_classes))
        order = np.argsort(who, kind="stable")
        seen, strange = order[who[order] >= 0], order[who[order] < 0]
        found[seen] = np.exp(log_probabilities(self.shape_, self.weights_, rows[seen], who[seen]))
        if strange.size:
            found[strange] = self._mean(rows[strange])
        return self._shown(found)

    def predict_for(self, X: ArrayLike, raters: ArrayLike) -> NDArray[Any]:
        """Predict what raters answer most probably; see :meth:`predict_proba_for`."""
        most = self.predict_proba_for(X, raters).argmax(axis=-1)
        found: NDArray[Any] = self.classes_[most]
        return found


def _of_each(what: str, given: Any, n: int) -> NDArray[Any]:
    """Check that there is one of something for each row."""
    found = np.asarray(given)
    if found.shape != (n,):
        raise InputError(wording.not_of_each(what, found.shape, n))
    return found
