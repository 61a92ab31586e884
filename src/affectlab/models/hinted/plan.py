"""What a hinted annotation loop is to do, as a file says it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from affectlab.core.errors import InputError
from affectlab.core.files.toml import read_toml
from affectlab.ratings import Scale
from affectlab.stimuli import load_prompt_plan
from affectlab.stimuli.prompts import PromptPlan
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = ["LATER", "HintedPlan", "load_hinted_plan"]

LATER = frozenset(
    {"target", "rounds", "budget", "floor", "patience", "per_round", "batch", "usable"}
)
"""What may change between runs in one folder: it decides how far to go, not what was done."""
_Share = Annotated[float, Field(ge=0, le=1)]


class HintedPlan(BaseModel):
    """A hinted annotation loop (emonet-face, B.1).

    Examples
    --------
    >>> plan = HintedPlan(target=50, initial=200)
    >>> plan.at_most, plan.scale, plan.expected
    (5, '0-7', 0.5)
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    taxonomy: str = "emonet_face"
    """Labels that are to be covered: a taxonomy's name, or a file."""
    labels: tuple[str, ...] = ()
    """Labels of it to look at; none named: all."""
    target: Annotated[int, Field(ge=1)] = 5000
    """Ratings above the lowest value that each label is to get (the paper: about 5,000)."""
    at_most: Annotated[int, Field(ge=1)] | None = 5
    """Labels that an answer may give more than the lowest value; absent with 0 in a file."""
    scale: str = "0-7"
    """Scale of the answers; its lowest value says that a label does not apply."""
    images: str | None = None
    """Pictures that there are already: a folder, or a table of ``stimulus`` and ``file``. They are
    annotated first, without hints."""
    initial: Annotated[int, Field(ge=0)] = 0
    """Pictures that are made for the first round, of all labels equally often, beside `images`."""
    decoys: _Share = 0.05
    """Share of the hinted pictures that are asked about once more with a wrong hint, by a rater of
    its own, to find out how far hints persuade."""
    rounds: Annotated[int, Field(ge=0)] = 20
    """Rounds of hints at most."""
    per_round: Annotated[int, Field(ge=1)] = 1000
    """Pictures made for one label in one round at most."""
    budget: Annotated[int, Field(ge=0)] | None = None
    """Pictures made at most, over all rounds; None for no limit."""
    expected: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Share of hints that are expected to be accepted, before a label has shown its own (the paper:
    about one half)."""
    floor: _Share = 0.02
    """Acceptance below which a round brings a label nothing."""
    patience: Annotated[int, Field(ge=1)] = 3
    """Rounds in a row below the floor after which a label is given up, as soon as the interval of
    the share over all its rounds (95 %) ends below the floor, too."""
    usable: _Share = 0.5
    """Share of the answers of a round that must be usable; with fewer, such as when a model
    declines, the run stops, since nothing is learned about labels and hints. 0: it never does."""
    prompts: str | None = None
    """File of sentences and people for the prompts; the built-in one where it is not given."""
    words: Annotated[int, Field(ge=1)] | None = None
    """Descriptor words drawn for a prompt; all of the label where it is not given."""
    batch: Annotated[int, Field(ge=1)] = 16
    """Pictures that the annotator is given at a time."""
    seed: Annotated[int, Field(ge=0)] = 0

    @field_validator("at_most", mode="before")
    @classmethod
    def _no_limit(cls, given: Any) -> Any:
        # TOML cannot say "none".
        return None if given == 0 and not isinstance(given, bool) else given

    @field_validator("scale")
    @classmethod
    def _numbers(cls, given: str) -> str:
        try:
            scale = Scale.parse(given)
        except InputError as problem:
            raise ValueError(str(problem)) from None
        if not scale.numeric or scale.low is None or scale.high is None or scale.low < 0:
            raise ValueError("expected two bounds, of which the lower says 'not at all'")
        return given

    @model_validator(mode="after")
    def _has_pictures(self) -> HintedPlan:
        if self.images is None and self.initial == 0:
            raise ValueError("there is nothing to begin with; expected 'images', or 'initial' > 0")
        if self.budget is not None and self.initial > self.budget:
            raise ValueError(f"initial = {self.initial} is above the budget of {self.budget}")
        return self

    def changed(self, **values: Any) -> HintedPlan:
        """Give the plan with other values, checked as those of a file are; None changes nothing.

        Raises
        ------
        InputError
            When a value cannot be used.

        Examples
        --------
        >>> HintedPlan(initial=5).changed(rounds=2, budget=None).rounds
        2
        """
        new = {name: value for name, value in values.items() if value is not None}
        try:
            return HintedPlan.model_validate(self.model_dump() | new)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            said = first["msg"].removeprefix("Value error, ")
            raise InputError(f"plan: {f'{where}: ' if where else ''}{said}") from None

    def known(self) -> Taxonomy:
        """Load the taxonomy.

        Raises
        ------
        InputError
            When there is none, or a label is not one of its labels.
        """
        found = load_taxonomy(self.taxonomy)
        for label in self.labels:
            found.name_of(label)
        return found

    def wanted(self) -> tuple[str, ...]:
        """Labels that are to be covered, in the order of the taxonomy."""
        known = self.known()
        named = {known.name_of(label) for label in self.labels}
        return tuple(label for label in known.labels if not named or label in named)

    def prompt_plan(self) -> PromptPlan:
        """Load the sentences of the prompts."""
        return load_prompt_plan(self.prompts)

    @property
    def fingerprint(self) -> str:
        """Changes with what earlier rounds would have done otherwise."""
        held = self.model_dump(mode="json", exclude=set(LATER))
        return hashlib.sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()


def load_hinted_plan(path: str | Path) -> HintedPlan:
    """Read a plan; files that it names are looked for beside it.

    Raises
    ------
    InputError
        When the file cannot be used; the sentence names the key and what was expected.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "plan.toml"
    >>> _ = file.write_text('target = 20\\ninitial = 100\\n')
    >>> load_hinted_plan(file).target
    20
    """
    place = Path(path)
    plan = read_toml(place, HintedPlan)
    home = place.resolve().parent
    beside = {
        name: str(home / given)
        for name in ("images", "prompts")
        if (given := getattr(plan, name)) is not None
    }
    if plan.taxonomy.endswith(".toml"):
        beside["taxonomy"] = str(home / plan.taxonomy)
    return plan.model_copy(update=beside)
