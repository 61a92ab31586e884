"""What a hinted annotation loop is to do, as a file says it."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from affectlab.core.errors import InputError
from affectlab.core.files.toml import problem_of, read_toml
from affectlab.ratings import Scale
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = ["LATER", "HintedPlan", "load_hinted_plan"]

LATER = frozenset({"target", "rounds", "budget", "floor", "per_round", "batch", "usable"})
"""What may change between runs in one folder: it decides how far to go, not what was done."""
_Share = Annotated[float, Field(ge=0, le=1)]


def _numbers(given: str) -> str:
    scale = Scale.parse(given)
    if not scale.numeric or scale.low is None or scale.high is None or scale.low < 0:
        raise ValueError("expected two bounds, of which the lower says 'not at all'")
    return given


class HintedPlan(BaseModel):
    """A hinted annotation loop (emonet-face, B.1).

    Examples
    --------
    >>> plan = HintedPlan(target=50, initial=200)
    >>> plan.at_most, plan.scale, plan.rounds
    (5, '0-7', 20)
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    taxonomy: str = "emonet_face"
    """Labels that are to be covered: a taxonomy's name, or a file."""
    labels: tuple[str, ...] = ()
    """Labels of it to look at; none named: all."""
    target: Annotated[int, Field(ge=1)] = 5000
    """Ratings above the lowest value that each label is to get (the paper: about 5,000)."""
    at_most: Annotated[int, Field(ge=0)] = 5
    """Labels that an answer may give more than the lowest value; 0: as many as it likes."""
    scale: Annotated[str, AfterValidator(_numbers)] = "0-7"
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
    floor: _Share = 0.02
    """Share of hints followed below which a label is given up: the interval of its share (95 %)
    must end below it."""
    usable: _Share = 0.5
    """Share of the answers of a round that must be usable; with fewer, such as when a model
    declines, the run stops, since nothing is learned about labels and hints. 0: it never does."""
    prompts: str | None = None
    """File of sentences and people for the prompts; the built-in one where it is not given."""
    batch: Annotated[int, Field(ge=1)] = 16
    """Pictures that the annotator is given at a time."""
    seed: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _has_pictures(self) -> HintedPlan:
        if self.images is None and self.initial == 0:
            raise ValueError("there is nothing to begin with; expected 'images', or 'initial' > 0")
        if self.budget is not None and self.initial > self.budget:
            raise ValueError(f"initial = {self.initial} is above the budget of {self.budget}")
        return self

    @cached_property
    def known(self) -> Taxonomy:
        """The taxonomy.

        Raises
        ------
        InputError
            When there is none.
        """
        return load_taxonomy(self.taxonomy)

    def wanted(self) -> tuple[str, ...]:
        """Labels that are to be covered, in the order of the taxonomy.

        Raises
        ------
        InputError
            When one is not known.
        """
        named = {self.known.name_of(label) for label in self.labels}
        return tuple(label for label in self.known.labels if not named or label in named)

    @cached_property
    def lowest(self) -> float:
        """Value that says that a label does not apply."""
        return Scale.parse(self.scale).low or 0.0


def load_hinted_plan(path: str | Path, **changes: Any) -> HintedPlan:
    """Read a plan; files that it names are looked for beside it.

    Parameters
    ----------
    path
        A TOML file.
    changes
        Values that take the place of those of the file; None changes nothing.

    Raises
    ------
    InputError
        When file or values cannot be used; the sentence names the key and what was expected.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "plan.toml"
    >>> _ = file.write_text('target = 20\\ninitial = 100\\n')
    >>> load_hinted_plan(file, rounds=3).rounds
    3
    """
    plan = read_toml(path, HintedPlan)
    home = Path(path).resolve().parent
    named = {name: getattr(plan, name) for name in ("images", "prompts")}
    if plan.taxonomy.endswith(".toml"):
        named["taxonomy"] = plan.taxonomy
    beside = {name: str(home / file) for name, file in named.items() if file is not None}
    new = {name: value for name, value in changes.items() if value is not None}
    try:
        return HintedPlan.model_validate(plan.model_dump() | beside | new)
    except ValidationError as error:
        raise InputError(f"plan: {problem_of(error, HintedPlan)}") from None
