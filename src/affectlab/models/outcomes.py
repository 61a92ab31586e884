"""Which outcomes of a question to a model are asked about again."""

from __future__ import annotations

from collections.abc import Collection

from affectlab.core.errors import InputError, check_choice
from affectlab.evaluation import OUTCOMES

__all__ = ["again_outcomes"]


def again_outcomes(again: Collection[str] | str) -> frozenset[str]:
    """Check the outcomes that a user wants to be asked about again.

    Raises
    ------
    InputError
        For a name that is none, or ``ok``.

    Examples
    --------
    >>> sorted(again_outcomes(["refused", "empty"]))
    ['empty', 'refused']
    """
    names = [again] if isinstance(again, str) else list(again)
    for name in names:
        check_choice("outcome", name, OUTCOMES, "again")
        if name == "ok":
            raise InputError("again: a usable answer is not asked again")
    return frozenset(names)
