"""From the many labels that a model scores to the few classes that it is judged on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, StrictStr

from affectlab.core.errors import InputError, check_choice, check_once, unknown_name
from affectlab.core.files.toml import parse_toml, read_toml
from affectlab.core.types import Floats
from affectlab.core.words import joined, number
from affectlab.taxonomy import LabelMapping, Taxonomy, list_taxonomies, load_taxonomy, map_labels

Combine: TypeAlias = Literal["max", "mean", "sum"]


@dataclass(frozen=True)
class Sources:
    """The source labels that make up one class, and how their scores become one."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    labels: tuple[StrictStr, ...]
    how: Combine = "max"
    because: StrictStr = ""
    """Why these labels and no others."""

    def __post_init__(self) -> None:
        check_choice("way to combine", self.how, get_args(Combine))
        if not self.labels:
            raise InputError("labels: expected at least one source label")
        check_once("label", self.labels)


@dataclass(frozen=True)
class NeutralRule:
    """A class that is predicted where no other one reaches a threshold."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    label: StrictStr
    below: float
    """The class is predicted when the scores of all others are below this."""
    because: StrictStr = ""

    def __post_init__(self) -> None:
        if not math.isfinite(self.below):
            raise InputError(f"below = {self.below}: expected a finite number")


@dataclass(frozen=True)
class ReleaseRule:
    """How the makers of a model judge it: right where any label of the true class stands out."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    classes: dict[StrictStr, tuple[StrictStr, ...]]
    """Their source labels of each class."""
    above: float
    """A label stands out where its share of the softmax is this many times an equal share."""
    prints: float
    """The accuracy that they print, a fraction."""
    on: StrictStr
    """What they print it for."""
    source: StrictStr

    def accuracy(self, scores: Floats, labels: Sequence[str], truth: Sequence[str]) -> float:
        """Give the share of rows that the rule counts as right; ``nan`` where a label is missing.

        Parameters
        ----------
        scores
            Shape (rows, labels).
        truth
            The class of each row.

        Examples
        --------
        >>> rule = ReleaseRule({"happy": ("glee",), "sad": ("woe",)}, 0.8, 0.5, "", "")
        >>> rule.accuracy(np.array([[1.0, 0.9], [3.0, 0.0]]), ["glee", "woe"], ["sad", "sad"])
        0.5
        """
        wanted = list(chain.from_iterable(self.classes.values()))
        if not set(wanted) <= set(labels):
            return math.nan
        part = scores[:, [list(labels).index(label) for label in wanted]]
        part = np.exp(part - part.max(axis=1, keepdims=True))
        stands_out = part / part.sum(axis=1, keepdims=True) > self.above / len(wanted)
        class_of = np.array([name for name, own in self.classes.items() for _ in own])
        right = (stands_out & (class_of == np.asarray(truth)[:, None])).any(axis=1)
        return float(np.where(np.isnan(part).any(axis=1), np.nan, right).mean())

    def words(self, found: Mapping[str, float]) -> str:
        """Say what the rule gives each model, beside what is printed."""
        own = joined([f"{rater} {number(value, 4)}" for rater, value in found.items()])
        return (
            f"by the rule of the release ({self.source}: right where any of its labels of the true "
            f"class has {self.above:g} times an equal share of the softmax, so that several "
            f"classes may be right at once) {own}; it prints {number(self.prints, 4)} ({self.on})"
        )


@dataclass(frozen=True, repr=False)
class ScoreMapping:
    """Which source labels make up each class, how their scores combine, and when it is neutral.

    Parameters
    ----------
    source, target
        Taxonomies of the labels that are scored, and of the classes.
    classes
        For every class its ``Sources``; labels of both taxonomies in any spelling.
    neutral
        A ``NeutralRule``, for a class that shows in the absence of the others.
    subtract
        What is taken off the scores of source labels first. ``{}``: nothing. Numbers by source
        label, such as each head's mean over neutral faces that the model's makers publish.
        ``"neutral"``: each label's mean over the stimuli whose truth is the neutral class; a
        neutral stimulus is left out of the mean that is taken off its own scores.
    unreached
        Why a class has no source, for those that have none.
    unused
        Why source labels belong to no class, as far as it is worth saying.

    Raises
    ------
    InputError
        When a label is not known, a class has no source and no reason, or a label is both used and
        declared unused.

    Examples
    --------
    >>> from affectlab.taxonomy import Taxonomy
    >>> heads = Taxonomy.from_labels(["glee", "delight", "dread"], name="heads")
    >>> faces = Taxonomy.from_labels(["happy", "afraid", "calm"], name="faces", neutral="calm")
    >>> mapping = ScoreMapping(heads, faces, {"happy": Sources(("glee", "delight")),
    ...                                       "afraid": Sources(("dread",))},
    ...                        neutral=NeutralRule("calm", below=0.5))
    >>> mapping.combine([[0.1, 0.9, 0.2], [0.1, 0.0, 0.2]], heads.labels).argmax(axis=1).tolist()
    [0, 2]
    """

    source: Taxonomy
    target: Taxonomy
    classes: Mapping[str, Sources] = field(hash=False)
    neutral: NeutralRule | None = None
    subtract: Mapping[str, float] | Literal["neutral"] = field(default_factory=dict, hash=False)
    unreached: Mapping[str, str] = field(default_factory=dict, hash=False)
    unused: Mapping[str, str] = field(default_factory=dict, hash=False)
    name: str = ""
    title: str = ""
    provenance: str = ""
    """Who made the mapping, and on what grounds."""
    release: ReleaseRule | None = None
    """How the makers of the model judge it on the same classes, where that is published."""

    def __post_init__(self) -> None:
        classes = {}
        for target, sources in self.classes.items():
            name = _named(self.target, target, "classes")
            labels = tuple(
                _named(self.source, label, f"classes.{target}.labels") for label in sources.labels
            )
            if name in classes:
                raise InputError(f"classes: {name!r} is given twice")
            classes[name] = replace(sources, labels=labels)
        self._set("classes", classes)
        if self.neutral is not None:
            label = _named(self.target, self.neutral.label, "neutral.label")
            self._set("neutral", replace(self.neutral, label=label))
        if not isinstance(self.subtract, str):
            self._set("subtract", self._by_name(self.source, "subtract", self.subtract))
        self._check_subtract()
        self._set("unreached", self._by_name(self.target, "unreached", self.unreached))
        self._set("unused", self._by_name(self.source, "unused", self.unused))
        self._check_complete()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @staticmethod
    def _by_name(taxonomy: Taxonomy, where: str, given: Mapping[str, Any]) -> dict[str, Any]:
        return {_named(taxonomy, label, where): value for label, value in given.items()}

    def _check_subtract(self) -> None:
        if not isinstance(self.subtract, str):
            for label, number in self.subtract.items():
                if not math.isfinite(number):
                    raise InputError(f"subtract: {label!r} has {number}; expected a finite number")
        elif self.subtract != "neutral":
            raise InputError(
                f"subtract = {self.subtract!r}: expected 'neutral', or a number for each label"
            )
        elif self.neutral_class is None:
            raise InputError(
                "subtract = 'neutral': there is no neutral class; name it in the target "
                "taxonomy or in a neutral rule"
            )

    def _check_complete(self) -> None:
        reached = set(self.classes) | ({self.neutral.label} if self.neutral else set())
        for label in self.target.labels:
            if (label in reached) == (label in self.unreached):
                said = "both given sources and" if label in reached else "neither given sources nor"
                raise InputError(
                    f"classes: {label!r} is {said} declared unreached; expected one of the two"
                )
        used = {label for sources in self.classes.values() for label in sources.labels}
        both = [label for label in self.unused if label in used]
        if both:
            raise InputError(f"unused: {both[0]!r} is a source of a class, too")

    @classmethod
    def from_labels(cls, mapping: LabelMapping, how: Combine = "max") -> ScoreMapping:
        """Make a mapping of scores from one of names; classes without a source stay unreached.

        Examples
        --------
        >>> from affectlab.taxonomy import map_labels
        >>> ScoreMapping.from_labels(map_labels("emonet_face", "ekman")).classes["disgust"].labels
        ('Disgust',)
        """
        sources = {target: mapping.sources(target) for target in mapping.target.labels}
        return cls(
            mapping.source,
            mapping.target,
            {target: Sources(labels, how) for target, labels in sources.items() if labels},
            unreached={
                target: "no source label" for target, labels in sources.items() if not labels
            },
            unused=mapping.reasons,
            name=f"{mapping.source.name}--{mapping.target.name}",
            provenance=mapping.provenance,
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes, in the order of the target taxonomy."""
        return self.target.labels

    @property
    def neutral_class(self) -> str | None:
        """The class that stands for no emotion, by the rule or else by the target taxonomy."""
        return self.neutral.label if self.neutral else self.target.neutral

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """Source labels that some class needs, in the order of the source."""
        used = {label for sources in self.classes.values() for label in sources.labels}
        return tuple(label for label in self.source.labels if label in used)

    def combine(
        self,
        scores: Floats | list[list[float]],
        labels: Iterable[str],
        offsets: Floats | None = None,
    ) -> Floats:
        """Turn scores of source labels into scores of classes.

        Parameters
        ----------
        scores
            Shape (n, number of `labels`), ``nan`` where there is none.
        labels
            What the columns are, in any spelling of the source.
        offsets
            What is taken off the scores, of the same shape or of one row, instead of the numbers
            in :attr:`subtract`; needed when that is ``"neutral"``.

        Returns
        -------
        numpy.ndarray
            Shape (n, number of classes): the maximum, mean or sum over the sources that have a
            score, ``nan`` where none has, and for classes that no source reaches. The class of
            the neutral rule has the largest number below its threshold, so that it is highest
            exactly when all others are below the threshold.

        Raises
        ------
        InputError
            When a label is not known or a label that a class needs has no column.
        """
        names = [_named(self.source, label, "labels") for label in labels]
        absent = [label for label in self.needed if label not in names]
        if absent:
            raise InputError(
                f"mapping {self.name or self.target.name}: label {absent[0]!r} is needed and there "
                f"are no scores of it (in all {len(absent)} of {len(self.needed)} are missing)"
            )
        given = np.asarray(scores, dtype=np.float64)
        if offsets is None:
            if self.subtract == "neutral":
                raise InputError(
                    "the mapping subtracts means over neutral stimuli; give them as offsets"
                )
            numbers = self.subtract if isinstance(self.subtract, Mapping) else {}
            offsets = np.array([numbers.get(name, 0.0) for name in names])
        given = given - offsets
        combined = np.full((len(given), len(self.labels)), np.nan)
        for target, sources in self.classes.items():
            part = given[:, [names.index(label) for label in sources.labels]]
            combined[:, self.labels.index(target)] = _combined(part, sources.how)
        if self.neutral is not None:
            place = self.labels.index(self.neutral.label)
            floor = np.nextafter(self.neutral.below, -np.inf)
            answered = ~np.isnan(combined).all(axis=1)
            combined[:, place] = np.where(answered, np.fmax(combined[:, place], floor), np.nan)
        return combined

    def class_of(self, label: str) -> str | None:
        """Class that a single source label belongs to, None when it belongs to none.

        Raises
        ------
        InputError
            When the label is not known, or belongs to several classes.
        """
        name = self.source.name_of(label)
        found = [target for target, sources in self.classes.items() if name in sources.labels]
        if len(found) > 1:
            raise InputError(
                f"label {name!r} belongs to {found[0]!r} and {found[1]!r}; answers that name one "
                "label need a mapping in which it belongs to one class"
            )
        return found[0] if found else None

    def to_frame(self) -> pl.DataFrame:
        """One row per class and source label: ``class``, ``label``, ``how``, ``because``."""
        rows: list[tuple[str | None, str | None, str, str]] = [
            (target, label, sources.how, sources.because)
            for target, sources in self.classes.items()
            for label in sources.labels
        ]
        if self.neutral is not None:
            rule = self.neutral
            rows.append((rule.label, None, f"others below {rule.below:g}", rule.because))
        rows += [(target, None, "unreached", why) for target, why in self.unreached.items()]
        rows += [(None, label, "unused", why) for label, why in self.unused.items()]
        columns = ("class", "label", "how", "because")
        return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")

    def __repr__(self) -> str:
        return (
            f"ScoreMapping({self.source.name} to {self.target.name}: {len(self.needed)} of "
            f"{len(self.source)} labels make {len(self.labels) - len(self.unreached)} classes)"
        )


def _named(taxonomy: Taxonomy, label: str, where: str) -> str:
    try:
        return taxonomy.name_of(label)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _combined(part: Floats, how: Combine) -> Floats:
    """Combine columns, those that are missing left out; ``nan`` where all are."""
    none = np.isnan(part).all(axis=1)
    if how == "max":
        filled = np.where(np.isnan(part), -np.inf, part).max(axis=1)
    else:
        filled = np.nansum(part, axis=1)
        if how == "mean":
            filled = filled / np.maximum((~np.isnan(part)).sum(axis=1), 1)
    return np.where(none, np.nan, filled)


# Mappings of scores as TOML files.


class _ScoreMappingFile(BaseModel):
    """A mapping of scores."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: StrictStr
    title: StrictStr = ""
    source: StrictStr
    """Name of a taxonomy, or a TOML file beside this one."""
    target: StrictStr
    provenance: StrictStr
    subtract: dict[StrictStr, float] | Literal["neutral"] = Field(default_factory=dict)
    classes: dict[StrictStr, Sources]
    neutral: NeutralRule | None = None
    unreached: dict[StrictStr, StrictStr] = Field(default_factory=dict)
    unused: dict[StrictStr, StrictStr] = Field(default_factory=dict)
    release: ReleaseRule | None = None


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
            for entry in (files("affectlab.evaluation.classes") / "data").iterdir()
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
        holds a separator). A ``ScoreMapping`` is given back as it is; a
        :class:`~affectlab.taxonomy.taxonomy.LabelMapping` becomes one that takes the highest score.

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
    entry = files("affectlab.evaluation.classes") / "data" / f"{text}.toml"
    where = f"built-in mapping {text}"
    return _build(parse_toml(entry.read_text("utf-8"), _ScoreMappingFile, where=where), where, None)


def _build(file: _ScoreMappingFile, where: str, folder: Path | None) -> ScoreMapping:
    try:
        taxonomies = {name: _taxonomy(getattr(file, name), folder) for name in ("source", "target")}
        return ScoreMapping(**{**dict(file), **taxonomies})
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _taxonomy(given: str, folder: Path | None) -> Taxonomy:
    """Find a taxonomy by name, or as a file beside the mapping."""
    if not given.endswith(".toml"):
        return load_taxonomy(given)
    if folder is not None:
        return load_taxonomy(folder / given)
    entry = files("affectlab.evaluation.classes") / "data" / given
    return Taxonomy.from_toml(entry.read_text("utf-8"), where=given)
