"""Just noticeable differences: staircases, QUEST, scores, times and sampling rates."""

from affectlab.analysis.jnd.latency import latency_budget
from affectlab.analysis.jnd.pooling import pooled_jnd, pooled_jnds, transition_jnd
from affectlab.analysis.jnd.psychometric import psychometric_function, simulate_observer
from affectlab.analysis.jnd.quest import Quest, QuestSettings, quest
from affectlab.analysis.jnd.sampling_interval import common_rate, sampling_interval
from affectlab.analysis.jnd.score import jnd_score, jnd_scores
from affectlab.analysis.jnd.staircase import FrameStaircase, staircase_runs
from affectlab.analysis.jnd.steps import jnd_steps
from affectlab.analysis.jnd.strip import jnd_strip, jnd_strips, strip_choices
from affectlab.analysis.jnd.times import JndTimes, jnd_times

__all__ = [
    "FrameStaircase",
    "JndTimes",
    "Quest",
    "QuestSettings",
    "common_rate",
    "jnd_score",
    "jnd_scores",
    "jnd_steps",
    "jnd_strip",
    "jnd_strips",
    "jnd_times",
    "latency_budget",
    "pooled_jnd",
    "pooled_jnds",
    "psychometric_function",
    "quest",
    "sampling_interval",
    "simulate_observer",
    "staircase_runs",
    "strip_choices",
    "transition_jnd",
]
