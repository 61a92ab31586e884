"""What a report says in its own words: one function for each kind of fact.

Most sentences of a report are those of the results that it places. These are the others: which
answers there are, how reliable means are, what the scores are, and what to worry about.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.words import (
    count,
    in_brackets,
    joined,
    number,
    option,
    percent,
    plural,
    sentence_case,
    shown,
    some,
)

Row = Mapping[str, Any]

INTERVAL = "95 % interval"
"""What the intervals of a report are called above their columns and in its glossary."""
_SOFT = "95\u00a0% interval"
_MOST_NAMES, _MOST_NAMED = 8, 5
_MOST_ANSWERS = 4


def ends(row: Row, digits: int = 2, *, prefix: str = "", called: bool = True) -> str:
    """Write the ends of an interval in brackets, and nothing where there is none."""
    return in_brackets(
        row[f"{prefix}low"], row[f"{prefix}high"], digits, name=_SOFT if called else ""
    )


def rater_called(name: str, most: int = 40) -> str:
    """Name a rater in a sentence, where a bare number would read as a count."""
    return f"rater {name}" if name.isdecimal() else shown(name, most)


def raters_called(names: Sequence[str]) -> str:
    """Name a few raters."""
    return some([rater_called(name, 60) for name in names], _MOST_NAMED)


def more_rows(n: int) -> str:
    """Point to the rows of a table that no sentence is about."""
    return f"The table has {n} more."


# Who answered what.


def panel(
    kinds: Mapping[str, int], aggregated: Sequence[str], *, n_models: int, known: bool
) -> str:
    """Count people and models: "12 people and 3 models"."""
    people = kinds.get("human", 0) - len(aggregated)
    simulated = kinds.get("simulated", 0)
    parts = []
    if not known:
        parts.append("people who are not named")
    elif people:
        parts.append(plural(people, "person", "people"))
    if aggregated:
        parts.append(f"the aggregated answers of people ({joined(map(shown, aggregated))})")
    if simulated:
        parts.append(plural(simulated, "simulated person", "simulated people"))
    if n_models:
        parts.append(plural(n_models, "model"))
    return joined(parts)


def answered(n: int, n_stimuli: int, n_filled: int, *, upto: bool, over_time: bool) -> str:
    """Count answers and stimuli, and say how many answers were absent and are taken as 0."""
    about = plural(n_stimuli, "stimulus", "stimuli") + (" over time" if over_time else "")
    if upto:
        about += f" ({filled(n_filled, upto=True)})"
    elif n_filled:
        n -= n_filled
        about += f" ({count(n_filled)} more were absent and are taken as 0)"
    return f"{plural(n, 'answer')} about {about}"


def lead(who: str, answers: str, n_silent: int, on: str, more: Sequence[str], *, gave: bool) -> str:
    """Say in one sentence who gave how many answers about what, and on which scale."""
    silent = f" ({count(n_silent)} more without an answer)" if n_silent else ""
    start = f"{sentence_case(who)}{' gave' if gave else ':'} {answers}{silent}"
    return f"{start}{on}{''.join(more)}."


def on_scale(labels: str, scale: str) -> str:
    """Say on which labels and scale; part of a sentence."""
    return f" on {labels} ({scale})" if labels else f" ({scale})"


def on_others(n: int, labels: Sequence[str]) -> str:
    """Count the answers on other scales; part of a sentence."""
    return f", and {count(n)} more on {some([shown(name) for name in labels], _MOST_NAMES)}"


def silent_raters(n: int) -> str:
    """Count raters without an answer; part of a sentence."""
    return f"; {plural(n, 'more rater')} gave none that can be used" if n else ""


def filled(n: int, *, upto: bool) -> str:
    """Count the answers that were absent and are taken as 0."""
    return f"{'up to ' if upto else ''}{count(n)} of them absent, taken as 0" if n else ""


FILLED_NOTE = " Absent answers that are taken as 0 count as answers."


# Careless people.


def without_careless(names: Sequence[str], n_things: str, before: float, after: float) -> str:
    """Say what leaving careless people out changes; ``n_things`` counts several labels."""
    verb = "is" if len(names) == 1 else "are"
    what = (
        f"the median reliability of the means of {n_things}"
        if n_things
        else "the reliability of the mean"
    )
    return (
        f"Without {raters_called(names)}, who {verb} taken to be careless, {what} would be "
        f"{number(after)}, not {number(before)}."
    )


# What there is no reliability of.

ONE_RATER = "One rater alone cannot show how reliable ratings are."
AGGREGATED_ONLY = (
    "How far the people behind these aggregated answers agree cannot be seen from them."
)
TEXTS_ONLY = "The answers are texts, so this report counts and describes them."


# What the scores are.


NO_GROUPS = "No attribute of the stimuli or the raters is known of all of them and makes groups."


ALL_SCORES = "All scores, with their intervals"


def cards_caption(n_labels: int) -> str:
    """Say what the stimuli at the ends of the scores are shown with, and of how many labels."""
    of = f" of the {n_labels} most reliable labels" if n_labels else ""
    return f"The ends of the scores{of}, with intervals and all answers."


# Labels.


def alpha(found: Any) -> str:
    """Give alpha with its interval: "Krippendorff's alpha 0.52, 95 % interval 0.45 to 0.58"."""
    several = found.n_all > 1
    of = f" of {found.n_all}" if found.n_labels < found.n_all else ""
    text = "Krippendorff's alpha"
    text += f", median of {found.n_labels}{of} labels: " if several else " "
    text += number(found.value)
    if not math.isnan(found.low):
        text += f", {_SOFT} {number(found.low)} to {number(found.high)}"
    return text


def marks_reached(n_tentative: int, n_firm: int, tentative: float, firm: float) -> str:
    """On how many labels the whole interval reaches the customary marks; a sentence part."""
    if n_tentative == 0:
        return f"on none of them does the whole interval lie above {tentative}"
    first = f"the whole interval lies above {tentative} on {n_tentative} of them"
    return f"{first} and above {number(firm)} on {n_firm or 'none'}"


def trusted_labels(frame: pl.DataFrame, found: Any) -> str:
    """Say which labels raters agree on, best first; ``frame`` holds alpha of each."""
    known = frame.drop_nans("value")
    if known.is_empty():
        return "Alpha is not defined for any label."
    firm = known.filter(pl.col("low") >= 0.8)["label"].to_list()
    between = known.filter(pl.col("low") >= 0.67, pl.col("low") < 0.8)
    tentative = between["label"].to_list()
    best, worst = known.row(0, named=True), known.row(-1, named=True)
    marks = (
        (firm, "firmly (interval of alpha above 0.80)"),
        (tentative, "tentatively (interval of alpha above 0.67)"),
    )
    text = NO_LABEL_TRUSTED
    if named := [(some([*map(shown, part)], _MOST_NAMED), how) for part, how in marks if part]:
        (first, how), *rest = named
        parts = [f"{first} can be trusted {how}", *(f"{names} {how}" for names, how in rest)]
        text = f"{sentence_case(', '.join(parts))}."
    return (
        f"{text} {alpha(found)}, from {number(worst['value'])} ({shown(worst['label'])}) to "
        f"{number(best['value'])} ({shown(best['label'])})."
    )


def label_sets(frame: pl.DataFrame) -> str:
    """Say how far whole sets agree."""
    row = frame.row(0, named=True)
    return (
        f"Of whole sets alpha is {number(row['value'])}{ends(row)} by {row['distance']} distance."
    )


NO_LABEL_TRUSTED = (
    "No label can be trusted yet: of none does the whole interval of alpha lie above 0.67."
)
LABELS_TOGETHER = (
    "Correlations of labels over stimuli: the highest and the lowest of all pairs, by their size."
)
LABEL_AGREEMENT = "Krippendorff's alpha of each label, beside how often it is said."
LABEL_SETS = "Krippendorff's alpha of whole sets: sets that share some labels agree in part."


def use(frame: pl.DataFrame, *, graded: bool = False) -> str:
    """Say which labels are used most and least."""
    by, unit = ("n_ratings_used", "answers") if graded else ("n_stimuli_used", "stimuli")
    order = frame.sort(by, descending=True, maintain_order=True)
    names, counts = order["label"].to_list(), order[by].to_list()
    if len(names) == 1:
        return f"{names[0]} is used in {count(counts[0])} {unit}."
    if counts[0] == counts[-1]:
        return f"All {len(names)} labels are used alike, in {count(counts[0])} {unit} each."
    return (
        f"Of {plural(len(names), 'label')}, {names[0]} is used most ({count(counts[0])} {unit}) "
        f"and {names[-1]} least ({count(counts[-1])})."
    )


def what_counts_as_use(rule: str, *, graded: bool, aggregated: bool) -> str:
    """Say what the bars of the use of labels count."""
    if graded:
        return f"answers {rule.removeprefix('an answer ')}"
    if aggregated:
        return "stimuli with an aggregated answer of yes"
    return "stimuli on which at least one rater says yes"


CORRELATION_SHADE = "interrater correlation"


def use_caption(what: str, shade: str, *, grouped: bool) -> str:
    """Say what the bars of the use of labels show."""
    coloured = f" The colour is {shade}." if shade else ""
    dots = ""
    if grouped:
        dots = " Dots give the sentiment." if shade else " Colours give the sentiment."
    return f"{sentence_case(what)}, per label.{coloured}{dots}"


def use_table(rule: str, note: str) -> str:
    """Say what the table of the use of labels counts."""
    return (
        f"Use of labels; {rule} counts as use. Stimuli: those with such an answer; answers: those "
        f"that count as use, and their share of all answers to the label.{note}"
    )


def labels_together(strongest: pl.DataFrame) -> str:
    """Say which labels go together, and which exclude each other."""
    sure = strongest.filter((pl.col("low") > 0) | (pl.col("high") < 0))
    if sure.is_empty():
        return "No two labels are shown to go together, or to exclude each other."
    pairs = [
        f"{shown(row['label_a'])} and {shown(row['label_b'])} ({number(row['value'])})"
        for row in sure.head(3).iter_rows(named=True)
    ]
    return f"The strongest correlations over stimuli: {joined(pairs)}."


def label_means(first: Row, last: Row) -> str:
    """Say on which labels answers are high and low."""
    if first["label"] == last["label"]:
        return f"The mean answer is {number(first['mean'])}."
    return (
        f"The mean answer is highest for {first['label']} ({number(first['mean'])}) and lowest for "
        f"{last['label']} ({number(last['mean'])})."
    )


# Pairs of systems, planes, traces, rounds.

JUDGES = "How far each judge agrees with the others, the least first."


def judges(least: Row, median: float) -> str:
    """Say which judge agrees least with all others."""
    return (
        f"{rater_called(least['rater'])} agrees least with the others: mean kappa "
        f"{number(least['with_people'])}, where the median of judges is {number(median)}."
    )


def plane_title(x: str, y: str) -> str:
    """Ask where stimuli lie."""
    return f"Where do the stimuli lie in {shown(x, 40)} and {shown(y, 40)}?"


MEANS_OF_TRACES = "The sections below are about the mean of each trace."


def rounds(*, recorded: bool) -> str:
    """Say why answers are taken as those of rounds, and what that means for agreement."""
    why = (
        "The answers say to which batch each of them belongs."
        if recorded
        else "The votes look as if an item was voted on again only after a yes: how many votes it "
        "has differs, and those with fewer votes mostly end in a no."
    )
    return f"{why} Coefficients of agreement of such answers are biased, often below 0."


def confirmed(batches: Sequence[Any]) -> str:
    """Say how many items were confirmed in each round that votes tell of."""
    known = [one for one in batches if one.reason is None]
    parts = [
        f"{percent(one.agreement)} of the {count(one.items)} items in batch {one.batch}"
        f"{' (as absent)' if one.kind == 'contrastive' else ''}"
        for one in known
    ]
    return f"Raters confirmed {joined(parts)}." if parts else "No round can be judged."


# Agreement.


def agreement_by_label(found: Any, best: Row, worst: Row, *, graded: bool) -> str:
    """Give alpha over labels, how many reach the marks, and the ends."""
    reached = f"; {found.reached}" if graded else ""
    return (
        f"{alpha(found)}{reached}. It is highest for {best['label']} ({number(best['value'])}) and "
        f"lowest for {worst['label']} ({number(worst['value'])})."
    )


def undefined_alpha(labels: str, reasons: str) -> str:
    """Say of which labels alpha is not defined; of all where none are counted."""
    return f"{f'It is not defined for {labels}' if labels else 'Alpha is not defined'} ({reasons})."


def agreement_caption(among: str, method: str) -> str:
    """Say what the table of agreement holds."""
    return f"Agreement among {among}: {method}. Stimuli with at least two answers enter."


OTHER_RATERS, THESE_TWO = "other raters", "these two raters"
OTHER_VOTES = "the same number of votes"
ALPHA_AND_ICC = (
    "Alpha and the intraclass correlation of one rater say how much a single answer tells; both "
    "count differences in level between raters as disagreement. They differ where alpha takes "
    "answers as ranks, or most of them are equal. The mean of several raters is more reliable."
)
SEQUENTIAL = (
    "Whether an item was asked about again depended on the votes before. Such a choice of items "
    "makes alpha, kappa and correlations too low, and other coefficients too low or too high: none "
    "should be quoted as the agreement of the raters."
)


def alpha_caption(among: str, interval: str, *, grouped: bool) -> str:
    """Say what the figure of alpha shows."""
    return (
        f"Krippendorff's alpha among {among}; 1 is full agreement, 0 what chance gives.{interval} "
        "Dashed lines at 0.67 and 0.80 mark what is usually asked for tentative and for firm "
        f"conclusions.{' Colours give the sentiment.' if grouped else ''}"
    )


def alpha_interval(units: str, whose: str) -> str:
    """Say what intervals of alpha are about."""
    return f" Lines are 95 % intervals for other {units} and {whose}."


OTHER_COEFFICIENTS = "Other coefficients, which allow for chance in other ways than alpha."
SINGLE_ANSWERS_COUNT = (
    " Where agreement by chance follows from how often each answer is given, answers to stimuli "
    "with one answer count for that, too, which they do not for alpha."
)


# Pairs of raters.


def pairs(measure: str, means: Sequence[tuple[str, float]], n_kept: int, n_left: int) -> str:
    """Give the mean agreement of each kind of pair."""
    parts = [f"{number(mean)} for {kind} pairs" for kind, mean in means]
    text = f"The mean {measure} is {joined(parts)}."
    if n_left:
        text += (
            f" There are too many pairs to compare all: {count(n_kept)} raters are compared, the "
            f"models and the people with the most answers, and {count(n_left)} are not."
        )
    return text


def pairs_by_kind(measure: str, *, labelled: bool) -> str:
    """Say what the table of kinds of pairs holds."""
    each = ", a value for each pair and label" if labelled else ""
    return (
        f"{sentence_case(measure)} by kind of pair{each}. The SD treats pairs as independent, "
        "which they are not: it describes, it does not test."
    )


def heatmap_caption(measure: str, *, labelled: bool, mixed: bool, gaps: bool, rule: str) -> str:
    """Say what the figure of all pairs shows."""
    labels = ", mean over the labels on which it is defined" if labelled else ""
    order = "; people first, names of models in orange" if mixed else ""
    empty = " Empty cells: no common stimuli, or not defined." if gaps else ""
    return f"{sentence_case(measure)} of every pair of raters{labels}{order}.{empty}{rule}"


def heatmap_rule(n: int, most: int) -> str:
    """Say which raters are drawn of many."""
    return f" Of {count(n)} raters the {most} with the most answers are shown."


def heatmap_words(n_raters: int, values: np.ndarray, n_pairs: int) -> str:
    """Give what the figure of all pairs shows in numbers."""
    text = f"Agreement of {plural(n_raters, 'rater')} in {plural(n_pairs, 'pair')}"
    if values.size > 1:
        low, middle, high = np.quantile(values, [0, 0.5, 1]).tolist()
        text += f": from {number(low)} to {number(high)}, median {number(middle)}"
    return f"{text}."


def pairs_caption(enough: int, *, several: bool) -> str:
    """Say what the table of pairs holds."""
    mean = "; mean over the labels on which it is defined." if several else "."
    return f"Pairs of raters, closest first (fewer than {enough} common stimuli: last){mean}"


# Models.


def cannot_say(reason: str) -> str:
    """Say why models are not compared with people."""
    return f"This cannot be said: {reason}"


def too_few_stimuli(n: int) -> str:
    """Say that stimuli are too few for a verdict."""
    return f"{plural(n, 'stimulus', 'stimuli')} are too few to say."


_PLACES = {
    "above": (
        "agrees with people better than they do with one another",
        "agree with people better than they do with one another",
    ),
    "inside": ("is as good as people", "are as good as people"),
    "at least": (
        "is not worse than people, and may be better",
        "are not worse than people, and may be better",
    ),
    "not shown": ("may or may not be as good as people",) * 2,
    "below": ("is not as good as people", "are not as good as people"),
    "undefined": ("cannot be placed",) * 2,
}
"""What is said of one model with a verdict, and of several."""


def verdicts(standing: Mapping[str, Sequence[str]], margin: float, measure: str) -> str:
    """Say in one sentence how many models stand where."""
    n = sum(map(len, standing.values()))
    parts = []
    for place, (one, several) in _PLACES.items():
        names = standing.get(place, ())
        if len(names) == 1:
            parts.append(f"{shown(names[0], 60)} {one}")
        elif names:
            every = "both" if len(names) == 2 else "all"
            parts.append(f"{every if len(names) == n else len(names)} {several}")
    within = f"within a margin of {number(margin)} of {measure}"
    return f"Of {n} models {'; '.join(parts)} ({within})."


def verdict(row: Row, place: str, measure: str, right: str) -> str:
    """Say where a model stands, by how much, and how often it is right."""
    start = f"{shown(row['rater'], 60)} {_PLACES[place][0]}"
    difference = f"{'+' if row['difference'] > 0 else ''}{number(row['difference'])}"
    return (
        f"{start}: {right}its {measure} with people is {number(row['agreement'])}, theirs with one "
        f"another {number(row['people'])}; difference {difference}{ends(row)}, margin "
        f"{number(row['margin'])}."
    )


def no_verdict(name: str, why: str) -> str:
    """Say that a model has no place."""
    return f"{shown(name, 60)} {_PLACES['undefined'][0]}: {why}."


def more_models(n: int) -> str:
    """Point to the models that no sentence is about."""
    return f"The other {n} models are under Models beside people."


def other_scales_of_models(labels: Sequence[str]) -> str:
    """Say what labels a comparison is about."""
    about = joined(map(shown, labels))
    return f"This is about {about}; other scales need a report of their own."


def people_range(people: Sequence[float], models: Sequence[tuple[str, float]]) -> str:
    """Give what the figure of models on the range of people shows."""
    span = f"People from {number(people[0])} to {number(people[-1])}; " if people else ""
    words = ", ".join(f"{shown(name, 40)} {number(value)}" for name, value in models)
    return f"{span}{words}."


def range_caption(rule: str) -> str:
    """Say what the figure of models on the range of people shows."""
    return (
        "Dots: each person against the other people; band: their range; line: their median. "
        f"Diamonds: each model against people.{rule}"
    )


def best_shown(n: int, most: int) -> str:
    """Say that the best of many models are shown."""
    return f" Of {n} models the best {most} are shown."


def busiest_compared(n: int, most: int) -> str:
    """Say which people are compared of many."""
    return f"Of {plural(n, 'person', 'people')} the {most} with the most answers are compared."


BY_LABEL = "Models - people on every label."
BIAS = (
    "Mean answer of people less that of each model on the same stimuli, in points of the scale: "
    "above 0 people see more of the label. Equal means do not make equal answers."
)
SOFT_LABELS = (
    "A model that knows how people differ predicts the whole distribution of their answers."
)
NO_PROBABILITIES = "Calibration is not shown, because the models give answers, not probabilities."


# Fairness.


def attributes_looked_at(n: int, used: int) -> str:
    """Say that some attributes are not looked at."""
    return f"Of {n} attributes the first {used} are looked at."


GAPS_UNTESTED = "Gaps are not tested, because intervals were not asked for."
FAIRNESS_CLUSTERS = (
    "Stimuli are taken to be independent; where several show one person, affectlab evaluate "
    "fairness --cluster keeps them together. It has other metrics, too."
)
# Answers, attributes, stimuli, raters.


def most_frequent(who: str, n: int, answer: str, share: float) -> str:
    """Say which answer is the most frequent one of a group."""
    if share == 1:
        return f"{who}: all {count(n)} answers are {answer}."
    return f"{who}: most often {answer} ({percent(share)} of {count(n)} answers)."


def spread(who: str, value: np.ndarray) -> str:
    """Say where answers on a scale of many points lie."""
    sd = f", SD {number(float(value.std(ddof=1)))}" if value.size > 1 else ""
    return (
        f"{who}: mean {number(float(value.mean()))}{sd}, from {number(float(value.min()))} to "
        f"{number(float(value.max()))} ({plural(value.size, 'answer')})."
    )


def answers_caption(point: str, *, few: bool, labelled: bool) -> str:
    """Say what the figure of answers shows."""
    over = ", over all labels" if labelled else ""
    return f"Share of answers {'on' if few else 'in'} each {point}{over}."


LEVELS_BY_LABEL = (
    "Share of each point of the scale, per label, over all raters; labels with high answers first."
)


def levels_by_label(high: str, low: str, bottom: np.ndarray) -> str:
    """Say on which labels answers are high, and how often the lowest point is answered."""
    ends_ = f"highest for {high} and lowest for {low}" if high != low else "alike on all labels"
    return (
        f"Answers are {ends_}. The lowest point of the scale takes {percent(float(bottom.min()))} "
        f"to {percent(float(bottom.max()))} of the answers to a label."
    )


def texts(n: int, n_stimuli: int, length: np.ndarray) -> str:
    """Say how many answers are in words, and how long they are."""
    return (
        f"{plural(n, 'answer')} in words about {plural(n_stimuli, 'stimulus', 'stimuli')}; a text "
        f"has {number(float(np.median(length)), 0)} words in the median, from "
        f"{count(length.min())} to {count(length.max())}."
    )


def attributes(n: int, things: str) -> str:
    """Say what the table of attributes holds."""
    return (
        f"What is known of {count(n)} {things}: ranges of numbers, most frequent values of others."
    )


def from_to(low: str, high: str, middle: str = "") -> str:
    """Write a range, with its median where there is one."""
    return f"{low} to {high}{f', median {middle}' if middle else ''}"


def such_as(value: str) -> str:
    """Give an example of values that hardly repeat."""
    return f"such as {value}"


def sample(n: int, n_all: int, broken: Sequence[str]) -> str:
    """Say how many pictures of stimuli are shown."""
    text = f"{plural(n, 'stimulus', 'stimuli')} of {n_all:,}, drawn at random."
    if broken:
        text += f" Not readable as a picture: {joined(shown(name, 40) for name in broken[:5])}."
    return text


def gallery_caption(*, with_label: bool) -> str:
    """Say what stands under the pictures of stimuli."""
    under = " and the label with the highest mean answer" if with_label else ""
    return f"Samples of the stimuli; under each stands its name{under}."


def no_pictures(n_broken: int, folder: str) -> str:
    """Say why no stimulus is shown."""
    if n_broken:
        return f"{plural(n_broken, 'file')} could not be read as pictures."
    if folder:
        return f"no picture of a stimulus was found in the folder {folder}."
    return "no pictures of the stimuli are known (a folder can be given)."


def answers_of_raters(n: int, answers: np.ndarray, *, aggregated: bool, filled: bool) -> str:
    """Say how much raters answered."""
    verb = "gave" if not filled else "has" if n == 1 else "have"
    text = f"{plural(n, 'rater')} {verb} "
    if aggregated:
        text = f"Aggregated answers of {plural(n, 'source')}: "
    if answers.min() == answers.max():
        return f"{text}{plural(int(answers[0]), 'answer')}{' each' if n > 1 else ''}."
    return (
        f"{text}{count(answers.min())} to {count(answers.max())} answers (median "
        f"{count(float(np.median(answers)))})."
    )


_OF_RATERS = {
    "mean": "The mean answer",
    "inconsistency": "The inconsistency, in points of the scale,",
}


def spread_of_raters(column: str, low: float, high: float, lowest: str, highest: str) -> str:
    """Say who stands at the ends of what is known of raters."""
    what = _OF_RATERS[column]
    if low == high:
        return f"{what} is {number(low)} for all."
    return f"{what} runs from {number(low)} ({lowest}) to {number(high)} ({highest})."


RATER_COLUMNS = {
    "mean": "Mean and SD: of all answers.",
    "share_of_scale": "Scale used: the share of its points that the rater chose at least once; "
    "where there are no steps, of its length between the lowest and the highest answer.",
    "with_people": "With people: the mean agreement of all pairs with another person.",
    "correlation": "With the others: Spearman's correlation with their mean, label by label.",
    "bias": "Bias and inconsistency: an answer is the score of the stimulus, plus the bias of the "
    "rater, plus an error whose size is the inconsistency. Both are in points of the scale; biases "
    "average to zero.",
}
"""What the columns of the table of raters mean."""
PEOPLE_AMONG_THEMSELVES = "Where models have no entry, people are compared among themselves."


def no_pair_entries(n: int) -> str:
    """Say that some raters are not compared pair by pair."""
    return f"{count(n)} raters with few answers have no entry, because there are too many pairs."


def few_common(few: Sequence[tuple[str, int]], fewest: int, *, labelled: bool) -> str:
    """Name the raters whose correlation rests on so few stimuli that it says little."""
    at_most, on_each = ("at most ", " on every label") if labelled else ("", "")
    names = some([f"{rater_called(name)} ({at_most}{n})" for name, n in few], _MOST_NAMED)
    return (
        f"It rests on fewer than {fewest} common stimuli{on_each}, and says little, for "
        f"{plural(len(few), 'rater')}: {names}."
    )


def more_attributes(n: int) -> str:
    """Say that the file of a table holds more than the page."""
    return f"The file of the table also holds {n} more attributes."


def repeats(n: int, n_raters: int, telling: pl.DataFrame, constant: Sequence[str]) -> str:
    """Say how far repeated answers lie from the first; who always answers the same is left out."""
    text = f"{plural(n, 'repeat')} of {plural(n_raters, 'rater')}"
    if telling.height:
        best, worst = telling.row(0, named=True), telling.row(-1, named=True)
        middle = float(telling["value"].median())  # type: ignore[arg-type]
        text += (
            ": the mean absolute difference from the first answer runs from "
            f"{number(best['value'])} ({rater_called(best['rater'])}) to {number(worst['value'])} "
            f"({rater_called(worst['rater'])}) points of the scale, median {number(middle)}"
        )
    if not constant:
        return f"{text}."
    verb = "is" if len(constant) == 1 else "are"
    return (
        f"{text}. {raters_called(constant)} {verb} not among them: one and the same answer "
        "throughout says nothing about consistency."
    )


SAME_ANSWER = "always gives the same answer"


def repeats_caption(n: int, most: int) -> str:
    """Say what the figure of self-consistency shows."""
    rule = f" Of {n} raters the {most} least consistent are shown." if n > most else ""
    return (
        "Mean absolute difference between the repeated and the first answer, with 95 % intervals; "
        f"0 is best.{rule}"
    )


def repeats_table(*, labelled: bool) -> str:
    """Say what the table of self-consistency holds."""
    over = (
        " The correlation is Spearman's over the repeats of all labels together, so differences "
        "between labels raise it."
        if labelled
        else ""
    )
    return f"Repeated answers against the first ones.{over}"


# Planted truth.


def recovered(known: np.ndarray) -> str:
    """Say how scores correlate with what simulated people answered from."""
    if not known.size:
        return "For no label can the correlation of scores with the truth be computed."
    return (
        "These answers are simulated, from a truth that is known. The mean of the answers "
        f"correlates with it {number(float(np.median(known)))} in the median of "
        f"{plural(known.size, 'label')} ({number(float(known.min()))} to "
        f"{number(float(known.max()))})."
    )


def planted(
    n: int, n_caught: int, missed: Sequence[tuple[str, str, str]], wrong: Sequence[str]
) -> str:
    """Say which planted careless people stand out, and who does without being planted."""
    text = (
        f"Of {plural(n, 'person', 'people')} planted as careless, {count(n_caught)} "
        f"{'stands' if n_caught == 1 else 'stand'} out by what this report looks at."
    )
    for name, how, why in missed:
        text += f" {shown(name, 40)} ({how}) was missed: {why}."
    if not wrong:
        return f"{text} Nobody who was planted as careful was pointed out."
    return f"{text} Pointed out though planted as careful: {joined(wrong)}."


PLANTED_TRUTH = "Scores (means over people) against the planted truth, over stimuli."
PLANTED_TRUTH_NOTE = "Pearson's correlation; bootstrap over stimuli."
NOBODY_SCREENED = "nobody was screened"


# What was rated.


def other_scales(here: Sequence[str]) -> str:
    """Say what a report has of labels on other scales."""
    return (
        "The labels of the source are on different scales. Page one is about all but texts. The "
        f"sections below it compare labels on one scale and are about {joined(map(shown, here))}; "
        "of the others they have what stands here. Each can have a report of its own "
        f"({option('select(labels=…)', cli='--keep-labels')})."
    )


OTHER_SCALES = (
    "Labels on other scales: answers, and Krippendorff's alpha of people at the level of the scale "
    "of each label."
)
STEPS_TAKEN = "How the answers were read, and what was done before this report, in order:"
SET_ASIDE = "What was set aside of the source, and why."


def unused_columns(names: Sequence[str]) -> str:
    """Name the columns that neither stimuli nor raters have one value of."""
    verb = "differs" if len(names) == 1 else "differ"
    listed = joined([shown(name, 40) for name in names])
    return f"{listed} ({verb} between the answers to a stimulus and those of a rater)"


def usable_outcomes(*, unclear: bool, labelled: bool) -> str:
    """Say what counts as an answer where outcomes are counted."""
    text = ""
    if unclear:
        text += (
            " To find a stimulus unclear counts as a usable answer here; it has no label, and "
            "other statistics leave it out."
        )
    if labelled:
        text += " An answer is all that a rater said about a stimulus at once, on all labels."
    return text


def outcomes_caption(also: Sequence[str]) -> str:
    """Say what the table of outcomes counts."""
    more = f" This counts {joined(also)}, too." if also else ""
    return f"Outcomes of the answers, with Wilson intervals of the share that can be used.{more}"


def trials_counted(kinds: Sequence[str], *, controls: bool) -> list[str]:
    """Name what counts among outcomes, and nowhere else."""
    named = [f"answers to trials of the kind {joined(map(shown, kinds))}"] if kinds else []
    return named + (["control runs"] if controls else [])


CONTROLS = {
    "agreement": "Agreement with people: of the main run, of the control run, and what is kept.",
    "wrong_hints": "Share of wrong hints that were followed, beside the share without the hint.",
    "duplicates": "Share of stimuli that got the same answers as another stimulus.",
}
CONTROLS_NOTE = (
    "Answers: over all answers together, which rewards knowing which labels are common; labels: "
    "within each label, which does not."
)


# What to worry about.


def worry_rounds(*, recorded: bool) -> str:
    """Say what votes of rounds do to agreement."""
    were = "were" if recorded else "look as if they were"
    return (
        f"The votes {were} collected in rounds, where an item was asked about again only after a "
        "yes: alpha, kappa and correlations of such data are biased downwards, often below 0. "
        f"{'Read' if recorded else 'If so, read'} the consensus flow in their place."
    )


def worry_duplicates(sentence: str) -> str:
    """Say of two raters who answer alike what that does to agreement."""
    return (
        f"{sentence_case(sentence)}. If one is a copy of the other, or both are the same person or "
        "model, statistics that count both overstate agreement."
    )


def worry_more_duplicates(n: int) -> str:
    """Count other raters who answer alike."""
    return f"{plural(n, 'more pair')} of raters answer alike in the same way."


def worry_careless(people: Sequence[tuple[str, str]], *, compared: bool) -> str:
    """Name careless people with the evidence, and say where their answers count."""
    listed = some([f"{rater_called(name, 60)} ({why})" for name, why in people], _MOST_NAMED)
    beside = ", and are left out where models are compared with people" if compared else ""
    return (
        f"Taken to be careless by the policy panel: {listed}. Their answers count in reliability "
        f"and scores{beside}: excluding people needs a rule that was set before."
    )


def worry_few_items(n: int, labels: str, n_labels: int, smallest: int, enough: int) -> str:
    """Say that agreement rests on few stimuli."""
    if n_labels == 1:
        return (
            f"Agreement rests on {smallest} stimuli with two answers: intervals may be too narrow "
            f"on fewer than {enough}."
        )
    return (
        f"{n} of {labels} {'rests' if n == 1 else 'rest'} on fewer than {enough} stimuli with two "
        f"answers (the smallest on {smallest}): intervals are wide there, and may be too narrow "
        "still."
    )


def worry_few_clusters(n: int, units: str) -> str:
    """Say that clusters are too few for intervals about others."""
    return (
        f"The stimuli are those of {n} {units}, too few for intervals about other {units} (five or "
        f"more); {option('cluster', 'none')} gives those about single stimuli, which are too "
        "narrow for others."
    )


def worry_few_common(share: float, fewest: int) -> str:
    """Say that pairs of raters share few stimuli."""
    return (
        f"{percent(share)} of the defined values for pairs of raters rest on fewer than {fewest} "
        "common stimuli and scatter widely."
    )


def worry_undefined(n: int, labels: str, reasons: Sequence[tuple[str, int]]) -> str:
    """Say of how many labels alpha is not defined."""
    listed = joined(f"{times} for “{reason}”" for reason, times in reasons)
    return f"Alpha is not defined for {n} of {labels}: {listed}."


def worry_coverage(models: Sequence[tuple[str, float]]) -> str:
    """Name models that answered only a part of what people answered."""
    listed = [f"{shown(name, 60)} {percent(share)}" for name, share in models]
    return (
        f"Answered of the items that people answered: {some(listed, 5, 'more models')}; models are "
        "compared with people on the common items."
    )


def worry_unmapped(names: Sequence[str], reasons: Sequence[str], *, every: bool) -> str:
    """Name models that stand in no table of all raters, and why."""
    who = "Models" if every else some(list(names), 5)
    verb = "stand" if every or len(names) > 1 else "stands"
    return (
        f"{who} {verb} in no table or figure of all raters, and people are compared with their "
        f"order of stimuli alone: {'; '.join(dict.fromkeys(reasons))}."
    )


def worry_aggregated(names: Sequence[str]) -> str:
    """Name raters whose answers are those of several people."""
    return (
        f"{raters_called(names)} {'is' if len(names) == 1 else 'are'} excluded from this report: "
        "answers aggregated from those of several people would count these twice."
    )


# Why something is not shown.

NO_RATERS = "the raters of counted votes are not known."
NO_NUMBERS = "there are no numeric answers."
NO_TEXTS = "no answer has a text."
NEEDS_BOTH = "this needs people and models among the raters."
SINGLE_RATER = "there is one rater."
SINGLE_AGGREGATED = (
    "the answers are aggregated from those of several people, so the file holds no single raters."
)
STOPPED_NO_TRUTH = "votes that stop at a no say who was asked, not what is true."
STOPPED_CHOSEN = "votes that stop at a no are given on items chosen by the others."
STOPPED_NO_DISTRIBUTION = "votes that stop at a no give no distribution of answers."
NO_CLASSES = "the answers are points of a scale, not classes."
NO_CHOICES = "the answers are points of a scale, not choices among labels."
NO_AGREEMENT_OF_MEANS = "aggregated answers cannot show how far people agree."
AGGREGATED_PANEL = "answers aggregated from those of several people do not show how far they agree."
ONE_PERSON = "one person alone cannot show how far people agree."
ONE_OF_PANEL = "one rater alone cannot agree or disagree."
NO_COMMON_STIMULI = "no stimulus has answers of two raters to the same label."
NO_LABELS = "the answers are on one scale without labels."
NOMINAL_UNDER_ANSWERS = "the categories of a nominal scale are shown under Answers."
NO_REPEATS = "no trial is marked as a repeat."
NO_MAIN_OF_REPEATS = "no repeat has a main answer of the same rater to compare with."
NO_DISTANCES = "the answers are categories, between which there is no distance."
NO_OUTCOMES = "the ratings have no column outcome."
NO_CONTROLS = "no rater is marked as a control run (attribute control)."


def no_side(missing: str) -> str:
    """Say that there are no people, or no models."""
    return f"there are no {missing} among the raters."


def no_pairs(measure: str, reasons: str) -> str:
    """Say that no pair of raters has a value."""
    return f"no pair of raters has a defined {measure} ({reasons})."


def nothing_compared(status: str) -> str:
    """Say that nothing can be compared."""
    return f"nothing can be compared ({status})."


def no_attributes(things: str) -> str:
    """Say that no attributes are known."""
    return f"no attributes of the {things} are known."


def no_fair_groups(most: int, fewest: int) -> str:
    """Say that no attribute makes groups to compare models by."""
    return (
        "no attribute of the stimuli or of the people makes groups to compare (two to "
        f"{most}, of {fewest} or more each)."
    )


def excluded_step(names: Sequence[str]) -> str:
    """Say in the history whose answers a report does not use."""
    return f"excluded from the report: {joined(map(shown, names))}, answers of several people"


# How to read the report.

TERMS = (
    (
        "Rater",
        "Whoever answers: a person, a classifier or another model. Simulated people follow a known "
        "rule and are marked wherever they appear.",
        "single raters",
    ),
    ("Item", "A stimulus together with a label.", "labelled"),
    (
        "Reliability",
        "The share of the differences between scores that comes from the stimuli, and would be "
        "there with other raters. That of a mean follows from that of one rater by the rule of "
        "Spearman and Brown. The marks 0.70, 0.80 and 0.90 are customary (Nunnally and Bernstein "
        "1994), and no laws; the whole interval has to lie above or below one to be called so.",
        "Their mean",
    ),
    (
        "Krippendorff's alpha",
        "How much less raters disagree than answers mixed at random would: 1 where they never "
        "differ, 0 at chance. 0.80 is customary for firm conclusions, 0.67 for tentative ones.",
        "Alpha",
    ),
    (
        "Alpha of several labels",
        "Each label has its own: over all at once, differences between labels would pass for "
        "agreement. The median has an interval from samples that all labels share.",
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
        "allow for chance.",
        "Same answer",
    ),
    (
        "Interrater correlation",
        "Spearman's correlation of one rater's answers with the mean of the others', averaged over "
        "raters. It overlooks who answers high or low.",
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
        "Each person is compared with the other people, and each model with the same groups. A "
        "model is inside where its agreement is shown to differ from theirs by less than a stated "
        "margin; that nothing is shown is no proof of being alike.",
        "models",
    ),
    (
        "ECC and EMC",
        "Accuracy that counts how far apart two classes are. ECC: a right answer counts 1, a wrong "
        "one 1 divided by its cost. EMC: of mistakes alone, 1 where all are as mild as can be.",
        "errors",
    ),
    (
        "Jensen–Shannon divergence",
        "How far what people chose for a stimulus lies from what a model expects them to choose, "
        "from 0 (the same) to 1 (nothing in common).",
        "soft-labels",
    ),
    (
        "Gap between groups",
        "The value of a model in one group less that in the rest. A gap is called shown where "
        "shuffling the groups seldom makes one as large, corrected for the number of gaps.",
        "fairness",
    ),
    (
        "Self-consistency",
        "How far a rater's second answer to the same stimulus lies from the first. It sets no "
        "limit to the agreement with the mean of many others, in which errors cancel.",
        "self-consistency",
    ),
    (
        "Consensus flow",
        "A yes/no protocol that asks again only where the last answer was yes. A contrastive batch "
        "asks once whether another emotion is absent.",
        "consensus-flow",
    ),
    (
        "Not defined",
        "Some coefficients have no value, for example when every answer is the same. Then the "
        "report says why and prints neither 0 nor 1.",
        "Note",
    ),
)
"""Terms, what they mean, and what on the page they belong to."""


def more_on_terms(*, filled: bool, declared: bool, fleiss: bool) -> dict[str, str]:
    """Add to terms what follows from the ratings."""
    more = {
        "Item": " Answers that were absent count as answers of 0 here."
        if filled
        else " A missing answer is not an answer of 0.",
        "Quadratic weights": " The whole declared scale counts, not only the points that were "
        "chosen."
        if declared
        else " The whole scale counts that was inferred from the answers.",
    }
    if fleiss:
        more["Kappa"] = " Fleiss' kappa is of all raters at once, by the habits of all together."
    return more


def on_intervals(units: str, *, resampled: bool, raters: bool, models: bool, outcomes: bool) -> str:
    """Say where the intervals of the page come from."""
    text = ""
    if resampled:
        beside = ", unless it is said to be over stimuli and people" if models else ""
        together = "" if units == "stimuli" else ", whose stimuli are drawn together,"
        text = (
            f" That of agreement is about other {units}{together}"
            f"{' and other raters' if raters else ''}; others come from drawing the stimuli again "
            "with replacement (bootstrap), are too narrow for few stimuli, and do not cover a "
            f"change of raters{beside}."
        )
    if outcomes:
        text += " Intervals of outcomes are Wilson's, from the counts alone."
    return text


def fewer_samples(n: int, asked: int, answers: int) -> str:
    """Say how many bootstrap samples were drawn where these are fewer than was asked for."""
    return f"{n} in place of {count(asked)}, for {count(answers)} answers"
