"""``affectlab train``: models that answer as raters do. One module per verb."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

__all__ = ["in_one_process"]


def in_one_process(verb: Callable[..., None]) -> Callable[..., None]:
    """Refuse to run a verb in processes that were started together, before it reads anything."""

    @wraps(verb)
    def run(*given: Any, **options: Any) -> None:
        from affectlab.models.processes import one_process

        one_process(f"affectlab train {verb.__name__}")
        verb(*given, **options)

    return run
