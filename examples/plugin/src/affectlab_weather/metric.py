"""A metric of answers: how many are within one step of what people say."""

import numpy as np

from affectlab.evaluation import AnswerMetric

__all__ = ["WITHIN_ONE", "within_one"]


def within_one(truth: np.ndarray, answer: np.ndarray) -> float:
    """Give the share of answers at most one step from the mean of people, from 0 to 1.

    Parameters
    ----------
    truth, answer
        Shape (n,).
    """
    return float((np.abs(answer - truth) <= 1).mean())


WITHIN_ONE = AnswerMetric.of(
    within_one, title="share within one step", needs="scores", better="higher"
)
