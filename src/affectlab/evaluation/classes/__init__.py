"""From ratings to classes: the truth, and what models and people answered."""

from affectlab.evaluation.classes.classes import Classes as Classes, PeopleAnswers as PeopleAnswers
from affectlab.evaluation.classes.costs import (
    NO_ANSWER as NO_ANSWER,
    Costs as Costs,
    Judging as Judging,
    judging_of as judging_of,
    read_costs as read_costs,
)
from affectlab.evaluation.classes.from_ratings import classes_of as classes_of
from affectlab.evaluation.classes.rules import (
    AnswerTies as AnswerTies,
    Rule as Rule,
    Threshold as Threshold,
    Thresholds as Thresholds,
    Ties as Ties,
    load_thresholds as load_thresholds,
)
from affectlab.evaluation.classes.score_mapping import (
    NeutralRule as NeutralRule,
    ScoreMapping as ScoreMapping,
    Sources as Sources,
    list_score_mappings as list_score_mappings,
    load_score_mapping as load_score_mapping,
)
from affectlab.evaluation.classes.score_rows import score_variants as score_variants
from affectlab.evaluation.classes.truth import Truth as Truth, read_truth as read_truth
