"""Severity, consensus, traces, categories and questionnaires in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from affectlab.core.facts import Reason
from affectlab.core.words import (
    count,
    in_brackets,
    joined,
    number,
    p_value,
    percent,
    plural,
    sentence_case,
    shown,
    some,
    with_ends,
)

Row = Mapping[str, Any]


def models_unused(n: int) -> str:
    """Say that models are no raters here."""
    return f"{plural(n, 'model')} not used"


# Severity of raters.

RASCH = "many-facet Rasch, conditional maximum likelihood"
SEVERITIES = "Severity in logits."
ABOVE_ZERO = "Raters with a severity above 0 answer lower than the mean rater."
FIT = "Infit and outfit: 1 as the model predicts, higher where noisier."
RASCH_THRESHOLDS = "Thresholds between neighbouring answers, relative to severity."
SEVERITY_FIGURE = "In logits, with intervals; 0 is the mean rater."
STIMULI = "Stimuli in logits, and the fair mean of all raters."
SEVERAL_RATERS = "rater; severity compares raters"
SEVERAL_STIMULI = "stimulus; severity takes several"
WITH_SEVERITY = "raters with a severity"
IN_TWO_GROUPS = "raters with informative answers in two groups"
NO_GROUPS = "stimuli have none with 2 to 20 values (--stimuli FILE)"


def tests_caption(group: str | None) -> str:
    """Name the tests of severity."""
    return "Tests of severity" + (f", and of severity by {group}." if group else ".")


def differences_caption(group: str) -> str:
    """Name the table of differences by group."""
    return f"Severity with each {group}, relative to all, in logits."


def severity_text(
    label: str, low: tuple[str, float], high: tuple[str, float], test: str, *, different: bool
) -> str:
    """Give the least and the most severe rater."""
    differ = "differ in severity" if different else "could not be shown to differ in severity"
    return (
        f"{label}: raters {differ}, from {shown(low[0])} ({number(low[1])}) to {shown(high[0])} "
        f"({number(high[1])}; {test})."
    )


def chi_squared_text(df: int, value: float, p: float) -> str:
    """Write a likelihood ratio test."""
    return f"χ²({df}) = {number(value, 1)}, p {p_value(p)}"


def misfit_text(label: str, raters: Sequence[str], *, noisier: bool) -> str:
    """Name raters who do not fit the model."""
    how = "noisier" if noisier else "more predictable"
    names = some([shown(one) for one in raters], 5)
    return f"{label}: {plural(len(raters), 'rater')} {how} than the model (infit, Holm): {names}."


def by_group_text(label: str, group: str, test: str, n_pairs: int, *, different: bool) -> str:
    """Say whether severity depends on a group."""
    how = "depends" if different else "could not be shown to depend"
    pairs = plural(n_pairs, "difference")
    return f"{label}: severity {how} on {group} ({test}; {pairs} with Holm's correction)."


def no_infit(label: str, who: str, why: str) -> str:
    """Say whose fit is not defined."""
    return f"{label}: no infit of {who}: {why}"


def not_an_attribute(group: str) -> str:
    """Say that a column cannot be a group."""
    return f"{group!r} is no attribute of stimuli"


# Consensus of a protocol of batches.

INFERRED_RULE = "Batch b: items with at least b votes; confirmed: items with at least b yes votes."
CONTRASTIVE_RULE = (
    "Batch b: affirmative items with at least b votes; confirmed: those with at least b yes votes. "
    "The last batch asks once about each contrastive item."
)
RECORDED_RULE = "Batches as recorded in the ratings."
BOUNDS = "possible range"
FLOW_FIGURE = "Items of each batch and the confirmed share (contrastive: confirmed as absent)."
BATCHES = "Batches of the protocol."
CONSENSUS_SET = "Items on which all batches agree."
EXCLUDED = "Excluded items."
NO_SECOND_VOTES = "No item has a second vote."
OPEN_BATCHES = "Batch 1 and the contrastive batch are left out: single votes do not separate them."


def batch_text(number: int, items: int, agreement: float) -> str:
    """Give the items of a batch, and the share that was confirmed."""
    confirmed = "" if agreement != agreement else f", {agreement:.1%} confirmed"
    return f"batch {number}: {plural(items, 'item')}{confirmed}"


def set_text(present: int, absent: int, excluded: int, why: Sequence[tuple[Reason, int]]) -> str:
    """Give the size of the consensus set."""
    reasons = "; ".join(f"{reason}: {count(n)}" for reason, n in why)
    return (
        f"Consensus set: {plural(present, 'item')} present, {count(absent)} absent; "
        f"{count(excluded)} excluded{f' ({reasons})' if why else ''}"
    )


def assumed_start(n_stimuli: int, n_contrastive: int) -> str:
    """Say which items are taken as affirmative."""
    return (
        f"Assumed: one affirmative item for each of {plural(n_stimuli, 'stimulus', 'stimuli')}; "
        f"the other {count(n_contrastive)} items are contrastive."
    )


def single_votes(n_yes: int, n_no: int) -> str:
    """Say how many votes may belong to either of two batches."""
    return (
        f"{count(n_yes)} single yes and {count(n_no)} single no votes may belong to batch 1 or to "
        "the contrastive batch, so that their agreement is only bounded."
    )


def inferred_split(first: int, stopped: int, contrastive: int) -> str:
    """Say how single votes were shared out, given the items that batch 1 confirmed."""
    return (
        f"Given {count(first)} items confirmed in batch 1, {count(stopped)} of them were not rated "
        f"again, and {count(contrastive)} single yes votes are contrastive."
    )


def not_rated_again(n: int, batch: int) -> str:
    """Count confirmed items without a next vote."""
    was = "was" if n == 1 else "were"
    return f"{plural(n, 'item')} confirmed in batch {batch} {was} not rated again."


def rated_unconfirmed(n: int, batch: int, before: int) -> str:
    """Count items with a next vote that were not confirmed."""
    return f"{plural(n, 'item')} in batch {batch} not confirmed in batch {before}."


def out_of_protocol(n: int) -> str:
    """Count items that went on after a no."""
    return f"{plural(n, 'item')} with more than one no, which the protocol does not allow."


def unrecorded_votes(n: int, kinds: Sequence[str]) -> str:
    """Say why recorded batches are not used."""
    return (
        f"{plural(n, 'vote')} without a step from 1 on or a batch_kind ({' or '.join(kinds)}): "
        "batches are inferred from the votes."
    )


def shares_of(batch: int) -> str:
    """Say what shares are of."""
    return f"Shares are of the label's items in batch {batch}."


# Categories by raters with errors of their own.

SHARED_ANSWERS = "answers to what other raters answered"
ACCURACY = "Accuracy of raters."
CONFUSION = "Answers of raters by true category."
LIKELIEST = "Likeliest category of each stimulus."
POSTERIOR = "Posterior probability of each category."
PREVALENCE = "Share of each category."
ACCURACY_TITLE = "Chance-corrected accuracy of raters"
ACCURACY_FIGURE = "1: always right; 0: answers do not depend on the true category."


def gibbs(n: int) -> str:
    """Name the mean over draws."""
    return f"mean of {n} Gibbs draws"


def not_converged(n_rounds: int) -> str:
    """Warn that estimates are not final."""
    return f"not converged after {count(n_rounds)} rounds"


def against_majority(labels: Sequence[str], share: float) -> str:
    """Warn that the model may not hold."""
    return (
        f"{some(labels, 3)}: more than {percent(share)} of items have another category than most "
        "answers; answers may depend on each other, or categories may be swapped"
    )


def least_accurate(rater: str, label: str, value: float, right: float, median: float) -> str:
    """Name the least accurate rater; the label only where there are several."""
    about = f" on {label}" if label else ""
    return (
        f"{rater} has the lowest chance-corrected accuracy{about}: {number(value)} "
        f"({percent(right)} of answers right; median of raters {number(median)})."
    )


def nothing_shared(why: str) -> str:
    """Say that nothing can be estimated."""
    return f"Raters and items have no estimates: {why} each."


def sure_text(n_sure: int, n: int, least: float, n_other: int) -> str:
    """Count items with a probable category, and those with another than most answers."""
    return (
        f"{count(n_sure)} of {plural(n, 'item')} have a category with a probability of "
        f"{percent(least)} or more; in {plural(n_other, 'item')} it is not that of most answers."
    )


# Traces.

TRACE_PAIRS = "Lin's concordance of traces, pooled over pairs of raters"
TRACE_OTHERS = "Lin's concordance of a trace with the mean of the others"
AVERAGE_OF_TRACES = "an average of traces"
LAGS = "Lag: seconds behind the other raters; as recorded: concordance before lags are removed."
TRACE_AGREEMENT = "Concordance of raters after lags are removed."
TRACE_RATERS = "Lag, and concordance with the mean of the others."
GOLD = "Mean and evaluator-weighted estimator (EWE) over time."


def segments_apart(places: Sequence[tuple[str, str, float, float]], of: int) -> str:
    """Name segments in which raters differ: stimulus, label where there are several, seconds."""
    named = [
        f"{shown(stimulus, 40)}{f' ({shown(label, 40)})' if label else ''} from "
        f"{number(start, 0)} to {number(end, 0)} s"
        for stimulus, label, start, end in places
    ]
    return (
        f"In {len(places)} of {plural(of, 'segment')} raters differ more from one another than "
        f"their mean changes over time: {some(named, 3)}."
    )


def trace_text(
    n_raters: int, label: str, value: float, recorded: float, lags: tuple[float, float] | None
) -> str:
    """Give the concordance of traces; the label only where there are several."""
    of_label = f" on {shown(label, 40)}" if label else ""
    text = f"Concordance among {plural(n_raters, 'rater')}{of_label} is {number(value)}"
    if lags is None:
        return f"{text}."
    least, most = (number(lag, 1) for lag in lags)
    return f"{text} after removing lags of {least} to {most} s, and {number(recorded)} as recorded."


def gold_title(label: str) -> str:
    """Name the figure of a label."""
    return f"Gold standards of {shown(label, 40)} over time"


def gold_figure(n_stimuli: int) -> str:
    """Describe the figure."""
    return f"Mean, SD of raters and EWE of {plural(n_stimuli, 'stimulus', 'stimuli')}."


def single_traces(n: int) -> str:
    """Say which traces are not used."""
    return f"{plural(n, 'trace')} of a single answer not used"


def lags_at_limit(n: int, limit: str) -> str:
    """Warn of lags that are cut off."""
    return f"the lag of {plural(n, 'rater')} is at the limit {limit}"


# Questionnaires.

ONE_FACTOR = "one factor by maximum likelihood"
SUMS = "sums of the items"
ITEM_REST = "item-rest r"
ITEM_REST_TITLE = "Item-rest correlations"
ITEMS_NOTE = "Item-rest r: correlation with the sum of the others; alpha without: if item dropped."
ITEMS = "Items, reversed where marked."
SUM_RELIABILITY = "Reliability of the sum of items."
ITEM_MEANS = "Mean of items in each questionnaire."


def alpha_text(name: str, n_items: int, value: str, omega: float | None) -> str:
    """Give alpha with its interval, and omega where it is defined."""
    more = "" if omega is None else f", omega {number(omega)}"
    return f"{name} of {plural(n_items, 'item')} is {value}{more}."


def reversed_items(items: Sequence[str], how: str) -> str:
    """Warn of items that correlate negatively with the rest."""
    names = joined([shown(item, 40) for item in items])
    return f"negative item-rest r: {names}; if worded in reverse, use {how}"


def incomplete_text(n: int, of: int) -> str:
    """Say which questionnaires are not used."""
    return f"{count(n)} of {count(of)} questionnaires lack an item and are not used"


def unequal_scales(how: str) -> str:
    """Warn that items are weighted by the width of their scales."""
    return f"items with wider scales weigh more; {how} weighs all the same"


SEVERAL_STIMULI_EACH = "raters answered about several stimuli, whose differences count as true ones"

# Agreement of a study.

KAPPA_KINDS = "Kappa by kind of pair"
KAPPA_PAIRS = "Kappa of pairs of raters, mean over labels"
KAPPA_GROUPS = "Kappa by kind of pair, mean over labels"


def texts_left_out(labels: Sequence[str]) -> str:
    """Name the labels whose answers are texts."""
    return f"texts are left out: {', '.join(labels)}"


def models_only_in_pairs(n: int) -> str:
    """Say where models are used."""
    return f"{plural(n, 'model')} used only in kappa of pairs"


def below_chance(n: int, of: int) -> str:
    """Warn that agreement may come from how stimuli were chosen for raters."""
    return (
        f"agreement is below chance on {n} of {plural(of, 'label')}, as where answers decide who "
        "rates a stimulus next: agreement then does not describe raters"
    )


def median_kappas(medians: Sequence[tuple[str, float]]) -> str:
    """Give the median of each kind of pair."""
    kinds = "; ".join(f"{kind} {number(value)}" for kind, value in medians)
    return f"Median over pairs and labels: {kinds}."


def heatmap_text(n_raters: int) -> str:
    """Describe the figure of all pairs."""
    return f"{plural(n_raters, 'rater')}, people first."


def range_text(what: str, worst: tuple[str, float], best: tuple[str, float]) -> str:
    """Give the labels with the least and the most agreement."""
    return (
        f"{what} is between {number(worst[1])} ({shown(worst[0], 40)}) and {number(best[1])} "
        f"({shown(best[0], 40)})."
    )


def value_text(what: str, value: str) -> str:
    """Give a value with its interval."""
    return f"{what} is {value}."


def alpha_among(who: str) -> str:
    """Name alpha among raters."""
    return f"Krippendorff's alpha among {who}"


def not_correlated(label: str, *, nominal: bool) -> str:
    """Say why interrater correlation leaves out a label."""
    why = "categories have no order" if nominal else "as in its paper"
    return f"interrater correlation leaves out {label}: {why}"


def listwise_deletion(label: str, n: int, of: int, how: str) -> str:
    """Say how many stimuli the ICC leaves out."""
    return (
        f"ICC of {label}: {count(n)} of {count(of)} stimuli lack a rater and are left out; {how} "
        "uses them"
    )


# Raters who answer alike, and scores.

ALIKE_PAIRS = "Pairs of raters with too similar answers."


def _alike_p(p: float) -> str:
    return "p < 1e-12" if p < 1e-12 else f"p = {p:.1g}"


def alike_pair(one: str, other: str, evidence: str) -> str:
    """Name both raters of a pair."""
    return f"raters {one!r} and {other!r} answer alike: {evidence}"


def alike_rater(other: str, evidence: str) -> str:
    """Name the other rater of a pair."""
    return f"answers like rater {other!r}: {evidence}"


def equal_shares(equal: float, expected: float, n_items: int, p: float) -> str:
    """Compare the share of equal categories with that expected from the others."""
    return (
        f"{equal:.0%} of answers to {n_items:,} shared stimuli equal, {expected:.0%} expected "
        f"({_alike_p(p)})"
    )


def alike_evidence(
    n_items: int, equal: float, shift: float, sd: float, expected_sd: float, p: float
) -> str:
    """Compare the SD of differences with that expected from the others."""
    but = f" after a shift of {abs(shift):.3g}" if shift else ""
    share = f", {equal:.0%} of answers equal{but}" if equal >= 0.5 else ""
    return (
        f"{n_items:,} shared stimuli{share}; SD of differences {sd:.3g}, expected "
        f"{expected_sd:.3g} ({_alike_p(p)})"
    )


def equal_up_to_shift(n_items: int) -> str:
    """Say that answers are equal, and cannot be compared with others."""
    equal = f"all answers to {n_items:,} shared stimuli equal up to a shift"
    return f"{equal}, too few others to compare"


def few_alike(n_items: int, ratio: float) -> str:
    """Say that answers are alike, and may be so by chance."""
    return (
        f"differences over {n_items:,} shared stimuli are {ratio:.2f} of what is expected, "
        "possibly by chance"
    )


def alike_pairs(n: int, of: int) -> str:
    """Count pairs who answer alike."""
    return f"{count(n)} of {plural(of, 'pair')} of raters answer alike"


def mean_counts_both(pair: str) -> str:
    """Warn that a mean has both raters of a pair."""
    return f"{pair}; the mean counts both"


def careless_included(raters: Sequence[str], verb: str) -> str:
    """Warn that scores have answers of careless raters."""
    return f"Scores include careless answers of {joined(raters)} (see {verb})."


_MOST_ANSWERS = 4
SCORES = "Scores of stimuli"
SHARE_OF_MOST = "share of the most frequent answer"
ONE_HALF, MEAN_OF_ALL = "one half", "the mean of all"


def span(label: str, low: str, high: str, *, binary: bool, constant: bool) -> str:
    """Say from where to where the scores of a label run; part of a sentence."""
    if binary:
        return f"the share of raters who say {label or 'yes'} runs from {low} to {high}"
    if constant:
        return f"{label or 'the score'} is {low} throughout"
    return f"{label or 'the score'} runs from {low} to {high}"


def spans(parts: Sequence[str], rest: str) -> str:
    """Join the spans of a few labels; ``rest`` counts those that are only drawn."""
    more = f"; {rest} more as the figure shows" if rest else ""
    return f"{sentence_case('; '.join(parts))}{more}."


def shares_of_labels(means: Mapping[str, float], *, repeated: bool) -> str:
    """Say to what labels raters say yes most and least."""
    order = sorted(means, key=lambda name: (-means[name], name))
    first, last = order[0], order[-1]
    high, low = percent(means[first]), percent(means[last])
    if means[first] == means[last]:
        if means[first] in (0.0, 1.0):
            return f"All answers to {len(means)} labels are {'yes' if means[first] else 'no'}."
        return f"Each of {len(means)} labels is chosen equally often ({high})."
    if not repeated:
        return (
            f"Of {len(means)} labels, {first} is said most (of {high} of stimuli) and {last} least "
            f"({low})."
        )
    return (
        f"Of {len(means)} labels, raters say {first} most ({high} of them, on average over "
        f"stimuli) and {last} least ({low})."
    )


def choices(label: str, counts: Sequence[tuple[str, int]], n: int, n_tied: int, least: Row) -> str:
    """Say what raters chose most often, and for how many stimuli; part of a sentence."""
    listed = some(
        [f"{shown(answer, 40)} for {count(times)}" for answer, times in counts],
        _MOST_ANSWERS,
        "more answer" if len(counts) == _MOST_ANSWERS + 1 else "more answers",
    )
    return (
        f"the most frequent answer{f' of {label}' if label else ''} is {listed} of {count(n)} "
        f"stimuli{f', and {count(n_tied)} have two or more' if n_tied else ''}; least clear is "
        f"{shown(least['stimulus'], 40)} ({shown(least['answers'], 60)})"
    )


def sure_majorities(counts: Sequence[int], n: int, *, each: bool) -> str:
    """Say for how many stimuli the share of a majority is shown to be one."""
    stimuli = f"{plural(n, 'stimulus', 'stimuli')}{' of each label' if each else ''}"
    return (
        f"For {_from_to(counts)} of {stimuli} a majority is shown: the interval of its share lies "
        "above one half."
    )


def apart_from_middle(counts: Sequence[int], n: int, middle: str) -> str:
    """Say how many stimuli differ from the middle, which is given where there is one."""
    which = f"({middle})" if middle else "of each label"
    stimuli = plural(n, "stimulus", "stimuli")
    return f"{_from_to(counts)} of {stimuli} differ from the middle {which} beyond their intervals."


def _from_to(counts: Sequence[int]) -> str:
    return " to ".join(dict.fromkeys(map(count, (min(counts), max(counts)))))


def strips_caption(middles: Sequence[str], n_labels: int, most: int, *, intervals: bool) -> str:
    """Say what the figure of all scores shows."""
    lines = ", and lines at the ends are intervals" if intervals else ""
    few = f" Of {n_labels} labels {most} are shown." if n_labels > most else ""
    return f"Each dot is a stimulus; the middle is {joined(middles, 'or')}{lines}.{few}"


SCORE_AXES = {
    "nominal": "share of raters who chose the answer of most",
    "binary": "share of raters who say yes",
}
"""What the axis of scores shows, by the kind of scale."""
DISPUTED = "The stimuli on which the most frequent answer has the smallest share."

# Correlations of raters.

INTERRATER = "interrater correlation (Spearman with the mean of the others)"
DEFINED_RATER = "rater with a defined correlation"
DEFINED_LABEL = "label with a defined correlation"
MEAN_SPEARMAN = "the mean Spearman correlation"
SIGNED_RANKS = "p: Wilcoxon's signed-rank test over raters, with Bonferroni's correction"
DIMENSIONS_TITLE = "Dimensions of judgement shared by raters"
DIMENSIONS_FIGURE = "Correlation of a left-out rater with the others, mean over raters."
OTHERS_CORRELATION = "correlation with the others"
LEFT_OUT_RATER = "left-out rater with the mean of the others"


def spearman_with(aggregate: str) -> str:
    """Name the correlation with a reference."""
    return f"Spearman with the {aggregate} of the reference"


def preserved_text(n: int, of: int, n_examples: int, n_raters: int, n_splits: int) -> str:
    """Count the dimensions that raters share."""
    return (
        f"{n} of {plural(of, 'component')} preserved; {n_examples} examples, {n_raters} raters, "
        f"{n_splits} splits"
    )


# Reliability of means.

_MOST_RATERS = 1000
"""Raters of a stimulus beyond which nobody can be asked."""

STEPS_IN_WORDS = (
    "From 0.70 on scores serve a first look, from 0.80 comparisons of groups and correlations, "
    "from 0.90 decisions about single stimuli."
)
ENOUGH_FOR = {
    "high": "decisions about single stimuli",
    "good": "comparisons of groups of stimuli and for correlations",
}
"""What a mean is enough for."""
GRADES = {
    "high": "highly reliable",
    "good": "reliable",
    "fair": "reliable enough for a first look",
    "probably good": "probably reliable",
    "probably fair": "probably good for a first look, and not for more",
    "probably poor": "probably not reliable enough",
    "poor": "not reliable enough",
    "open": "not to be judged",
}
"""What is said of a mean; without "probably" praise goes by the lower end of the interval, and
blame by the upper one."""


def mean_of(k: np.ndarray, *, shares: bool) -> str:
    """Name what is used: "The mean of 12 raters per stimulus"."""
    raters = " to ".join(dict.fromkeys(f"{end:.0f}" for end in (k.min(), k.max())))
    about = "" if np.allclose(k, np.rint(k)) else "about "
    what = "The share of answers" if shares else "The mean"
    return f"{what} of {about}{raters} rater{'' if raters == '1' else 's'} per stimulus"


def reliability_of_one(
    mean: str, row: Row, grade: str, drawn: str, lacking: str, confidence: float
) -> str:
    """Grade the mean of one label; without a grade, ``lacking`` says why."""
    value = with_ends(row, confidence)
    if not grade:
        return f"{mean} has a reliability of {value}; {lacking}."
    if grade == "open":
        return f"{mean} has a reliability of {value}, with {lacking} to say more."
    enough = f", enough for {ENOUGH_FOR[grade]}" if grade in ENOUGH_FOR else ""
    return f"{mean} is {GRADES[grade]}{enough}: {value} for {drawn}."


def reliability_of_several(
    mean: str, best: Row, worst: Row, groups: Mapping[str, str], lacking: str, confidence: float
) -> str:
    """Grade the means of several labels; ``groups`` names the labels of each grade."""
    span = (
        f"{with_ends(worst, confidence)} for {shown(worst['label'])} to "
        f"{number(best['value'])}{in_brackets(best['low'], best['high'])} for "
        f"{shown(best['label'])}"
    )
    if not groups:
        return f"{mean} has a reliability from {span}; {lacking}."
    parts = [f"{GRADES[grade]} ({names})" for grade, names in groups.items()]
    if "open" in groups:
        parts[-1] += f", with {lacking} to say more"
    last = [*groups][-1]
    enough = f" Enough for {ENOUGH_FOR[last]}." if last in ENOUGH_FOR else ""
    return f"{mean} is {joined(parts)}.{enough} The reliability runs from {span}."


def too_few_to_judge(
    k: float | None, rare: float | None, units: str, *, raters_differ: bool
) -> str:
    """Say what there is too little of: raters, answers other than the most frequent, or stimuli."""
    what = []
    if k is not None:
        what.append(f"raters per stimulus ({number(k, 0)})")
    if rare is not None:
        what.append(f"answers other than the most frequent ({percent(rare)})")
    if not what and raters_differ:
        return "raters who differ too much from one another"
    return f"too few {joined(what or [units])}"


def ungraded_mean(
    n_items: int, fewest: int, n_clusters: int | None, units: str, *, asked: bool
) -> str:
    """Say why nothing is concluded from a reliability."""
    if n_items < fewest:
        verb = "is" if n_items == 1 else "are"
        stimuli = plural(n_items, "stimulus", "stimuli")
        return f"{stimuli} with two or more answers {verb} too few to conclude from"
    if not asked:
        return "intervals were not asked for, so it is not graded"
    if n_clusters is not None:
        few = f"{n_clusters} {units}"
        return f"{few} tell too little of others for an interval, so it is not graded"
    return "the answers leave it without an interval, so it is not graded"


def rater_alone(low: Row, high: Row, confidence: float) -> str:
    """Say what one rater alone is worth, of the least and the most reliable label."""
    if low is high:
        one = {"value": low["single"], "low": low["single_low"], "high": low["single_high"]}
        return f"A single rater alone reaches {with_ends(one, confidence)}."
    both = dict.fromkeys((number(low["single"]), number(high["single"])))
    return f"A single rater alone reaches {' to '.join(both)}."


def raters_wanted(row: Row, wanted: float, confidence: float, *, label: str, more: str) -> str:
    """Say how many raters reach the wanted reliability; ``more`` says what would tell how many."""
    goal = f"{number(wanted)}{f' for {label}, the least reliable' if label else ''}"
    n, k = row["raters_wanted"], row["k"]
    low, high = row["raters_wanted_low"], row["raters_wanted_high"]
    none = f"No number of raters that can be had would reach {goal}."
    if low == low and not high <= _MOST_RATERS:
        if not low <= _MOST_RATERS:
            return none
        about = f"about {count(n)}, and " if n <= _MOST_RATERS else ""
        return (
            f"To reach {goal}, ask {about}at least {plural(low, 'rater')} per stimulus; more "
            f"{more} would tell how many."
        )
    if not n <= _MOST_RATERS:
        return none
    interval = ""
    if low == low != high:
        interval = f" ({100 * confidence:g} % interval {count(low)} to {count(high)})"
    if n <= k:
        return f"{plural(n, 'rater')} per stimulus would do for {goal}{interval}."
    return f"To reach {goal}, ask {count(n)} raters per stimulus{interval}."


def what_would_tell(*, rare: bool, few_stimuli: bool) -> str:
    """Name what there should be more of to know how many raters are needed."""
    if rare:
        return "raters per stimulus, or stimuli with the rarer answers,"
    return "raters per stimulus, or stimuli," if few_stimuli else "raters per stimulus"


def undefined_reliability(things: str, reasons: Sequence[str]) -> str:
    """Say of which labels the reliability is not defined, and why; of all where none is named."""
    why = joined(sorted(set(reasons)))
    if not things:
        return f"Reliability is not defined ({why})."
    return f"It is not defined for {things} ({why})."


ALPHA_OF_SHARES = "Krippendorff's alpha, and what follows from it for shares of answers"
ALL_STIMULI = "all stimuli"
RATERS_NEEDED = "Reliability of the mean by number of raters"


def icc_forms(one: str, mean: str) -> str:
    """Name the intraclass correlations of one rater and of the mean."""
    return f"intraclass correlation ({one} and {mean})"


def means_caption(coefficients: Sequence[str]) -> str:
    """Say what the table of reliability holds."""
    methods = joined(dict.fromkeys(coefficients))
    return f"Reliability of one rater and of the mean of those who answered: {methods}."


def drawn_of(units: str, *, raters: bool) -> str:
    """Say what intervals are about: raters of counted votes are not known."""
    return f"other raters and {units}" if raters else f"other {units}"


def needed_caption(drawn: str) -> str:
    """Say what the figure of reliability by number of raters shows."""
    interval = f", with its interval for {drawn}" if drawn else ""
    return (
        f"Colours: what the mean of so many raters reaches. {STEPS_IN_WORDS} Beside: the "
        f"reliability of the mean of those who answered{interval}."
    )
