"""From ratings to classes: the truth, and what models and people answered."""

from affectlab.evaluation.classes.classes import Classes, PeopleAnswers
from affectlab.evaluation.classes.costs import NO_ANSWER, Costs, Judging, judging_of, read_costs
from affectlab.evaluation.classes.from_ratings import classes_of
from affectlab.evaluation.classes.panel import score_variants
from affectlab.evaluation.classes.rules import (
    AnswerTies,
    Rule,
    Threshold,
    Thresholds,
    Ties,
    load_thresholds,
)
from affectlab.evaluation.classes.score_mapping import (
    NeutralRule,
    ScoreMapping,
    Sources,
    list_score_mappings,
    load_score_mapping,
)
from affectlab.evaluation.classes.truth import Truth, read_truth

__all__ = [
    "NO_ANSWER",
    "AnswerTies",
    "Classes",
    "Costs",
    "Judging",
    "NeutralRule",
    "PeopleAnswers",
    "Rule",
    "ScoreMapping",
    "Sources",
    "Threshold",
    "Thresholds",
    "Ties",
    "Truth",
    "classes_of",
    "judging_of",
    "list_score_mappings",
    "load_score_mapping",
    "load_thresholds",
    "read_costs",
    "read_truth",
    "score_variants",
]
