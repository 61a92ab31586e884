"""Compiled counting of drawn things. Import from here inside the function that needs it."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.types import Floats


@kernel
def tally(drawn: NDArray[Any], weights: Floats) -> None:
    """Count how often each thing was drawn, per row; ``weights`` is zero before."""
    for b in range(drawn.shape[0]):
        for k in range(drawn.shape[1]):
            weights[b, drawn[b, k]] += 1.0
