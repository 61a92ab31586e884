"""Whether models answer as well for one group as for another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import shown
from affectlab.evaluation import fairness
from affectlab.evaluation.group_fairness import Fairness
from affectlab.reliability.components import FEWEST_IN_GROUP, MOST_GROUPS, NO_GROUPS
from affectlab.report import wording
from affectlab.report.page import Block, Paragraph, Section, Skipped, placed
from affectlab.report.sections.attributes import times_of
from affectlab.report.statistics import Study

_ERROR_RATE = 0.05
_MOST_ATTRIBUTES = 6
_NO_GROUPS = (*NO_GROUPS, "aggregated")


@dataclass(frozen=True)
class _Grouped:
    """An attribute that makes groups, and where it is cut when it is a number."""

    carrier: str
    name: str
    edges: tuple[float, ...] = ()

    @property
    def by(self) -> str:
        return f"{self.carrier}.{self.name}"

    @property
    def words(self) -> str:
        """What it is called in a title: "gender of the stimuli"."""
        things = "people" if self.carrier == "rater" else "stimuli"
        return f"{shown(self.name.replace('_', ' '), 40)} of the {things}"


def fairness_section(study: Study) -> Section | Skipped:
    """Error of each model by group of stimuli and of people, with the gaps that are shown."""
    title = "Fairness"
    if study.numeric is None or study.people is None or study.models is None:
        return Skipped(title, wording.NEEDS_BOTH)
    if study.flow is not None:
        return Skipped(title, wording.STOPPED_CHOSEN)
    ratings, models = study.sources
    known = _attributes(ratings.raters, "rater") if study.ordered else []
    known = _attributes(study.ratings.stimuli, "stimulus") + known
    if not known:
        return Skipped(title, wording.no_fair_groups(MOST_GROUPS, FEWEST_IN_GROUP))
    used = known[:_MOST_ATTRIBUTES]
    found: list[tuple[_Grouped, Fairness]] = []
    refused: list[str] = []
    for one in used:
        try:
            judged = fairness(
                ratings,
                models,
                by=one.by,
                metric="mae" if study.ordered else "accuracy",
                edges={one.name: one.edges} if one.edges else None,
                min_items=FEWEST_IN_GROUP,
                alpha=_ERROR_RATE / len(used),
                n_boot=study.n_boot,
                n_permutations=None if study.n_boot else 0,
                seed=study.seed,
            )
        except InputError as error:
            refused.append(f"{error}")
        else:
            found.append((one, judged))
    if not found:
        return Skipped(title, f"{refused[0]}.")
    blocks: list[Block] = []
    if len(known) > len(used):
        blocks.append(Paragraph(wording.attributes_looked_at(len(known), len(used))))
    if not study.n_boot:
        blocks.append(Paragraph(wording.GAPS_UNTESTED))
    for place, (one, judged) in enumerate(found, 1):
        names = {name: f"fairness_{name}_{place}" for name in ("groups", "gaps")}
        figure = replace(judged.figures[0], title=f"By {one.words}")
        # What shows no gap is a file; the first attribute is drawn where none shows any.
        loud = judged.flagged().height > 0
        drawn = loud or (place == 1 and not any(part.flagged().height for _, part in found))
        tables = judged.tables if loud else tuple(replace(one, limit=0) for one in judged.tables)
        blocks += placed(
            replace(judged, figures=(figure,), tables=tables),
            figures={figure.name: f"fairness_{place}"} if drawn else {},
            tables=names,
        )
    blocks += [Paragraph(f"{reason}.") for reason in refused]
    blocks.append(Paragraph(wording.FAIRNESS_CLUSTERS))
    return Section("fairness", title, tuple(blocks))


def _attributes(frame: pl.DataFrame, carrier: str) -> list[_Grouped]:
    """Attributes with two to eight groups of five or more; numbers are cut into thirds."""
    found = []
    for column in frame.drop([carrier, "rater_kind"], strict=False).get_columns():
        if column.name.casefold() in _NO_GROUPS or column.dtype.is_nested():
            continue
        if times_of(column) is not None:
            continue
        known = column.drop_nulls()
        if known.dtype.is_float():
            known = known.drop_nans()
        counts = known.value_counts()["count"]
        # As the statistic has it: few numbers are groups, more are to be cut.
        if known.dtype.is_numeric() and (len(counts) > MOST_GROUPS or counts.min() == 1):
            edges = _thirds(known.cast(pl.Float64).to_numpy())
            if edges:
                found.append(_Grouped(carrier, column.name, edges))
        elif 2 <= len(counts) <= MOST_GROUPS and (counts >= FEWEST_IN_GROUP).sum() >= 2:
            found.append(_Grouped(carrier, column.name))
    return found


def _thirds(values: np.ndarray) -> tuple[float, ...]:
    """Cut numbers into three groups of about one size, at whole numbers where all are whole."""
    edges = np.quantile(values, [1 / 3, 2 / 3]) if values.size else np.empty(0)
    digits = 0 if (values == np.rint(values)).all() else 2
    cuts = sorted({float(round(edge, digits)) for edge in edges.tolist()})
    sizes = np.bincount(np.searchsorted(cuts, values, side="right"), minlength=len(cuts) + 1)
    return tuple(cuts) if len(cuts) == 2 and (sizes >= FEWEST_IN_GROUP).all() else ()
