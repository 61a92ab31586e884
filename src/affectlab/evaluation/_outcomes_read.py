"""From ratings, records or a data frame to one outcome per answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from affectlab._types import Floats, Ints
from affectlab.errors import InputError, unknown_name
from affectlab.evaluation._outcomes import OUTCOMES, Response, classify_outcome
from affectlab.ratings import MODEL_KINDS, Ratings

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Asked", "asked_of", "row_column"]

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


def row_column(ratings: Ratings, name: str) -> pl.Series | None:
    """Find a column of the answers, or an attribute of raters or stimuli, one entry per row."""
    if name in ratings.frame.columns:
        return ratings.frame[name]
    for table, code in (
        (ratings.raters, ratings.rater_code),
        (ratings.stimuli, ratings.stimulus_code),
    ):
        if name in table.columns:
            return table[name].gather(code.astype(np.int64))
    return None


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
    names = tuple(dict.fromkeys([by] if isinstance(by, str) else by))
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
