"""The file in which a model's results are handed on: its schema, version 1."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from affectlab.errors import InputError
from affectlab.estimates import Estimate, Estimates

__all__ = ["SCHEMA", "Cost", "Coverage", "DataSet", "Metric", "ResultFile"]

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


class _Part(BaseModel):
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


class Metric(_Part):
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
    resampled: Words = "none"
    """What was resampled for the interval: ``units``, ``raters``, ``both`` or ``none``."""
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
        unknown = estimate.status if not estimate.ok else "not defined"
        return cls(
            name=name,
            value=float(estimate.value) if known else None,
            low=_finite(estimate.low) if known else None,
            high=_finite(estimate.high) if known else None,
            confidence=confidence,
            label=label,
            higher_is_better=higher_is_better,
            method=estimate.method,
            resampled=estimate.resampled,
            n_items=int(estimate.n_items),
            n_raters=int(estimate.n_raters),
            n_ratings=int(estimate.n_ratings),
            status="ok" if known else unknown,
        )


class DataSet(_Part):
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


class Coverage(_Part):
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


class Cost(_Part):
    """What the answers cost."""

    amount: Amount | None = None
    """Price of all answers, in ``currency``."""
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")] = "USD"
    seconds: Amount | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None


class ResultFile(_Part):
    """Results of one model, or of people, on one data set.

    Examples
    --------
    >>> data = DataSet(name="demo", fingerprint="sha256:" + 64 * "0", n_stimuli=3, n_raters=4)
    >>> found = Estimate(0.5, low=0.4, high=0.6, method="quadratic kappa", n_items=3)
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

        from affectlab.evaluation._result_file_make import rows_of
        from affectlab.evaluation._result_file_read import problem_of

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
            raise InputError(f"results of {name!r}: {problem_of(error)}") from None

    def metric(self, name: str, label: str | None = None) -> Metric | None:
        """Find a metric by name and label; None when it is not there."""
        return next((m for m in self.metrics if (m.name, m.label) == (name, label)), None)


def _finite(value: float) -> float | None:
    return float(value) if value == value and abs(value) != float("inf") else None
