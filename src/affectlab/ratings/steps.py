"""Steps of the history of a table: what was decided or changed, as a kind with its facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from affectlab.core.errors import InputError, unknown_name
from affectlab.ratings.schema import StepKind
from affectlab.ratings.wording import step_text

Fact = bool | int | float | str | tuple[str, ...] | tuple[float, ...]


@dataclass(frozen=True)
class Step:
    """One step of the history of a table of ratings.

    Examples
    --------
    >>> done = step(StepKind.FILLED, n=3, value=0.0)
    >>> done["n"], str(done)
    (3, '3 absent ratings were filled with 0')
    """

    kind: StepKind
    facts: tuple[tuple[str, Fact], ...] = field(default=())
    """Numbers and names, by what they are."""
    guessed: bool = False
    """Whether it was decided without the user, who is told and may say otherwise."""

    @classmethod
    def note(cls, text: str) -> Step:
        """Make a step of words, as users of a table give it."""
        return cls(StepKind.NOTE, (("text", text),))

    @classmethod
    def parse(cls, content: Mapping[str, Any]) -> Step:
        """Read a step as :meth:`to_dict` gives it.

        Raises
        ------
        InputError
            When the kind is not known, or its facts are others.
        """
        kind = content["kind"]
        if kind not in list(StepKind):
            raise unknown_name("step", kind, map(str, StepKind))
        facts = {name: _fact(value) for name, value in content["facts"].items()}
        try:
            step_text(StepKind(kind), facts)
        except (TypeError, KeyError, ValueError) as error:
            raise InputError(f"step {kind!r}: {type(error).__name__}: {error}") from None
        return cls(StepKind(kind), tuple(facts.items()), bool(content.get("guessed", False)))

    def to_dict(self) -> dict[str, Any]:
        """Give kind, facts and whether it was guessed, as JSON has them."""
        facts = {name: list(v) if isinstance(v, tuple) else v for name, v in self.facts}
        return {"kind": str(self.kind), "facts": facts, "guessed": self.guessed}

    def get(self, name: str, default: Any = None) -> Any:
        """Give a fact by its name, or `default` where the step has none of it."""
        return dict(self.facts).get(name, default)

    def __getitem__(self, name: str) -> Any:
        return dict(self.facts)[name]

    @property
    def text(self) -> str:
        """What was done, in words, without saying whether it was guessed."""
        return step_text(self.kind, dict(self.facts))

    def __str__(self) -> str:
        return f"guessed: {self.text}" if self.guessed else self.text


History = tuple[Step, ...]


def step(kind: StepKind, *, guessed: bool = False, **facts: Any) -> Step:
    """Make a step of its facts; names in any order of their own become a tuple."""
    return Step(kind, tuple((name, _fact(value)) for name, value in facts.items()), guessed)


def guess(kind: StepKind, **facts: Any) -> Step:
    """Make a step that was guessed."""
    return step(kind, guessed=True, **facts)


@dataclass(frozen=True)
class Filling:
    """Missing ratings that were given a value."""

    value: float
    by: str
    """``published`` or ``asked``; empty where nothing says so."""
    n: int
    at_most: bool
    """Whether later steps may have left some of them out."""


def fillings(history: History) -> tuple[Filling, ...]:
    """Find the steps that gave missing ratings a value."""
    kinds = (StepKind.FILLED, StepKind.CELLS_FILLED)
    return tuple(
        Filling(one["value"], one.get("by", ""), one["n"], place < len(history))
        for place, one in enumerate(history, start=1)
        if one.kind in kinds
    )


def as_step(given: str | Step) -> Step:
    """Take a step as it is, and words as a note."""
    return Step.note(given) if isinstance(given, str) else given


def _fact(value: Any) -> Fact:
    if isinstance(value, str | bool | int | float):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, Iterable):
        return tuple(str(one) if isinstance(one, str) else one for one in value)
    number: float = value.item()
    return number
