"""What a strategy of semi-supervised learning is told, what it sees, and what it gives."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from affectlab.core.errors import InputError
from affectlab.core.types import Floats

__all__ = [
    "PoolLabels",
    "Problem",
    "Step",
    "Strategy",
    "View",
]

CPU = torch.device("cpu")


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be learnt: told to a strategy once, before training.

    Raises
    ------
    InputError
        When counts, costs or polarity do not fit the labels, or there is nothing to learn from.
    """

    labels: tuple[str, ...]
    """Names of the C classes, in the order of the outputs."""
    counts: Tensor
    """Labelled examples of each class, shape (C,)."""
    n_labelled: int
    n_unlabelled: int
    costs: Floats | None = None
    """Costs W of mistakes, shape (C, C), in the order of `labels`."""
    polarity: tuple[int, ...] | None = None
    """Of each label: -1, 0 or +1."""
    features: int = 0
    """Width of the projected features; 0 where there are none."""
    epochs: int = 1
    steps_per_epoch: int = 1
    seed: int = 0
    device: torch.device = CPU

    def __post_init__(self) -> None:
        k = len(self.labels)
        if k < 2:
            raise InputError(f"labels: {k} given; expected two at least")
        if tuple(self.counts.shape) != (k,):
            raise InputError(
                f"counts: shape {tuple(self.counts.shape)}; expected {(k,)}, one per label"
            )
        if self.n_labelled < 1:
            raise InputError(f"n_labelled = {self.n_labelled}: expected one example at least")
        if self.n_unlabelled < 0:
            raise InputError(f"n_unlabelled = {self.n_unlabelled}: expected 0 or more")
        if self.costs is not None and self.costs.shape != (k, k):
            raise InputError(f"costs: shape {self.costs.shape}; expected {(k, k)}")
        if self.polarity is not None and (
            len(self.polarity) != k or not {*self.polarity} <= {-1, 0, 1}
        ):
            raise InputError(
                f"polarity: {self.polarity}; expected -1, 0 or +1 for each of {k} labels"
            )


@dataclass(frozen=True, eq=False)
class View:
    """What a strategy sees in one step: b labelled examples and u unlabelled ones."""

    step: int
    """Steps before this one, over all epochs."""
    epoch: int
    labelled_rows: Tensor
    """Places of the examples among all labelled ones, whole numbers of shape (b,)."""
    targets: Tensor
    """True classes, whole numbers of shape (b,)."""
    labelled_logits: Tensor
    """Shape (b, C), with gradient."""
    labelled_features: Tensor | None
    """Shape (b, F), of length 1, with gradient; None where no features are asked for."""
    rows: Tensor
    """Places among all unlabelled examples, each once, whole numbers of shape (u,)."""
    weak_logits: Tensor
    """Of the weakly augmented views, shape (u, C), without gradient."""
    weak_features: Tensor | None
    """Shape (u, F), of length 1, without gradient."""
    strong_logits: tuple[Tensor, ...]
    """Of each strongly augmented view, shape (u, C), with gradient."""
    strong_features: tuple[Tensor, ...] = ()
    """Of each strongly augmented view, shape (u, F), of length 1, with gradient; may be none."""


@dataclass(frozen=True, eq=False)
class Step:
    """What a strategy makes of a :class:`View`."""

    targets: Tensor
    """Pseudo-labels as distributions, shape (u, C), without gradient."""
    weights: Tensor
    """How much each counts, 0 to 1, shape (u,), without gradient."""
    extra: Tensor | None
    """One number that is added to the loss, weighted already; None for nothing."""
    told: dict[str, float]
    """What the history shows, such as ``threshold``, its mean over classes."""


@dataclass(frozen=True, eq=False)
class PoolLabels:
    """Classes given to both views of all unlabelled examples, before an epoch."""

    weak: Tensor
    """Whole numbers, shape (N,)."""
    strong: Tensor
    """Whole numbers, shape (N,)."""


class Strategy(nn.Module):
    """Which unlabelled examples count, and what their labels are taken to be.

    A strategy has buffers and no parameters, so that its ``state_dict`` is all that has to be kept
    to go on, and ``to`` moves it. Its constructor takes settings by name, and keeps each in an
    attribute of the same name.
    """

    name: ClassVar[str]
    strong_views: int = 1
    """Strongly augmented views of each unlabelled example that are needed."""
    wants_features: bool = False
    """Whether projected features are needed."""
    wants_pool: bool = False
    """Whether :meth:`before_epoch` needs the labels of the pool."""
    needs: ClassVar[tuple[str, ...]] = ()
    """What the problem must have: ``"costs"``, ``"polarity"``."""
    classes: int
    device: torch.device

    # That of Module takes anything, and signatures tell settings.
    def __init__(self) -> None:
        super().__init__()

    def begin(self, problem: Problem) -> None:
        """Make the buffers; called once, before a ``state_dict`` is loaded.

        Raises
        ------
        InputError
            When the problem lacks what the strategy needs.
        """
        for what in self.needs:
            if getattr(problem, what) is None:
                raise InputError(
                    f"strategy {self.name!r} needs {what} of the labels; expected a taxonomy, "
                    f"or another strategy"
                )
        if self.wants_features and problem.features < 1:
            raise InputError(
                f"strategy {self.name!r} needs features; expected a width of at least 1, "
                f"not {problem.features}"
            )
        if self.strong_views and problem.n_unlabelled < 1:
            raise InputError(
                f"strategy {self.name!r} needs unlabelled examples; expected one at least, or "
                "strategy 'supervised'"
            )
        self.classes, self.device = len(problem.labels), problem.device

    def before_epoch(
        self,
        epoch: int,  # noqa: ARG002
        pool: PoolLabels | None,  # noqa: ARG002
    ) -> dict[str, float]:
        """Look at the whole pool before an epoch; gives what the history shows."""
        return {}

    @abstractmethod
    def step(self, view: View) -> Step:
        """Label the unlabelled examples of one step, and weight them."""

    def settings(self) -> dict[str, Any]:
        """Give the settings by name: what :func:`load_strategy` makes the same strategy of."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def extra_repr(self) -> str:
        """Say the settings."""
        return ", ".join(f"{name}={value!r}" for name, value in self.settings().items())

    def features_of(self, view: View) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
        """Give the features of the labelled, the weak and the strong views.

        Raises
        ------
        InputError
            When the view has none, or too few strong ones.
        """
        labelled, weak, strong = view.labelled_features, view.weak_features, view.strong_features
        if labelled is None or weak is None or len(strong) < self.strong_views:
            raise InputError(
                f"strategy {self.name!r} needs features of labelled examples, of weak views and of "
                f"{self.strong_views} strong ones; expected them in every step"
            )
        return labelled, weak, strong
