"""All tables that the EmoNet-Face study gives, in one call."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from affectlab.core.estimates import Estimates
from affectlab.core.result import Result
from affectlab.core.tables import Figure, Table
from affectlab.evaluation.human_alignment import discrepancy
from affectlab.evaluation.people_and_models import (
    Rounding,
    Sides,
    judged_sides,
    of_training,
    on_people,
    scale_map,
)
from affectlab.evaluation.rater_comparison.groups import group_comparison, groups_of
from affectlab.evaluation.rater_comparison.pairs import (
    alpha_by_side,
    merged,
    pair_kinds,
    pairwise_spearman,
    spearman_with_people,
)
from affectlab.evaluation.rater_comparison.rater_table import Over, rater_table
from affectlab.ratings import ModelRatings, Ratings, of_known_raters
from affectlab.reliability import pairwise_kappa
from affectlab.reliability.agreement import KappaResult


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PublishedTables(Result):
    """Tables as published; those that a scale does not allow are ``None``.

    Kappa needs steps, the others but ``alpha`` an order; kappa and discrepancies need models on the
    scale of people (see ``on_scale``).
    """

    kappa: KappaResult | None
    """Kappa of all pairs and labels."""
    kinds: pl.DataFrame | None
    """Kappa by kind of pair."""
    kinds_by_label: pl.DataFrame | None
    """The same per label."""
    raters: pl.DataFrame | None
    """See ``rater_table``."""
    groups: Estimates | None
    """See ``group_comparison``."""
    kind_groups: Estimates | None
    """The same for kinds of pairs."""
    spearman: KappaResult | None
    """Spearman's correlation of all pairs and labels."""
    spearman_kinds: pl.DataFrame | None
    """The same by kind of pair."""
    with_median: Estimates | None
    """See :func:`spearman_with_people`."""
    alpha: Estimates
    """See ``alpha_by_side``; at the interval level, as published, where answers are numbers."""
    discrepancy: Estimates | None
    """See :func:`discrepancy`."""


def put_on_steps(both: Sides, *, truncate: bool) -> list[str]:
    """Say how fractions of models are put on the steps of the people's scale; empty without any."""
    scale = both.people.scale
    if scale.step is None:
        return []
    maps = (scale_map(table, scale, together=both.together) for table in both.tables)
    how: Rounding = "truncate" if truncate else "round"
    return list(dict.fromkeys(str(m.step(how)) for m in maps if not m.missing and not m.same))


@of_known_raters
def published_tables(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    groups: str | Mapping[str, str] | None = None,
    over: Over = "labels",
    exclude: Collection[str] = (),
    truncate: bool = True,
    n_boot: int = 1000,
    seed: int | np.random.Generator | None = 0,
) -> PublishedTables:
    """Compute what the EmoNet-Face study reports of people and models.

    These are descriptions, and tests that take cells as independent; :func:`alignment` is what
    verdicts should rest on.

    Parameters
    ----------
    ratings, models
        As for :func:`alignment`.
    groups
        Groups of models: an attribute of raters such as ``family``, or a group for each model; by
        default all models are one (see ``group_comparison``).
    over
        What the SD of the rater table runs over: ``labels``, after averaging over the people met,
        or ``cells``, every person met and label.
    exclude
        Labels that are left out.
    truncate
        Drop the fractions of models for kappa and alpha, as the study does, which loses half a
        step on average; otherwise they are rounded, as elsewhere.
    n_boot
        Bootstrap replicates for the differences of groups, the correlation with the median and
        alpha; 0 for no intervals, of discrepancies neither.
    seed
        Seed or generator.

    Returns
    -------
    PublishedTables.

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, section 4.2, appendix A.4, Table 6, Figures 3, 4, 6, 10.

    Examples
    --------
    >>> people = Ratings({"stimulus": list("abcd") * 2, "rater": list("xxxxyyyy"),
    ...                   "value": [0, 3, 7, 1, 0, 3, 6, 2]}, scale="0-7")
    >>> model = Ratings({"stimulus": list("abcd"), "rater": ["m"] * 4, "value": [0, 7, 3, 1]},
    ...                 scale="0-7")
    >>> published_tables(people, model).kinds["pair_kind"].to_list()
    ['human-human', 'human-model']
    """
    rng = np.random.default_rng(seed)
    both = judged_sides(ratings, models)
    scale = both.people.scale
    way = on_people(both, "none")
    mapped = way.table is not None
    stepped = put_on_steps(both, truncate=truncate)
    if mapped:
        table = merged(ratings, models, truncate=truncate, exclude=exclude, partly=True)
    steps = scale.step is not None and scale.low is not None and scale.high is not None
    ordered = scale.kind != "nominal"
    # The study takes the steps 0 to 7 as numbers, for alpha as for kappa.
    level: Literal["interval"] | None = "interval" if scale.kind == "ordinal" else None
    kappa = pairwise_kappa(table, cluster="none") if mapped and (steps or not ordered) else None
    spearman = pairwise_spearman(ratings, models, exclude=exclude) if ordered else None

    def compared(how: str | Mapping[str, str] | None) -> Estimates | None:
        if kappa is None:
            return None
        return group_comparison(table, groups=how, pairs=kappa, n_boot=n_boot, seed=rng)

    parts: dict[str, Any] = {
        "kappa": kappa,
        "kinds": None if kappa is None else pair_kinds(kappa),
        "kinds_by_label": None if kappa is None else pair_kinds(kappa, by_label=True),
        "raters": None if kappa is None else rater_table(table, over=over, pairs=kappa),
        "groups": compared(groups),
        "kind_groups": compared("kinds"),
        "spearman": spearman,
        "spearman_kinds": None if spearman is None else pair_kinds(spearman),
        "with_median": spearman_with_people(
            ratings, models, exclude=exclude, n_boot=n_boot, seed=rng
        )
        if ordered
        else None,
        "alpha": alpha_by_side(
            table if mapped else ratings,
            None if mapped else models,
            level=level,
            exclude=exclude,
            n_boot=n_boot,
            seed=rng,
        ),
        "discrepancy": discrepancy(
            ratings, models, exclude=exclude, target="both" if n_boot else "sample"
        )
        if ordered and mapped
        else None,
    }
    families = groups_of(table, groups) if groups is not None and mapped else {}
    words = "kappa" if scale.kind in ("nominal", "binary") else "quadratic kappa"
    said = parts["groups"]
    notes = () if said is None else said.notes
    if way.missing:
        notes = (f"Only ranks are compared: {way.why()}.", *notes)
    rule = ""
    if stepped:
        rule = f"fractions of models {'dropped' if truncate else 'rounded'}"
        instead = "the study drops them (truncate)" if not truncate else "as the study does"
        done = (f"For kappa and alpha, {one}; {instead}." for one in stepped)
        notes = (*done, *notes)
    return PublishedTables(
        tuple(_tables(parts, f"{words}, {rule}" if rule else words)),
        (
            *of_training(both.tables, both.people.stimulus_names),
            *(() if said is None or len(said.sentences) > _FEW else said.sentences),
        ),
        tuple(_figures(parts, words, families)),
        notes,
        {"over": over, "exclude": list(exclude), "truncate": truncate, "n_boot": n_boot},
        **{
            name: part.to_frame() if name in _FRAMES and part else part
            for name, part in parts.items()
        },
    )


_FRAMES = ("kinds", "kinds_by_label", "raters", "spearman_kinds")
_FEW = 3
"""Comparisons of groups that are written as sentences."""


def _tables(parts: Mapping[str, Any], words: str) -> Iterator[Table]:
    """Give the tables that there are; the ones about kappa are shown, where there are any."""
    heads = {
        "raters": f"Every rater with people ({words}; SD over {{}}).",
        "kinds": f"Kinds of pairs ({words}).",
        "groups": "Groups: difference of means, with the p-value of Mann-Whitney's U.",
    }
    for name in (*heads, *(name for name in parts if name not in heads)):
        found = parts[name]
        if found is None or name == "spearman":
            continue
        first, *behind = found.tables
        caption = heads.get(name, first.caption)
        if name == "raters":
            caption = caption.format(first.frame["sd_over"][0])
        seen = parts["kappa"] is None or name in heads
        if name == "groups":
            seen = len(found.sentences) > _FEW
        limit = first.limit if seen else 0
        yield replace(first, name=name, caption=caption, limit=limit)
        for table in behind:
            yield replace(table, name=f"{name}_{table.name}")


def _figures(parts: Mapping[str, Any], words: str, families: Mapping[str, str]) -> Iterator[Figure]:
    """Give the figures of all parts."""
    for name, found in parts.items():
        if found is None or name in ("kappa", "spearman") or (name == "groups" and not families):
            continue
        for figure in found.figures:
            of = name if figure.of == found.tables[0].name else f"{name}_{figure.of}"
            options: dict[str, Any] = {}
            if name in ("groups", "kind_groups"):
                options["value_name"] = words
            if name == "kinds_by_label":
                options["value_name"] = f"mean {words}"
            if name == "with_median" and families:
                options["families"] = [
                    families.get(rater, "none") for rater in found.frame["rater"]
                ]
            drawn = replace(figure, of=of, options={**figure.options, **options})
            if name == "kind_groups":
                drawn = replace(drawn, name="kinds_of_pairs", title="Agreement by kind of pair")
            yield drawn
    kappa = parts["kappa"]
    if kappa is not None:
        yield Figure(
            "heatmap",
            "pair_heatmap",
            of="kappa",
            title="Agreement of every pair of raters, mean over labels",
            description=f"{len(kappa.raters)} raters, people first.",
            options={
                "raters": kappa.raters,
                "rater_kinds": kappa.rater_kinds,
                "value_name": words,
            },
        )
