"""The warning about texts that are longer than what a model reads."""

from __future__ import annotations

import warnings

from affectlab._words import count

__all__ = ["TruncatedTextWarning", "warn_of_truncated"]


class TruncatedTextWarning(UserWarning):
    """Some texts are longer than what a model reads."""


def warn_of_truncated(n_long: int, n: int, limit: int) -> None:
    """Warn of texts whose ends are not read."""
    if n_long:
        warnings.warn(
            f"{count(n_long)} of {count(n)} texts are longer than {count(limit)} tokens; "
            "what comes after them is not read",
            TruncatedTextWarning,
            stacklevel=3,
        )
