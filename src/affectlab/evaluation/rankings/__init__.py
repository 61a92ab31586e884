"""Leaderboards, and the files in which results are handed on."""

from affectlab.evaluation.rankings.leaderboard import (
    Board,
    Entry,
    Leaderboard,
    Standing,
    against_people,
    leaderboard,
    possible_ranks,
)
from affectlab.evaluation.rankings.result_file import (
    Cost,
    Coverage,
    DataSet,
    Metric,
    ResultFile,
    data_set,
    human_results,
    parse_result,
    read_result,
    write_result,
)

__all__ = [
    "Board",
    "Cost",
    "Coverage",
    "DataSet",
    "Entry",
    "Leaderboard",
    "Metric",
    "ResultFile",
    "Standing",
    "against_people",
    "data_set",
    "human_results",
    "leaderboard",
    "parse_result",
    "possible_ranks",
    "read_result",
    "write_result",
]
