"""What a result knows of its numbers beside the numbers: facts, which wording modules put in words.

An estimate that is not defined, or has no interval, carries a :class:`Reason`; an interval carries
how it was made, an :class:`IntervalFact`. Both are columns of every table of estimates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self, TypeAlias

from affectlab.core.types import pl

What: TypeAlias = str | tuple[str, ...]
"""What a number is: the name of a statistic, or that and its options, such as ``("Krippendorff's
alpha", "ordinal")``."""


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


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a value, or its interval, is withheld: a kind, with the numbers that belong to it.

    Examples
    --------
    >>> str(Reason(Cause.FEW_UNITS, n=3, least=5, of="actors"))
    '3 actors, expected 5 or more'
    >>> str(Reason.of_text("the sensor was off"))
    'the sensor was off'
    """

    cause: Cause
    n: int | None = None
    """How many there are."""
    least: int | None = None
    """How many there should be."""
    of: str = ""
    """Of what, in the plural; of :attr:`Cause.OTHER` the whole text."""

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Make a reason that only a text tells."""
        return cls(Cause.OTHER, of=text)

    @classmethod
    def of_row(cls, row: Mapping[str, Any] | None) -> Self | None:
        """Make a reason of a cell of the column ``reason``."""
        return None if row is None else cls(**{**row, "cause": Cause(row["cause"])})

    def __str__(self) -> str:
        from affectlab.core.wording import reason_text

        return reason_text(self)


ReasonLike: TypeAlias = Reason | Cause | str
"""A reason, a kind of reason without numbers, or a text of one's own."""


def reason_of(given: ReasonLike | None) -> Reason | None:
    """Make a reason of what stands for one; None of None and of an empty text."""
    if given is None or isinstance(given, Reason):
        return given
    if isinstance(given, Cause):
        return Reason(given)
    return Reason.of_text(given) if given else None


def reasons_of(
    given: ReasonLike | Iterable[ReasonLike | None] | None, n: int
) -> list[Reason | None]:
    """Give the reason of each of `n` rows, of which all may have the same."""
    if given is None or isinstance(given, (Reason, str)):
        return [reason_of(given)] * n
    return [reason_of(one) for one in given]


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
    NEWCOMBE = "newcombe"
    F = "f"


@dataclass(frozen=True, slots=True)
class IntervalFact:
    """How an interval was made.

    Examples
    --------
    >>> str(IntervalFact("jackknife", over=("stimuli", "raters")))
    'jackknife over stimuli and raters'
    >>> str(IntervalFact("percentile", over=("stimuli",), replicates=1000, undefined=3))
    'percentile bootstrap, 1000 replicates, 3 undefined'
    """

    kind: str
    """``"analytic"``, ``"jackknife"``, ``"percentile"``, ``"expanded percentile"`` or ``"bca"``."""
    over: tuple[str, ...] = ()
    """What was left out or drawn, such as ``("stimuli", "raters")`` or ``("actors",)``."""
    n_groups: tuple[int, ...] = ()
    """Random groups of each that were left out in place of single ones, 0 where single ones were;
    empty where no groups were left out."""
    formula: Formula | None = None
    replicates: int | None = None
    undefined: int = 0
    """Replicates in which the value is not defined."""
    redrawn: str = ""
    """What else is done anew in every replicate."""
    coverage: float | None = None
    """Share of simulated studies of such a design in which 95 % intervals held, where it is low."""
    design: str = ""
    """That design."""

    @classmethod
    def of_row(cls, row: Mapping[str, Any] | None) -> Self | None:
        """Make it of a cell of the column ``interval``."""
        if row is None:
            return None
        formula = None if row["formula"] is None else Formula(row["formula"])
        over, groups = tuple(row["over"]), tuple(row["n_groups"])
        return cls(**{**row, "over": over, "n_groups": groups, "formula": formula})

    def __str__(self) -> str:
        from affectlab.core.wording import interval_text

        return interval_text(self)


def reason_type() -> Any:
    """Type of the column ``reason``."""
    import polars as pl

    return pl.Struct({"cause": pl.String, "n": pl.Int64, "least": pl.Int64, "of": pl.String})


def interval_type() -> Any:
    """Type of the column ``interval``."""
    import polars as pl

    return pl.Struct(
        {
            "kind": pl.String,
            "over": pl.List(pl.String),
            "n_groups": pl.List(pl.Int64),
            "formula": pl.String,
            "replicates": pl.Int64,
            "undefined": pl.Int64,
            "redrawn": pl.String,
            "coverage": pl.Float64,
            "design": pl.String,
        }
    )


def fact_column(
    name: str, facts: Sequence[Reason | None] | Sequence[IntervalFact | None], dtype: Any
) -> pl.Series:
    """Make a column of facts."""
    import polars as pl

    rows = [None if one is None else _plain(one) for one in facts]
    return pl.Series(name, rows, dtype=dtype)


def _plain(fact: Reason | IntervalFact) -> dict[str, Any]:
    return {key: list(one) if isinstance(one, tuple) else one for key, one in asdict(fact).items()}


def flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Put kinds in the place of typed facts, for files and programs that have no structs.

    The column ``interval`` is then how intervals were made, such as ``"jackknife"``, and a column
    of reasons, such as ``reason``, a :class:`Cause`, or the text of one that has no kind.
    """
    import polars as pl

    kinds = []
    for name, dtype in frame.schema.items():
        if dtype == interval_type():
            kinds.append(pl.col(name).struct.field("kind").alias(name))
        elif dtype == reason_type():
            cause, text = (pl.col(name).struct.field(part) for part in ("cause", "of"))
            kinds.append(
                pl.when(cause == Cause.OTHER.value).then(text).otherwise(cause).alias(name)
            )
    return frame.with_columns(kinds)
