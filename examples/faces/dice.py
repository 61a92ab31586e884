"""Write a rater that does not look at all.

python dice.py people-data/ratings.parquet dice.csv
"""

import sys

from affectlab.ratings import read_ratings
from affectlab.simulate import random_baseline

people, to = sys.argv[1:]
random_baseline(read_ratings(people), seed=0, name="dice").write(to)
print(f"{to}: a number from 0 to 7 by chance, for every face and emotion")
