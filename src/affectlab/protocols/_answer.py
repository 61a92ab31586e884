"""Whether one answer keeps to its protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from affectlab.errors import InputError, unknown_name
from affectlab.taxonomy import Taxonomy

if TYPE_CHECKING:
    from affectlab.protocols._protocol import Protocol

__all__ = ["MOST_TRIALS", "problems"]

MOST_TRIALS = 10_000
"""Trials that one page of a study's own may record."""


def problems(
    protocol: Protocol, answer: object, taxonomy: str | Taxonomy | None = None
) -> list[str]:
    """List what is wrong with an answer, in words."""
    if protocol.answer == "value":
        return _value_problems(protocol, answer, "answer")
    if protocol.answer == "entries":
        return _entry_problems(protocol, answer)
    if protocol.answer == "trials":
        return _trial_problems(answer)
    names = _Names(protocol, taxonomy)
    if protocol.answer == "ratings":
        return _rating_problems(protocol, answer, names)
    return _choice_problems(protocol, answer, names)


class _Names:
    """The labels and options that an answer may name, in any spelling the taxonomy knows."""

    def __init__(self, protocol: Protocol, taxonomy: str | Taxonomy | None) -> None:
        self.labels = protocol.labels(taxonomy)
        self.options = protocol.rules.options if protocol.answer == "choices" else ()
        self._index = protocol.taxonomy(taxonomy) or Taxonomy.from_labels(self.labels)

    def resolve(self, name: object, found: list[str]) -> str | None:
        """Canonical name, or None with a sentence added to `found`."""
        if not isinstance(name, str):
            found.append(f"{_shown(name)} is not a label; expected its name as text")
            return None
        if name in self.options:
            return name
        try:
            label = self._index.name_of(name)
            if label not in self.labels:
                raise unknown_name("label", name, (*self.labels, *self.options))
        except InputError as error:
            known = (*self.labels, *self.options)
            ambiguous = "may mean" in str(error)
            found.append(str(error if ambiguous else unknown_name("label", name, known)))
            return None
        return label


def _value_problems(protocol: Protocol, value: object, where: str) -> list[str]:
    if value is None:
        return [f"{where}: nothing is answered; expected {protocol.scale}"]
    if not protocol.scale.allows(value):
        return [f"{where}: {_shown(value)} is off the scale; expected {protocol.scale}"]
    return []


def _rating_problems(protocol: Protocol, answer: object, names: _Names) -> list[str]:
    if not isinstance(answer, Mapping):
        return [f"answer is {_kind(answer)}; expected a value for each label, by name"]
    found: list[str] = []
    values: dict[str, object] = {}
    for name, value in answer.items():
        label = names.resolve(name, found)
        if label is None:
            continue
        if label in values:
            found.append(f"label {label!r} is answered twice")
            continue
        values[label] = value
        if value is None and protocol.not_rated:
            continue
        found += _value_problems(protocol, value, f"label {label!r}")
    rated = [label for label, value in values.items() if value is not None]
    if protocol.asks.per_trial == "one":
        if len(values) != 1 and not found:
            found.append(f"{len(values)} labels are answered; expected exactly one")
    elif not protocol.not_rated:
        missing = [label for label in names.labels if label not in values]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            found.append(
                f"label {missing[0]!r}{more}: nothing is answered; every label needs a value"
            )
    found += _count_problems(protocol, len(rated), "labels are rated")
    limit = protocol.rules.max_nonzero
    nonzero = sum(1 for label in rated if values[label] not in (0, False))
    if limit is not None and nonzero > limit:
        found.append(f"{nonzero} labels are above 0; expected at most {limit}")
    return found


def _choice_problems(protocol: Protocol, answer: object, names: _Names) -> list[str]:
    found: list[str] = []
    rules = protocol.rules
    if isinstance(answer, Mapping):
        found += [
            f"key {_shown(key)} is not known; expected 'chosen' or 'suggestion'"
            for key in answer
            if key not in ("chosen", "suggestion")
        ]
        suggestion = answer.get("suggestion")
        if suggestion is not None and not rules.suggestions:
            found.append("a label is suggested, which this protocol does not ask for")
        elif suggestion is not None and not isinstance(suggestion, str):
            found.append(f"suggestion is {_kind(suggestion)}; expected text")
        answer = answer.get("chosen")
    if not isinstance(answer, list | tuple | set | frozenset):
        return [*found, f"answer is {_kind(answer)}; expected a list of labels"]
    chosen: list[str] = []
    for name in answer:
        label = names.resolve(name, found)
        if label is None:
            continue
        if label in chosen:
            found.append(f"label {label!r} is chosen twice")
        else:
            chosen.append(label)
    exclusive = {names.resolve(name, []) for name in rules.exclusive}
    alone = [label for label in chosen if label in exclusive]
    if alone and len(chosen) > 1:
        found.append(f"{alone[0]!r} allows no other choice beside it")
    found += _count_problems(protocol, len(answer), "labels are chosen")
    return found


def _entry_problems(protocol: Protocol, answer: object) -> list[str]:
    if not isinstance(answer, list | tuple):
        return [f"answer is {_kind(answer)}; expected a list of entries"]
    found = _count_problems(protocol, len(answer), "entries are given")
    seen: set[str] = set()
    for number, entry in enumerate(answer, start=1):
        if not isinstance(entry, Mapping):
            found.append(f"entry {number} is {_kind(entry)}; expected its fields by name")
            continue
        found += _field_problems(protocol, entry, number)
        key = entry.get(protocol.rules.distinct) if protocol.rules.distinct else None
        if isinstance(key, str) and key.strip():
            folded = " ".join(key.split()).casefold()
            if folded in seen:
                found.append(f"entry {number}: {key.strip()!r} is given twice")
            seen.add(folded)
    return found


def _trial_problems(answer: object) -> list[str]:
    if not isinstance(answer, list | tuple):
        return [f"answer is {_kind(answer)}; expected a list of trials"]
    if not 1 <= len(answer) <= MOST_TRIALS:
        return [f"{len(answer)} trials are given; expected 1 to {MOST_TRIALS}"]
    found = []
    for number, trial in enumerate(answer, start=1):
        if not isinstance(trial, Mapping):
            found.append(f"trial {number} is {_kind(trial)}; expected its values by name")
        elif not all(isinstance(name, str) and name.strip() for name in trial):
            found.append(f"trial {number}: a value has no name; expected text")
    return found


def _field_problems(
    protocol: Protocol, entry: Mapping[object, object], number: int
) -> Iterable[str]:
    known = [field.name for field in protocol.fields]
    for name in entry:
        if name not in known:
            yield str(unknown_name("field", str(name), known, f"entry {number}"))
    for field in protocol.fields:
        text = entry.get(field.name, "")
        if not isinstance(text, str):
            yield f"entry {number}: {field.name} is {_kind(text)}; expected text"
            continue
        length = len(text.strip())
        if length == 0 < field.min_length:
            yield f"entry {number}: {field.name} is empty"
        elif length < field.min_length:
            yield (
                f"entry {number}: {field.name} has {length} characters; "
                f"expected at least {field.min_length}"
            )
        elif length > field.max_length:
            yield (
                f"entry {number}: {field.name} has {length} characters; "
                f"expected at most {field.max_length}"
            )


def _count_problems(protocol: Protocol, count: int, what: str) -> list[str]:
    least, most = protocol.rules.min_labels, protocol.rules.max_labels
    if count < least:
        return [f"{count} {what}; expected at least {least}"]
    if most is not None and count > most:
        return [f"{count} {what}; expected at most {most}"]
    return []


def _kind(value: object) -> str:
    return "missing" if value is None else f"of type {type(value).__name__}"


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "…"
