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
from affectlab.core.facts import Formula, IntervalFact
from affectlab.core.files.columns import require_columns
from affectlab.core.inference import wilson_interval
from affectlab.core.result import Result
from affectlab.core.tables import Column, Count, Figure, Key, Share, Table
from affectlab.core.words import percent
from affectlab.evaluation import wording
from affectlab.ratings import MODEL_KINDS, ModelRatings, Ratings, model_tables, row_column


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

    The classes are tried in the order of ``OUTCOMES``; the first that fits counts. So an
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
    A key of ``OUTCOMES``.

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
_RESPONSE = ("rater", "prompt", "stimulus", "retries")
_PLACE = {name: place for place, name in enumerate(OUTCOMES)}


@dataclass(frozen=True, eq=False)
class _Asked:
    """One row per answer."""

    by: tuple[str, ...]
    """Columns of names that tell groups apart."""
    frame: pl.DataFrame
    """These, and ``_stimulus``, ``_rater`` (null where not known), ``_outcome`` (its place in
    ``OUTCOMES``) and ``_retries``."""
    n_stimuli: int
    """Stimuli in the whole table, 0 when there are none."""
    has_outcomes: bool


def _asked(
    data: Any, by: Sequence[str] | str | None, models: ModelRatings | None, *, everyone: bool
) -> _Asked:
    """Bring any input to one row per answer.

    Raises
    ------
    InputError
        When it is not one of the inputs, or a column is missing or wrong.
    """
    others = model_tables(models, data if isinstance(data, Ratings) else None)
    if not isinstance(data, Ratings):
        if isinstance(data, Response):
            data = [data]
        if not hasattr(data, "columns") and not isinstance(data, dict):
            data = _of_responses(data)
        return _of_frame(_plain_frame(data), by)
    tables = [data, *others]
    known = [
        name
        for table in tables
        for part in (table.coded_frame, table.raters, table.stimuli)
        for name in part.columns
        if name not in ("label", "value")
    ]
    names = _names(by, known)
    # Every rater of a table of models is judged, whatever its kind.
    kinds = [None if everyone else MODEL_KINDS, *(None for _ in others)]
    parts = [_of_ratings(table, names, kind) for table, kind in zip(tables, kinds, strict=True)]
    if not any(part.height for part in parts):
        parts = [_of_ratings(table, names, None) for table in tables]
    return _Asked(
        names,
        pl.concat([part.with_columns(pl.col(pl.Enum).cast(pl.String)) for part in parts]),
        len({name for table in tables for name in table.stimulus_names}),
        any(row_column(table, "outcome") is not None for table in tables),
    )


def _of_ratings(
    ratings: Ratings, names: tuple[str, ...], kinds: tuple[str, ...] | None
) -> pl.DataFrame:
    """Take the rows of one answer together: the first of their outcomes in order counts."""
    ok = len(OUTCOMES) - 1
    outcome = pl.Series("_outcome", [ok], dtype=pl.Int64).new_from_index(0, ratings.n_rows)
    column, unclear = row_column(ratings, "outcome"), row_column(ratings, _UNCLEAR)
    if column is not None:
        outcome = column.cast(pl.Enum(list(OUTCOMES))).to_physical().cast(pl.Int64)
        if unclear is not None and unclear.dtype == pl.Boolean:
            said = unclear.fill_null(value=False) & (outcome == _PLACE["refused"])
            outcome = outcome.set(said, ok)
    apart = {f"_{name}": row_column(ratings, name) for name in _ANSWER}
    frame = pl.DataFrame(
        [
            *(_text(row_column(ratings, name), ratings.n_rows).alias(name) for name in names),
            *(column.alias(name) for name, column in apart.items() if column is not None),
            ratings.coded_frame["stimulus"].alias("_stimulus"),
            ratings.coded_frame["rater"].alias("_rater"),
            outcome.alias("_outcome"),
            _retries(row_column(ratings, "retries"), ratings.n_rows),
        ]
    )
    if kinds is not None:
        raters = zip(ratings.rater_names, ratings.rater_kinds, strict=True)
        frame = frame.filter(
            pl.col("_rater").is_in([name for name, kind in raters if kind in kinds])
        )
    one = [name for name in frame.columns if name not in ("_outcome", "_retries")]
    answers = frame.group_by(one, maintain_order=True).agg(
        pl.col("_outcome").min(), pl.col("_retries").max()
    )
    # Groups come in the order in which a table names raters and stimuli.
    answers = answers.sort("_rater", "_stimulus", maintain_order=True)
    return answers.select(*names, "_stimulus", "_rater", "_outcome", "_retries")


def _of_responses(responses: Iterable[Response]) -> Mapping[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in (*_RESPONSE, "outcome")}
    for response in responses:
        if not isinstance(response, Response):
            raise InputError(
                f"got a {type(response).__name__}; expected ratings, a data frame or Responses"
            )
        for name in _RESPONSE:
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


def _of_frame(frame: pl.DataFrame, by: Sequence[str] | str | None) -> _Asked:
    require_columns(frame, ["outcome"])
    names = _names(by, [name for name in frame.columns if name not in ("outcome", "retries")])
    words = frame["outcome"].cast(pl.String).fill_null("ok").to_list()
    for row, word in enumerate(words):
        if word not in OUTCOMES:
            raise unknown_name("outcome", word, OUTCOMES, f"row {row + 1}")
    nobody = pl.Series([None], dtype=pl.String).new_from_index(0, frame.height)
    stimulus, rater = (
        _text(frame[name], frame.height) if name in frame.columns else nobody
        for name in ("stimulus", "rater")
    )
    answers = pl.DataFrame(
        [
            *(_text(frame[name], frame.height).alias(name) for name in names),
            stimulus.alias("_stimulus"),
            rater.alias("_rater"),
            pl.Series("_outcome", [_PLACE[word] for word in words], dtype=pl.Int64),
            _retries(frame["retries"] if "retries" in frame.columns else None, frame.height),
        ]
    )
    return _Asked(names, answers, stimulus.drop_nulls().n_unique(), True)


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


def _text(column: pl.Series | None, n: int) -> pl.Series:
    """Give a column of names; one that is not there says nothing."""
    if column is None:
        return pl.Series([_NOT_GIVEN]).new_from_index(0, n)
    if isinstance(column.dtype, pl.Enum) and not column.null_count():
        return column
    return column.cast(pl.String).fill_null(_NOT_GIVEN)


def _retries(column: pl.Series | None, n: int) -> pl.Series:
    if column is None:
        return pl.Series("_retries", [0.0]).new_from_index(0, n)
    number = column.cast(pl.Float64, strict=False)
    wrong = (number.is_null() & column.is_not_null()) | (number < 0).fill_null(False)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(f"retries {column[row]!r} is no count; expected whole numbers from 0 on")
    return number.fill_null(0.0).fill_nan(0.0).alias("_retries")


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
    models: ModelRatings | None = None,
    *,
    by: Sequence[str] | str | None = None,
    everyone: bool = False,
    confidence: float = 0.95,
) -> OutcomeTable:
    """Count the outcomes of answers by model and prompt, with Wilson intervals.

    One answer is what a rater said about a stimulus at once: all rows of ratings with one rater,
    stimulus, session, trial and trial kind, and one value of each of `by`. Where its labels have
    different outcomes, the first in the order of ``OUTCOMES`` counts. Trials of all kinds
    count: a golden question that is refused is refused. Answers without a value and without an
    outcome are not in ratings; the column ``coverage`` shows that they are missing.

    Parameters
    ----------
    ratings
        Ratings; or a data frame with a column ``outcome``, the columns of `by`, and optionally
        ``stimulus`` and ``retries``; or an iterable of ``Response``.
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
    asked = _asked(ratings, by, models, everyone=everyone)
    if not asked.frame.height:
        raise InputError("there is no answer to count; expected at least one")
    counted = _counted(asked)
    names = list(OUTCOMES)
    number = counted.select(names).to_numpy()
    good = number[:, [OUTCOMES[name].usable for name in names]].sum(axis=1)
    parts = []
    # Of every outcome, and of those that can be used.
    for times, k, of in ((len(names), number.ravel(), "answers"), (1, good, "usable answers")):
        rows = counted[np.repeat(np.arange(counted.height), times)]
        low, high = wilson_interval(k, rows["n_ratings"].to_numpy(), confidence)
        outcomes = {"outcome": names * counted.height} if times > 1 else {}
        parts.append(
            Estimates.build(
                {**rows.select(asked.by).to_dict(as_series=False), **outcomes},
                value=k / rows["n_ratings"].to_numpy(),
                low=low,
                high=high,
                statistic=f"share of {of}",
                interval=IntervalFact("analytic", formula=Formula.WILSON),
                n_items=rows["n_items"],
                n_raters=rows["n_raters"],
                n_ratings=rows["n_ratings"],
            )
        )
    shares, usable = parts
    coverage = counted["n_items"] / (asked.n_stimuli or np.nan)
    wide = usable.frame.with_columns(
        counted["retries"], coverage.alias("coverage"), *counted.select(names).get_columns()
    )
    by_outcome = shares.frame.select(
        *shares.keys, pl.Series("count", number.ravel()), *ESTIMATE_COLUMNS
    )
    return _result(asked, by_outcome, wide, confidence)


def _counted(asked: _Asked) -> pl.DataFrame:
    """Count answers, outcomes, stimuli and raters of each group, in the order of their names."""
    order = {name: asked.frame[name].unique(maintain_order=True) for name in asked.by}
    groups = asked.frame.with_columns(pl.col(name).cast(pl.Enum(of)) for name, of in order.items())
    counts = groups.group_by(asked.by).agg(
        pl.len().cast(pl.Int64).alias("n_ratings"),
        pl.col("_retries").sum().cast(pl.Int64).alias("retries"),
        pl.col("_stimulus").drop_nulls().n_unique().cast(pl.Int64).alias("n_items"),
        pl.col("_rater").drop_nulls().n_unique().cast(pl.Int64).alias("n_raters"),
        *((pl.col("_outcome") == k).sum().cast(pl.Int64).alias(name) for name, k in _PLACE.items()),
    )
    return counts.sort(asked.by).with_columns(pl.col(asked.by).cast(pl.String))


def _notes(asked: _Asked, usable: pl.DataFrame) -> tuple[str, ...]:
    said = []
    if not asked.has_outcomes:
        said.append(wording.NO_OUTCOMES)
    part = usable.filter(pl.col("n_items") < asked.n_stimuli).sort("n_items", maintain_order=True)
    if part.height:
        names, n = part.select(asked.by).row(0), part["n_items"][0]
        said.append(wording.partly_asked(names, n, asked.n_stimuli, part.height - 1))
    return tuple(said)


# How the outcomes are laid out, and put into words.


def _result(
    asked: _Asked, shares: pl.DataFrame, usable: pl.DataFrame, confidence: float
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
        _sentences(usable, asked.by, failed, confidence),
        (figure,),
        _notes(asked, usable),
        {"by": list(asked.by), "confidence": confidence},
        by=asked.by,
    )


def _sentences(
    usable: pl.DataFrame, keys: Sequence[str], failed: Sequence[str], confidence: float
) -> tuple[str, ...]:
    """Say how many answers can be used, what became of the others, and whose are used least."""
    total = int(usable["n_ratings"].sum())
    counts = {name: int(usable[name].sum()) for name in failed}
    text = wording.usable(total, int(usable["ok"].sum()) / total, counts)
    if not failed or usable.height == 1:
        return (text,)
    worst = usable.sort("value", descending=True, maintain_order=True).row(-1, named=True)
    names = [worst[key] for key in keys if worst[key]]
    return text, wording.lowest_share(names, worst, confidence)
