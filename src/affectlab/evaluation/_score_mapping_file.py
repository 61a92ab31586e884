"""Mappings of scores as TOML files."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, StrictStr

from affectlab.errors import InputError, unknown_name
from affectlab.evaluation._score_mapping import Combine, NeutralRule, ScoreMapping, Sources
from affectlab.taxonomy import (
    LabelMapping,
    Taxonomy,
    list_taxonomies,
    load_taxonomy,
    map_labels,
)
from affectlab.toml import parse_toml, read_toml

__all__ = ["list_score_mappings", "load_score_mapping"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _ClassFile(_Strict):
    """One ``[classes.NAME]`` table."""

    labels: tuple[StrictStr, ...] = Field(min_length=1)
    how: Combine = "max"
    because: StrictStr = ""


class _NeutralFile(_Strict):
    """The ``[neutral]`` table."""

    label: StrictStr
    below: float
    because: StrictStr = ""


class _ScoreMappingFile(_Strict):
    """A mapping of scores."""

    name: StrictStr
    title: StrictStr = ""
    source: StrictStr
    """Name of a taxonomy, or a TOML file beside this one."""
    target: StrictStr
    provenance: StrictStr
    subtract: dict[StrictStr, float] | Literal["neutral"] = Field(default_factory=dict)
    classes: dict[StrictStr, _ClassFile]
    neutral: _NeutralFile | None = None
    unreached: dict[StrictStr, StrictStr] = Field(default_factory=dict)
    unused: dict[StrictStr, StrictStr] = Field(default_factory=dict)


def list_score_mappings() -> tuple[str, ...]:
    """Names of the mappings that come with affectlab, sorted.

    Examples
    --------
    >>> list_score_mappings()
    ('emonet_face--ferd',)
    """
    return tuple(
        sorted(
            entry.name.removesuffix(".toml")
            for entry in (files("affectlab.evaluation") / "data").iterdir()
            if entry.name.endswith(".toml") and "--" in entry.name
        )
    )


def load_score_mapping(name_or_path: str | Path | ScoreMapping | LabelMapping) -> ScoreMapping:
    """Load a mapping of scores.

    Parameters
    ----------
    name_or_path
        Name of a built-in mapping; or two taxonomies that a built-in mapping of names connects,
        such as ``"goemotions--ekman"``; or a taxonomy and one of its levels, such as
        ``"goemotions:sentiment"``; or the path of a TOML file (a string that ends in ``.toml`` or
        holds a separator). A :class:`ScoreMapping` is given back as it is; a
        :class:`~affectlab.taxonomy.LabelMapping` becomes one that takes the highest score.

    Raises
    ------
    InputError
        When the name is not known, or the file cannot be used; the sentence names file and key.

    Examples
    --------
    >>> load_score_mapping("emonet_face--ferd")
    ScoreMapping(emonet_face to ferd: 9 of 40 labels make 8 classes)
    """
    if isinstance(name_or_path, ScoreMapping):
        return name_or_path
    if isinstance(name_or_path, LabelMapping):
        return ScoreMapping.from_labels(name_or_path)
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or text.endswith(".toml") or "/" in text or "\\" in text:
        path = Path(name_or_path)
        return _build(read_toml(path, _ScoreMappingFile), str(path), path.parent)
    if text not in list_score_mappings():
        whole, colon, level = text.partition(":")
        if colon and whole in list_taxonomies():
            return ScoreMapping.from_labels(load_taxonomy(whole).group_to(level))
        source, _, target = text.partition("--")
        if {source, target} <= set(list_taxonomies()):
            return ScoreMapping.from_labels(map_labels(source, target))
        raise unknown_name("mapping of scores", text, list_score_mappings())
    entry = files("affectlab.evaluation") / "data" / f"{text}.toml"
    where = f"built-in mapping {text}"
    return _build(parse_toml(entry.read_text("utf-8"), _ScoreMappingFile, where=where), where, None)


def _build(file: _ScoreMappingFile, where: str, folder: Path | None) -> ScoreMapping:
    try:
        return ScoreMapping(
            source=_taxonomy(file.source, folder),
            target=_taxonomy(file.target, folder),
            classes={
                target: Sources(given.labels, given.how, given.because)
                for target, given in file.classes.items()
            },
            neutral=None
            if file.neutral is None
            else NeutralRule(file.neutral.label, file.neutral.below, file.neutral.because),
            subtract=file.subtract,
            unreached=file.unreached,
            unused=file.unused,
            name=file.name,
            title=file.title,
            provenance=file.provenance,
        )
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _taxonomy(given: str, folder: Path | None) -> Taxonomy:
    """Find a taxonomy by name, or as a file beside the mapping."""
    if not given.endswith(".toml"):
        return load_taxonomy(given)
    if folder is not None:
        return load_taxonomy(folder / given)
    entry = files("affectlab.evaluation") / "data" / given
    return Taxonomy.from_toml(entry.read_text("utf-8"), where=given)
