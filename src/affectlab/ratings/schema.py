"""Names that a table of ratings uses, and what they may hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Any, Literal

from affectlab.core.words import plural

RATER_KINDS = ("human", "simulated", "model", "baseline")
HUMAN_KINDS = ("human", "simulated")
"""Kinds that stand in the place of people; simulated people are marked wherever they are shown."""
MODEL_KINDS = ("model", "baseline")
TRIAL_KINDS = ("main", "golden", "repeat", "training")
PRACTICE = {"practice", "practise", "warm-up", "warmup"}
"""What trials of the kind ``training`` are called elsewhere."""
OUTCOMES = (
    *("ok", "transport", "rejected", "refused", "empty", "truncated", "unparseable"),
    *("schema_invalid", "rule_violation"),
)
DEFAULTS = {"trial_kind": "main", "outcome": "ok"}
"""What an empty cell of these columns means."""
ROW_COLUMNS = ("text", "session", "trial", "trial_kind", "outcome", "rt_ms", "at", "answers_as")
"""Optional columns that belong to a single answer."""
NO_ANSWER = "without any answer that can be used"
"""Why raters and stimuli are set aside."""
BATCH_COLUMNS = ("step", "batch_kind")
"""Columns of a sequential study, which say to which of its batches an answer belongs."""
RATER_KNOWN = "rater_known"
"""Attribute of raters: false where they only stand for counted votes."""
LOW_CODES = (-1, -9, -66, -77, -88, -99, -777, -888, -999, -9999)
HIGH_CODES = (9, 77, 88, 97, 98, 99, 777, 888, 998, 999, 9999)
"""Numbers that often stand for a missing answer."""
UNNAMED = "rating"
"""What the one scale is called in results when the table has no labels."""


class StepKind(StrEnum):
    """What a step of the history says; ``wording`` has a template for each."""

    NOTE = auto()
    FILLED = auto()
    CELLS_FILLED = auto()
    NOTHING_ABSENT = auto()
    LEFT_MISSING = auto()
    ROWS_KEPT = auto()
    SCREENED = auto()
    CONTROLS_LEFT_OUT = auto()
    NEUTRAL_SUBTRACTED = auto()
    AVERAGED = auto()
    LABELS_JOINED = auto()
    TAXONOMY_DROPPED = auto()
    UNUSED_ATTRIBUTES = auto()
    ATTRIBUTE_REPLACED = auto()
    ATTRIBUTE_VARIES = auto()
    PERSONAL_LEFT_OUT = auto()
    SCALE_GIVEN = auto()
    POSITIONS = auto()
    ONE_SPELLING = auto()
    READ_AS_NUMBERS = auto()
    TAXONOMY_NAMES = auto()
    ORDERED_WORDS = auto()
    NO_ANSWER_WORDS = auto()
    NONE_IS_CATEGORY = auto()
    TICKS = auto()
    DECIMAL_COMMAS = auto()
    OPTION_NUMBERS = auto()
    FREE_ANSWERS = auto()
    ANSWER_CODES = auto()
    CUT = auto()
    NAMED_CATEGORIES = auto()
    GUESSED_CATEGORIES = auto()
    GUESSED_LEVELS = auto()
    NAMED_LEVELS = auto()
    DECLARED_MISSING = auto()
    GUESSED_MISSING = auto()
    QUESTIONS = auto()
    ENCODING = auto()
    ABOVE_HEADER = auto()
    NO_HEADER = auto()
    LISTS_LEFT_OUT = auto()
    LISTS_BY_PLACE = auto()
    LISTS_OF_UNKNOWN = auto()
    LISTS_BY_RATER = auto()
    LISTS_WITH_RATERS = auto()
    KEYS_ARE_ENTRIES = auto()
    ANSWERS_IN = auto()
    FIELD_NAMES = auto()
    KEYS_ARE_COLUMNS = auto()
    KEYS_NAME = auto()
    TWO_KEYS = auto()
    IN_SOME_FILES = auto()
    SHEETS_JOINED = auto()
    SHEETS_LEFT = auto()
    NO_NAMES = auto()
    FROM_HUB = auto()
    HUB_NOT_ASKED = auto()
    COLUMNS_NOT_HELD = auto()
    MAPPING_BESIDE = auto()
    WITHOUT_DESCRIPTION = auto()
    AGGREGATED_BY_AUTHORS = auto()
    STIMULUS_NOT_FIRST = auto()
    ROWS_NUMBERED = auto()
    FREE_TEXT = auto()
    STRENGTHS = auto()
    INTENDED = auto()
    TIMES_COLUMN = auto()
    OCCASION_COLUMN = auto()
    LABEL_COLUMN = auto()
    SEVERAL_CHOSEN = auto()
    CELLS_HOLD_SETS = auto()
    ONLY_ANSWERS = auto()
    ANSWERS_DESCRIBED = auto()
    PRACTICE_COUNTS = auto()
    TEXTS_RATED = auto()
    NUMBERS_ARE_LABELS = auto()
    CATEGORY_AND_DIMENSIONS = auto()
    WIDE_KIND = auto()
    ROW_NUMBERS = auto()
    NAMES_CROSS = auto()
    ATTRIBUTE_COLUMNS = auto()
    RATED_COLUMNS = auto()
    ROLE_TAKEN = auto()
    VOTES = auto()
    MODELS_BY_NAME = auto()
    MODELS_BY_COLUMN = auto()
    ROWS_ARE_RATERS = auto()
    SIDES = auto()
    TURNS = auto()
    SHAPE = auto()
    ASKED_BEFORE = auto()
    SHOWN_BEFORE = auto()
    LARGEST_FACE = auto()
    NOT_OF_FACE = auto()
    SEPARATORS_JOINED = auto()
    QUOTES_REMOVED = auto()
    MULTIPLIED = auto()
    NO_LABEL_NAMED = auto()
    SCORE_USED = auto()
    TASK_COLUMNS = auto()
    NUMBERED_QUESTIONS = auto()
    INSTANCE_FIELD = auto()
    QUESTIONS_NAME_STIMULI = auto()
    QUESTIONS_CROSS = auto()
    MATRIX_ROWS = auto()
    SETS_IN_CELLS = auto()
    SURVEY_COLUMNS = auto()
    RATER_COLUMNS = auto()
    UNUSED_COLUMNS = auto()
    MODEL_COLUMN = auto()
    AFFIXED_SCORES = auto()
    SCORE_COLUMNS = auto()
    SHARES = auto()
    DIVIDED = auto()
    PEOPLE_LEFT_OUT = auto()
    LABELS_GIVEN = auto()
    LABELS_MATCHED = auto()
    QUESTION_DROPPED = auto()
    QUESTION_TAKEN = auto()
    STIMULI_JOINED = auto()
    MODEL_SCALE = auto()
    WHOLE_STEPS = auto()
    SCALE_MAPPED = auto()


Unit = Literal["row", "cell", "rater", "stimulus"]
AsideKind = Literal["unusable", "no_answer", "total"]
"""What is set aside: what cannot be used, what holds no answer, or what sums up the rows above."""
_SHOWN_PLACES, _SHOWN_FIRST = 8, 3


def is_far_code(number: float, answers: Iterable[float]) -> bool:
    """Say whether a number is a code that lies five times as far from 0 as all answers.

    Examples
    --------
    >>> is_far_code(-99, [1, 7]), is_far_code(999, [0, 100]), is_far_code(9, [1, 5])
    (True, True, False)
    """
    reach = max(map(abs, answers), default=0)
    return number in (*LOW_CODES, *HIGH_CODES) and 5 * reach <= abs(number)


@dataclass(frozen=True)
class SetAside:
    """What a reader did not take, and why."""

    reason: str
    count: int
    places: tuple[str, ...] = ()
    """Where the first of them stand, for example ``"line 7"``; of raters and stimuli, all names."""
    unit: Unit = "row"
    """What is counted: rows, cells of a table with several answers in a row, raters, or stimuli."""
    kind: AsideKind = "unusable"

    @classmethod
    def of(
        cls,
        reason: str,
        rows: Sequence[Any],
        place: Callable[[Any], str] = str,
        unit: Unit = "row",
        kind: AsideKind = "unusable",
    ) -> SetAside:
        """Count rows or cells, and say where the first stand."""
        return cls(reason, len(rows), tuple(map(place, rows[:_SHOWN_FIRST])), unit, kind)

    def to_dict(self) -> dict[str, Any]:
        """Give reason, count, places and unit as JSON has them."""
        return {**vars(self), "places": list(self.places)}

    def __str__(self) -> str:
        shown = ", ".join(self.places[:_SHOWN_PLACES])
        more = ", …" if shown and self.count > len(self.places[:_SHOWN_PLACES]) else ""
        counted = plural(self.count, self.unit, "stimuli" if self.unit == "stimulus" else "")
        return f"{counted}: {self.reason}" + (f" ({shown}{more})" if shown else "")
