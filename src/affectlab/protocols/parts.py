"""The parts of a protocol: labels asked for, limits on an answer, input, routing and checks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from string import Formatter
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

Count = Field(ge=0)
Widget = Literal["radio", "slider", "checkbox", "buttons", "text", "frame"]


class Part(BaseModel):
    """A table of a protocol file: fixed once read, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Asks(Part):
    """Which labels are asked for, and what of them is shown."""

    taxonomy: str | None = None
    """Name or path of a taxonomy."""
    level: str | None = None
    """Level of the taxonomy whose groups are asked for; its labels when not given."""
    labels: tuple[str, ...] = ()
    """Labels written out; with a taxonomy, the only ones of it that are asked for."""
    per_trial: Literal["all", "one"] = "all"
    """Whether one trial asks for every label or for one."""
    show: tuple[Literal["label", "definition", "words", "emoji", "examples"], ...] = ("label",)
    """What raters see of a label."""
    group_by: tuple[str, ...] = ()
    """Levels of the taxonomy by which the display is arranged: rows, then columns."""

    @model_validator(mode="after")
    def _fits(self) -> Asks:
        if self.taxonomy is None and (self.level is not None or self.group_by):
            raise ValueError("level and group_by need a taxonomy")
        if len(set(self.labels)) < len(self.labels):
            raise ValueError("a label appears twice")
        if len(self.group_by) > 2:
            raise ValueError("group_by takes at most two levels, for rows and columns")
        return self


class Rules(Part):
    """Limits on one answer; a limit that is not given does not hold."""

    min_labels: int = Field(default=0, ge=0)
    """Fewest labels to choose, to rate, or entries to write."""
    max_labels: int | None = Field(default=None, ge=1)
    """Most labels to choose, to rate, or entries to write."""
    max_nonzero: int | None = Field(default=None, ge=1)
    """Most labels with a value other than 0."""
    options: tuple[str, ...] = ()
    """Choices beside the labels, such as "unclear"."""
    exclusive: tuple[str, ...] = ()
    """Choices that allow no other one beside them."""
    suggestions: bool = False
    """Whether raters may suggest a label that is missing (for pilots)."""
    distinct: str | None = None
    """Field in which the entries of one answer must differ."""

    @model_validator(mode="after")
    def _fits(self) -> Rules:
        if self.max_labels is not None and self.max_labels < self.min_labels:
            raise ValueError(f"max_labels {self.max_labels} is below min_labels {self.min_labels}")
        return self


class EntryField(Part):
    """One text field of an entry."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    question: str = Field(min_length=1)
    min_length: int = Field(default=1, ge=0)
    """Fewest characters, spaces at the ends not counted."""
    max_length: int = Field(default=1000, ge=1)
    """Most characters, spaces at the ends not counted."""

    @model_validator(mode="after")
    def _fits(self) -> EntryField:
        if self.max_length < self.min_length:
            raise ValueError(f"max_length {self.max_length} is below min_length {self.min_length}")
        return self


class Input(Part):
    """How a page asks; a model's prompt does without."""

    widget: Widget = "radio"
    alternatives: tuple[Widget, ...] = ()
    """Other widgets a study may choose; the one used is recorded."""
    start: float | None = None
    """Where a slider stands at first."""
    must_touch: bool = False
    """Whether a slider left where it stood must be confirmed before it counts."""
    log_movement: bool = False
    swap_sides: bool = False
    """Whether the server draws, and records, which stimulus is left and which right."""


class Routing(Part):
    """How many raters a stimulus needs, and what decides about more."""

    raters: int = Field(default=1, ge=1)
    """Valid answers each stimulus needs."""
    extra_raters: int = Field(default=0, ge=0)
    """Raters added when no label was chosen by `shared_by` raters."""
    shared_by: int = Field(default=2, ge=2)
    confirmations: int | None = Field(default=None, ge=1)
    """Length of a chain of raters that goes on while every one of them says yes."""
    contrastive: bool = False
    """Whether batches are added in which the emotion asked for is meant to be absent."""

    @model_validator(mode="after")
    def _fits(self) -> Routing:
        if self.confirmations is not None and (self.extra_raters or self.raters != 1):
            raise ValueError(
                "a chain of confirmations asks one rater after another; "
                "it does not go with raters or extra_raters"
            )
        return self

    def wanted(self, answers: Sequence[Collection[str]]) -> int:
        """How many valid answers a stimulus needs, given those it has.

        Parameters
        ----------
        answers
            The labels that each rater chose, in the order of the answers; empty for "no".

        Examples
        --------
        >>> Routing(raters=3, extra_raters=2).wanted([{"joy"}, {"fear"}, {"anger"}])
        5
        >>> Routing(confirmations=3).wanted([{"joy"}]), Routing(confirmations=3).wanted([set()])
        (2, 1)
        """
        if self.confirmations is not None:
            for place, chosen in enumerate(answers[: self.confirmations], start=1):
                if not chosen:
                    return place
            return min(len(answers) + 1, self.confirmations)
        if len(answers) < self.raters or not self.extra_raters:
            return self.raters
        # Only the first round decides: an answer that comes later must not call raters off.
        votes: dict[str, int] = {}
        for chosen in answers[: self.raters]:
            for label in set(chosen):
                votes[label] = votes.get(label, 0) + 1
        agreed = max(votes.values(), default=0) >= self.shared_by
        return self.raters if agreed else self.raters + self.extra_raters


class Checks(Part):
    """Trials that watch over quality, and when they speak against a session."""

    training: int = Field(default=0, ge=0)
    """Trials with feedback before the first one that counts."""
    golden: int | None = Field(default=None, ge=0)
    """Trials with a known answer, drawn for each session; by default all that the study names."""
    repeats: int = Field(default=0, ge=0)
    """Trials shown a second time."""
    golden_tolerance: float | None = Field(default=None, gt=0)
    """How far from the known answer a value begins to violate; the study's policy if not given."""
    repeat_tolerance: float | None = Field(default=None, gt=0)
    """How far apart two answers to the same trial begin to violate."""
    reject_golden: int | None = Field(default=None, ge=1)
    """Golden violations that speak against the session."""
    reject_repeats: int | None = Field(default=None, ge=1)
    """Repeat violations that speak against the session."""
    reject_total: int | None = Field(default=None, ge=1)
    """Violations of both kinds together that speak against the session."""
    min_spread: float | None = Field(default=None, ge=0)
    """Standard deviation of all values below which the session counts as one repeated answer."""
    min_movement: float | None = Field(default=None, ge=0)
    """The same for the movement of the slider."""
    bonus: Literal["most_popular_label"] | None = None
    """What earns a bonus."""

    @model_validator(mode="after")
    def _fits(self) -> Checks:
        # Without a count, the study says how many golden trials there are.
        for key, limit in (
            ("golden", self.golden),
            ("repeats", self.repeats),
            ("total", None if self.golden is None else self.golden + self.repeats),
        ):
            at = getattr(self, f"reject_{key}")
            if at is not None and limit is not None and at > limit:
                raise ValueError(f"reject_{key} {at} can never be reached with {limit} such trials")
        return self


class Staircase(Part):
    """An adaptive search for the just noticeable difference."""

    trials: int = Field(ge=1)
    """Comparisons in one run."""
    threshold: float = Field(gt=0.5, lt=1)
    """Share of correct answers that defines one just noticeable difference."""
    anchors: tuple[str, ...] = Field(min_length=1, max_length=2)
    """What stays fixed in each run, one run per anchor: names of the first and the last frame; or
    one of ``peak`` (the first) and ``neutral`` (the last)."""
    catch: int = Field(default=0, ge=0)
    """Comparisons of the anchor with itself that are mixed into each run; they say how often two
    equal pictures are called different."""

    @model_validator(mode="after")
    def _fits(self) -> Staircase:
        if len(set(self.anchors)) < len(self.anchors):
            raise ValueError("anchors: a name appears twice")
        if len(self.anchors) == 1 and self.anchors[0] not in ("peak", "neutral"):
            raise ValueError("anchors: a single one is 'peak', the first frame, or 'neutral'")
        return self

    @property
    def ends(self) -> tuple[str, str]:
        """Names of the first and the last frame."""
        if len(self.anchors) == 1:
            return ("peak", "neutral")
        return (self.anchors[0], self.anchors[1])


# Wordings with places for the label and what is known of it.


PLACES = ("label", "definition", "words", "stimulus", "group")
"""Names that may stand in braces in a wording."""


def check_wording(text: str) -> str:
    """Refuse a wording with places that nothing fills.

    Only plain names are allowed in braces: attribute or index access in a user's text would reach
    into Python objects.
    """
    try:
        parts = list(Formatter().parse(text))
    except ValueError as error:
        raise ValueError(f"not a wording: {error}; write {{{{ and }}}} for braces") from None
    for _, place, spec, conversion in parts:
        if place is None:
            continue
        if place not in PLACES or spec or conversion:
            shown = "{" + place + "}"
            known = ", ".join("{" + name + "}" for name in PLACES)
            raise ValueError(f"place {shown} is not known; expected one of: {known}")
    return text


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values into the places of a checked wording."""
    return text.format_map({place: values.get(place, "") for place in PLACES})


# The texts of a protocol in another language.


_Wording = Annotated[str, AfterValidator(check_wording)]

TRANSLATED = ("question", "prompt", "instructions", "anchors", "legend", "note", "fields")
"""Keys of a protocol that a translation gives in its language."""


class Translation(Part):
    """What people read of a protocol, in another language; labels stay as the taxonomy has them."""

    question: _Wording = ""
    """Wording, with the same places as that of the protocol."""
    prompt: str = ""
    instructions: str = ""
    anchors: tuple[str, str] | None = None
    legend: str = ""
    note: str = ""
    fields: dict[str, str] = Field(default_factory=dict)
    """Question of each field of an entry, by the field's name."""
