"""When the labelled loss changes from cross-entropy to the one that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from affectlab.errors import InputError

__all__ = ["Switch", "SwitchWhen"]

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
