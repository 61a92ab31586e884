"""What a reader must know before reading the numbers."""

from __future__ import annotations

from collections import Counter

import polars as pl

from affectlab.core.statistic import FEWEST_CLUSTERS
from affectlab.core.words import joined, option, percent, plural, shown, some
from affectlab.report.statistics import (
    ENOUGH_ITEMS,
    FEWEST_ITEMS,
    Study,
    rater_called,
    reason_of_row,
)

_FULL = 0.99
_MOST_PAIRS = 5


def cautions(study: Study) -> list[str]:
    """Say in words what a reader must know beside the numbers, the worst first."""
    found = []
    if study.flow is not None:
        recorded = study.flow.recorded
        were = "were" if recorded else "look as if they were"
        found.append(
            f"The votes {were} collected in rounds, where an item was asked about again only after "
            "a yes: alpha, kappa and correlations of such data are biased downwards, often below "
            f"0. {'Read' if recorded else 'If so, read'} the consensus flow in their place."
        )
    if study.numeric is not None:
        found += [*_duplicates(study), *_odd_people(study), *_few(study)]
        found += [f"{note[0].upper()}{note[1:]}." for note in study.clusters.notes]
        found += [*_undefined(study), *_coverage(study)]
    if study.unmapped:
        who = "Models" if study.ranks_only else some(list(study.unmapped), _MOST_PAIRS)
        found.append(
            f"{who} {'stand' if len(study.unmapped) > 1 or study.ranks_only else 'stands'} in no "
            "table or figure of all raters, and people are compared with their order of stimuli "
            f"alone: {'; '.join(dict.fromkeys(study.unmapped.values()))}."
        )
    found += [*_stand_ins(study), *study.warnings]
    return [f"R{text[1:]}" if text.startswith("rater ") else text for text in found]


def _duplicates(study: Study) -> list[str]:
    """Name raters whose answers agree beyond what their agreement with others allows."""
    if not study.ratings.raters_known:
        return []
    sentences = study.duplicates.evidence
    found = [
        f"{sentence[0].upper()}{sentence[1:]}. If one is a copy of the other, or both are the same "
        "person or model, statistics that count both overstate agreement."
        for sentence in sentences[:_MOST_PAIRS]
    ]
    if len(sentences) > _MOST_PAIRS:
        more = plural(len(sentences) - _MOST_PAIRS, "more pair")
        found.append(f"{more} of raters answer alike in the same way.")
    return found


def _stand_ins(study: Study) -> list[str]:
    """Name raters whose answers are those of several people."""
    if not study.stand_ins:
        return []
    verb = "is" if len(study.stand_ins) == 1 else "are"
    return [
        f"{_listed(list(study.stand_ins))} {verb} excluded from this report: answers aggregated "
        "from those of several people would count these twice."
    ]


def _coverage(study: Study) -> list[str]:
    """Name models that answered only a part of what people answered."""
    found = study.beside.alignment
    if found is None:
        return []
    part = found.to_frame().filter(pl.col("coverage") < _FULL)
    if part.height == 0:
        return []
    listed = [
        f"{shown(rater, 60)} {percent(coverage)}"
        for rater, coverage in part.select("rater", "coverage").iter_rows()
    ]
    return [
        f"Answered of the items that people answered: {some(listed, 5, 'more models')}; models are "
        "compared with people on the common items."
    ]


def _undefined(study: Study) -> list[str]:
    # Where all are undefined the headline and the section say so.
    if study.alpha is None or study.agreement is None or not study.agreement.n_labels:
        return []
    frame = study.alpha.frame
    missing = frame.filter(pl.col("value").is_nan())
    if missing.height == 0:
        return []
    reasons = Counter(map(reason_of_row, missing["reason"]))
    ordered = sorted(reasons.items(), key=lambda one: (-one[1], one[0]))
    listed = joined(f"{n} for “{why}”" for why, n in ordered)
    labels = plural(frame.height, "label")
    return [f"Alpha is not defined for {missing.height} of {labels}: {listed}."]


def _few(study: Study) -> list[str]:
    found = []
    if study.alpha is not None and study.numeric is not None:
        frame = study.alpha.to_frame().filter(pl.col("value").is_not_nan())
        short = frame.filter(pl.col("n_items") < ENOUGH_ITEMS)
        if short.height and study.numeric.n_stimuli > 1:
            smallest = int(short["n_items"].to_numpy().min())
            verb = "rests" if short.height == 1 else "rest"
            labels = plural(study.alpha.to_frame().height, "label")
            found.append(
                f"{short.height} of {labels} {verb} on fewer than {ENOUGH_ITEMS} stimuli with two "
                f"answers (the smallest on {smallest}): intervals are wide there, and may be too "
                "narrow still."
                if study.numeric.n_labels > 1
                else f"Agreement rests on {smallest} stimuli with two answers: intervals may be "
                f"too narrow on fewer than {ENOUGH_ITEMS}."
            )
    few = study.n_clusters is not None and study.n_clusters < FEWEST_CLUSTERS
    if few and study.n_boot and study.alpha is not None:
        units = study.clusters.units
        found.append(
            f"The stimuli are those of {study.n_clusters} {units}, too few for intervals about "
            f"other {units} (five or more); {option('cluster', 'none')} gives those about single "
            "stimuli, which are too narrow for others."
        )
    if study.pairs is not None:
        pairs = study.pairs.frame.filter(pl.col("value").is_not_nan())
        small = pairs.filter(pl.col("n_items") < FEWEST_ITEMS).height
        if small > pairs.height / 10:
            found.append(
                f"{percent(small / pairs.height)} of the defined values for pairs of raters rest "
                f"on fewer than {FEWEST_ITEMS} common stimuli and scatter widely."
            )
    return found


def _odd_people(study: Study) -> list[str]:
    """Name people who are taken to be careless, with the evidence."""
    names = study.careless_names
    if not names or study.careless is None:
        return []
    evidence = dict(study.careless.to_frame().select("rater", "evidence").rows())
    listed = some([f"{rater_called(name, 60)} ({evidence[name]})" for name in names], 5)
    return [
        f"Taken to be careless by the policy panel: {listed}. Excluding people needs a rule that "
        "was set before."
    ]


def _listed(names: list[str]) -> str:
    return some([rater_called(name, 60) for name in names], 5)
