"""Severity, consensus, traces, categories and questionnaires in words."""

from __future__ import annotations

from collections.abc import Sequence

from affectlab.core.facts import Reason
from affectlab.core.words import (
    count,
    joined,
    number,
    p_value,
    percent,
    plural,
    shown,
    some,
)


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
