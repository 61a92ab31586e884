"""Just noticeable differences: staircases, QUEST, scores, times and sampling rates."""

from affectlab.analysis.jnd.latency import latency_budget as latency_budget
from affectlab.analysis.jnd.pooling import (
    pooled_jnd as pooled_jnd,
    pooled_jnds as pooled_jnds,
    transition_jnd as transition_jnd,
)
from affectlab.analysis.jnd.psychometric import (
    psychometric_function as psychometric_function,
    simulate_observer as simulate_observer,
)
from affectlab.analysis.jnd.quest import (
    Quest as Quest,
    QuestSettings as QuestSettings,
    quest as quest,
)
from affectlab.analysis.jnd.sampling_interval import (
    common_rate as common_rate,
    sampling_interval as sampling_interval,
)
from affectlab.analysis.jnd.score import jnd_score as jnd_score, jnd_scores as jnd_scores
from affectlab.analysis.jnd.staircase import (
    FrameStaircase as FrameStaircase,
    staircase_runs as staircase_runs,
)
from affectlab.analysis.jnd.steps import jnd_steps as jnd_steps
from affectlab.analysis.jnd.strip import (
    jnd_strip as jnd_strip,
    jnd_strips as jnd_strips,
    strip_choices as strip_choices,
)
from affectlab.analysis.jnd.times import JndTimes as JndTimes, jnd_times as jnd_times
