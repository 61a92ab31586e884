"""What comes of a study: ratings and the tables beside them, and a data set to publish."""

from affectlab.study.dataset.bonus import bonuses
from affectlab.study.dataset.ratings import PLANTED, answer_rows, collect, ratings_of

__all__ = [
    "PLANTED",
    "answer_rows",
    "bonuses",
    "collect",
    "ratings_of",
]
