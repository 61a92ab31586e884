"""The parts of a run: one that fails leaves its reason, and the others go on."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from affectlab.errors import InputError
from affectlab.recipes._recipe import Finding, PartFailure, RecipeFigure, RecipeRun

__all__ = ["Parts"]


class Parts:
    """What the parts of a run find; a part that fails does not end the run.

    Parameters
    ----------
    done
        Receives the name of each part that is done.

    Examples
    --------
    >>> parts = Parts()
    >>> with parts("means", "mean."):
    ...     parts.add({"mean.age": Finding(30.0)})
    >>> with parts("transfer", "transfer."):
    ...     raise InputError("there is one text; expected several")
    >>> [(one.part, one.reason) for one in parts.to_run().failures]
    [('transfer', 'there is one text; expected several')]
    """

    def __init__(self, done: Callable[[str], None] = lambda _: None) -> None:
        self.findings: dict[str, Finding] = {}
        self.notes: list[str] = []
        self.figures: list[RecipeFigure] = []
        self.failures: list[PartFailure] = []
        self._done = done

    @contextmanager
    def __call__(self, part: str, *keys: str) -> Iterator[None]:
        """Run a part; `keys` are the beginnings of the keys of the figures that it finds.

        Whatever goes wrong in it is noted as a failure, except that the user stops the run. What
        it had found, noted and drawn before is left out, as it may be half of something.
        """
        n_notes, n_figures = len(self.notes), len(self.figures)
        try:
            yield
        except Exception as error:  # noqa: BLE001
            # Hours of other parts must not be lost to a defect, of ours or of a library, in one.
            del self.notes[n_notes:], self.figures[n_figures:]
            reason, where = str(error), ""
            if not isinstance(error, InputError):
                reason, where = f"{type(error).__name__}: {error}", traceback.format_exc()
            self.failures.append(PartFailure(part, reason.rstrip("."), keys, where))
        else:
            self._done(part)

    def add(
        self,
        findings: Mapping[str, Finding],
        notes: Iterable[str] = (),
        figures: Iterable[RecipeFigure] = (),
    ) -> None:
        """Add what a part found."""
        self.findings |= findings
        self.notes += notes
        self.figures += figures

    def failed(self, part: str) -> bool:
        """Tell whether a part failed before, as with another seed."""
        return any(one.part == part for one in self.failures)

    def to_run(self, **more: Any) -> RecipeRun:
        """Give the run; `more` are its other fields, such as ``inputs`` and ``seeds``.

        What a part had found before it failed is left out, as it may be half of a value.
        """
        left_out = tuple(key for one in self.failures for key in one.keys)
        findings = {
            key: one
            for key, one in self.findings.items()
            if not (left_out and key.startswith(left_out))
        }
        return RecipeRun(
            findings,
            notes=tuple(self.notes),
            figures=tuple(self.figures),
            failures=tuple(self.failures),
            **more,
        )
