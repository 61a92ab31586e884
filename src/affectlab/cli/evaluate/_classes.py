"""What the verbs on classes share: where the truth comes from, and what the classes are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.ratings import Ratings

__all__ = [
    "AgreeOption",
    "ClassesOption",
    "CostsOption",
    "MappingOption",
    "MinPeopleOption",
    "MissingOption",
    "RuleOption",
    "ScoreOption",
    "ThresholdOption",
    "TiesOption",
    "TruthOption",
    "TruthThresholdOption",
    "slug",
    "warnings_on",
]

_TRUTH = "Truth"

TruthOption = Annotated[
    str,
    Option(
        help="People, each judged by the others; attribute:NAME of the stimuli; rater:NAME; or a "
        "FILE: ratings, or stimulus and class.",
        metavar="people|attribute:NAME|rater:NAME|FILE",
    ),
]
CostsOption = Annotated[
    str | None,
    Option(
        help="What mistakes cost: ring, groups, reference (of the taxonomy), people (how they "
        "confuse the classes), or a CSV file with a matrix. By default what the taxonomy has.",
        metavar="ring|groups|reference|people|FILE",
        show_default=False,
    ),
]
MappingOption = Annotated[
    str | None,
    Option(
        help="How many labels become few classes: a TOML file, a level such as "
        "goemotions:ekman, or a name such as emonet_face--ferd.",
        metavar="FILE|NAME",
        show_default=False,
    ),
]
ClassesOption = Annotated[
    str | None,
    Option(
        "--classes",
        help="Taxonomy of the classes, where it is neither that of the labels nor of the mapping.",
        metavar="NAME|FILE",
        show_default=False,
    ),
]
ScoreOption = Annotated[
    list[str] | None,
    Option(
        "--score",
        help="Column of scores to use in place of 'value'; given again, each is judged.",
        metavar="COLUMN",
        show_default=False,
    ),
]
MissingOption = Annotated[
    Literal["common", "own", "wrong"],
    Option(
        help="Stimuli without an answer: compare on those common to all models, judge each on its "
        "own, or count them as wrong."
    ),
]
RuleOption = Annotated[
    Literal["plurality", "majority", "mean", "median"] | None,
    Option(
        help="How people make the truth. By default plurality; for ratings the highest mean.",
        group=_TRUTH,
        show_default=False,
    ),
]
TiesOption = Annotated[
    Literal["leave_out", "first", "random"],
    Option(help="Ties in the truth of people.", group=_TRUTH),
]
MinPeopleOption = Annotated[
    int,
    Option("--min-people", help="People needed for a truth.", min=1, group=_TRUTH),
]
AgreeOption = Annotated[
    str,
    Option(
        help="For sets of classes: share of people (0.5), or number (2), that makes a class true.",
        group=_TRUTH,
    ),
]
ThresholdOption = Annotated[
    str | None,
    Option(
        help="For sets of classes: score from which on a class is answered; a number, or a TOML "
        "file with one per label.",
        metavar="NUMBER|FILE",
        show_default=False,
    ),
]
TruthThresholdOption = Annotated[
    str | None,
    Option(
        "--truth-threshold",
        help="The same for the mean rating of people; by default as --threshold.",
        metavar="NUMBER|FILE",
        group=_TRUTH,
        show_default=False,
    ),
]


def warnings_on(ratings: Ratings, truth: str) -> tuple[str, ...]:
    """Warnings of a table that matter where answers are classes.

    Classes need no order, and only those that occur count; that nobody is human says nothing where
    people are not the truth.
    """
    beside = ("The categories are",) if truth == "people" else ("The categories are", "No rater is")
    return tuple(text for text in ratings.warnings if not text.startswith(beside))


def slug(name: str, taken: set[str]) -> str:
    """Make a name fit for a file, unlike those taken, and take it."""
    kept = "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in name)
    plain = kept.strip("_.")[:60] or "model"
    made, number = plain, 1
    while made in taken:
        number += 1
        made = f"{plain}_{number}"
    taken.add(made)
    return made
