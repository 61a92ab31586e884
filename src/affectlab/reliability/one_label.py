"""The answers of one label, where a question is asked about one."""

from __future__ import annotations

from affectlab.core.errors import InputError, unknown_name
from affectlab.ratings import Answers


def one_label(answers: Answers, label: str | None, what: str) -> Answers:
    """Give the answers of the label, or of the only one that has answers.

    Raises
    ------
    InputError
        If the label is not known, or none is chosen among several.
    """
    if label is not None and label not in answers.labels:
        raise unknown_name("label", label, answers.labels, what)
    present = [part for part in answers.by_label() if part.value.size]
    if label is None and len(present) > 1:
        names = ", ".join(answers.labels[part.label[0]] for part in present[:8])
        raise InputError(
            f"{what} with {len(present)} labels: expected one of them as label (--label): {names}"
            + (", …" if len(present) > 8 else "")
        )
    wanted = None if label is None else answers.labels.index(label)
    for part in present:
        if wanted is None or part.label[0] == wanted:
            return part
    return answers.take(slice(0, 0))
