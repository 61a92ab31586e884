"""Whether models answer as well for one group as for another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.tables import Column, Count, Table, Text
from affectlab.core.words import joined, number, plural, sentence_case, shown
from affectlab.evaluation import fairness
from affectlab.evaluation.group_fairness import Fairness, Tested
from affectlab.report.page import Block, Bullets, Paragraph, Picture, Section, Skipped
from affectlab.report.sections.attributes import times_of
from affectlab.report.statistics import FEWEST_IN_GROUP, MOST_GROUPS, NO_GROUPS, Study

_ERROR_RATE = 0.05
_MOST_ATTRIBUTES = 6
_MOST_NAMED = 8
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
        return Skipped(title, "this needs people and models among the raters.")
    if study.flow is not None:
        return Skipped(title, "votes that stop at a no are given on items chosen by the others.")
    ratings, models = study.sources
    known = _attributes(ratings.raters, "rater") if study.ordered else []
    known = _attributes(study.ratings.stimuli, "stimulus") + known
    if not known:
        return Skipped(
            title,
            "no attribute of the stimuli or of the people makes groups to compare (two to "
            f"{MOST_GROUPS}, of {FEWEST_IN_GROUP} or more each).",
        )
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
    blocks: list[Block] = [Paragraph(_opening(study, found, len(used), len(known)))]
    blocks.append(Bullets(_sentences(study, found)))
    drawn = [part for part in found if part[1].flagged().height] or found[:1]
    blocks += [_picture(k, one, judged) for k, (one, judged) in enumerate(drawn, 1)]
    blocks += _tables(found, refused)
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


def _opening(
    study: Study, found: list[tuple[_Grouped, Fairness]], n_used: int, n_known: int
) -> str:
    asked = found[0][1].settings
    title = sentence_case(asked["title"])
    beside = (
        "beside the mean of people, in points of the scale"
        if study.ordered
        else "beside what most people say"
    )
    text = f"{title} of each model {beside}, by group ({asked['better']} is better)."
    if study.n_boot:
        text += (
            " Gaps are tested by shuffling the groups; p values are corrected for all gaps of an "
            "attribute (Holm)"
            + (f", and for the {n_used} attributes" if n_used > 1 else "")
            + f", so that the chance of any false alarm is at most {number(_ERROR_RATE)}."
        )
    else:
        text += " Gaps are not tested, because intervals were not asked for."
    if n_known > n_used:
        text += f" Of {n_known} attributes the first {n_used} are looked at."
    return text


def _sentences(study: Study, found: list[tuple[_Grouped, Fairness]]) -> tuple[str, ...]:
    """Gaps that are shown, then for each attribute what is not."""
    if not study.n_boot:
        return ("Values by group stand below.",)
    gaps: list[str] = []
    quiet: list[str] = []
    for one, judged in found:
        sentences = judged.sentences
        flagged = judged.flagged()["rater"].to_list()
        for rater, sentence in zip(flagged, sentences, strict=False):
            gaps.append(sentence.replace(f"{rater}:", f"{rater}, by {one.words}:", 1))
        quiet += _quiet(one, judged, sentences[len(flagged) :])
    more = len(gaps) - _MOST_NAMED
    rest = (f"{plural(more, 'more gap')} in the table.",) if more > 0 else ()
    return (*gaps[:_MOST_NAMED], *rest, *quiet)


def _quiet(one: _Grouped, judged: Fairness, sentences: tuple[str, ...]) -> tuple[str, ...]:
    """Say for all models together that no gap is shown, and what could have been missed."""
    frame = judged.gaps.frame
    tested = frame.filter(pl.col("p").is_not_nan() & pl.col("detectable").is_not_nan())
    hopeless = tested.filter(pl.col("test") == Tested.HOPELESS.value)
    loud = {*frame.filter("flagged")["rater"], *hopeless["rater"]}
    names = [name for name in tested["rater"].unique(maintain_order=True) if name not in loud]
    if len(names) < 2:
        return sentences
    could = tested.filter(pl.col("rater").is_in(names))["detectable"].to_list()
    low, high = number(min(could)), number(max(could))
    missed = f"below {high}" if low == high else f"below {low} to {high}, as models and groups go,"
    every = len(names) == frame["rater"].n_unique()
    who = f"any of {len(names)} models" if every else joined(shown(name, 40) for name in names)
    if not every and len(names) > _MOST_NAMED:
        who = f"{len(names)} of {frame['rater'].n_unique()} models"
    kept = [part for part in sentences if not part.startswith(tuple(f"{n}: " for n in names))]
    return (
        f"By {one.words} no gap is shown for {who}; a gap {missed} could have been missed.",
        *kept,
    )


def _picture(place: int, one: _Grouped, judged: Fairness) -> Picture:
    frame = judged.groups.frame
    cut = f" Cut at {joined(f'{edge:g}' for edge in one.edges)}." if one.edges else ""
    title = judged.settings["title"]
    known = frame.filter(pl.col("value").is_not_nan())
    words = f"No {title} is defined."
    if known.height:
        low, high = (known.sort("value").row(k, named=True) for k in (0, -1))
        n_shown = judged.flagged().height
        words = (
            f"{sentence_case(title)} from {number(low['value'])} ({shown(low['rater'], 40)},"
            f" {shown(low['group'], 40)}) to {number(high['value'])} ({shown(high['rater'], 40)}, "
            f"{shown(high['group'], 40)}); {plural(n_shown, 'gap is', 'gaps are')} shown."
        )
    return Picture.of(
        judged,
        "fairness",
        options={"value_name": title},
        name=f"fairness_{place}",
        title=f"By {one.words}",
        caption=f"{sentence_case(title)} by group, with the number of {judged.settings['things']}; "
        f"lines: 95 % intervals.{cut}",
        description=words,
    )


def _tables(found: list[tuple[_Grouped, Fairness]], refused: list[str]) -> list[Block]:
    every = {
        name: pl.concat(
            [judged.to_frame(name).with_columns(attribute=pl.lit(one.by)) for one, judged in found],
            how="diagonal_relaxed",
        )
        for name in ("gaps", "groups")
    }
    # Groups of stimuli are judged beside the mean of all people, which counts as one rater.
    of_stimuli = pl.col("attribute").str.starts_with("stimulus.")
    every["groups"] = every["groups"].with_columns(n_people=pl.when(~of_stimuli).then("n_raters"))
    notes = list(dict.fromkeys(note for _, judged in found for note in judged.notes))
    notes += [f"Not compared: {reason}." for reason in refused]
    notes.append(
        "Stimuli are taken to be independent; where several show one person, affectlab evaluate "
        "fairness --cluster keeps them together. It has other metrics, too."
    )
    people = [Count("n_people")] if every["groups"]["n_people"].count() else []
    return [
        replace(
            found[0][1].table(name),
            name=f"fairness_{name}",
            caption=caption,
            frame=every[name],
            columns=(*_columns(found[0][1].table(name)), *sizes),
            folded=True,
            notes=tuple(said),
        )
        for name, caption, sizes, said in (
            ("gaps", "Each group less what it is held against.", [], notes),
            ("groups", "Every group.", [Count("n_items", "stimuli"), *people], []),
        )
    ]


def _columns(table: Table) -> Iterator[Column]:
    """Give the columns of a table of one attribute, with the attribute behind the model."""
    for column in table.columns:
        if not column.spare and column.kind != "count":
            yield replace(column, head="model" if column.key == "rater" else column.head)
        if column.key == "rater":
            yield Text("attribute")
