"""Reading a model's answer: what it says, what was repaired, and what is wrong with it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.words import percent
from affectlab.models.vlm.prompts.checks import Checked, checked
from affectlab.models.vlm.prompts.form import Asked, plan_asked
from affectlab.models.vlm.prompts.free_answers import find_answer
from affectlab.models.vlm.prompts.json_objects import find_object
from affectlab.models.vlm.prompts.prompt import Prompt
from affectlab.models.vlm.prompts.readout import LEAST_MASS
from affectlab.protocols import Protocol, entry_rows

__all__ = [
    "Read",
    "answer_rows",
    "asked_of",
    "read_answer",
    "read_sign",
    "row_values",
]

# Answers as rows of a table of ratings, as an export of a study has them.


def row_values(asked: Asked, result: Checked) -> dict[str, float | str | None]:
    """Give the value of each label; None for a label of an entry, which has none."""
    if asked.form != "entries":
        return dict(result.values)
    return {str(row["label"]): None for row in answer_rows(asked, result) if row["label"]}


def answer_rows(asked: Asked, result: Checked) -> Iterator[dict[str, Any]]:
    """Spread an answer over rows, one per label or entry.

    A label that is not rated has no row, which is not the same as a row with 0. One that was left
    out has a row with 0 only where the prompt said that leaving out means 0.

    Yields
    ------
    ``label`` (None for the whole), ``value``, ``text`` (the reason, where there is one) and
    ``outcome``; for choices a column for each option beside the labels; for entries the number of
    the entry and its other fields. Choices of nothing but options have rows without values, whose
    outcome is ``refused``, as those of people; the column of the option tells them from answers
    that were declined, and the table of outcomes counts them as answers.
    """
    if asked.form == "entries":
        yield from entry_rows(asked.protocol, result.entries)
        return
    options = asked.protocol.rules.options if asked.form == "choices" else ()
    beside = {name: name in result.chosen for name in options} | result.dimensions
    for label, value in result.values.items():
        if value is None and asked.form != "choices":
            continue
        yield {
            "label": label or None,
            "value": value,
            "text": result.reasons.get(label),
            "outcome": "refused" if value is None else "ok",
            **beside,
        }


@dataclass(frozen=True)
class Read:
    """What a model's answer says.

    Made by :func:`read_answer`. ``parsed``, ``schema_errors`` and ``rule_errors`` are what
    ``Response`` asks for.
    """

    parsed: Any = None
    """The object in the text; None when there is not exactly one."""
    answer: Any = None
    """As :meth:`~affectlab.protocols.Protocol.check` takes it; None with schema errors."""
    values: Mapping[str, float | str | None] = field(default_factory=dict)
    """Value of each label asked for, None for not rated; for a question about the whole, that of
    the label ""; a category as text; None for each label of an entry. Empty with schema errors."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Reason of each label that has one, under the same names as the values."""
    rows: tuple[Mapping[str, Any], ...] = ()
    """Rows for a table of ratings, as an export of a study has them: ``label``, ``value``,
    ``text``, ``outcome`` and what belongs to the kind of answer. A label not rated has none."""
    left_out: tuple[str, ...] = ()
    """Labels that the answer did not name."""
    schema_errors: tuple[str, ...] = ()
    rule_errors: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    """What had to be put right before the text could be read, each named once: ``reasoning``,
    ``fence``, ``prose``, ``list``, ``repeated``, ``comments``, ``trailing_comma``, ``python``,
    ``line_break``, ``spelling``, ``number_as_text``, ``yes_no``; of answers to published prompts
    ``nested``, ``lines`` and ``other_keys`` as well."""
    problem: str = ""
    """Why the text could not be parsed."""

    @property
    def usable(self) -> bool:
        """Whether the answer keeps to the schema and to the rules."""
        return self.parsed is not None and not self.schema_errors and not self.rule_errors


def read_answer(prompt: Prompt, protocol: Protocol, text: str | None, *, held: bool = True) -> Read:
    """Read the answer to a prompt.

    One JSON object is looked for, plain or fenced, with prose around it, comments, trailing commas,
    or in the spelling of Python. Every liberty is recorded in :attr:`Read.repairs`. What was cut
    off, left ambiguous, or holds NaN is not repaired: it has no answer.

    Parameters
    ----------
    prompt
        What was asked.
    protocol
        The protocol it was built from.
    text
        What the model wrote.
    held
        Whether the provider held the model to the schema of a structured prompt; where it did not,
        labels may be left out as in any other prompt.

    Raises
    ------
    InputError
        When `protocol` is not the one of the prompt. The text of a model never raises.

    Examples
    --------
    >>> from affectlab.models.vlm.prompts.prompt import build_prompt
    >>> from affectlab.protocols import load_protocol
    >>> protocol = load_protocol("verification")
    >>> prompt = build_prompt(protocol, None, label="Awe")
    >>> read = read_answer(prompt, protocol, 'Sure: {"answer": "yes"}')
    >>> dict(read.values), read.repairs, read.usable
    ({'Awe': 1.0}, ('prose',), True)
    >>> read_answer(prompt, protocol, '{"answer": "maybe"}').schema_errors
    ("answer: 'maybe' is not an answer; expected 'yes' or 'no'",)
    """
    asked = asked_of(prompt, protocol)
    if not held:
        asked = replace(asked, structured=False)
    found = find_object(text) if asked.published is None else find_answer(asked, text)
    if found.value is None:
        return Read(repairs=found.repairs, problem=found.problem)
    result = checked(asked, found.value, found.twice)
    repairs = tuple(dict.fromkeys((*found.repairs, *result.repairs)))
    if result.errors:
        return Read(parsed=found.value, schema_errors=tuple(result.errors), repairs=repairs)
    rules = asked.protocol.check(result.answer) + result.rules
    return Read(
        parsed=found.value,
        answer=result.answer,
        values=row_values(asked, result),
        reasons=result.reasons,
        rows=tuple(answer_rows(asked, result)),
        left_out=tuple(result.left_out),
        rule_errors=tuple(rules),
        repairs=repairs,
    )


def asked_of(prompt: Prompt, protocol: Protocol) -> Asked:
    """Work out again what a prompt asked for.

    Raises
    ------
    InputError
        When the prompt was not built from `protocol`.
    """
    if prompt.protocol != protocol.name:
        raise InputError(
            f"the prompt asks by protocol {prompt.protocol!r}; expected that one, "
            f"found {protocol.name!r}"
        )
    asked = plan_asked(
        protocol,
        label=prompt.label,
        order_seed=prompt.order_seed,
        at_most=prompt.at_most,
        left_out=None if prompt.left_out == "error" else prompt.left_out,
        reasons=prompt.reasons,
        structured=prompt.structured,
        prompt=prompt.prompt,
        style=prompt.style,
    )
    if (asked.labels, asked.keys, asked.swapped) != (prompt.labels, prompt.keys, prompt.swapped):
        raise InputError(f"protocol {protocol.name!r} asks for other labels than the prompt did")
    return asked


# Answers of one sign, read from the text or from the probabilities of the first token.


def read_sign(
    answers: Mapping[str, float],
    label: str | None,
    text: str,
    alternatives: Mapping[str, float] | None,
) -> Read:
    """Read an answer of one sign.

    Parameters
    ----------
    answers
        Value of each sign.
    label
        The label asked about.
    text
        What the model wrote.
    alternatives
        Probability of each first token. None: the text is read. Otherwise the value is the mean of
        the values, weighted by the probability of their signs: P(yes) of a question of yes and no.

    Examples
    --------
    >>> tokens = {"Yes": 0.5, " yes": 0.1, "No": 0.2}
    >>> read = read_sign({"yes": 1.0, "no": 0.0}, "Awe", "yes", tokens)
    >>> round(read.rows[0]["value"], 3), round(read.rows[0]["answer_mass"], 3)
    (0.75, 0.8)
    >>> read_sign({"A": 1.0, "B": 0.0}, "Awe", "A.", None).values
    {'Awe': 1.0}
    """
    known = {sign.casefold(): sign for sign in answers}
    if alternatives is None:
        said = known.get(_plain(text))
        if said is None:
            return Read(problem=f"expected one of {', '.join(answers)} and nothing else")
        return _read(label, said, answers[said])
    mass = dict.fromkeys(answers, 0.0)
    for token, share in alternatives.items():
        sign = known.get(_plain(token))
        if sign is not None:
            mass[sign] += share
    total = math.fsum(mass.values())
    if total < LEAST_MASS:
        return Read(
            problem=f"{', '.join(answers)} have {percent(total)} of the probability of the first "
            f"token; expected {percent(LEAST_MASS)} or more"
        )
    value = math.fsum(mass[sign] * answers[sign] for sign in answers) / total
    likeliest = max(mass, key=lambda sign: mass[sign])
    read = _read(label, likeliest, value)
    return replace(read, rows=tuple({**row, "answer_mass": total} for row in read.rows))


def _plain(text: str) -> str:
    """What is left of an answer without blanks, marks of tokenizers, and a full stop."""
    return text.strip().strip("▁Ġ").strip(" \n.,:;()*\"'").casefold()


def _read(label: str | None, answer: str, value: float) -> Read:
    row = {"label": label, "value": value, "text": None, "outcome": "ok"}
    parsed = {"answer": answer}
    return Read(parsed=parsed, answer=parsed, values={label or "": value}, rows=(row,))
