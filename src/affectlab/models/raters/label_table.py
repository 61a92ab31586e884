"""From the labels of a rater to those of a taxonomy, with nothing guessed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from affectlab.core.errors import InputError, check_choices
from affectlab.core.words import joined, option, shown
from affectlab.models.raters.rater import Rater
from affectlab.ratings import Scale
from affectlab.taxonomy import LabelMapping, Taxonomy, load_taxonomy, map_labels

__all__ = ["LabelTable", "MappingGiven", "label_table", "refuse_mapping"]

MappingGiven: TypeAlias = str | Path | Mapping[str, str] | LabelMapping | None
"""A TOML file, labels of the rater and what they become, or a mapping from the rater's labels."""


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Which labels of a rater make up each label of its ratings."""

    taxonomy: Taxonomy | None
    """None where ratings keep the labels of the rater."""
    sources: Mapping[str, tuple[str, ...]]
    """Labels of the rater for each label of the ratings, in the order of the taxonomy."""
    unmapped: Mapping[str, str]
    """Labels of the rater that are left out, with the reason."""
    by: str
    """Who says so, for the table of raters."""

    def values(self, scores: Mapping[str, float], rater: Rater) -> dict[str, float]:
        """Give the value of each label; a label of which no score is known is left out."""
        if self.taxonomy is None:
            return dict(scores)
        scale = Scale.parse(rater.scale)
        found: dict[str, float] = {}
        for label, own in self.sources.items():
            known = [scores[name] for name in own if name in scores]
            if not known:
                continue
            value = max(known) if rater.join == "max" else math.fsum(known)
            # A sum of shares may end a hair above the scale.
            found[label] = value if scale.high is None else min(value, scale.high)
        return found


def label_table(
    rater: Rater, taxonomy: str | Path | Taxonomy | None, mapping: MappingGiven
) -> LabelTable:
    """Find out what the labels of a rater become.

    Raises
    ------
    InputError
        When the mapping does not fit the rater and the taxonomy, or there is none between them.

    Examples
    --------
    >>> own = ("angry", "disgust", "fear", "happy", "sad", "surprise", "neutral")
    >>> found = label_table(Rater("x", lambda pictures: [], labels=own), "ekman", None)
    >>> found.sources["joy"], dict(found.unmapped)
    (('happy',), {'neutral': 'no label of taxonomy ekman has this name'})
    >>> label_table(Rater("x", lambda pictures: [], labels=own[3:]), "ekman", None)
    Traceback (most recent call last):
    affectlab.InputError: rater 'x': there is no mapping to taxonomy 'ekman'; 3 of 4 \
labels have a name there, and nothing says what becomes anger, disgust and fear; expected a \
mapping of your own (--label-map)
    """
    if mapping is None and taxonomy is None:
        return LabelTable(None, {label: (label,) for label in rater.labels}, {}, "")
    where = f"rater {rater.name!r}"
    if isinstance(mapping, LabelMapping):
        return _of_mapping_given(mapping, rater)
    if isinstance(mapping, str | Path):
        return _of_file(rater, taxonomy, Path(mapping))
    if taxonomy is None:
        raise InputError(f"{where}: labels are mapped, but to no taxonomy; expected its name")
    if mapping is not None:
        return _of_names(rater, load_taxonomy(taxonomy), mapping, where)
    return _known(rater, load_taxonomy(taxonomy), where)


def refuse_mapping(taxonomy: object, mapping: object, what: str) -> None:
    """Refuse a taxonomy or a mapping for a model whose answers have their labels already.

    Raises
    ------
    InputError
        When one is given.
    """
    for name, value in (("taxonomy", taxonomy), ("label_map", mapping)):
        if value is not None:
            raise InputError(
                f"{option(name)}: the labels of {what} stay as they are; expected none, and labels "
                "mapped where people are beside them: affectlab evaluate alignment PEOPLE --models "
                "OUT --label-map sad=sadness"
            )


def _of_mapping_given(mapping: LabelMapping, rater: Rater) -> LabelTable:
    """Look the rater's labels up in a mapping whose source knows all of them."""
    known = {label: mapping.source.name_of(label) for label in rater.labels}
    targets = {own: mapping.targets[name] for own, name in known.items() if name in mapping.targets}
    left = {own: mapping.reasons[name] for own, name in known.items() if own not in targets}
    return _sorted(mapping.target, targets, left, mapping.provenance or "a mapping given")


def _of_file(rater: Rater, taxonomy: str | Path | Taxonomy | None, path: Path) -> LabelTable:
    from affectlab.core.files.toml import read_toml
    from affectlab.taxonomy import MappingFile

    file = read_toml(path, MappingFile)
    target = load_taxonomy(file.target if taxonomy is None else taxonomy)
    if file.source != rater.name:
        raise InputError(
            f"{path}: source = {file.source!r}; expected {rater.name!r}, the rater whose labels "
            "are mapped"
        )
    # A taxonomy may not be named as a rater is; the file's check is done on what it says.
    own = Taxonomy.from_labels(rater.labels, name=file.source)
    mapping = map_labels(own, target, path=path)
    return _sorted(mapping.target, mapping.targets, mapping.reasons, f"file {path.name}")


def _of_names(
    rater: Rater, taxonomy: Taxonomy, mapping: Mapping[str, str], where: str
) -> LabelTable:
    check_choices("label", mapping, rater.labels, f"{where}: the mapping")
    targets = {label: taxonomy.name_of(mapping[label]) for label in mapping}
    left = {label: "not in the mapping given" for label in rater.labels if label not in targets}
    return _sorted(taxonomy, targets, left, "a mapping given")


def _known(rater: Rater, taxonomy: Taxonomy, where: str) -> LabelTable:
    """Use what is known of the rater's labels, a built-in mapping, or the names themselves."""
    spoken = rater.spoken
    if spoken is not None:
        via = load_taxonomy(spoken.taxonomy)
        if via.name == taxonomy.name:
            return _sorted(taxonomy, spoken.targets, spoken.reasons, "affectlab")
        onward = _built_in(via, taxonomy)
        if onward is not None:
            targets, left = {}, dict(spoken.reasons)
            for own, label in spoken.targets.items():
                target = onward[label]
                if target is None:
                    left[own] = onward.reasons[label]
                else:
                    targets[own] = target
            return _sorted(taxonomy, targets, left, f"affectlab, by way of {via.name}")
    named = _by_words(rater, taxonomy)
    lacking = [label for label in taxonomy.labels if label not in named.values()]
    # Words decide where they leave out nothing on one side; in between, what the others become is
    # for somebody to say, and not to be found out after all stimuli were paid for.
    if lacking and len(named) < len(rater.labels):
        labels = joined([shown(label) for label in lacking[:8]])
        more = f" and {len(lacking) - 8:,} more" if len(lacking) > 8 else ""
        raise InputError(
            f"{where}: there is no mapping to taxonomy {taxonomy.name!r}; {len(named)} of "
            f"{len(rater.labels)} labels have a name there, and nothing says what becomes "
            f"{labels}{more}; expected a mapping of your own (--label-map)"
        )
    reason = f"no label of taxonomy {taxonomy.name} has this name"
    left = {label: reason for label in rater.labels if label not in named}
    other = [
        f"{own} → {label}" for own, label in named.items() if own.casefold() != label.casefold()
    ]
    by = f"names of labels, and words: {', '.join(other)}" if other else "names of labels"
    return _sorted(taxonomy, named, left, by)


def _by_words(rater: Rater, taxonomy: Taxonomy) -> dict[str, str]:
    """Find labels by their names, forms of these and synonyms."""
    from affectlab.analysis.reactions import map_emotions

    named = {label: taxonomy.name_of(label) for label in rater.labels if label in taxonomy}
    others = [label for label in rater.labels if label not in named and label.strip()]
    if others:
        mapped = map_emotions([label.replace("_", " ") for label in others], taxonomy)
        for label in others:
            target = mapped.label_of.get(label.replace("_", " "))
            # Where "surprise (negative)" is there, "confusion" is not what becomes surprise.
            rivals = [one for one in others if one != label and _names(one, target)]
            if target is not None and target not in named.values() and not rivals:
                named[label] = target
    return named


def _names(label: str, target: str | None) -> bool:
    """Whether the name of a target stands in a label among other words."""
    words = re.split(r"[\W_]+", label.casefold())
    return target is not None and target.casefold() in words and len(words) > 1


def _built_in(source: Taxonomy, target: Taxonomy) -> LabelMapping | None:
    """Give the built-in mapping between two taxonomies; None where there is none."""
    try:
        return map_labels(source, target)
    except InputError:
        return None


def _sorted(
    taxonomy: Taxonomy, targets: Mapping[str, str], left: Mapping[str, str], by: str
) -> LabelTable:
    sources: dict[str, tuple[str, ...]] = {}
    for label in taxonomy.labels:
        own = tuple(name for name, target in targets.items() if target == label)
        if own:
            sources[label] = own
    return LabelTable(taxonomy, sources, dict(left), by)
