"""What a reader must know before reading the numbers."""

from __future__ import annotations

from collections import Counter

import polars as pl

from affectlab.core.statistic import FEWEST_CLUSTERS
from affectlab.core.words import plural, sentence_case
from affectlab.reliability.agreement import reason_in_stimuli
from affectlab.report import wording
from affectlab.report.statistics import ENOUGH_ITEMS, FEWEST_ITEMS, Study

_FULL = 0.99
_MOST_PAIRS = 5


def cautions(study: Study) -> list[str]:
    """Say in words what a reader must know beside the numbers, the worst first."""
    found = []
    if study.flow is not None:
        found.append(wording.worry_rounds(recorded=study.flow.recorded))
    if study.numeric is not None:
        found += [*_duplicates(study), *_careless(study), *_few(study)]
        found += [f"{sentence_case(note)}." for note in study.clusters.notes]
        found += [*_undefined(study), *_coverage(study)]
    if study.unmapped:
        names, reasons = [*study.unmapped], [*study.unmapped.values()]
        found.append(wording.worry_unmapped(names, reasons, every=study.ranks_only))
    if study.stand_ins:
        found.append(wording.worry_aggregated(study.stand_ins))
    return [*map(sentence_case, found), *study.warnings]


def _duplicates(study: Study) -> list[str]:
    """Name raters whose answers agree beyond what their agreement with others allows."""
    if not study.ratings.raters_known:
        return []
    sentences = study.duplicates.evidence
    found = [wording.worry_duplicates(sentence) for sentence in sentences[:_MOST_PAIRS]]
    if len(sentences) > _MOST_PAIRS:
        found.append(wording.worry_more_duplicates(len(sentences) - _MOST_PAIRS))
    return found


def _careless(study: Study) -> list[str]:
    """Name people who are taken to be careless, with the evidence."""
    if not study.careless_names or study.careless is None:
        return []
    evidence = dict(study.careless.to_frame().select("rater", "evidence").rows())
    people = [(name, evidence[name]) for name in study.careless_names]
    compared = study.beside.alignment is not None
    return [wording.worry_careless(people, compared=compared)]


def _coverage(study: Study) -> list[str]:
    """Name models that answered only a part of what people answered."""
    if study.beside.alignment is None:
        return []
    part = study.beside.alignment.to_frame().filter(pl.col("coverage") < _FULL)
    return [wording.worry_coverage(part.select("rater", "coverage").rows())] if part.height else []


def _undefined(study: Study) -> list[str]:
    # Where all are undefined the headline and the section say so.
    if study.alpha is None or study.agreement is None or not study.agreement.n_labels:
        return []
    frame = study.alpha.frame
    missing = frame.filter(pl.col("value").is_nan())
    if missing.height == 0:
        return []
    reasons = Counter(map(reason_in_stimuli, missing["reason"]))
    listed = sorted(reasons.items(), key=lambda one: (-one[1], one[0]))
    return [wording.worry_undefined(missing.height, plural(frame.height, "label"), listed)]


def _few(study: Study) -> list[str]:
    if study.traced is not None:
        # Traces have many answers to few stimuli, and agreement over time is judged by itself.
        return []
    found = []
    if study.alpha is not None and study.numeric is not None:
        every = study.alpha.to_frame()
        short = every.filter(pl.col("value").is_not_nan(), pl.col("n_items") < ENOUGH_ITEMS)
        if short.height and study.numeric.n_stimuli > 1:
            smallest = int(short["n_items"].to_numpy().min())
            labels, n_labels = plural(every.height, "label"), study.numeric.n_labels
            found.append(
                wording.worry_few_items(short.height, labels, n_labels, smallest, ENOUGH_ITEMS)
            )
    few = study.n_clusters is not None and study.n_clusters < FEWEST_CLUSTERS
    if few and study.n_boot and study.alpha is not None and study.n_clusters is not None:
        found.append(wording.worry_few_clusters(study.n_clusters, study.clusters.units))
    if study.pairs is not None:
        pairs = study.pairs.frame.filter(pl.col("value").is_not_nan())
        small = pairs.filter(pl.col("n_items") < FEWEST_ITEMS).height
        if small > pairs.height / 10:
            found.append(wording.worry_few_common(small / pairs.height, FEWEST_ITEMS))
    return found
