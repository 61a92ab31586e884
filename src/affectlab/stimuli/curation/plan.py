"""What a file of curation says: which steps, in which order, with which thresholds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from affectlab.core.errors import check_once
from affectlab.core.files.toml import read_toml
from affectlab.stimuli.curation.input import Columns
from affectlab.stimuli.curation.texts import TextSettings

__all__ = ["STEPS", "CurationPlan", "load_curation_plan"]

STEPS = (
    "repeated",
    "big_groups",
    "deleted",
    "language",
    "adult_groups",
    "offensive",
    "identity",
    "length",
    "length_balance",
    "sentiment",
    "emotion_balance",
    "group_balance",
    "sample",
)
"""The paper's twelve steps in their order; ``repeated`` before them sees to it that ids are ids."""

Share = Annotated[float, Field(ge=0, le=1)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ColumnNames(_Part):
    """Names of the input's columns; see :class:`affectlab.stimuli.curation.Columns`."""

    id: str | None = None
    text: str | None = None
    group: str | None = None
    emotions: str | None = None
    keep: tuple[str, ...] = ()

    def columns(self) -> Columns:
        """The names as reading wants them."""
        return Columns(**dict(self))


class BigGroups(_Part):
    """Groups must have many comments."""

    least: Annotated[int, Field(ge=1)] = 10_000
    """Comments that a group has at least."""


class AdultGroups(_Part):
    """Groups that are not safe for work are dropped: those listed, and by the words in them."""

    share: Share = 0.10
    """A group is dropped where at least this share of comments holds offensive or vulgar words."""


class Length(_Part):
    """Comments must be neither too short nor too long, in tokens with punctuation."""

    least: Annotated[int, Field(ge=0)] = 3
    most: Annotated[int, Field(ge=1)] = 30

    @model_validator(mode="after")
    def _ordered(self) -> Length:
        if self.most < self.least:
            raise ValueError(f"most = {self.most} is below least = {self.least}")
        return self


class Cap(_Part):
    """How many comments of one kind are kept at most."""

    cap: Literal["median"] | Annotated[int, Field(ge=1)] = "median"
    """A number, or the median as the step defines it."""


class Sentiment(_Part):
    """Groups must show every sentiment; shares of a group's comments, which may have several."""

    neutral_most: Share = 0.30
    positive_least: Share = 0.20
    negative_least: Share = 0.20
    ambiguous_least: Share = 0.20


class Sample(_Part):
    """How many comments are drawn in the end."""

    size: Annotated[int, Field(ge=1)] | None = 58_000
    """All where there are fewer; None: all."""


class NearDuplicates(_Part):
    """When two texts are as good as the same."""

    threshold: Annotated[float, Field(gt=0, le=1)] = 0.8
    """Similarity (Jaccard, of runs of characters) from which two texts are linked: of all that are
    linked, directly or by a chain, one stays."""
    n_hashes: Annotated[int, Field(ge=1)] | None = None
    n_bands: Annotated[int, Field(ge=1)] | None = None
    ngram: Annotated[int, Field(ge=1)] | None = None


class CurationPlan(_Part):
    """Steps and thresholds; the defaults are those of GoEmotions (section 3.1).

    Examples
    --------
    >>> plan = CurationPlan()
    >>> plan.big_groups.least, plan.length.least, plan.length.most, plan.sentiment.neutral_most
    (10000, 3, 30, 0.3)
    """

    name: Annotated[str, Field(min_length=1)] = "goemotions"
    sources: tuple[str, ...] = ()
    """Files, folders and URLs to read; paths are taken from the folder of the plan's file."""
    seed: int = 0
    steps: Annotated[tuple[str, ...], Field(min_length=1)] = STEPS
    """Steps to take, in this order: leave out or reorder; ``near_duplicates`` may be added."""
    taxonomy: str = "goemotions"
    """Taxonomy of the predicted emotions; its polarities are the sentiments."""
    mask: bool = True
    """Write a masked form of each text beside it; raters see the text as it is."""
    columns: ColumnNames = ColumnNames()
    texts: TextSettings = Field(default_factory=TextSettings)
    big_groups: BigGroups = BigGroups()
    adult_groups: AdultGroups = AdultGroups()
    length: Length = Length()
    length_balance: Cap = Cap()
    sentiment: Sentiment = Sentiment()
    emotion_balance: Cap = Cap()
    group_balance: Cap = Cap()
    sample: Sample = Sample()
    near_duplicates: NearDuplicates = NearDuplicates()

    @field_validator("steps")
    @classmethod
    def _distinct(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        check_once("step", given)
        return given


def load_curation_plan(path: str | Path | None = None) -> CurationPlan:
    """Read a curation plan from a TOML file; without a path, the paper's.

    Paths of sources, a taxonomy, word lists and a model for names are taken from the folder of the
    file.

    Raises
    ------
    InputError
        When the file cannot be used; the sentence names the key and what was expected.

    Examples
    --------
    >>> load_curation_plan().steps[1:4]
    ('big_groups', 'deleted', 'language')
    """
    if path is None:
        return CurationPlan()
    folder = Path(path).parent

    class Placed(CurationPlan):
        """A plan whose paths are taken from its folder."""

        @model_validator(mode="before")
        @classmethod
        def _from_here(cls, told: Any) -> Any:
            return _placed(told, folder)

    return CurationPlan(**dict(read_toml(path, Placed)))


def _placed(told: Any, folder: Path) -> Any:
    """Take paths from a folder; what is no path is left as it is."""
    if not isinstance(told, dict):
        return told
    placed = dict(told)
    sources, texts = told.get("sources"), told.get("texts")
    if isinstance(sources, list):
        placed["sources"] = [
            str(folder / one) if isinstance(one, str) and "://" not in one else one
            for one in sources
        ]
    taxonomy = told.get("taxonomy")
    if isinstance(taxonomy, str) and (taxonomy.endswith(".toml") or set("/\\") & set(taxonomy)):
        placed["taxonomy"] = str(folder / taxonomy)
    if isinstance(texts, dict):
        placed["texts"] = texts = dict(texts)
        if isinstance(texts.get("words"), str):
            texts["words"] = str(folder / texts["words"])
        if isinstance(texts.get("names"), str):
            texts["names"] = _names_placed(texts["names"], folder)
    return placed


def _names_placed(finder: str, folder: Path) -> str:
    """Take the folder of a name finder's model from a folder; an installed model has none."""
    kind, _, model = finder.partition(":")
    here = folder / model
    if model and (kind == "transformers" or (kind == "spacy" and here.is_dir())):
        return f"{kind}:{here}"
    return finder
