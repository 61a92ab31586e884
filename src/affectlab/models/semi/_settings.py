"""How a model learns from labelled and unlabelled examples: the settings, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from affectlab.errors import InputError, unknown_name
from affectlab.models.vision._training import VisionTraining

__all__ = ["SemiTraining"]


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

        if self.strong not in list_augmentations():
            raise unknown_name("augmentation", self.strong, list_augmentations())
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
