"""What a file of face prompts says: sentences, ages, ethnicities and shares of genders."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from string import Formatter
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from affectlab.core.errors import check_once
from affectlab.core.files.toml import parse_toml, read_toml

__all__ = ["PromptPlan", "load_prompt_plan"]

_Name = Annotated[str, Field(min_length=1)]


class PromptPlan(BaseModel):
    """Sentences and the people in them; see ``data/face_prompts.toml`` for the built-in one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: _Name
    source: str = ""
    templates: Annotated[tuple[_Name, ...], Field(min_length=1)]
    """Sentences with ``{person}`` and ``{words}``."""
    neutral_templates: tuple[_Name, ...] = ()
    """Sentences with ``{person}`` for faces without emotion."""
    person: _Name
    """How a person is described, from ``{article}``, ``{age}``, ``{ethnicity}``, ``{gender}``."""
    ages: Annotated[tuple[Annotated[int, Field(ge=18, le=120)], ...], Field(min_length=1)]
    """Ages in years, adults only; all equally often."""
    ethnicities: Annotated[tuple[_Name, ...], Field(min_length=1)]
    """All equally often."""
    genders: Annotated[dict[_Name, Annotated[float, Field(gt=0)]], Field(min_length=1)]
    """Share of each gender; shares need not add up to 1."""

    @field_validator("templates")
    @classmethod
    def _templates(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        return _with_fields(given, {"person", "words"})

    @field_validator("neutral_templates")
    @classmethod
    def _neutral(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        return _with_fields(given, {"person"})

    @field_validator("person")
    @classmethod
    def _person(cls, given: str) -> str:
        return _with_fields((given,), {"age", "ethnicity", "gender"}, frozenset({"article"}))[0]

    @field_validator("ages", "ethnicities")
    @classmethod
    def _distinct(cls, given: tuple[object, ...]) -> tuple[object, ...]:
        check_once("value", given)
        return given

    def describe(self, age: int, ethnicity: str, gender: str) -> str:
        """Put a person into words."""
        first = self.person.format(article="", age=age, ethnicity=ethnicity, gender=gender).strip()
        article = "an" if first[:1].lower() in "aeiou" and not first.startswith("Euro") else "a"
        return self.person.format(article=article, age=age, ethnicity=ethnicity, gender=gender)


def load_prompt_plan(path: str | Path | None = None) -> PromptPlan:
    """Read a file of face prompts; without a path the built-in one.

    Raises
    ------
    InputError
        When the file cannot be used; the sentence names the key and what was expected.

    Examples
    --------
    >>> plan = load_prompt_plan()
    >>> len(plan.ages), len(plan.ethnicities), plan.genders
    (7, 14, {'man': 0.45, 'woman': 0.45, 'non-binary person': 0.1})
    """
    if path is not None:
        return read_toml(path, PromptPlan)
    text = (files("affectlab.stimuli.prompts") / "data" / "face_prompts.toml").read_text(
        encoding="utf-8"
    )
    return parse_toml(text, PromptPlan, where="built-in face_prompts.toml")


def _with_fields(
    given: tuple[str, ...],
    wanted: set[str],
    allowed: frozenset[str] = frozenset(),
) -> tuple[str, ...]:
    """Check that sentences have the fields that are filled in, and no others."""
    for sentence in given:
        try:
            found = {name for _, name, *_ in Formatter().parse(sentence) if name is not None}
        except ValueError as problem:
            raise ValueError(f"{sentence!r}: {problem}") from None
        if found - allowed != wanted:
            names = " and ".join(f"{{{name}}}" for name in sorted(wanted))
            raise ValueError(f"{sentence!r} has not just the fields {names}")
    return given
