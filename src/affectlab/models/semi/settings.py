"""How a model learns from labelled and unlabelled examples: the settings, checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

import numpy as np

from affectlab.core.errors import InputError, check_choice
from affectlab.models.vision import VisionTraining

__all__ = [
    "SemiTraining",
    "Switch",
    "SwitchWhen",
]


@dataclass(frozen=True)
class SemiTraining(VisionTraining):
    """Settings of a semi-supervised training run, beside those of :class:`VisionTraining`.

    An epoch is as many steps as it takes to see every example once, labelled or not; the fewer are
    then seen several times. ``batch_size`` counts labelled examples, ``augment`` is the weak
    change, of labelled examples too.

    Examples
    --------
    >>> SemiTraining(batch_size=8, ratio=7).steps_of(n_labelled=16, n_unlabelled=560)
    10
    """

    ratio: int = 7
    """Unlabelled examples for each labelled one in a step."""
    lam_u: float = 1.0
    """Weight of the loss on unlabelled examples."""
    ema: float = 0.999
    """Of the moving average of the weights, which is what is judged and kept; 0: the weights
    themselves. Over the first steps the average is shorter: (1 + step) / (10 + step)."""
    strong: str = "strong"
    """How unlabelled examples are changed strongly (see :mod:`affectlab.models.augment`)."""
    features: int = 64
    """Width of projected features, for strategies that compare examples."""
    steps: int | None = None
    """Steps of an epoch; None: as many as it takes to see every example."""

    def __post_init__(self) -> None:
        """Check all settings.

        Raises
        ------
        InputError
            For the first that does not fit.
        """
        super().__post_init__()
        from affectlab.models.augment import list_augmentations

        check_choice("augmentation", self.strong, list_augmentations())
        if self.micro_batch is not None:
            raise InputError(
                f"micro_batch = {self.micro_batch}: strategies look at whole batches; expected "
                "none, and a smaller batch_size or ratio"
            )
        for name in ("ratio", "features", "steps"):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
            if not whole and not (name == "steps" and value is None):
                raise InputError(f"{name} = {value}: expected a whole number from 1 on")
        if not (isinstance(self.lam_u, int | float) and 0 <= self.lam_u < math.inf):
            raise InputError(f"lam_u = {self.lam_u}: expected a number from 0 on")
        if not (isinstance(self.ema, int | float) and 0 <= self.ema < 1):
            raise InputError(f"ema = {self.ema}: expected a number from 0 to below 1")

    def steps_of(self, n_labelled: int, n_unlabelled: int) -> int:
        """Give the steps of an epoch."""
        if self.steps is not None:
            return self.steps
        labelled = -(-n_labelled // self.batch_size)
        return max(labelled, -(-n_unlabelled // (self.batch_size * self.ratio)))

    def base(self, **changed: Any) -> VisionTraining:
        """Give the settings that any vision classifier is trained with."""
        own = {field.name: getattr(self, field.name) for field in fields(VisionTraining)}
        return VisionTraining(**{**own, **changed})

    def added(self) -> dict[str, Any]:
        """Give the settings that are not of :class:`VisionTraining`, as plain values."""
        known = {field.name for field in fields(VisionTraining)}
        return {name: value for name, value in self.to_dict().items() if name not in known}


# When the labelled loss changes from cross-entropy to the one that was asked for.


SwitchWhen: TypeAlias = Literal["start", "converging", "never"] | int
"""From the first epoch on, once convergence begins, never, or from an epoch on, counted from 1."""


@dataclass(frozen=True)
class Switch:
    r"""Learn with cross-entropy first, and with the loss that was asked for later.

    With :math:`m_e` the mean of the labelled loss over the last `window` epochs, convergence has
    begun after epoch e where

    .. math:: m_{e-w} - m_e < \text{tolerance} \cdot m_{e-w} .

    So the rule needs two windows of epochs before it can say anything. The paper says that the loss
    changes once training "starts to converge", and no rule for it; this one is ours.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, section 4.2.2.

    Examples
    --------
    >>> switch = Switch("converging", window=1, tolerance=0.1)
    >>> switch.after([2.0, 1.0]), switch.after([2.0, 1.0, 0.95])
    (False, True)
    """

    when: SwitchWhen = "start"
    window: int = 3
    """Epochs that the loss is averaged over."""
    tolerance: float = 0.05
    """Share by which the average must fall from window to window while training has not begun to
    converge."""

    def __post_init__(self) -> None:
        """Check the settings.

        Raises
        ------
        InputError
            For the first that does not fit.
        """
        number = isinstance(self.when, int) and not isinstance(self.when, bool)
        if not (number and int(self.when) >= 1) and self.when not in (
            "start",
            "converging",
            "never",
        ):
            raise InputError(
                f"switch = {self.when!r}: expected start, converging, never, or an epoch from 1 on"
            )
        if not isinstance(self.window, int) or isinstance(self.window, bool) or self.window < 1:
            raise InputError(f"window = {self.window}: expected a whole number from 1 on")
        if not isinstance(self.tolerance, int | float) or not 0 <= self.tolerance < 1:
            raise InputError(f"tolerance = {self.tolerance}: expected a share from 0 to below 1")

    def after(self, losses: Sequence[float]) -> bool:
        """Say whether the next epoch learns with the loss that was asked for.

        Parameters
        ----------
        losses
            Mean labelled loss of each epoch so far, all of them of cross-entropy.
        """
        if self.when == "start":
            return True
        if self.when == "never":
            return False
        if self.when != "converging":
            return len(losses) + 1 >= int(self.when)
        if len(losses) < 2 * self.window:
            return False
        before = float(np.mean(losses[-2 * self.window : -self.window]))
        now = float(np.mean(losses[-self.window :]))
        return before - now < self.tolerance * before

    def to_dict(self) -> dict[str, Any]:
        """Give what decides, as plain values."""
        if self.when != "converging":
            return {"switch": self.when}
        return {"switch": self.when, "window": self.window, "tolerance": self.tolerance}
