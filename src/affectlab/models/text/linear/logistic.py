"""Logistic regression of many labels at once on sparse features, with an L2 penalty."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from affectlab.core.compiled import LANES, in_threads, kernel
from affectlab.core.errors import InputError
from affectlab.core.types import Floats, Ints
from affectlab.models.estimators import check_parameters

__all__ = ["MultiLabelLogistic"]

_START = 1e-3
"""Distance from 0 and 1 at which the dual variables of hard labels start."""
_PULL = 100.0
"""How firmly each bias is held, in units of the curvature of the loss along it: looser, what it is
drawn to would creep; firmer, texts would hinder one another."""
_FIRMEST = 4.0
"""Most of it by a single text: the least curvature of the entropy of p."""
_CALM = 3e-3
"""Mean change of a dual variable below which the gradient is looked at, and the bias set free."""
_STEPS = 30
"""Most steps towards the maximum along one coordinate; three are usual."""
_CLOSE = 1e-4
"""Relative size of a step after which there is no other."""

Report = Callable[[str, int, int], None]


class MultiLabelLogistic(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""All labels together, each against the rest, seven times as fast as one liblinear for each.

    Minimised over weights W and biases b is

    .. math:: \tfrac12 \operatorname{tr}(W M W^\top)
        + C \sum_{il} \log(1 + e^{z_{il}}) - y_{il} z_{il}, \quad z = X W + b ,

    with M = I, or I + `coupling`. The dual is ascended one text at a time (Yu, Huang and Lin 2011;
    here for fractional y as well, where the dual variable of a text and a label is simply its
    probability, and 16 labels share one reading of the text). The bias has no penalty: it is drawn
    towards a value that follows it. Texts take ten epochs or so; few dense features and a large C
    take many more, and ``converged_`` says whether there were enough. Blocks of labels run in
    threads of their own; the result does not depend on how many there are.

    A label that no text has, or every text, has no finite minimum: its weights are 0, and its
    probability is half a text in n, or all but half a text.

    Parameters
    ----------
    cost
        C, above 0.
    tolerance
        Largest absolute entry of the gradient of the objective over C n at which to stop.
    max_epochs
        Passes over the texts at most.
    coupling
        Positive semi-definite, shape (K, K): pulls the weights of labels together. All labels are
        then one block.
    seed
        For the order of texts.

    Attributes
    ----------
    coef_
        Shape (K, D).
    intercept_
        Shape (K,).
    n_iter_
        Epochs of the block of labels that needed most.
    slope_
        Largest absolute entry of the gradient of the mean objective.
    converged_
        Whether that is within the tolerance.

    References
    ----------
    Yu, Huang and Lin (2011), Dual coordinate descent methods for logistic regression and maximum
    entropy models, Machine Learning 85.

    Examples
    --------
    >>> y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
    >>> MultiLabelLogistic(cost=100.0).fit(y.astype(float), y).predict([[1.0, 0.0]]).tolist()
    [[1, 0]]
    """

    _parameter_constraints: ClassVar = {
        "cost": [Interval(Real, 0, None, closed="neither")],
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "coupling": [np.ndarray, None],
        "seed": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        cost: float = 1.0,
        tolerance: float = 1e-4,
        max_epochs: int = 100,
        coupling: Floats | None = None,
        seed: int = 0,
    ) -> None:
        self.cost = cost
        self.tolerance = tolerance
        self.max_epochs = max_epochs
        self.coupling = coupling
        self.seed = seed

    def __sklearn_tags__(self) -> Any:
        """Say that several labels may hold, and that features may be sparse."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, progress: Report | None = None) -> Self:
        """Fit all labels.

        Parameters
        ----------
        X
            Features, shape (n, D), sparse or dense.
        y
            Shape (n, K), from 0 to 1: labels, or shares of raters; or shape (n,): one class each.

        Raises
        ------
        InputError
            When a parameter is out of range, or a target lies outside 0 to 1.

        Warns
        -----
        ConvergenceWarning
            When `max_epochs` did not suffice.
        """
        check_parameters(self)
        rows, targets = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float32, multi_output=True
        )
        targets = self._targets(targets)
        n, k = targets.shape
        rows = csr_array(rows)
        matrix = _Rows(
            np.ascontiguousarray(rows.indptr, dtype=np.int32),
            np.ascontiguousarray(rows.indices, dtype=np.int32),
            np.ascontiguousarray(rows.data, dtype=np.float32),
            rows.shape[1],
        )
        # A label that no text has, or all, has no finite bias: it gets the share of half a text.
        share = targets.mean(axis=0)
        fitted = np.flatnonzero((share > 0) & (share < 1))
        edge = np.clip(share, 0.5 / n, 1 - 0.5 / n)
        bias = np.log(edge / (1 - edge))
        weights = np.zeros((matrix.width, k), dtype=np.float32)
        mix = None
        blocks = np.array_split(fitted, -(-fitted.size // LANES)) if fitted.size else []
        if self.coupling is not None and fitted.size:
            inner = (np.eye(k) + self.coupling)[np.ix_(fitted, fitted)]
            mix, blocks = np.linalg.inv(inner).astype(np.float32), [fitted]
        said: list[tuple[int, float]] = [(1, 0.0)]

        def work(block: NDArray[np.intp]) -> None:
            ascent = _Ascent(matrix, targets[:, block], self.cost, mix, self.seed)
            told = progress if block[0] == fitted[0] else None
            said.append(ascent.run(self.tolerance, self.max_epochs, told))
            weights[:, block] = ascent.weights[:, : block.size]
            bias[block] = ascent.bias[: block.size]

        in_threads(work, blocks)
        # Features by labels is how a row of features is multiplied; scikit-learn has it turned.
        self.coef_, self.intercept_ = weights.T, bias
        epochs, slope = (max(part) for part in zip(*said, strict=True))
        self.n_iter_, self.slope_ = int(epochs), float(slope)
        self.converged_ = self.slope_ <= self.tolerance
        if not self.converged_:
            warnings.warn(
                f"training stopped after {self.max_epochs} epochs with slope {self.slope_:.2g}, "
                f"above the tolerance {self.tolerance:g}; raise max_epochs, or lower cost",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _targets(self, y: Any) -> Floats:
        """Give targets of labels, shape (n, K); one class each becomes a label for each."""
        kind = type_of_target(y)
        self._binarizer = None
        if kind in ("binary", "multiclass"):
            self._binarizer = LabelBinarizer()
            found = self._binarizer.fit_transform(np.ravel(y))
            self.classes_ = self._binarizer.classes_
            return np.asarray(found, dtype=np.float64)
        if y.ndim == 1:
            check_classification_targets(y)
        targets = np.asarray(y, dtype=np.float64)
        if not ((targets >= 0) & (targets <= 1)).all():
            raise InputError("targets: a value lies outside 0 to 1; expected shares or 0/1")
        self.classes_ = np.arange(targets.shape[1])
        return targets

    def decision_function(self, X: Any) -> Floats:
        """Give logits, shape (n, K); of two classes those of the second, shape (n,)."""
        check_is_fitted(self)
        rows = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        found = np.asarray(rows @ self.coef_.T + self.intercept_)
        return found[:, 0] if self._binarizer is not None and found.shape[1] == 1 else found

    def predict_proba(self, X: Any) -> Floats:
        """Give the probability of each label; of classes they sum to 1."""
        p = np.asarray(1 / (1 + np.exp(-self.decision_function(X))))
        if p.ndim == 1:
            return np.column_stack([1 - p, p])
        if self._binarizer is not None:
            p /= np.maximum(p.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        return p

    def predict(self, X: Any) -> Any:
        """Give the labels with a probability above .5, shape (n, K), or the class, shape (n,)."""
        logits = self.decision_function(X)
        if self._binarizer is None:
            return (logits > 0).astype(int)
        best = (logits > 0).astype(int) if logits.ndim == 1 else logits.argmax(axis=1)
        return self.classes_[best]


@dataclass(frozen=True, eq=False)
class _Rows:
    pointer: NDArray[np.int32]
    column: NDArray[np.int32]
    data: NDArray[np.float32]
    width: int

    @property
    def lengths(self) -> NDArray[np.float32]:
        """Sum of squares of every row."""
        row = np.repeat(np.arange(self.pointer.size - 1), np.diff(self.pointer))
        squares = np.bincount(row, self.data.astype(np.float64) ** 2, self.pointer.size - 1)
        return squares.astype(np.float32)

    def sums(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """X' times values, shape (features, columns)."""
        shape = (self.pointer.size - 1, self.width)
        matrix = csr_array((self.data, self.column, self.pointer), shape=shape)
        return np.ascontiguousarray(matrix.T @ values, dtype=np.float32)


class _Ascent:
    """Dual ascent of one block of labels, padded to full lanes unless labels are coupled."""

    def __init__(
        self,
        rows: _Rows,
        targets: NDArray[Any],
        cost: float,
        mix: NDArray[np.float32] | None,
        seed: int,
    ) -> None:
        n, k = targets.shape
        lanes = LANES if mix is None else k
        self._rows, self._mix, self._cost = rows, mix, np.float32(cost)
        self._rng = np.random.default_rng(seed)
        self._lengths = rows.lengths
        # Lanes without a label have a dual at its maximum: they stay where they are.
        self._targets = np.full((n, lanes), 0.5, dtype=np.float32)
        self._targets[:, :k] = targets
        start = np.clip(self._targets, np.float32(_START), np.float32(1 - _START))
        self._logit = np.log(start / (1 - start)).astype(np.float32)
        share = self._targets.mean(axis=0, dtype=np.float64)
        self._drawn_to = np.log(share / (1 - share)).astype(np.float32)
        pull = _PULL / (n * share * (1 - share))
        self._pull = np.minimum(pull, _FIRMEST).astype(np.float32)
        self._restore()

    def _restore(self) -> None:
        """Compute weights and biases from the dual variables."""
        held = 1 / (1 + np.exp(-self._logit))
        off = self._targets - held
        self.weights = self._rows.sums(self._cost * off)
        if self._mix is not None:
            self.weights = np.ascontiguousarray(self.weights @ self._mix)
        self.bias = self._drawn_to + self._pull * off.sum(axis=0, dtype=np.float64).astype(
            np.float32
        )

    def run(self, tolerance: float, max_epochs: int, progress: Report | None) -> tuple[int, float]:
        """Ascend until the gradient is small; give the number of epochs and the gradient."""
        rows = self._rows
        matrix = (rows.pointer, rows.column, rows.data)
        slope = float("inf")
        for done in range(1, max_epochs + 1):
            state: tuple[Any, ...] = (
                *(self.weights, self._logit, self.bias, self._lengths),
                *(self._cost, self._pull),
                self._rng.permutation(len(self._targets)),
            )
            if self._mix is None:
                moved = epoch(*matrix, *state)
            else:
                state = (*state, self._mix)
                moved = coupled_epoch(*matrix, *state)
            if progress is not None:
                progress("training", done, 0)
            if moved / self._targets.size > _CALM:
                continue
            slope = self._slope(matrix)
            if slope <= tolerance:
                break
            # What pulls at the bias becomes part of what it is drawn to: in the end nothing pulls.
            self.bias, self._drawn_to = 2 * self.bias - self._drawn_to, self.bias.copy()
        else:
            slope = self._slope(matrix)
        return done, slope

    def _slope(self, matrix: tuple[Any, Any, Any]) -> float:
        of_weights = np.empty_like(self.weights)
        of_bias = np.empty(self.bias.size)
        gradient(*matrix, self.weights, self._logit, self.bias, of_weights, of_bias)
        # The bias has no penalty: what draws at it is not part of the objective.
        of_bias -= (self.bias - self._drawn_to) / self._pull
        largest = max(float(np.abs(of_weights).max()), float(np.abs(of_bias).max()))
        return largest / len(self._targets)


_Singles = NDArray[np.float32]

_STEPS = 30
"""Most steps towards the maximum along one coordinate; three are usual."""
_CLOSE = 1e-4
"""Relative size of a step after which there is no other."""


@kernel
def _risen(old: Any, z: Any, step: Any) -> Any:
    """Ascend along one dual coordinate.

    The dual variable of a text and a label is a probability p, held as its logit t. The score z
    falls by `step` per unit of p, and the maximum lies where t = z: between the old t and the old
    z. Newton steps are taken as long as they stay inside what is known to hold the maximum, and
    else it is halved; where `step` is large, Newton alone would jump from end to end.
    """
    one = np.float32(1.0)
    low = min(old, z)
    high = max(old, z)
    p = one / (one + np.exp(-old))
    aim = z + step * p
    t = old
    for _ in range(_STEPS):
        above = t + step * p - aim
        if above > 0:
            high = t
        else:
            low = t
        following = t - above / (one + step * p * (one - p))
        if following < low or following > high:
            following = np.float32(0.5) * (low + high)
        moved = abs(following - t)
        t = following
        if moved <= _CLOSE * (one + abs(t)):
            break
        p = one / (one + np.exp(-t))
    return t


@kernel
def epoch(
    pointer: NDArray[np.int32],
    column: NDArray[np.int32],
    data: _Singles,
    weights: _Singles,
    logit: _Singles,
    bias: _Singles,
    length: _Singles,
    cost: Any,
    pull: _Singles,
    order: Ints,
) -> float:
    """Ascend the dual once along every text, `LANES` labels side by side.

    Parameters
    ----------
    pointer, column, data
        The texts in compressed rows.
    weights
        Shape (features, LANES); changed.
    logit
        Logits t of the dual variables, shape (texts, LANES); changed.
    bias
        Shape (LANES,); changed.
    length
        x x of every text, shape (texts,).
    cost
        Weight of the loss against the penalty.
    pull
        What each bias falls by per unit of p, shape (LANES,).
    order
        Texts in the order of this epoch.

    Returns
    -------
    Sum of the changes of p.
    """
    one = np.float32(1.0)
    z = np.empty(LANES, np.float32)
    change = np.empty(LANES, np.float32)
    moved = 0.0
    for place in range(order.size):
        text = order[place]
        for lane in range(LANES):
            z[lane] = bias[lane]
        for entry in range(pointer[text], pointer[text + 1]):
            value = data[entry]
            feature = column[entry]
            for lane in range(LANES):
                z[lane] += value * weights[feature, lane]
        step = cost * length[text]
        for lane in range(LANES):
            old = logit[text, lane]
            t = _risen(old, z[lane], step + pull[lane])
            logit[text, lane] = t
            by = one / (one + np.exp(-old)) - one / (one + np.exp(-t))
            change[lane] = cost * by
            bias[lane] += pull[lane] * by
            moved += abs(by)
        for entry in range(pointer[text], pointer[text + 1]):
            value = data[entry]
            feature = column[entry]
            for lane in range(LANES):
                weights[feature, lane] += value * change[lane]
    return moved


@kernel
def coupled_epoch(
    pointer: NDArray[np.int32],
    column: NDArray[np.int32],
    data: _Singles,
    weights: _Singles,
    logit: _Singles,
    bias: _Singles,
    length: _Singles,
    cost: Any,
    pull: _Singles,
    order: Ints,
    mix: _Singles,
) -> float:
    """Ascend the dual as :func:`epoch` does, for labels whose weights pull at each other.

    The weights are ``cost`` X' (y - p) ``mix``, where ``mix``, shape (labels, labels), is the
    inverse of the penalty's matrix over labels; biases are not coupled. Labels are taken one after
    the other, each with the scores as those before it left them, so that every step ascends.
    """
    one = np.float32(1.0)
    n_labels = mix.shape[0]
    z = np.empty(n_labels, np.float32)
    shared = np.empty(n_labels, np.float32)
    moved = 0.0
    for place in range(order.size):
        text = order[place]
        for label in range(n_labels):
            z[label] = bias[label]
            shared[label] = np.float32(0.0)
        for entry in range(pointer[text], pointer[text + 1]):
            value = data[entry]
            feature = column[entry]
            for label in range(n_labels):
                z[label] += value * weights[feature, label]
        for label in range(n_labels):
            old = logit[text, label]
            t = _risen(old, z[label], cost * length[text] * mix[label, label] + pull[label])
            logit[text, label] = t
            by = one / (one + np.exp(-old)) - one / (one + np.exp(-t))
            moved += abs(by)
            bias[label] += pull[label] * by
            for other in range(n_labels):
                gain = cost * by * mix[label, other]
                shared[other] += gain
                z[other] += length[text] * gain
        for entry in range(pointer[text], pointer[text + 1]):
            value = data[entry]
            feature = column[entry]
            for label in range(n_labels):
                weights[feature, label] += value * shared[label]
    return moved


@kernel
def gradient(
    pointer: NDArray[np.int32],
    column: NDArray[np.int32],
    data: _Singles,
    weights: _Singles,
    logit: _Singles,
    bias: _Singles,
    slope: _Singles,
    bias_slope: Floats,
) -> None:
    """Write the sum over texts of (sigma(z) - p) x into ``slope``, shape (features, labels).

    That is the gradient of the loss and of the penalty, whose part is held in the dual variables.
    The sum of sigma(z) - p itself goes into ``bias_slope``, shape (labels,).
    """
    one = np.float32(1.0)
    n_labels = bias.size
    slope[:] = np.float32(0.0)
    bias_slope[:] = 0.0
    z = np.empty(n_labels, np.float32)
    for text in range(pointer.size - 1):
        for label in range(n_labels):
            z[label] = bias[label]
        for entry in range(pointer[text], pointer[text + 1]):
            value = data[entry]
            feature = column[entry]
            for label in range(n_labels):
                z[label] += value * weights[feature, label]
        for label in range(n_labels):
            held = one / (one + np.exp(-logit[text, label]))
            z[label] = one / (one + np.exp(-z[label])) - held
            bias_slope[label] += z[label]
        for entry in range(pointer[text], pointer[text + 1]):
            value = data[entry]
            feature = column[entry]
            for label in range(n_labels):
                slope[feature, label] += value * z[label]
