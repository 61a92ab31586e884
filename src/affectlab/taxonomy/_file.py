"""The shape of taxonomy files and mapping files."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from affectlab.errors import InputError
from affectlab.taxonomy._history import LabelChange, TaxonomyRevision
from affectlab.taxonomy._label import Label
from affectlab.taxonomy._taxonomy import Taxonomy

__all__ = ["ChangeFile", "LabelFile", "MappingFile", "RevisionFile", "TaxonomyFile"]

Text = StrictStr


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LabelFile(_Strict):
    """One ``[[labels]]`` table."""

    name: Text
    definition: Text = ""
    polarity: Literal["positive", "negative", "ambiguous", "neutral"] | None = None
    aliases: tuple[Text, ...] = ()
    emoji: Text = ""
    words: tuple[Text, ...] = ()
    opposite: Text | None = None
    groups: dict[Text, Text] = Field(default_factory=dict)
    ends: tuple[Text, Text] | None = None
    limits: tuple[float, float] | None = None

    def build(self) -> Label:
        return Label(**{key: getattr(self, key) for key in type(self).model_fields})


class ChangeFile(_Strict):
    """One decision of a version."""

    action: Literal["keep", "rename", "add", "merge", "drop"]
    label: Text
    into: Text = ""
    reason: Text = ""
    evidence: dict[Text, StrictInt | StrictFloat | Text] = Field(default_factory=dict)

    def build(self) -> LabelChange:
        return LabelChange(**{key: getattr(self, key) for key in type(self).model_fields})


class RevisionFile(_Strict):
    """One ``[[history]]`` table."""

    version: Text
    parent: Text = ""
    parent_sha256: Text = ""
    source: Text = ""
    changes: tuple[ChangeFile, ...] = ()

    def build(self) -> TaxonomyRevision:
        parts = {key: getattr(self, key) for key in type(self).model_fields if key != "changes"}
        return TaxonomyRevision(**parts, changes=tuple(change.build() for change in self.changes))


class TaxonomyFile(_Strict):
    """A taxonomy file."""

    name: Text
    title: Text = ""
    version: Text = "1"
    source: Text = ""
    licence: Text = ""
    notes: Text = ""
    levels: tuple[Text, ...] = ()
    ring: tuple[Text, ...] | None = None
    neutral: Text | None = None
    reference: Text | None = None
    stands_for: dict[Text, tuple[Text, ...]] = Field(default_factory=dict)
    labels: tuple[LabelFile, ...]
    history: tuple[RevisionFile, ...] = ()

    def build(self, where: str) -> Taxonomy:
        """Make the taxonomy; an error names the file."""
        made = ("labels", "history")
        parts = {key: getattr(self, key) for key in type(self).model_fields if key not in made}
        try:
            history = tuple(version.build() for version in self.history)
            entries = tuple(label.build() for label in self.labels)
            return Taxonomy(entries=entries, history=history, **parts)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None


class MappingFile(_Strict):
    """A mapping file: every source label is either in ``labels`` or in ``unmapped``."""

    source: Text
    target: Text
    provenance: Text
    labels: dict[Text, Text]
    unmapped: dict[Text, Text] = Field(default_factory=dict)
    """Reason for each source label without a target."""
