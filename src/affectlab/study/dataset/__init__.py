"""What comes of a study: ratings and the tables beside them, and a data set to publish."""

from affectlab.study.dataset.bonus import bonuses as bonuses
from affectlab.study.dataset.ratings import (
    PLANTED as PLANTED,
    answer_rows as answer_rows,
    collect as collect,
    ratings_of as ratings_of,
)
