"""Kinds of facts about estimates, and one template for each: all that is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from affectlab.core.words import count, joined, one_of, percent, plural


class Status(StrEnum):
    """Whether a value is defined, and can be relied on."""

    OK = "ok"
    UNDEFINED = "undefined"
    DOUBTFUL = "doubtful"
    """A number that the answers do not determine, such as one that a prior keeps finite."""


class Cause(StrEnum):
    """Kinds of reasons why a value, or its interval, is withheld."""

    OTHER = "other"
    """What only its own text says, such as that of an installed package."""
    # An interval is withheld.
    NO_VARIATION = "no_variation"
    UNDEFINED_REPLICATES = "undefined_replicates"
    FEW_UNITS = "few_units"
    UNDEFINED_WITHOUT_ONE = "undefined_without_one"
    SINGLE_UNIT = "single_unit"
    TWO_RATERS = "two_raters"
    RARER_NEVER_SHARED = "rarer_never_shared"
    MANY_ANSWERS = "many_answers"
    ONLY_LEVELS = "only_levels"
    NOT_THIS_FORMULA = "not_this_formula"
    NO_DRAWS = "no_draws"
    ONLY_THIS_SAMPLE = "only_this_sample"
    LARGEST_ERROR = "largest_error"
    FAR_FROM_NORMAL = "far_from_normal"
    # A value is not defined, or says less than it seems to.
    CONFOUNDED = "confounded"
    ONE_CATEGORY = "one_category"
    NO_FINITE_SEVERITIES = "no_finite_severities"
    SEPARATE_GROUPS = "separate_groups"
    NO_RESIDUAL_WITHIN = "no_residual_within"
    NO_MAXIMUM = "no_maximum"
    INSEPARABLE_FACTORS = "inseparable_factors"
    INSEPARABLE_EFFECTS = "inseparable_effects"
    CHANGES_WITHIN = "changes_within"
    NO_RESIDUAL = "no_residual"
    NOTHING_TWICE = "nothing_twice"
    COLLAPSED = "collapsed"
    SATURATED = "saturated"
    EQUAL_RATERS = "equal_raters"
    COUNTED_AS_ONE = "counted_as_one"
    ANSWERS_ALIKE = "answers_alike"
    UNIDENTIFIED_FACTOR = "unidentified_factor"
    UNDEFINED_EVERYWHERE = "undefined_everywhere"
    ALL_AT_ONE_END = "all_at_one_end"
    INFINITE_DISTANCE = "infinite_distance"
    ONLY_ONE = "only_one"
    ALIKE_ANSWERS = "alike_answers"
    RATERS_AGREE = "raters_agree"
    ONE_ANSWER_EACH = "one_answer_each"
    TOO_LARGE = "too_large"
    NONE = "none"
    FEWER = "fewer"
    CONSTANT = "constant"
    ONE_LABEL = "one_label"
    NO_COSTS = "no_costs"
    ZERO_CHANCE = "zero_chance"
    INFINITE_SCORES = "infinite_scores"
    NOT_ASKED = "not_asked"
    NO_BEST_CURVE = "no_best_curve"
    SEPARATE_SYSTEMS = "separate_systems"
    NEVER_LOST = "never_lost"
    NEVER_PREFERRED = "never_preferred"
    CHOICES_LEAVE_OPEN = "choices_leave_open"
    FEW_WAYS = "few_ways"
    NO_POLARITY = "no_polarity"
    COSTS_WITHOUT_POLARITY = "costs_without_polarity"
    NEVER_PREDICTED = "never_predicted"
    NEVER_TRUE = "never_true"
    NEVER_TRUE_NOR_PREDICTED = "never_true_nor_predicted"
    ONE_OF_TWO_UNDEFINED = "one_of_two_undefined"
    UNDEFINED_ON_ONE_SIDE = "undefined_on_one_side"
    ONE_PERSON = "one_person"
    NO_COMMON_SCALE = "no_common_scale"
    NEVER_COMPARED = "never_compared"
    GROUP_WITHOUT_KAPPA = "group_without_kappa"
    NEGATIVE_VARIANCE = "negative_variance"
    CONFOUNDED_RATERS = "confounded_raters"
    ONLY_RATERS_DIFFER = "only_raters_differ"
    DEPENDENT_ITEMS = "dependent_items"
    ALWAYS_FITS = "always_fits"
    ENDS_UNUSED = "ends_unused"
    ONE_END = "one_end"
    ONE_END_WHERE_INFORMATIVE = "one_end_where_informative"
    ONE_RATER_OF_BIAS = "one_rater_of_bias"
    NOTHING_CHANGES = "nothing_changes"
    MOST_DO_NOT_CHANGE = "most_do_not_change"
    UNBOUNDED_JND = "unbounded_jnd"
    PEAK_LIKE_NEUTRAL = "peak_like_neutral"
    FRAME_WITHOUT_TIME = "frame_without_time"
    DISORDERED_TIMES = "disordered_times"
    ALL_TEXTS_LABELLED = "all_texts_labelled"
    ONE_WORD = "one_word"
    BATCHES_ALIKE = "batches_alike"
    DISSENT = "dissent"
    EITHER_BATCH = "either_batch"
    NOT_IN_EVERY_BATCH = "not_in_every_batch"
    NO_CHAIN_OF_WINS = "no_chain_of_wins"
    FEW_OR_CONSTANT = "few_or_constant"
    # A staircase finds no frame 1 JND away, or no five frames.
    UNFINISHED = "unfinished"
    FARTHEST_WITHIN_JND = "farthest_within_jnd"
    NEAREST_BEYOND_JND = "nearest_beyond_jnd"
    NO_FRAME_BETWEEN = "no_frame_between"
    CUT_OFF = "cut_off"
    NO_CHANGE = "no_change"
    NOT_FINITE = "not_finite"


class Formula(StrEnum):
    """Formulas of intervals."""

    WILSON = "wilson"
    CLUSTERED_WILSON = "clustered_wilson"
    CLOPPER_PEARSON = "clopper_pearson"
    ANY_BIN_ERRORS = "any_bin_errors"
    STUDENT = "student"
    FISHER_Z = "fisher_z"
    FELDT = "feldt"
    PROFILE_LIKELIHOOD = "profile_likelihood"
    MODIFIED_LARGE_SAMPLE = "modified_large_sample"
    DELTA = "delta"
    POSTERIOR = "posterior"
    LINEARISED = "linearised"
    F = "f"


class ReasonFact(Protocol):
    """What a template needs of a reason."""

    @property
    def cause(self) -> Cause: ...
    @property
    def n(self) -> int | None: ...
    @property
    def least(self) -> int | None: ...
    @property
    def of(self) -> str: ...


class MadeInterval(Protocol):
    """What a template needs of how an interval was made."""

    @property
    def kind(self) -> str: ...
    @property
    def over(self) -> tuple[str, ...]: ...
    @property
    def n_groups(self) -> tuple[int, ...]: ...
    @property
    def formula(self) -> Formula | None: ...
    @property
    def replicates(self) -> int | None: ...
    @property
    def undefined(self) -> int: ...
    @property
    def redrawn(self) -> str: ...
    @property
    def coverage(self) -> float | None: ...
    @property
    def design(self) -> str: ...
    def drawn_whole(self, target: str) -> str: ...


REASONS = {
    Cause.OTHER: "{of}",
    Cause.NO_VARIATION: "no variation to estimate an error from",
    Cause.UNDEFINED_REPLICATES: "too many replicates are undefined",
    Cause.FEW_UNITS: "{units}, expected {least} or more",
    Cause.UNDEFINED_WITHOUT_ONE: "not defined without one of the {of}",
    Cause.SINGLE_UNIT: "a single {one} gives no standard error",
    Cause.TWO_RATERS: "two raters cannot be generalised to others",
    Cause.RARER_NEVER_SHARED: "the rarer category was never chosen by two raters",
    Cause.MANY_ANSWERS: "more than {n} {of}",
    Cause.ONLY_LEVELS: "raters differ in level alone, which leaves no error to estimate",
    Cause.NOT_THIS_FORMULA: "the formula is for {of}",
    Cause.NO_DRAWS: "no draws",
    Cause.ONLY_THIS_SAMPLE: "about this sample",
    Cause.LARGEST_ERROR: "a largest error has none",
    Cause.FAR_FROM_NORMAL: "for normal answers, which these are far from ({of})",
    Cause.CONFOUNDED: "{of}",
    Cause.ONE_CATEGORY: "one category",
    Cause.NO_FINITE_SEVERITIES: "the likelihood has no maximum: raters keep one distance throughout"
    ", or there are too few answers for so many thresholds",
    Cause.SEPARATE_GROUPS: "raters fall into {n} groups without an informative stimulus in common",
    Cause.NO_RESIDUAL_WITHIN: "answers to one {of} never differ, which leaves no residual",
    Cause.NO_MAXIMUM: "the likelihood has no maximum",
    Cause.INSEPARABLE_FACTORS: "the ratings do not separate the factors",
    Cause.INSEPARABLE_EFFECTS: "the answers do not separate the effects of the attributes",
    Cause.CHANGES_WITHIN: "attributes change within {of}",
    Cause.NO_RESIDUAL: "the attributes leave no residual",
    Cause.NOTHING_TWICE: "no rater answered anything twice",
    Cause.COLLAPSED: "one rater has all the weight",
    Cause.SATURATED: "as many scores and biases as ratings, so that errors are undefined",
    Cause.EQUAL_RATERS: "two raters, assumed to be equally inconsistent",
    Cause.COUNTED_AS_ONE: "counts as one with {of}",
    Cause.ANSWERS_ALIKE: "answers like {of}",
    Cause.UNIDENTIFIED_FACTOR: "a factor of fewer than {few} items is not identified",
    Cause.UNDEFINED_EVERYWHERE: "{of} is not defined for any label",
    Cause.ALL_AT_ONE_END: "all answers to each stimulus, or of each rater, are at one end",
    Cause.INFINITE_DISTANCE: "some raters answer higher than others on every shared stimulus"
    ", so that their distance is infinite",
    Cause.ONLY_ONE: "only one {of}",
    Cause.ALIKE_ANSWERS: "all answers are the same",
    Cause.RATERS_AGREE: "raters do not differ: all answers to a stimulus are the same",
    Cause.ONE_ANSWER_EACH: "each rater always gives one answer",
    Cause.TOO_LARGE: "more than {n} {of}",
    Cause.NONE: "no {of}",
    Cause.FEWER: "fewer than {few} {of}",
    Cause.CONSTANT: "constant {of}",
    Cause.ONE_LABEL: "one label throughout",
    Cause.ZERO_CHANCE: "infinite, since a label that was chosen is given 0 at {units}",
    Cause.INFINITE_SCORES: "infinite at {units}; a floor makes it finite",
    Cause.NOT_ASKED: "not asked for",
    Cause.NO_BEST_CURVE: "no best curve in {n} rounds",
    Cause.SEPARATE_SYSTEMS: "{n} groups of systems were never compared with each other",
    Cause.NEVER_LOST: "{of} never lost to the others; a prior keeps the scale finite",
    Cause.NEVER_PREFERRED: "{of} is never preferred",
    Cause.CHOICES_LEAVE_OPEN: "the choices do not determine {of}",
    Cause.FEW_WAYS: "{of} can be shared out in {n} ways only",
    Cause.NO_COSTS: "no costs of mistakes are known; pass a taxonomy or costs",
    Cause.NO_POLARITY: "no polarity is known; pass a taxonomy, or groups, a mapping of label to "
    "group",
    Cause.COSTS_WITHOUT_POLARITY: "a cost matrix knows no polarity; pass groups, a mapping of "
    "label to group",
    Cause.NEVER_PREDICTED: "never predicted",
    Cause.NEVER_TRUE: "never true",
    Cause.NEVER_TRUE_NOR_PREDICTED: "neither true nor predicted",
    Cause.ONE_OF_TWO_UNDEFINED: "one of the two is not defined",
    Cause.UNDEFINED_ON_ONE_SIDE: "the metric is not defined on one side",
    Cause.ONE_PERSON: "a single person has nobody to agree with",
    Cause.NO_COMMON_SCALE: "models and people have no common scale",
    Cause.NEVER_COMPARED: "never compared, not even through others",
    Cause.GROUP_WITHOUT_KAPPA: "a group has no defined kappa",
    Cause.NEGATIVE_VARIANCE: "the variance between units is estimated below zero",
    Cause.CONFOUNDED_RATERS: "the ratings do not separate raters from noise",
    Cause.ONLY_RATERS_DIFFER: "only raters differ",
    Cause.DEPENDENT_ITEMS: "an item is constant, or follows from the others",
    Cause.ALWAYS_FITS: "with so few raters and categories the model fits any answers",
    Cause.ENDS_UNUSED: "both ends of the scale must be used to estimate own thresholds",
    Cause.ONE_END: "all answers are at one end of the scale",
    Cause.ONE_END_WHERE_INFORMATIVE: "all informative answers are at one end of the scale",
    Cause.ONE_RATER_OF_BIAS: "with one rater bias and score cannot be separated",
    Cause.NOTHING_CHANGES: "no sequence changes",
    Cause.MOST_DO_NOT_CHANGE: "most sequences do not change",
    Cause.UNBOUNDED_JND: "the answers do not bound 1 JND yet",
    Cause.PEAK_LIKE_NEUTRAL: "the peak does not differ from the neutral frame",
    Cause.FRAME_WITHOUT_TIME: "a frame has no time",
    Cause.DISORDERED_TIMES: "the times do not follow the order of the frames",
    Cause.ALL_TEXTS_LABELLED: "all texts have the label",
    Cause.ONE_WORD: "only one word",
    Cause.BATCHES_ALIKE: "single votes of the first and the contrastive batch look alike",
    Cause.DISSENT: "dissent",
    Cause.EITHER_BATCH: "single answer of batch 1 or the contrastive batch",
    Cause.NOT_IN_EVERY_BATCH: "not asked in every batch",
    Cause.NO_CHAIN_OF_WINS: "no chain of wins links all systems; a prior keeps the scale finite",
    Cause.FEW_OR_CONSTANT: "fewer than three stimuli, or one value",
    Cause.UNFINISHED: "only {n} of {least} {of} done",
    Cause.FARTHEST_WITHIN_JND: "the farthest frame, {n} away, is less than 1 JND away",
    Cause.NEAREST_BEYOND_JND: "the frame next to the anchor is more than 1 JND away",
    Cause.NO_FRAME_BETWEEN: "no frame lies between those 1 JND from the ends",
    Cause.NOT_FINITE: "some {of} are not finite",
    Cause.NO_CHANGE: "the score of the two frames is not above 0",
    Cause.CUT_OFF: "the posterior is cut off at {of}",
}
"""What is said of each kind of reason; ``units`` is its number with what it counts."""
_FORMULAS = {
    Formula.WILSON: "Wilson interval",
    Formula.CLUSTERED_WILSON: "Wilson interval for clustered votes",
    Formula.CLOPPER_PEARSON: "exact interval",
    Formula.ANY_BIN_ERRORS: "interval for any errors of bins",
    Formula.STUDENT: "Student's interval",
    Formula.FISHER_Z: "Fisher's interval",
    Formula.FELDT: "Feldt's interval",
    Formula.PROFILE_LIKELIHOOD: "interval by profile likelihood",
    Formula.MODIFIED_LARGE_SAMPLE: "modified large-sample interval",
    Formula.DELTA: "interval by the delta method",
    Formula.POSTERIOR: "central posterior interval",
    Formula.LINEARISED: "linearised interval",
    Formula.F: "F interval",
}
_TARGETS = {
    "stimuli": "other items, the same raters",
    "raters": "the same items, other raters",
    "both": "other items and other raters",
}
_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}


def reason_text(reason: ReasonFact) -> str:
    """Say why something is withheld."""
    n = 0 if reason.n is None else reason.n
    one, least = one_of(reason.of), reason.least
    return REASONS[reason.cause].format(
        n=count(n),
        least=least,
        few=least if least is None else _NUMBERS.get(least, least),
        of=reason.of,
        one=one,
        units=plural(n, one, reason.of),
    )


def interval_text(interval: MadeInterval) -> str:
    """Say how an interval was made."""
    over = joined(interval.over) if interval.over else ""
    if interval.kind == "analytic":
        text = "" if interval.formula is None else _FORMULAS[interval.formula]
        return f"{text} over {over}" if over else text
    groups = [
        f"{what} in {n} groups"
        for what, n in zip(interval.over, interval.n_groups, strict=False)
        if n
    ]
    if interval.kind == "jackknife":
        return ", ".join([f"jackknife over {over}", *groups])
    usual = set(interval.over) <= {"stimuli", "raters"}
    of = "" if usual or interval.over[1:] == () else f" of {over}"
    return ", ".join(
        [
            f"{interval.kind} bootstrap{of}",
            *([interval.redrawn] if interval.redrawn else []),
            f"{interval.replicates} replicates",
            *([f"{interval.undefined} undefined"] if interval.undefined else []),
        ]
    )


def no_interval_text(reason: ReasonFact) -> str:
    """Say that there is no interval, and why."""
    return f"no interval: {reason_text(reason)}"


def coverage_text(interval: MadeInterval) -> str:
    """Say how rarely intervals held in simulated studies alike; empty where nothing is known."""
    if interval.coverage is None:
        return ""
    held = percent(interval.coverage)
    return f"95 % intervals held in {held} of simulated studies alike ({interval.design})"


def method_text(
    statistic: Sequence[str], interval: MadeInterval | None, reason: ReasonFact | None
) -> str:
    """Say what a number is and how its interval was made, or why it has none."""
    parts = [", ".join(statistic)]
    if interval is not None:
        parts += [interval_text(interval), coverage_text(interval)]
    if reason is not None:
        parts.append(reason_text(reason) if interval is not None else no_interval_text(reason))
    return "; ".join(part for part in parts if part)


def status_text(status: str, reason: ReasonFact | None) -> str:
    """Say what stands in the way of a value, and why."""
    return str(status) if reason is None else f"{status}: {reason_text(reason)}"


def undefined_text(reason: ReasonFact | None) -> str:
    """Say that a value is not defined, and why."""
    return status_text("undefined", reason)


def target_text(target: str, interval: MadeInterval | None) -> str:
    """Say what an interval is about; empty where that is not known."""
    units = "" if interval is None else interval.drawn_whole(target)
    if not units:
        return _TARGETS.get(target, "")
    return f"other {units}" + (" and other raters" if target == "both" else ", the same raters")
