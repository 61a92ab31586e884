"""What became of asking a model once: nine classes, of which the first that fits counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.estimates import ESTIMATE_COLUMNS, Estimates
from affectlab.core.result import Result
from affectlab.core.tables import Column, Count, Figure, Key, Share, Table
from affectlab.core.types import Floats, Ints
from affectlab.core.words import count, joined, percent, plural, shown
from affectlab.evaluation.people_and_models import check_models
from affectlab.evaluation.wilson import wilson_interval
from affectlab.ratings import MODEL_KINDS, Ratings
from affectlab.ratings.arrays import row_column

__all__ = [
    "OUTCOMES",
    "Asked",
    "OutcomeClass",
    "OutcomeTable",
    "Response",
    "asked_of",
    "classify_outcome",
    "looks_like_refusal",
    "outcome_table",
]


@dataclass(frozen=True, slots=True)
class OutcomeClass:
    """One of the things that can become of a question to a model."""

    name: str
    meaning: str
    """One line, for tables and documentation."""
    usable: bool = False
    """Whether the answer enters statistics."""
    retried: bool = False
    """Whether it is asked again without a word, since nothing was learned about the model."""


OUTCOMES: Mapping[str, OutcomeClass] = MappingProxyType(
    {
        found.name: found
        for found in (
            OutcomeClass(
                "transport",
                "No answer arrived: time-out, connection, rate limit or server error.",
                retried=True,
            ),
            OutcomeClass("rejected", "The provider would not run the request."),
            OutcomeClass("refused", "The model declined, or a filter stopped its answer."),
            OutcomeClass("empty", "The answer holds no text."),
            OutcomeClass("truncated", "The answer was cut off at the limit of its length."),
            OutcomeClass("unparseable", "The answer is not in the format asked for."),
            OutcomeClass("schema_invalid", "The format is right; keys, types or ranges are not."),
            OutcomeClass(
                "rule_violation",
                "The answer breaks a rule of the protocol, such as 'at most five'.",
            ),
            OutcomeClass("ok", "The answer can be used.", usable=True),
        )
    }
)
"""Classes of outcomes by name, in the order in which they are tried: the first that fits counts."""

_TRANSPORT_STATUS = frozenset({408, 409, 425, 429})
"""HTTP statuses below 500 that say "later", not "no"."""
_REFUSED_STOPS = frozenset(
    {
        "blocklist",
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "image_safety",
        "prohibited_content",
        "recitation",
        "refusal",
        "safety",
        "spii",
    }
)
_CUT_STOPS = frozenset(
    {"length", "max_length", "max_output_tokens", "max_tokens", "model_length", "token_limit"}
)
_REFUSALS = (
    r"\b(?:i am|i['’]m|i['’]ll have to|we are|we['’]re) (?:not able|unable|not comfortable)\b",
    r"\b(?:i|we) (?:can ?not|can['’]t|am unable to|won['’]t|will not|must decline|decline to"
    r"|don['’]t feel comfortable)\b",
    r"\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b",
    r"\b(?:against|violates?) (?:my|our|the) (?:\w+ )?(?:guidelines|polic(?:y|ies))\b",
    r"\b(?:sorry|apologi[sz]e),? but\b",
)
_REFUSAL = re.compile("|".join(_REFUSALS), re.IGNORECASE)
_OPENING = 400
"""Characters at the start of an answer in which a refusal is looked for."""


@dataclass(frozen=True, slots=True)
class Response:
    """What came back when a model was asked once; fields that say nothing stay at their default.

    Examples
    --------
    >>> classify_outcome(Response(text='{"joy": 9}', parsed={"joy": 9},
    ...                           schema_errors=("joy = 9: expected 0 to 7",)))
    'schema_invalid'
    """

    transport_error: str = ""
    """Why no answer arrived, for example ``"timeout"``."""
    http_status: int | None = None
    """HTTP status of the provider; 408, 409, 425, 429 and from 500 on are transport errors,
    others from 400 on rejections."""
    rejection: str = ""
    """Why the provider would not run the request, in its words."""
    stop_reason: str = ""
    """Why the model stopped, in the provider's word: ``stop``, ``max_tokens``, ``refusal``, …"""
    refusal: str = ""
    """The model's own refusal, where the provider keeps it apart from the text."""
    text: str | None = None
    """The answer."""
    parsed: Any = None
    """The answer as an object; None when the text could not be parsed."""
    schema_errors: tuple[str, ...] = ()
    """What the object has against the schema, one sentence each."""
    rule_errors: tuple[str, ...] = ()
    """Which rules of the protocol the answer breaks, one sentence each."""
    retries: int = 0
    """How often it was asked again after transport errors."""
    rater: str = ""
    """Name of the model."""
    stimulus: str = ""
    """What was shown."""
    prompt: str = ""
    """How it was asked."""


def looks_like_refusal(text: str) -> bool:
    """Say whether an English answer that could not be parsed begins by declining.

    Examples
    --------
    >>> looks_like_refusal("I'm sorry, but I can't rate the emotions of real people.")
    True
    >>> looks_like_refusal("Joy: high. Fear: low.")
    False
    """
    return _REFUSAL.search(text.lstrip()[:_OPENING]) is not None


def classify_outcome(
    response: Response, *, is_refusal: Callable[[str], bool] = looks_like_refusal
) -> str:
    """Say what became of asking a model once.

    The classes are tried in the order of :data:`OUTCOMES`; the first that fits counts. So an
    answer that was cut off is ``truncated`` even when what there is of it could be parsed, and a
    refusal in words is looked for only in answers that were not parsed: a reason that says
    "I cannot see the eyes" within a valid answer is no refusal.

    Parameters
    ----------
    response
        What came back.
    is_refusal
        Recognises a refusal in words; the default knows English.

    Returns
    -------
    A key of :data:`OUTCOMES`.

    Raises
    ------
    InputError
        When the HTTP status is not one, or retries are negative.

    Examples
    --------
    >>> classify_outcome(Response(http_status=429))
    'transport'
    >>> classify_outcome(Response(http_status=400, rejection="image too large"))
    'rejected'
    >>> classify_outcome(Response(text="I cannot help with that."))
    'refused'
    >>> classify_outcome(Response(text=" "))
    'empty'
    >>> classify_outcome(Response(text='{"joy": 3', stop_reason="max_tokens"))
    'truncated'
    >>> classify_outcome(Response(text="joy, mostly"))
    'unparseable'
    >>> classify_outcome(Response(text='{"joy": 3}', parsed={"joy": 3}))
    'ok'
    """
    status = response.http_status
    if status is not None and not 100 <= status <= 599:
        raise InputError(f"http_status {status}: expected 100 to 599, or None")
    if response.retries < 0:
        raise InputError(f"retries {response.retries}: expected a count from 0 on")
    stop = response.stop_reason.strip().casefold().replace("-", "_").replace(" ", "_")
    text = "" if response.text is None else response.text.strip()
    nothing = response.parsed is None
    checks: dict[str, Callable[[], bool]] = {
        "transport": lambda: (
            bool(response.transport_error)
            or (status is not None and (status >= 500 or status in _TRANSPORT_STATUS))
        ),
        "rejected": lambda: bool(response.rejection) or (status is not None and status >= 400),
        "refused": lambda: (
            bool(response.refusal)
            or stop in _REFUSED_STOPS
            or (nothing and bool(text) and is_refusal(text))
        ),
        "empty": lambda: nothing and not text,
        "truncated": lambda: stop in _CUT_STOPS,
        "unparseable": lambda: nothing,
        "schema_invalid": lambda: bool(response.schema_errors),
        "rule_violation": lambda: bool(response.rule_errors),
    }
    return next((name for name, fits in checks.items() if fits()), "ok")


# From ratings, records or a data frame to one outcome per answer.


_NOT_GIVEN = "–"
"""Stands for a name that is not given, such as the prompt of a person."""
_UNCLEAR = "unclear"
"""Column of who chose this option and no label: values are missing, and nobody has declined."""
_ANSWER = ("session", "trial", "trial_kind")
"""Columns that, with rater and stimulus, tell one answer from another."""


@dataclass(frozen=True)
class Asked:
    """One entry per answer, as codes."""

    by: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    """Names of the groups, one per entry of :attr:`by`."""
    group: Ints
    outcome: Ints
    """Position in :data:`OUTCOMES`."""
    stimulus: Ints
    """Code of the stimulus, all -1 where none is given."""
    rater: Ints
    """Code of the rater, all -1 where none is given."""
    retries: Floats
    n_stimuli: int
    """Stimuli in the whole table, 0 when there are none."""
    has_outcomes: bool
    stimuli: tuple[str, ...] = ()
    raters: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of answers."""
        return self.group.size


def asked_of(
    data: Any, by: Sequence[str] | str | None, models: Ratings | None = None, *, everyone: bool
) -> Asked:
    """Bring any input to one entry per answer.

    Raises
    ------
    InputError
        When it is not one of the inputs, or a column is missing or wrong.
    """
    check_models(models)
    if isinstance(data, Ratings):
        tables = [data] if models is None else [data, models]
        known = [name for table in tables for name in _known(table)]
        names = _names(by, list(dict.fromkeys(known)))
        wanted = None if everyone else MODEL_KINDS
        parts = [_of_ratings(table, names, wanted) for table in tables]
        if models is not None and not everyone:
            # Every rater of a table of models is judged, whatever its kind.
            parts[1] = _of_ratings(models, names, None)
        elif not any(part.n for part in parts):
            parts = [_of_ratings(table, names, None) for table in tables]
        stimuli = {name for table in tables for name in table.stimulus_names}
        return _joined(parts, len(stimuli))
    if isinstance(data, Response):
        data = [data]
    if not hasattr(data, "columns") and not isinstance(data, dict):
        data = _of_responses(data)
    return _of_frame(_plain_frame(data), by)


def _known(ratings: Ratings) -> list[str]:
    tables = (ratings.frame, ratings.raters, ratings.stimuli)
    columns = [name for table in tables for name in table.columns]
    return [name for name in columns if name not in ("label", "value")]


def _joined(parts: Sequence[Asked], n_stimuli: int) -> Asked:
    """Put the answers of several tables one after the other, groups of one name together."""
    position: dict[tuple[str, ...], int] = {}
    group: list[Ints] = []
    stimulus: list[Ints] = []
    rater: list[Ints] = []
    stimuli: dict[str, int] = {}
    raters: dict[str, int] = {}
    for part in parts:
        places = [position.setdefault(names, len(position)) for names in part.groups]
        group.append(np.array(places, dtype=np.int64)[part.group])
        for codes, code, names, known in (
            (stimulus, part.stimulus, part.stimuli, stimuli),
            (rater, part.rater, part.raters, raters),
        ):
            lookup = [known.setdefault(name, len(known)) for name in names]
            codes.append(np.array(lookup, dtype=np.int64)[code])
    return Asked(
        by=parts[0].by,
        groups=tuple(position),
        group=np.concatenate(group),
        outcome=np.concatenate([part.outcome for part in parts]),
        stimulus=np.concatenate(stimulus),
        rater=np.concatenate(rater),
        retries=np.concatenate([part.retries for part in parts]),
        n_stimuli=n_stimuli,
        has_outcomes=any(part.has_outcomes for part in parts),
        stimuli=tuple(stimuli),
        raters=tuple(raters),
    )


def _of_ratings(ratings: Ratings, names: tuple[str, ...], kinds: tuple[str, ...] | None) -> Asked:
    columns = {name: row_column(ratings, name) for name in dict.fromkeys((*names, *_ANSWER))}
    named = {name: _codes(column, ratings.n_rows) for name, column in columns.items()}
    codes = [ratings.rater_code.astype(np.int64), ratings.stimulus_code.astype(np.int64)]
    answer, first = _pack([*codes, *(code for code, _ in named.values())])
    outcome = row_column(ratings, "outcome")
    row = np.full(ratings.n_rows, len(OUTCOMES) - 1)
    if outcome is not None:
        row = outcome.cast(pl.Enum(list(OUTCOMES))).to_physical().to_numpy().astype(np.int64)
        unclear = row_column(ratings, _UNCLEAR)
        if unclear is not None and unclear.dtype == pl.Boolean:
            said = unclear.fill_null(value=False).to_numpy()
            row[said & (row == list(OUTCOMES).index("refused"))] = len(OUTCOMES) - 1
    found = np.full(first.size, len(OUTCOMES) - 1)
    np.minimum.at(found, answer, row)
    retries = np.zeros(first.size)
    np.maximum.at(retries, answer, _retries(row_column(ratings, "retries"), ratings.n_rows))
    keep = np.ones(first.size, dtype=bool)
    if kinds is not None:
        keep = np.array([kind in kinds for kind in ratings.rater_kinds])[ratings.rater_code[first]]
    group, groups = _group([named[name] for name in names], first[keep])
    return Asked(
        by=names,
        groups=groups,
        group=group,
        outcome=found[keep],
        stimulus=ratings.stimulus_code[first][keep].astype(np.int64),
        rater=ratings.rater_code[first][keep].astype(np.int64),
        retries=retries[keep],
        n_stimuli=ratings.n_stimuli,
        has_outcomes=outcome is not None,
        stimuli=ratings.stimulus_names,
        raters=ratings.rater_names,
    )


def _of_responses(responses: Iterable[Response]) -> Mapping[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        name: [] for name in ("rater", "prompt", "stimulus", "outcome", "retries")
    }
    for response in responses:
        if not isinstance(response, Response):
            raise InputError(
                f"got a {type(response).__name__}; expected ratings, a data frame or Responses"
            )
        for name in ("rater", "prompt", "stimulus", "retries"):
            columns[name].append(getattr(response, name))
        columns["outcome"].append(classify_outcome(response))
    for name in ("prompt", "stimulus"):
        if not any(columns[name]):
            del columns[name]
    return columns


def _plain_frame(data: Any) -> pl.DataFrame:
    import narwhals as nw

    if isinstance(data, pl.DataFrame):
        return data
    try:
        return pl.DataFrame(data) if isinstance(data, dict) else nw.from_native(data).to_polars()
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"the outcomes are no table: {reason}") from None


def _of_frame(frame: pl.DataFrame, by: Sequence[str] | str | None) -> Asked:
    if "outcome" not in frame.columns:
        found = ", ".join(frame.columns)
        raise InputError(f"column 'outcome' is missing; found: {found}")
    names = _names(by, [name for name in frame.columns if name not in ("outcome", "retries")])
    words = frame["outcome"].cast(pl.String).fill_null("ok").to_list()
    position = {name: k for k, name in enumerate(OUTCOMES)}
    for row, word in enumerate(words):
        if word not in position:
            raise unknown_name("outcome", word, OUTCOMES, f"row {row + 1}")
    group, groups = _group(
        [_codes(frame[name], frame.height) for name in names], np.arange(frame.height)
    )
    stimulus, seen = np.full(frame.height, -1), 0
    if "stimulus" in frame.columns:
        stimulus, stimulus_names = _codes(frame["stimulus"], frame.height)
        seen = len(stimulus_names)
    rater = np.full(frame.height, -1)
    if "rater" in frame.columns:
        rater = _codes(frame["rater"], frame.height)[0]
    return Asked(
        by=names,
        groups=groups,
        group=group,
        outcome=np.array([position[word] for word in words], dtype=np.int64),
        stimulus=stimulus,
        rater=rater,
        retries=_retries(frame["retries"] if "retries" in frame.columns else None, frame.height),
        n_stimuli=seen,
        has_outcomes=True,
    )


def _names(by: Sequence[str] | str | None, known: Sequence[str]) -> tuple[str, ...]:
    """Say what to tell apart; without a wish that is the rater, and the prompt where it is said."""
    if by is None:
        found = tuple(name for name in ("rater", "prompt") if name in known)
        if not found:
            raise InputError(f"no column 'rater'; found: {', '.join(known)}; say `by`")
        return found
    given = by.split(",") if isinstance(by, str) else by
    names = tuple(dict.fromkeys(name.strip() for name in given if name.strip()))
    if not names:
        raise InputError("by is empty; expected at least one name, such as 'rater'")
    for name in names:
        if name not in known:
            raise unknown_name("column", name, dict.fromkeys(known), "by")
    return names


def _codes(column: pl.Series | None, n: int) -> tuple[Ints, list[str]]:
    """Number the distinct texts of a column; a column that is not there says nothing."""
    if column is None:
        return np.zeros(n, dtype=np.int64), [_NOT_GIVEN]
    if isinstance(column.dtype, pl.Enum) and not column.null_count():
        return column.to_physical().to_numpy().astype(np.int64), column.dtype.categories.to_list()
    text = column.cast(pl.String).fill_null(_NOT_GIVEN)
    distinct = text.unique(maintain_order=True)
    code = text.cast(pl.Enum(distinct)).to_physical().to_numpy().astype(np.int64)
    return code, distinct.to_list()


def _pack(codes: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Number the distinct combinations: code of every row, and the first row of every code."""
    packed = codes[0]
    for code in codes[1:]:
        size = int(code.max(initial=0)) + 1
        if int(packed.max(initial=0)) >= 2**62 // size:
            packed = np.unique(packed, return_inverse=True)[1].astype(np.int64)
        packed = packed * size + code
    _, first, inverse = np.unique(packed, return_index=True, return_inverse=True)
    return inverse.astype(np.int64), first.astype(np.int64)


def _group(
    columns: Sequence[tuple[Ints, list[str]]], rows: Ints
) -> tuple[Ints, tuple[tuple[str, ...], ...]]:
    """Number the groups of the answers that are kept, in the order of their names' codes."""
    group, example = _pack([code[rows] for code, _ in columns])
    names = tuple(
        tuple(texts[int(code[rows[k]])] for code, texts in columns) for k in example.tolist()
    )
    return group, names


def _retries(column: pl.Series | None, n: int) -> Floats:
    if column is None:
        return np.zeros(n)
    number = column.cast(pl.Float64, strict=False)
    wrong = (number.is_null() & column.is_not_null()) | (number < 0).fill_null(False)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(f"retries {column[row]!r} is no count; expected whole numbers from 0 on")
    return number.fill_null(0.0).fill_nan(0.0).to_numpy()


# How often each outcome came about, by model and prompt.


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class OutcomeTable(Result):
    """Outcomes by model and prompt, or by whatever was asked for.

    Made by :func:`outcome_table`. The first table has one row per group and outcome, with the
    ``count`` and the share of its answers; the table ``usable`` has one row per group, with the
    share that can be used, how often each outcome came about, ``retries``, the questions asked
    again after transport errors, and ``coverage``, the share of all stimuli about which something
    was asked.
    """

    by: tuple[str, ...]
    """What is told apart."""

    @property
    def shares(self) -> Estimates:
        """Share of answers with each outcome, keyed by :attr:`by` and ``outcome``."""
        return Estimates(self.tables[:1])

    @property
    def usable(self) -> Estimates:
        """Share of answers that can be used, keyed by :attr:`by`."""
        return Estimates(self.tables[1:])


def outcome_table(
    ratings: Ratings | Iterable[Response] | Any,
    models: Ratings | None = None,
    *,
    by: Sequence[str] | str | None = None,
    everyone: bool = False,
    confidence: float = 0.95,
) -> OutcomeTable:
    """Count the outcomes of answers by model and prompt, with Wilson intervals.

    One answer is what a rater said about a stimulus at once: all rows of ratings with one rater,
    stimulus, session, trial and trial kind, and one value of each of `by`. Where its labels have
    different outcomes, the first in the order of :data:`OUTCOMES` counts. Trials of all kinds
    count: a golden question that is refused is refused. Answers without a value and without an
    outcome are not in ratings; the column ``coverage`` shows that they are missing.

    Parameters
    ----------
    ratings
        Ratings; or a data frame with a column ``outcome``, the columns of `by`, and optionally
        ``stimulus`` and ``retries``; or an iterable of :class:`Response`.
    by
        What to tell apart, such as ``rater,prompt``; by default these, where there is a prompt.

        ``rater``, ``rater_kind``, or any column of the answers (``session``), attribute of the
        raters (``prompt``, ``family``) or of the stimuli. A model that was asked in
        two ways is best kept as two raters with an attribute ``prompt``, so that every other
        statistic tells them apart, too.
    models
        Answers of models in a table of their own, beside those of ratings.
    everyone
        Count people, too, where ratings hold both; otherwise only models.
    confidence
        Coverage of the intervals. They take answers as independent of each other.

    Raises
    ------
    InputError
        When a name of `by` is not known, or there is no answer.

    References
    ----------
    Generalises Table 3 of the EmoNet-Face paper, which says yes or no for each model and prompt.

    Examples
    --------
    >>> from affectlab.ratings import Ratings
    >>> table = Ratings(
    ...     {"stimulus": ["a", "b", "c", "d"], "rater": ["net"] * 4, "value": [1, 2, None, 0],
    ...      "outcome": ["ok", "ok", "refused", "ok"]},
    ...     scale="0-7", raters={"rater": ["net"], "rater_kind": ["model"]})
    >>> found = outcome_table(table)
    >>> found.shares["net", "refused"].value, found.usable["net"].value
    (0.25, 0.75)
    """
    asked = asked_of(ratings, by, models, everyone=everyone)
    if not asked.n:
        raise InputError("there is no answer to count; expected at least one")
    n_groups = len(asked.groups)
    names = list(OUTCOMES)
    count = np.bincount(
        asked.group * len(names) + asked.outcome, minlength=n_groups * len(names)
    ).reshape(n_groups, len(names))
    total = count.sum(axis=1)
    stimuli, raters = _distinct(asked, asked.stimulus), _distinct(asked, asked.rater)
    method = f"share of answers, Wilson interval ({100 * confidence:g} %)"
    low, high = wilson_interval(count, total[:, None], confidence)
    keys = {
        name: [group[k] for group in asked.groups for _ in names] for k, name in enumerate(asked.by)
    }
    shares = Estimates.build(
        {**keys, "outcome": names * n_groups},
        value=(count / total[:, None]).ravel(),
        low=np.ravel(low),
        high=np.ravel(high),
        method=method,
        n_items=np.repeat(stimuli, len(names)),
        n_raters=np.repeat(raters, len(names)),
        n_ratings=np.repeat(total, len(names)),
    )
    good = count[:, [OUTCOMES[name].usable for name in names]].sum(axis=1)
    low, high = wilson_interval(good, total, confidence)
    usable = Estimates.build(
        {name: [group[k] for group in asked.groups] for k, name in enumerate(asked.by)},
        value=good / total,
        low=low,
        high=high,
        method=method.replace("answers", "usable answers"),
        n_items=stimuli,
        n_raters=raters,
        n_ratings=total,
    )
    retries = np.bincount(asked.group, weights=asked.retries, minlength=n_groups).astype(np.int64)
    coverage = stimuli / asked.n_stimuli if asked.n_stimuli else np.full(n_groups, np.nan)
    wide = usable.frame.with_columns(
        pl.Series("retries", retries),
        pl.Series("coverage", coverage, dtype=pl.Float64),
        *(pl.Series(name, count[:, k]) for k, name in enumerate(names)),
    )
    by_outcome = shares.frame.select(
        *shares.keys, pl.Series("count", count.ravel()), *ESTIMATE_COLUMNS
    )
    return _result(asked, by_outcome, wide, confidence)


def _distinct(asked: Asked, code: np.ndarray[Any, np.dtype[np.int64]]) -> Any:
    """Count the distinct codes in each group; those below 0 say nothing."""
    size = int(code.max(initial=0)) + 1
    known = code >= 0
    pairs = np.unique(asked.group[known] * size + code[known])
    return np.bincount(pairs // size, minlength=len(asked.groups))


def _notes(asked: Asked, stimuli: Any) -> tuple[str, ...]:
    said = []
    if not asked.has_outcomes:
        said.append(
            "there is no column 'outcome', so every answer counts as ok; answers that failed may "
            "have been left out before"
        )
    if asked.n_stimuli and (stimuli < asked.n_stimuli).any():
        part = [k for k in range(len(stimuli)) if stimuli[k] < asked.n_stimuli]
        worst = min(part, key=lambda k: int(stimuli[k]))
        said.append(
            f"{', '.join(asked.groups[worst])} was asked about {stimuli[worst]:,} of "
            f"{asked.n_stimuli:,} stimuli"
            + (f", and {len(part) - 1} more not about all" if len(part) > 1 else "")
        )
    return tuple(said)


# How the outcomes are laid out, and put into words.


def _result(
    asked: Asked, shares: pl.DataFrame, usable: pl.DataFrame, confidence: float
) -> OutcomeTable:
    """Lay out what was counted."""
    failed = [name for name in OUTCOMES if not OUTCOMES[name].usable and usable[name].sum()]
    keys = [Key(name) for name in asked.by]
    every = (*keys, Key("outcome"), Count("count"), Share("value", "share", decimals=1))
    columns = (
        *keys,
        Count("n_ratings", "asked"),
        Share("value", "usable", decimals=1),
        Column("interval", "interval", "share_interval", decimals=1),
        *(Count(name, help=OUTCOMES[name].meaning) for name in failed),
        *([Count("retries")] if usable["retries"].sum() else []),
        *([Count("n_items", "stimuli")] if (usable["coverage"] < 1).any() else []),
    )
    names = [", ".join(group) for group in usable.select(asked.by).rows()]
    figure = Figure(
        "outcomes",
        "outcomes",
        "usable",
        "What became of the answers",
        "Share of the answers with each outcome.",
        "; ".join(
            f"{name}: {percent(share, 1)} usable"
            for name, share in zip(names, usable["value"], strict=True)
        ),
    )
    return OutcomeTable(
        (
            Table("outcomes", "Outcomes of the answers.", shares, every, limit=0),
            Table("usable", "Answers that can be used.", usable, columns),
        ),
        (_sentence(usable, asked.by, failed, confidence),),
        (figure,),
        _notes(asked, usable["n_items"].to_numpy()),
        {"by": list(asked.by), "confidence": confidence},
        by=asked.by,
    )


def _sentence(
    usable: pl.DataFrame, keys: Sequence[str], failed: Sequence[str], confidence: float
) -> str:
    """Say how many answers can be used, what became of the others, and whose are used least."""
    total = int(usable["n_ratings"].sum())
    if not failed:
        return f"None of {plural(total, 'answer')} was refused, lost or unreadable."
    rate = int(usable["ok"].sum()) / total
    parts = joined(f"{name.replace('_', ' ')} {count(int(usable[name].sum()))}" for name in failed)
    text = f"Of {plural(total, 'answer')}, {percent(rate, 1)} can be used ({parts})."
    if usable.height == 1:
        return text
    worst = usable.sort("value", descending=True, maintain_order=True).row(-1, named=True)
    name = " · ".join(shown(worst[key], 40) for key in keys if worst[key])
    low, high = percent(worst["low"], 1), percent(worst["high"], 1)
    return (
        f"{text} The lowest share is that of {name}: {percent(worst['value'], 1)}, "
        f"{100 * confidence:g}\u00a0% interval {low} to {high}."
    )
