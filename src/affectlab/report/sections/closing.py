"""How to read the report, and what made it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from affectlab.core.tables import Table
from affectlab.ratings import model_tables
from affectlab.report import wording
from affectlab.report.page import Section, columns_shown, made_with
from affectlab.report.statistics import Study


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
    more = wording.more_on_terms(
        filled=study.n_filled > 0,
        declared=study.ratings.scale.declared,
        fleiss="Fleiss' kappa" in shown,
    )
    keys = {section.key for section in sections}
    more[wording.INTERVAL] = wording.on_intervals(
        study.clusters.units,
        resampled=_resampled(sections),
        raters=study.ratings.raters_known,
        models="models" in keys,
        outcomes="outcomes" in keys,
    )
    return [
        (term, text + more.get(term, ""))
        for term, text, key in wording.TERMS
        if not key or key in shown
    ]


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
        wording.INTERVAL in dict(columns_shown(block))
        for section in sections
        if section.key != "outcomes"
        for block in section.blocks
        if isinstance(block, Table)
    )


def _samples(study: Study) -> str:
    """Say how many bootstrap samples were drawn, and why they are fewer than was asked for."""
    if study.n_boot == study.n_boot_asked:
        return str(study.n_boot)
    return wording.fewer_samples(study.n_boot, study.n_boot_asked, len(study.ratings))


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
