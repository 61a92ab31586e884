"""Leaderboards, and the files in which results are handed on."""

from affectlab.evaluation.rankings.leaderboard import (
    Board as Board,
    Entry as Entry,
    Leaderboard as Leaderboard,
    Standing as Standing,
    against_people as against_people,
    leaderboard as leaderboard,
    possible_ranks as possible_ranks,
)
from affectlab.evaluation.rankings.result_file import (
    Cost as Cost,
    Coverage as Coverage,
    DataSet as DataSet,
    Metric as Metric,
    ResultFile as ResultFile,
    data_set as data_set,
    human_results as human_results,
    parse_result as parse_result,
    read_result as read_result,
    write_result as write_result,
)
