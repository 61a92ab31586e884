"""The file in which a model's results are handed on: its schema, version 1."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.files.toml import problem_of, read_text
from affectlab.core.wording import undefined_text
from affectlab.ratings import Ratings, answers_of
from affectlab.ratings.files import BadJson, parse_json

if TYPE_CHECKING:
    from pydantic import ValidationError


SCHEMA: Final = "affectlab/result/1"
"""What the key ``schema`` of a result file says."""


def _told(text: str) -> str:
    if not text.strip():
        raise ValueError("expected some text, or no such key")
    return text


Name: TypeAlias = Annotated[
    str, StringConstraints(min_length=1, max_length=200), AfterValidator(_told)
]
Words: TypeAlias = Annotated[str, StringConstraints(max_length=2000)]
Count: TypeAlias = Annotated[int, Field(ge=0, le=10**15)]
Amount: TypeAlias = Annotated[float, Field(ge=0)]
Link: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^https?://[^\s<>\x22'\x00-\x20\x7f]+$", max_length=2000)
]
Outcome: TypeAlias = Literal[
    "transport",
    "rejected",
    "refused",
    "empty",
    "truncated",
    "unparseable",
    "schema_invalid",
    "rule_violation",
    "ok",
]


class _FilePart(BaseModel):
    """A part of a result file: exact types, no other keys, no infinite numbers."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        validate_by_name=True,
        validate_by_alias=True,
    )


class Metric(_FilePart):
    """One number with its uncertainty and how it was computed."""

    name: Name
    """What was measured, the same in all files that are to be compared: ``quadratic kappa``."""
    value: float | None
    """The number; null when it is not defined, and ``status`` says why."""
    low: float | None = None
    """Lower end of the interval; null when there is none."""
    high: float | None = None
    """Upper end of the interval."""
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    """Coverage that the interval aims at."""
    label: Name | None = None
    """The label it is about; null when it is about all of them."""
    higher_is_better: bool = True
    """Whether a higher number is the better one."""
    method: Words = ""
    """How it was computed, with its options, in words."""
    target: Words = "none"
    """What the interval is about: other ``stimuli``, ``raters``, ``both``, or ``none``."""
    n_items: Count = 0
    """Stimuli that entered."""
    n_raters: Count = 0
    """People that it was compared with."""
    n_ratings: Count = 0
    """Answers that entered."""
    status: Words = "ok"
    """``ok``, or why there is no value."""

    @model_validator(mode="after")
    def _fits(self) -> Metric:
        if (self.value is None) == (self.status == "ok"):
            raise ValueError("expected a value with status 'ok', or null with the reason")
        if (self.low is None) != (self.high is None):
            raise ValueError("expected both ends of the interval, or neither")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"low {self.low:g} is above high {self.high:g}")
        return self

    @classmethod
    def from_estimate(
        cls,
        name: str,
        estimate: Estimate,
        *,
        label: str | None = None,
        higher_is_better: bool = True,
        confidence: float = 0.95,
    ) -> Metric:
        """Take over an estimate."""
        known = estimate.ok and estimate.value == estimate.value
        unknown = undefined_text(estimate.reason)
        return cls(
            name=name,
            value=float(estimate.value) if known else None,
            low=_finite(estimate.low) if known else None,
            high=_finite(estimate.high) if known else None,
            confidence=confidence,
            label=label,
            higher_is_better=higher_is_better,
            method=", ".join((estimate.statistic, *estimate.options)),
            target=estimate.target,
            n_items=int(estimate.n_items),
            n_raters=int(estimate.n_raters),
            n_ratings=int(estimate.n_ratings),
            status="ok" if known else unknown,
        )


class DataSet(_FilePart):
    """The answers of people that a model is judged by."""

    name: Name
    fingerprint: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
    """SHA-256 of the answers of people, so that only results on the same answers share a table."""
    n_stimuli: Count
    n_raters: Count
    n_labels: Count = 1
    scale: Words = ""
    simulated: bool = False
    """Whether the people are simulated."""
    link: Link | None = None


class Coverage(_FilePart):
    """How much of the data set was answered."""

    n_answered: Count
    """Stimuli with an answer that can be used."""
    n_stimuli: Count
    """Stimuli of the data set."""

    @model_validator(mode="after")
    def _fits(self) -> Coverage:
        if self.n_answered > self.n_stimuli:
            raise ValueError(f"{self.n_answered} answered of {self.n_stimuli} stimuli")
        return self


class Cost(_FilePart):
    """What the answers cost."""

    amount: Amount | None = None
    """Price of all answers, in ``currency``."""
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")] = "USD"
    seconds: Amount | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None


class ResultFile(_FilePart):
    """Results of one model, or of people, on one data set.

    Examples
    --------
    >>> data = DataSet(name="demo", fingerprint="sha256:" + 64 * "0", n_stimuli=3, n_raters=4)
    >>> found = Estimate(0.5, "quadratic kappa", low=0.4, high=0.6, n_items=3)
    >>> result = ResultFile.from_estimates("gazer", {"kappa": found}, data=data, prompt="zero-shot")
    >>> result.metrics[0].low, result.prompt
    (0.4, 'zero-shot')
    """

    model_config = ConfigDict(
        title="affectlab result file, version 1",
        json_schema_extra={"description": "Results of one model, or of people, on one data set."},
    )

    schema_: Annotated[Literal["affectlab/result/1"], Field(alias="schema")] = SCHEMA
    name: Name
    """Name of the model; of people, whom the row is about (``best person``)."""
    kind: Literal["human", "model", "baseline"] = "model"
    role: Literal["best", "median", "worst", "ceiling"] | None = None
    """Of people only: which of them. null for one person."""
    family: Name | None = None
    version: Name | None = None
    date: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")] | None = None
    """When the answers were made, as year-month-day."""
    prompt: Name | None = None
    """How the model was asked."""
    link: Link | None = None
    licence: Name | None = None
    data: DataSet
    metrics: Annotated[list[Metric], Field(min_length=1, max_length=100_000)]
    coverage: Coverage | None = None
    n_seen: Count | None = None
    """Stimuli of the data set that the model was trained on; null when that is not known."""
    outcomes: dict[Outcome, Count] = Field(default_factory=dict)
    """Number of answers with each outcome."""
    retries: Count | None = None
    """Questions asked again after transport errors."""
    cost: Cost | None = None
    notes: Annotated[list[Words], Field(max_length=100)] = Field(default_factory=list)
    """What a reader should know, in sentences."""

    @field_validator("date")
    @classmethod
    def _a_day(cls, given: str | None) -> str | None:
        if given is not None:
            try:
                datetime.date.fromisoformat(given)
            except ValueError:
                raise ValueError("expected a day such as 2026-01-31") from None
        return given

    @model_validator(mode="after")
    def _fits(self) -> ResultFile:
        if self.role is not None and self.kind != "human":
            raise ValueError(f"role {self.role!r} with kind {self.kind!r}; expected kind 'human'")
        seen = set()
        for metric in self.metrics:
            key = (metric.name, metric.label)
            if key in seen:
                where = f" of label {metric.label!r}" if metric.label else ""
                raise ValueError(f"metric {metric.name!r}{where} stands twice; expected once")
            seen.add(key)
        return self

    @classmethod
    def from_estimates(
        cls,
        name: str,
        metrics: Mapping[str, Estimate | Estimates | Sequence[Estimate | Estimates]] | Estimates,
        *,
        data: DataSet,
        rater: str | None = None,
        lower_is_better: Collection[str] = (),
        confidence: float = 0.95,
        **fields: Any,
    ) -> ResultFile:
        """Put estimates of one model into a result file.

        Parameters
        ----------
        name
            Name of the model.
        metrics
            Name of a metric to its estimate or its table of estimates, or to several of them, such
            as one over all labels and a table of each; or one table with a key ``metric``. Of a
            table with a key ``rater`` or ``model`` the rows of this model are taken; a key
            ``label`` gives the label. What other keys say goes into the metric's name.
        data
            What it was judged by; see :func:`data_set`.
        rater
            Name under which the tables know the model; `name` when not given.
        lower_is_better
            Metrics of which a lower number is the better one.
        confidence
            Coverage of the intervals.
        **fields
            Other keys of the file: ``kind``, ``prompt``, ``link``, ``notes``, …

        Raises
        ------
        InputError
            When a table does not hold the model, or a field is not what it should be.
        """
        from pydantic import ValidationError

        rows = rows_of(metrics, rater or name)
        known = {metric for metric, _, _ in rows}
        for metric in lower_is_better:
            if metric not in known:
                raise InputError(
                    f"lower_is_better names {metric!r}; expected metrics among "
                    f"{', '.join(sorted(known))}"
                )
        try:
            return cls(
                name=name,
                data=data,
                metrics=[
                    Metric.from_estimate(
                        metric,
                        estimate,
                        label=label,
                        higher_is_better=metric not in lower_is_better,
                        confidence=confidence,
                    )
                    for metric, label, estimate in rows
                ],
                **fields,
            )
        except ValidationError as error:
            raise InputError(f"results of {name!r}: {_problem(error)}") from None

    def metric(self, name: str, label: str | None = None) -> Metric | None:
        """Find a metric by name and label; None when it is not there."""
        return next((m for m in self.metrics if (m.name, m.label) == (name, label)), None)


def _finite(value: float) -> float | None:
    return float(value) if value == value and abs(value) != float("inf") else None


# Making result files: from tables of estimates, of people, and what tells data sets apart.


Given: TypeAlias = Estimate | Estimates | Sequence[Estimate | Estimates]
_RATER_KEYS = ("rater", "model")
_PICKED = "chosen after the fact, metric by metric; the interval is that of one person"


def data_set(people: Ratings, name: str, *, link: str | None = None) -> DataSet:
    """Describe the answers of people that models are judged by.

    Parameters
    ----------
    people
        Ratings; of those that hold models, only people count.
    name
        Name of the data set.
    link
        Where it can be had.

    Returns
    -------
    A description with a fingerprint: SHA-256 over who gave which answer to which stimulus and
    label. The order of rows does not matter; attributes, the scale, and repeated or golden trials
    do not enter.

    Examples
    --------
    >>> from affectlab.ratings import Ratings
    >>> one = Ratings({"stimulus": ["a", "b"], "rater": ["r", "r"], "value": [1, 2]}, scale="0-7")
    >>> two = Ratings({"stimulus": ["b", "a"], "rater": ["r", "r"], "value": [2, 1]}, scale="0-7")
    >>> data_set(one, "demo") == data_set(two, "demo")
    True
    """
    people = people.humans()
    answers = answers_of(people)
    digest = hashlib.sha256()
    codes = []
    for names, code in (
        (answers.labels, answers.label),
        (answers.units, answers.unit),
        (answers.raters, answers.rater),
    ):
        order = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
        for k in order.tolist():
            digest.update(f"{names[k]}\0".encode("utf-8", "surrogatepass"))
        digest.update(b"\1")
        place = np.empty(len(names), dtype="<i8")
        place[order] = np.arange(len(names))
        codes.append(place[code])
    rows = np.lexsort(codes[::-1])
    for column in (*codes, answers.value + 0.0):
        digest.update(column[rows].astype(column.dtype.newbyteorder("<")).tobytes())
    return DataSet(
        name=name,
        fingerprint=f"sha256:{digest.hexdigest()}",
        n_stimuli=len(answers.units),
        n_raters=len(answers.raters),
        n_labels=len(answers.labels),
        scale=str(people.scale),
        simulated="simulated" in people.rater_kinds,
        link=link,
    )


def rows_of(
    metrics: Mapping[str, Given] | Estimates, rater: str
) -> list[tuple[str, str | None, Estimate]]:
    """Give (metric, label, estimate) of one rater.

    Raises
    ------
    InputError
        When a table does not hold the rater, or one table has no key that names the metric.
    """
    if isinstance(metrics, Estimates):
        if "metric" not in metrics.keys:
            raise InputError(
                f"a table keyed by {', '.join(metrics.keys)} names no metric; expected a key "
                "'metric', or a mapping from names of metrics to tables"
            )
        return _rows_of_table("", metrics, rater)
    rows: list[tuple[str, str | None, Estimate]] = []
    for name, given in metrics.items():
        for found in [given] if isinstance(given, Estimate | Estimates) else given:
            if isinstance(found, Estimate):
                rows.append((name, None, found))
            else:
                rows += _rows_of_table(name, found, rater)
    return rows


def _rows_of_table(
    metric: str, table: Estimates, rater: str
) -> list[tuple[str, str | None, Estimate]]:
    who = next((key for key in _RATER_KEYS if key in table.keys), None)
    rows = []
    for names, estimate in table:
        key = dict(zip(table.keys, names, strict=True))
        if who is not None and key.pop(who) != rater:
            continue
        label = key.pop("label", None)
        rows.append((" ".join([metric, *key.values()]).strip(), label, estimate))
    if not rows and who is not None:
        known = dict.fromkeys(names[table.keys.index(who)] for names, _ in table)
        raise unknown_name(who, rater, known, f"metric {metric!r}" if metric else "")
    return rows


def human_results(
    metrics: Mapping[str, Estimates],
    *,
    data: DataSet,
    ceiling: Mapping[str, Estimate] | None = None,
    lower_is_better: Collection[str] = (),
) -> list[ResultFile]:
    """Put people into rows of a leaderboard: the best, the median and the worst, and the ceiling.

    Parameters
    ----------
    metrics
        Name of a metric to its estimates, keyed by ``rater``: each person compared with the other
        people, as a model is compared with people.
    data
        What they were judged by.
    ceiling
        Name of a metric to the best that any rater could reach, where it is known.
    lower_is_better
        Metrics of which a lower number is the better one.

    Returns
    -------
    Three result files, or four; the best person by one metric need not be the best by another.

    Raises
    ------
    InputError
        When a table is not keyed by rater, or holds nobody for whom the metric is defined.

    Examples
    --------
    >>> data = DataSet(name="demo", fingerprint="sha256:" + 64 * "0", n_stimuli=9, n_raters=3)
    >>> people = Estimates.build({"rater": ["ann", "ben", "cleo"]}, value=[0.5, 0.7, 0.6])
    >>> for row in human_results({"kappa": people}, data=data):
    ...     print(row.name, row.metrics[0].value)
    best person 0.7
    median person 0.6
    worst person 0.5
    """
    ranked = {
        name: _ranked(name, table, lower=name in lower_is_better) for name, table in metrics.items()
    }
    roles: Sequence[Literal["best", "median", "worst"]] = ("best", "median", "worst")
    made = []
    for role in roles:
        chosen = {
            name: people[{"best": 0, "median": (len(people) - 1) // 2, "worst": -1}[role]]
            for name, people in ranked.items()
        }
        made.append(
            ResultFile.from_estimates(
                f"{role} person",
                chosen,
                data=data,
                lower_is_better=[name for name in lower_is_better if name in chosen],
                kind="human",
                role=role,
                notes=[_PICKED],
            )
        )
    if ceiling:
        made.append(
            ResultFile.from_estimates(
                "ceiling",
                ceiling,
                data=data,
                lower_is_better=[name for name in lower_is_better if name in ceiling],
                kind="human",
                role="ceiling",
            )
        )
    return made


def _ranked(metric: str, table: Estimates, *, lower: bool) -> list[Estimate]:
    """Estimates of people for whom the metric is defined, the best first."""
    if table.keys != ("rater",):
        raise InputError(
            f"metric {metric!r}: keyed by {', '.join(table.keys)}; expected one estimate per rater"
        )
    found = [estimate for _, estimate in table if estimate.ok]
    if not found:
        raise InputError(f"metric {metric!r} is defined for nobody; expected at least one person")
    return sorted(found, key=lambda estimate: estimate.value if lower else -estimate.value)


# Reading and writing result files, strictly.


_LARGEST = 16 * 2**20
"""Bytes of a file above which it is no result file."""
_SHOWN = 60
_EXPECTED = {
    "bool_type": "expected true or false",
    "dict_type": "expected an object",
    "float_type": "expected a number",
    "int_type": "expected a whole number",
    "list_type": "expected a list",
    "model_type": "expected an object",
    "string_type": "expected text",
    "string_unicode": "expected text that is valid Unicode",
    "finite_number": "expected a finite number, or null with a status",
}
_UNSAFE = re.compile(r"[^a-z0-9]+")


def read_result(path: str | Path) -> ResultFile:
    """Read a result file.

    Raises
    ------
    InputError
        One sentence that names the file, the key, the value and what was expected.
    """
    path = Path(path)
    if path.is_file() and path.stat().st_size > _LARGEST:
        raise InputError(
            f"{path}: {path.stat().st_size / 2**20:,.0f} MiB; expected a result file of at most "
            f"{_LARGEST // 2**20} MiB"
        )
    return parse_result(read_text(path, "a result file"), where=str(path))


def parse_result(text: str, *, where: str) -> ResultFile:
    """Parse the text of a result file; `where` names it in errors.

    Examples
    --------
    >>> parse_result('{"schema": "affectlab/result/1", "name": 7}', where="net.json")
    Traceback (most recent call last):
    affectlab.InputError: net.json: name = 7: expected text (and 2 more problems)
    """
    from pydantic import ValidationError

    try:
        content = parse_json(text, finite=True)
    except BadJson as error:
        line = "" if error.line is None else f", line {error.line}"
        raise InputError(f"{where}{line}: {error}") from None
    _check_version(content, where)
    try:
        return ResultFile.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{where}: {_problem(error)}") from None


def write_result(result: ResultFile, path: str | Path) -> Path:
    """Write a result file.

    Parameters
    ----------
    result
        What to write.
    path
        The file, ending in ``.json``; or a folder, made when absent, in which the file is named
        after the model, its version and prompt.

    Returns
    -------
    The file.

    Raises
    ------
    InputError
        When the folder holds results of another model under that name, or the file is no ``.json``.
    """
    path = Path(path)
    if path.suffix.lower() != ".json" or path.is_dir():
        if path.suffix and not path.is_dir():
            raise InputError(f"{path}: expected a file that ends in .json, or a folder")
        path.mkdir(parents=True, exist_ok=True)
        path = path / f"{_slug(result)}.json"
        if path.exists() and _identity(read_result(path)) != _identity(result):
            raise InputError(
                f"{path} holds results of {read_result(path).name!r}; give {result.name!r} a file "
                "name of its own"
            )
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
    content = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    for metric, full in zip(content["metrics"], result.metrics, strict=True):
        # A value that is not defined is said to be so.
        if full.value is None:
            metric["value"] = None
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def _identity(result: ResultFile) -> tuple[str | None, ...]:
    return (result.name, result.version, result.prompt, result.role)


def _slug(result: ResultFile) -> str:
    """Make a file name of what tells a model apart: letters and digits only, never a path."""
    parts = [part for part in (result.name, result.version, result.prompt) if part]
    folded = unicodedata.normalize("NFKD", "-".join(parts)).encode("ascii", "ignore").decode()
    return _UNSAFE.sub("-", folded.lower()).strip("-")[:80] or "result"


def _check_version(content: Any, where: str) -> None:
    if not isinstance(content, dict):
        raise InputError(f"{where}: holds {_value(content)}; expected an object")
    given = content.get("schema")
    if given == SCHEMA:
        return
    if given is None:
        raise InputError(f"{where}: key 'schema' is missing; expected {SCHEMA!r}")
    hint = ""
    if isinstance(given, str) and given.startswith("affectlab/result/"):
        hint = "; a newer affectlab may read it"
    raise InputError(f"{where}: schema = {_value(given)}: expected {SCHEMA!r}{hint}")


def _problem(error: ValidationError) -> str:
    return problem_of(error, ResultFile, expected=_EXPECTED, write=_value, unknown_first=True)


def _value(value: Any) -> str:
    shown = "an object" if isinstance(value, dict) else repr(value)
    if value is None or isinstance(value, bool):
        shown = json.dumps(value)
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"
