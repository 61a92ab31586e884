"""Metrics of mistakes for training loops, in the form of torchmetrics.

Each class counts a confusion matrix over batches and devices, and computes what the function of
:mod:`affectlab.evaluation` computes. Needs the extra ``models``.

Examples
--------
>>> import torch
>>> metric = ECC("mikels", ["anger", "awe", "contentment"])
>>> metric.update(torch.tensor([[0.1, 0.7, 0.2], [0.2, 0.3, 0.5]]), torch.tensor([1, 1]))
>>> round(metric.compute().item(), 3)  # awe for awe, and contentment for awe: (1 + 1/2) / 2
0.75
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.evaluation.classification import Confusion
from affectlab.taxonomy import CostMatrix, Taxonomy

try:
    import torch
    from torch import Tensor
    from torchmetrics import Metric
except ImportError as missing:
    raise MissingDependencyError(
        "affectlab.models.metrics needs torch and torchmetrics; install affectlab[models]"
    ) from missing

__all__ = ["ACC2", "ECC", "EMC", "EmotionalDistance"]


class _OfConfusion(Metric):
    """A metric of the confusion matrix, which is its state."""

    is_differentiable = False
    full_state_update = False
    plot_lower_bound = 0.0
    confusion: Tensor
    """Counts, shape (C, C), true classes in rows."""
    _name: str

    def __init__(
        self,
        taxonomy: str | Taxonomy | CostMatrix | None,
        labels: Sequence[str],
        **options: Any,
    ) -> None:
        self._of_counts = options.pop("_of_counts")
        super().__init__(**options)
        self.taxonomy = taxonomy
        self.labels = tuple(labels)
        k = len(self.labels)
        # Judging one item in every cell finds what the taxonomy lacks before any training.
        self._value(np.ones((k, k)))
        self.add_state(
            "confusion", default=torch.zeros((k, k), dtype=torch.int64), dist_reduce_fx="sum"
        )

    def _value(self, counts: Any) -> float:
        seen = Confusion.from_counts(counts, self.labels, self.taxonomy, **self._of_counts)
        return seen.metric(self._name)

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Count a batch.

        Parameters
        ----------
        preds
            Scores, logits or probabilities, of shape (N, C), of which the largest is taken; or
            predicted classes, whole numbers of shape (N,).
        target
            True classes, whole numbers of shape (N,).

        Raises
        ------
        InputError
            When the shapes do not fit, or a class is not one of the C labels.
        """
        k = len(self.labels)
        target = torch.as_tensor(target)
        preds = torch.as_tensor(preds)
        if preds.ndim == 2:
            if preds.shape[1] != k:
                raise InputError(f"preds: {preds.shape[1]} columns; expected one per label, {k}")
            preds = preds.argmax(dim=1)
        if preds.ndim != 1 or preds.shape != target.shape:
            raise InputError(
                f"preds and target: shapes {tuple(preds.shape)} and {tuple(target.shape)}; "
                "expected (N, C) or (N,), and (N,)"
            )
        for name, given in (("preds", preds), ("target", target)):
            if given.is_floating_point() or given.is_complex():
                raise InputError(f"{name}: expected classes as whole numbers, got {given.dtype}")
        if not target.numel():
            return
        low = torch.minimum(preds.min(), target.min())
        high = torch.maximum(preds.max(), target.max())
        if low < 0 or high >= k:
            raise InputError(
                f"preds and target: classes run from {int(low)} to {int(high)}; expected 0 to "
                f"{k - 1}, one per label"
            )
        cell = target.long() * k + preds.long()
        self.confusion += torch.bincount(cell, minlength=k * k).reshape(k, k)

    def compute(self) -> Tensor:
        """Give the metric over all batches, a number; ``nan`` where it is not defined."""
        # The matrix is small: it is judged by the very function that judges arrays.
        value = self._value(self.confusion.cpu().numpy())
        return torch.tensor(value, dtype=torch.get_default_dtype(), device=self.confusion.device)


class ECC(_OfConfusion):
    """Emotion confusion confidence: the torch form of :func:`affectlab.evaluation.ecc`.

    Parameters
    ----------
    taxonomy
        A taxonomy, its name or path, or a cost matrix.
    labels
        Names of the classes, in the order of the model's outputs.
    costs
        A cost matrix, or the kind of costs that the taxonomy makes; its own by default.
    options
        Of :class:`torchmetrics.Metric`, such as ``sync_on_compute``.

    Raises
    ------
    InputError
        When a label is not known, or has no costs.

    Examples
    --------
    >>> import torch
    >>> metric = ECC("mikels", ["amusement", "anger", "awe"])
    >>> metric(torch.tensor([0, 1, 1]), torch.tensor([0, 1, 2])).item()  # (1 + 1 + 1/7) / 3
    0.714285...
    """

    higher_is_better = True
    plot_upper_bound = 1.0
    _name = "ecc"

    def __init__(
        self,
        taxonomy: str | Taxonomy | CostMatrix,
        labels: Sequence[str],
        *,
        costs: CostMatrix | str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(taxonomy, labels, _of_counts={"costs": costs}, **options)


class EMC(_OfConfusion):
    """Emotional misclassification confidence, the torch form of :func:`affectlab.evaluation.emc`.

    ``nan`` while there are no mistakes. Parameters and errors are those of :class:`ECC`.

    Examples
    --------
    >>> import torch
    >>> metric = EMC("mikels", ["amusement", "contentment"])
    >>> metric(torch.tensor([0, 1]), torch.tensor([0, 0])).item()
    1.0
    """

    higher_is_better = True
    plot_upper_bound = 1.0
    _name = "emc"

    def __init__(
        self,
        taxonomy: str | Taxonomy | CostMatrix,
        labels: Sequence[str],
        *,
        costs: CostMatrix | str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(taxonomy, labels, _of_counts={"costs": costs}, **options)


class EmotionalDistance(_OfConfusion):
    """Mean emotional distance: the torch form of its namesake in :mod:`affectlab.evaluation`.

    Parameters and errors are those of :class:`ECC`.

    Examples
    --------
    >>> import torch
    >>> metric = EmotionalDistance("mikels", ["amusement", "fear"])
    >>> metric(torch.tensor([0, 1]), torch.tensor([0, 0])).item()
    4.5
    """

    higher_is_better = False
    _name = "mean_emotional_distance"

    def __init__(
        self,
        taxonomy: str | Taxonomy | CostMatrix,
        labels: Sequence[str],
        *,
        costs: CostMatrix | str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(taxonomy, labels, _of_counts={"costs": costs}, **options)


class ACC2(_OfConfusion):
    """Accuracy of polarity: the torch form of :func:`affectlab.evaluation.acc2`.

    Parameters
    ----------
    taxonomy
        A taxonomy whose labels have polarities, its name or path; or nothing, with `groups`.
    labels
        Names of the classes, in the order of the model's outputs.
    groups
        Group of each label, or a level of the taxonomy; by default polarity.
    options
        Of :class:`torchmetrics.Metric`.

    Examples
    --------
    >>> import torch
    >>> metric = ACC2("mikels", ["amusement", "fear", "awe"])
    >>> metric(torch.tensor([2, 1]), torch.tensor([0, 0])).item()
    0.5
    """

    higher_is_better = True
    plot_upper_bound = 1.0
    _name = "acc2"

    def __init__(
        self,
        taxonomy: str | Taxonomy | CostMatrix | None,
        labels: Sequence[str],
        *,
        groups: dict[str, str] | str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(taxonomy, labels, _of_counts={"groups": groups}, **options)
