"""What was left out on the way from answers to classes, in words."""

from __future__ import annotations

from collections.abc import Sequence

from affectlab.core.words import count, joined, option, plural

_TIED_TRUTH = {
    "leave_out": "left out",
    "first": "given the first of them in the order of the taxonomy (without one, by name)",
    "random": "given one of them at random",
}
_TIED_ANSWERS = {
    "random": "one of them was taken at random",
    "first": "the first in the order of the taxonomy (without one, by name) was taken",
    "missing": "taken as no answer",
}
OUTSIDE = "answers that name a label of no class, taken as no answer"


def tied_truth(n: int, ties: str) -> str:
    """Stimuli whose truth is a tie."""
    stimuli = plural(n, "stimulus", "stimuli")
    return f"{stimuli} with several highest classes in the truth: {_TIED_TRUTH[ties]}"


def few_people(n: int, min_people: int) -> str:
    """Stimuli that too few people answered."""
    stimuli, people = plural(n, "stimulus", "stimuli"), plural(min_people, "person", "people")
    return f"{stimuli} with fewer than {people}: left out"


def no_truth(n: int, majority: bool) -> str:
    """Stimuli without a true class."""
    why = "majority or true class" if majority else "true class"
    return f"{plural(n, 'stimulus', 'stimuli')} without a {why}: left out"


def one_person(n: int, of: int) -> str:
    """Stimuli whose truth is what a single person answered."""
    return f"the truth of {count(n)} of {plural(of, 'stimulus', 'stimuli')} rests on one person"


def neutral_means(neutral: str | None, raters: Sequence[str]) -> str:
    """Scores from which neutral means were taken off."""
    return (
        f"means over stimuli whose truth is {neutral!r} were taken off the scores of "
        f"{joined(list(raters))}: this uses the truth, each such stimulus left out of its own mean"
    )


def tied_answers(ties: str) -> str:
    """Answers that are ties."""
    return f"several highest classes in answers, of which {_TIED_ANSWERS[ties]}"


def partly_answered() -> str:
    """Answers that leave labels open."""
    zero = option("absent", "zero")
    return f"labels that were not answered, which is not taken as 0 ({zero} does that)"
