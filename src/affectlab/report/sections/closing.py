"""How to read the report, and what made it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from affectlab.core.tables import Table
from affectlab.core.words import count
from affectlab.ratings import model_tables
from affectlab.report.page import INTERVAL, Section, columns_shown, made_with
from affectlab.report.statistics import Study

_TERMS = (
    (
        "Rater",
        "Whoever answers: a person, a classifier or another model. Simulated people follow a known "
        "rule and are marked wherever they appear.",
        "single raters",
    ),
    (
        "Item",
        "A stimulus together with a label.",
        "labelled",
    ),
    (
        "Reliability",
        "The share of the differences between scores that comes from the stimuli, and would be "
        "there with other raters. The mean of several raters is more reliable than one of them, by "
        "the rule of Spearman and Brown. 0.70, 0.80 and 0.90 are customary marks (Nunnally and "
        "Bernstein 1994); all are conventions, not laws. This report calls a mean reliable only "
        "where the whole interval lies above such a mark, and not reliable enough only where the "
        "whole interval lies below, and says “probably” elsewhere.",
        "Their mean",
    ),
    (
        "Krippendorff's alpha",
        "How much less raters disagree than answers mixed at random would. 1: they never differ; "
        "0: no better than chance; below 0: they differ more than by chance. It takes any number "
        "of raters and missing answers. 0.80 is the customary mark for firm conclusions and 0.67 "
        "the lowest for tentative ones; both are conventions, not laws.",
        "Alpha",
    ),
    (
        "Alpha of several labels",
        "Each label has an alpha of its own: over all labels at once, differences between labels "
        "would pass for agreement. The median of the labels is given, with an interval from "
        "bootstrap samples that they all share.",
        "Alpha, Label",
    ),
    (
        INTERVAL,
        "A range made so that, over many studies like this one, about 95 of 100 such ranges hold "
        "the value that all stimuli of the kind would give.",
        INTERVAL,
    ),
    (
        "Same answer",
        "The share of pairs of raters who give exactly the same answer to a stimulus. It does not "
        "allow for chance: where nearly every answer is the same it is high whatever raters do.",
        "Same answer",
    ),
    (
        "Interrater correlation",
        "Spearman's correlation of one rater's answers with the mean of the others', averaged over "
        "raters. It sees whether raters order stimuli alike and overlooks who answers high or low.",
        "Interrater correlation",
    ),
    (
        "Kappa",
        "Agreement of two raters beyond what their own habits would give by chance, 1 at most.",
        "pairs",
    ),
    (
        "Quadratic weights",
        "They forgive near misses: being one point off counts far less than three.",
        "quadratic weighted kappa",
    ),
    (
        "Human range",
        "Each person is compared with the other people, and each model with the same groups of "
        "people: all but one, for each one in turn. A model is inside the human range where its "
        "agreement with people is shown to differ from that of people with one another by less "
        "than a stated margin. That nothing is shown is no proof of being alike; and agreeing as "
        "much as people do does not show that a model can stand in for a person.",
        "models",
    ),
    (
        "ECC and EMC",
        "Accuracy that counts how far apart two classes are. ECC: a right answer counts 1, a wrong "
        "one 1 divided by its cost. EMC looks at mistakes alone: 1 where all of them are as mild "
        "as a mistake can be.",
        "errors",
    ),
    (
        "Jensen–Shannon divergence",
        "How far two distributions lie apart, from 0 (the same) to 1 (nothing in common). Here: "
        "what people chose for a stimulus, and what a model expects them to choose.",
        "soft-labels",
    ),
    (
        "Gap between groups",
        "The value of a model in one group less that in the rest. A gap is called shown where "
        "shuffling the groups seldom makes one as large, after a correction for the number of gaps "
        "looked at. With few stimuli in a group a large gap can be missed.",
        "fairness",
    ),
    (
        "Self-consistency",
        "How far a rater's second answer to the same stimulus lies from the first. Whoever still "
        "remembers the first answer looks more consistent than they are. It sets no limit to the "
        "agreement with the mean of many others, in which errors cancel, and says nothing of those "
        "who always answer the same.",
        "self-consistency",
    ),
    (
        "Consensus flow",
        "A yes/no protocol that asks again only where the last answer was yes. Each batch "
        "holds the items that are left; a contrastive batch, where there is one, asks once whether "
        "another emotion is absent. Coefficients of agreement suffer from such a choice of items, "
        "so read the flow instead.",
        "consensus-flow",
    ),
    (
        "Not defined",
        "Some coefficients have no value, for example when every answer is the same. Then the "
        "report says why and prints neither 0 nor 1.",
        "Note",
    ),
)


def glossary(study: Study, sections: Sequence[Section]) -> list[tuple[str, str]]:
    """Explain the terms that are on the page: of its sections, and of columns that they show."""
    shown = {section.key for section in sections}
    for section in sections:
        for block in section.blocks:
            if isinstance(block, Table):
                headers = {head for head, _ in columns_shown(block)}
                # Note tells of something that is not defined wherever it stands.
                shown |= headers | {"Alpha, Label"} if {"Alpha", "Label"} <= headers else headers
    if study.pairs is not None:
        shown.add(study.pairs.measure)
    if study.ratings.has_labels:
        shown.add("labelled")
    if not study.aggregated_only:
        shown.add("single raters")
    more = _of_this_report(study) | {INTERVAL: _of_intervals(study, sections)}
    if "Fleiss' kappa" in shown:
        more["Kappa"] = " Fleiss' kappa is of all raters at once, by the habits of all together."
    return [
        (term, text + more.get(term, "")) for term, text, key in _TERMS if not key or key in shown
    ]


def _of_this_report(study: Study) -> dict[str, str]:
    """What is to be added to a term, by what the ratings are."""
    return {
        "Item": " Answers that were absent count as answers of 0 here."
        if study.filled
        else " A missing answer is not an answer of 0.",
        "Quadratic weights": " The whole declared scale counts, not only the points that were "
        "chosen."
        if study.ratings.scale.declared
        else " The whole scale counts that was inferred from the answers.",
    }


def _of_intervals(study: Study, sections: Sequence[Section]) -> str:
    """Say where the intervals of the page come from."""
    text = ""
    keys = {section.key for section in sections}
    if _resampled(sections):
        beside = ", unless it is said to be over stimuli and people" if "models" in keys else ""
        units = study.clusters.units
        raters = " and other raters" if study.ratings.raters_known else ""
        together = "" if units == "stimuli" else ", whose stimuli are drawn together,"
        text = (
            f" That of agreement is about other {units}{together}{raters}; others come "
            "from drawing the stimuli again with replacement (bootstrap), are too narrow for few "
            f"stimuli, and do not cover a change of raters{beside}."
        )
    if "outcomes" in keys:
        text += " Intervals of outcomes are Wilson's, from the counts alone."
    return text


def source_name(study: Study) -> str:
    """Name the sources; of a whole path only the file, since a report may travel."""
    parts = study.ratings.source.split("; ")
    # Models on a scale without a map are in no table of all raters, and are compared all the same.
    models = model_tables(study.sources[1]) if study.unmapped else ()
    parts += [part for table in models for part in table.source.split("; ")]
    parts = list(dict.fromkeys(parts))
    return "; ".join(Path(part).name if Path(part).is_absolute() else part for part in parts)


def _resampled(sections: Sequence[Section]) -> bool:
    """Whether a section gives bootstrap intervals; those of outcomes are Wilson's."""
    return any(
        INTERVAL in dict(columns_shown(block))
        for section in sections
        if section.key != "outcomes"
        for block in section.blocks
        if isinstance(block, Table)
    )


def _samples(study: Study) -> str:
    """Say how many bootstrap samples were drawn, and why they are fewer than was asked for."""
    if study.n_boot == study.n_boot_asked:
        return str(study.n_boot)
    return (
        f"{study.n_boot} in place of {count(study.n_boot_asked)}, for "
        f"{count(len(study.ratings))} answers"
    )


def provenance(study: Study, sections: Sequence[Section]) -> list[tuple[str, str]]:
    """Say what made the report: versions, seed and options."""
    return [
        *made_with("numpy", "scipy", "polars", "matplotlib"),
        ("Seed", str(study.seed)),
        (
            "Bootstrap samples",
            _samples(study) if study.n_boot and _resampled(sections) else "none",
        ),
        ("Source", source_name(study) or "not given"),
    ]
