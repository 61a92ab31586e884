"""What the verbs on classes share: where the truth comes from, and what the classes are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.evaluation import Classes
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
    "make_classes",
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


def make_classes(
    ratings: Ratings,
    models: Ratings | None,
    *,
    truth: str,
    mapping: str | None,
    classes: str | None,
    scores: list[str] | None,
    rule: Any,
    ties: Any,
    min_people: int,
    seed: int,
    multilabel: bool = False,
    agree: str = "0.5",
    threshold: str | None = None,
    truth_threshold: str | None = None,
) -> Classes:
    """Make classes of ratings, as the options of a verb say."""
    from affectlab.evaluation import classes_of

    return classes_of(
        ratings,
        models,
        truth=_truth(truth, ratings),
        taxonomy=classes,
        mapping=mapping,
        scores=scores or None,
        multilabel=multilabel,
        threshold=_threshold(threshold),
        truth_threshold=_threshold(truth_threshold or threshold),
        rule=rule,
        agree=_agree(agree),
        min_people=min_people,
        ties=ties,
        seed=seed,
    )


def warnings_on(ratings: Ratings, truth: str) -> tuple[str, ...]:
    """Warnings of a table that matter where answers are classes.

    Classes need no order, and only those that occur count; that nobody is human says nothing where
    people are not the truth.
    """
    beside = ("The categories are",) if truth == "people" else ("The categories are", "No rater is")
    return tuple(text for text in ratings.warnings if not text.startswith(beside))


def _truth(text: str, ratings: Ratings) -> str | Ratings | Mapping[str, str]:
    """Read the truth from a file, unless the text says where in the ratings it is."""
    from affectlab.evaluation import read_truth

    if text == "people" or text.startswith(("attribute:", "rater:")):
        return text
    if not Path(text).is_file():
        from affectlab.core.errors import InputError

        raise InputError(
            f"--truth {text!r}: no such file; expected people, attribute:NAME, rater:NAME or a file"
        )
    return read_truth(text)


def _agree(text: str) -> float:
    from affectlab.core.errors import InputError

    try:
        return int(text) if text.strip().isdigit() else float(text)
    except ValueError:
        raise InputError(
            f"--agree: {text!r} is not understood; expected a share such as 0.5, or a number of "
            "people such as 2"
        ) from None


def _threshold(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return Path(text)


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
