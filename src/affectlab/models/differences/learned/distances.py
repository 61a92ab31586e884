"""Distances of two embeddings as regressors of scikit-learn, which take their difference."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVR
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from affectlab.core.errors import InputError, check_choice, check_choices
from affectlab.core.types import Floats, Ints
from affectlab.models.differences.learned.samples import SCALE
from affectlab.models.estimators import check_parameters

__all__ = [
    "LEARNERS",
    "ROUNDING",
    "ActorFolds",
    "Distance",
    "RidgeDistance",
    "SiameseDistance",
    "SvrDistance",
    "learner_name",
    "make_learner",
    "strength_search",
]

_POSITIVE = Interval(Real, 1e-9, None, closed="left")
_NOT_BELOW_0 = Interval(Real, 0.0, None, closed="left")
_COUNT = Interval(Integral, 1, None, closed="left")


class Distance(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor from differences of embeddings to how different people find two faces."""

    is_distance_: bool
    """Whether no change of a number makes two faces more alike."""
    identical_: float
    """What two identical faces get."""

    @abstractmethod
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from signed differences, shape (n, width), and scores, shape (n,)."""

    @abstractmethod
    def predict(self, X: ArrayLike) -> Floats:
        """Give the score of each difference, shape (n,)."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give all that predictions depend on."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Take what :meth:`arrays` gave; raises ValueError where shapes do not fit."""

    def __sklearn_tags__(self) -> Any:
        """Say that what rises with a size cannot follow a line."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def _learned_from(self, X: ArrayLike, y: ArrayLike) -> tuple[NDArray[Any], Floats]:
        check_parameters(self)
        x, scores = validate_data(self, X, y, y_numeric=True, dtype=[np.float32, np.float64])
        return x, np.asarray(scores, dtype=np.float64)

    def _differences(self, X: ArrayLike) -> NDArray[Any]:
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, reset=False, dtype=[np.float32, np.float64]))


class _LinearDistance(Distance):
    r""":math:`b + \sum_k w_k |x_k - y_k|`, learned on standardised sizes of differences."""

    STRENGTHS: ClassVar[tuple[float, ...]]
    """Among which :func:`strength_search` chooses."""
    FOLDS: ClassVar[int]
    PAIRS: ClassVar[int]
    """Pairs on either side of a fold that tell strengths ten times apart from one another."""
    SCORING: ClassVar[str]

    coef_: Floats
    """Points per unit of difference, shape (width,)."""
    intercept_: float

    @abstractmethod
    def _learner(self, y: Floats) -> Any:
        """Make the learner of standardised sizes."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from signed differences, shape (n, width), and scores, shape (n,)."""
        x, scores = self._learned_from(X, y)
        scaler = StandardScaler(copy=False)
        # In double precision: sums of many products of near-copies would lose what is small.
        sizes = scaler.fit_transform(np.abs(x, dtype=np.float64))
        centre = float(np.median(scores))
        self.coef_, self.intercept_, self.n_iter_ = np.zeros(x.shape[1]), centre, None
        if np.ptp(scores) > 0:
            fitted = self._learner(scores).fit(sizes, scores - centre)
            self.coef_, self.n_iter_ = fitted.coef_ / scaler.scale_, fitted.n_iter_
            offset = float(np.ravel(fitted.intercept_)[0])
            self.intercept_ = centre + offset - float(self.coef_ @ scaler.mean_)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Give the score of each difference, shape (n,)."""
        sizes = np.abs(self._differences(X))
        return np.asarray(sizes @ self.coef_.astype(sizes.dtype) + self.intercept_, np.float64)

    @property
    def is_distance_(self) -> bool:  # type: ignore[override]
        """Whether all weights are 0 or above."""
        return bool((self.coef_ >= 0).all())

    @property
    def identical_(self) -> float:  # type: ignore[override]
        """What two identical faces get."""
        return self.intercept_

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give weights and intercept."""
        return {"weights": self.coef_, "intercept": np.array([self.intercept_])}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Take weights and intercept."""
        weights, intercept = arrays["weights"], arrays["intercept"]
        if weights.ndim != 1 or intercept.shape != (1,):
            raise ValueError(f"weights of shape {weights.shape}")
        self.coef_, self.intercept_ = weights.astype(np.float64), float(intercept[0])
        self.n_features_in_ = weights.size
        return self


class RidgeDistance(_LinearDistance):
    r"""Least squares with a penalty on sizes of differences.

    Minimises :math:`\sum_i (y_i - b - w \cdot |x_i|)^2 / n + \lambda \sum_k (s_k w_k)^2` with
    standard deviations :math:`s_k`, by :class:`sklearn.linear_model.Ridge`.

    Parameters
    ----------
    strength
        Penalty per pair :math:`\lambda`, above 0.
    non_negative
        Keep all weights at 0 or above: no difference of two faces then makes them more alike.

    Examples
    --------
    >>> metric = RidgeDistance(1e-6).fit([[1.0], [-2.0], [3.0]], [20.0, 40.0, 60.0])
    >>> metric.predict([[-1.5]]).round(1).tolist(), round(metric.identical_, 1)
    ([30.0], 0.0)
    """

    _parameter_constraints: ClassVar = {"strength": [_POSITIVE], "non_negative": ["boolean"]}
    STRENGTHS = (1e-3, 1e-2, 0.1, 1.0, 10.0)
    FOLDS = 8
    PAIRS = 4000
    SCORING = "neg_mean_squared_error"

    def __init__(self, strength: float = 1e-2, non_negative: bool = False) -> None:
        self.strength = strength
        self.non_negative = non_negative

    def _learner(self, y: Floats) -> Any:
        return Ridge(self.strength * y.size, positive=self.non_negative, copy_X=False, tol=1e-6)


class SvrDistance(_LinearDistance):
    r"""Support vector regression with a linear kernel on sizes of differences.

    Minimises :math:`|w|^2 / 2 + C \sum_i \max(0, |y_i - b - w \cdot z_i| - \varepsilon)` over
    standardised sizes :math:`z`, by :class:`sklearn.svm.LinearSVR`; the offset is held back
    a little, as the weight of a constant number, the root of the width up to 10.

    Parameters
    ----------
    strength
        Regularisation per pair: C is the standard deviation of the scores over `strength` times
        the number of pairs.
    epsilon
        Errors up to here cost nothing, in points of the scale.
    tol, max_iter
        When learning ends; scikit-learn warns when it has not converged.
    """

    _parameter_constraints: ClassVar = {
        "strength": [_POSITIVE],
        "epsilon": [_NOT_BELOW_0],
        "tol": [_POSITIVE],
        "max_iter": [_COUNT],
    }
    # Weaker ones take most of the time and, where they are best, are so by less than .001 in SROCC.
    STRENGTHS = (0.1, 1.0, 10.0)
    FOLDS = 3
    PAIRS = 2000
    SCORING = "neg_mean_absolute_error"

    def __init__(
        self,
        strength: float = 0.1,
        epsilon: float = 1.0,
        tol: float = 3e-3,
        max_iter: int = 10_000,
    ) -> None:
        self.strength = strength
        self.epsilon = epsilon
        self.tol = tol
        self.max_iter = max_iter

    def _learner(self, y: Floats) -> Any:
        return LinearSVR(
            epsilon=self.epsilon,
            tol=self.tol,
            C=float(y.std()) / (self.strength * y.size),
            # More would hardly change the offset, and takes many passes.
            intercept_scaling=min(10.0, math.sqrt(self.n_features_in_)),
            max_iter=self.max_iter,
            random_state=0,
        )


ROUNDING = 1e-2
"""Length up to which the size of a projected difference is rounded off, so that it has a slope of 0
where two faces are the same."""
_HUBER = 10.0
"""Error in points from which on it counts linearly: some pairs split the raters."""
_FEWEST_STEPS = 300
"""Steps that few pairs are given, in more epochs."""


class SiameseDistance(Distance):
    r""":math:`100 (1 - e^{-d})` with :math:`d = \sum_j u_j r(p_j \cdot x - p_j \cdot y)`.

    Weights :math:`u_j` are positive and :math:`r(t) = \sqrt{t^2 + \delta^2} - \delta` is the size
    of a difference, rounded off at 0. Two identical faces get 0, and no pair gets 100 or more.
    Learning needs torch. The defaults were chosen by the test splits of one set of drawn people.

    Parameters
    ----------
    width
        Numbers that a face is brought to, at most as many as it has.
    epochs, batch
        Passes over the pairs, and pairs per step, at most an eighth of all.
    learning_rate
        Where it begins; it falls to 0 along a cosine.
    weight_decay
        How fast the projection shrinks: by this times the learning rate in a step. Frames are few
        beside its numbers, so that much of it helps with people who were not learned from.
    seed
        Of the first weights and of the order of pairs.
    """

    _parameter_constraints: ClassVar = {
        **{name: [_COUNT] for name in ("width", "epochs", "batch")},
        "learning_rate": [_POSITIVE],
        "weight_decay": [_NOT_BELOW_0],
        "seed": [Interval(Integral, 0, None, closed="left")],
    }

    projection_: NDArray[np.float32]
    """Shape (parts, width)."""
    weights_: NDArray[np.float32]
    """Above 0, shape (parts,)."""
    is_distance_ = True
    identical_ = SCALE[0]

    def __init__(
        self,
        width: int = 64,
        epochs: int = 40,
        batch: int = 4096,
        learning_rate: float = 3e-3,
        weight_decay: float = 3.0,
        seed: int = 0,
    ) -> None:
        self.width = width
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.seed = seed

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from signed differences, shape (n, width), and scores, shape (n,)."""
        given, aims = self._learned_from(X, y)
        # Before torch itself, to say what to install where it is not.
        from affectlab.models.devices import private_seed  # isort: skip
        import torch
        from torch.nn import functional

        x = torch.from_numpy(given.astype(np.float32))
        scores = torch.from_numpy(aims.astype(np.float32))
        spread = x.square().mean(dim=0).sqrt()
        scale = torch.where(spread > 0, 1.0 / torch.where(spread > 0, spread, 1.0), 0.0)
        x *= scale
        n, parts = len(x), min(self.width, x.shape[1])
        batch = max(1, min(self.batch, n // 8))
        per_epoch = math.ceil(n / batch)
        epochs = max(self.epochs, math.ceil(_FEWEST_STEPS / per_epoch))
        with private_seed(self.seed):
            projection = torch.nn.Parameter(torch.empty(parts, x.shape[1]))
            torch.nn.init.orthogonal_(projection)
            free = torch.nn.Parameter(torch.zeros(parts))
            offset = _offset(x[:4096] @ projection.detach().T, scores)
            optimiser = torch.optim.AdamW(
                [
                    {"params": [projection], "weight_decay": self.weight_decay},
                    {"params": [free], "weight_decay": 0.0},
                ],
                lr=self.learning_rate,
            )
            falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs * per_epoch)
            for _ in range(epochs):
                for part in torch.split(torch.randperm(n), batch):
                    sizes = torch.sqrt((x[part] @ projection.T) ** 2 + ROUNDING**2) - ROUNDING
                    distance = sizes @ functional.softplus(free + offset)
                    guess = SCALE[0] - (SCALE[1] - SCALE[0]) * torch.expm1(-distance)
                    loss = functional.huber_loss(guess, scores[part], delta=_HUBER)
                    optimiser.zero_grad(set_to_none=True)
                    loss.backward()  # type: ignore[no-untyped-call]
                    optimiser.step()
                    falling.step()
        if not math.isfinite(float(loss.detach())):
            raise InputError(
                "learner 'siamese': the loss is not finite any more; expected a lower learning rate"
            )
        with torch.no_grad():
            self.weights_ = functional.softplus(free + offset).numpy().copy()
            self.projection_ = (projection * scale).numpy().copy()
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Give the score of each difference, shape (n,)."""
        apart = self._differences(X)
        sizes = np.sqrt((apart @ self.projection_.T.astype(apart.dtype)) ** 2 + ROUNDING**2)
        distance = np.maximum((sizes - ROUNDING) @ self.weights_.astype(apart.dtype), 0.0)
        low, high = SCALE
        return np.asarray(low - (high - low) * np.expm1(-distance.astype(np.float64)))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give projection and weights."""
        return {"projection": self.projection_, "weights": self.weights_}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Take projection and weights."""
        projection, weights = (
            arrays[name].astype(np.float32) for name in ("projection", "weights")
        )
        if projection.ndim != 2 or weights.shape != projection.shape[:1]:
            raise ValueError(f"a projection of shape {projection.shape}")
        if (weights < 0).any():
            raise ValueError("weights below 0")
        self.projection_, self.weights_ = projection, weights
        self.n_features_in_ = projection.shape[1]
        return self


def _offset(projected: Any, scores: Any) -> float:
    """Give where weights begin: at what brings the median pair to the median score."""
    share = float(scores.median() - SCALE[0]) / (SCALE[1] - SCALE[0])
    wanted = -math.log1p(-min(max(share, 0.02), 0.95))
    weight = wanted / max(float(projected.abs().sum(dim=1).median()), 1e-6)
    return weight + math.log(-math.expm1(-weight)) if weight < 20 else weight


LEARNERS: Mapping[str, type[Distance]] = {
    "svr": SvrDistance,
    "ridge": RidgeDistance,
    "siamese": SiameseDistance,
}
"""Learners by name."""


class ActorFolds:
    """Folds that part no actor, of at most so many pairs: as many folds as there are actors."""

    def __init__(self, n_splits: int, n_pairs: int) -> None:
        self.n_splits = n_splits
        self.n_pairs = n_pairs

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Give the number of folds."""
        return min(self.n_splits, np.unique(groups).size)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Ints, Ints]]:
        """Give rows to learn from and to test, the same in every run."""
        rng = np.random.default_rng(0)
        for parts in GroupKFold(self.get_n_splits(X, y, groups)).split(X, y, groups):
            learned, tested = (np.sort(rng.permutation(rows)[: self.n_pairs]) for rows in parts)
            yield learned, tested


def strength_search(learner: _LinearDistance) -> GridSearchCV:
    """Choose the strength that predicts the actors left out best; ``fit`` takes them as ``groups``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(60, 2))
    >>> found = strength_search(RidgeDistance()).fit(
    ...     x, np.abs(x) @ [5.0, 1.0], groups=np.arange(60) % 3)
    >>> found.best_params_
    {'strength': 0.001}
    """
    return GridSearchCV(
        learner,
        {"strength": list(learner.STRENGTHS)},
        scoring=learner.SCORING,
        cv=ActorFolds(learner.FOLDS, learner.PAIRS),
    )


def make_learner(learner: Any, settings: Mapping[str, Any] | None = None) -> Any:
    """Make a learner by its name; a linear one without a strength chooses it.

    Raises
    ------
    InputError
        When the learner or a setting is not known, or a value is out of range.

    Examples
    --------
    >>> make_learner("ridge", {"strength": 0.5})
    RidgeDistance(strength=0.5)
    """
    if not isinstance(learner, str):
        return learner
    check_choice("learner", learner, LEARNERS)
    made = LEARNERS[learner]()
    given = dict(settings or {})
    check_choices("setting", given, list(made.get_params()), f"learner {learner!r}")
    made.set_params(**given)
    check_parameters(made)
    if isinstance(made, _LinearDistance) and "strength" not in given:
        return strength_search(made)
    return made


def learner_name(learner: Any) -> str:
    """Give the name of a learner: ours, or its class."""
    inner = learner.estimator if isinstance(learner, GridSearchCV) else learner
    names = {kind: name for name, kind in LEARNERS.items()}
    return names.get(type(inner), type(inner).__name__)
