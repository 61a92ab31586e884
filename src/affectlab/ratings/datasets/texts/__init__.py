"""Published texts with emotions, one module a data set."""

from affectlab.ratings.datasets.texts.affective_text import affective_text
from affectlab.ratings.datasets.texts.crowdflower import crowdflower
from affectlab.ratings.datasets.texts.dailydialog import dailydialog
from affectlab.ratings.datasets.texts.electoral_tweets import electoral_tweets
from affectlab.ratings.datasets.texts.emoint import emoint
from affectlab.ratings.datasets.texts.emotion_stimulus import emotion_stimulus
from affectlab.ratings.datasets.texts.ssec import ssec
from affectlab.ratings.datasets.texts.tec import tec
from affectlab.ratings.datasets.texts.unified_emotion import unified_emotion

__all__ = [
    "affective_text",
    "crowdflower",
    "dailydialog",
    "electoral_tweets",
    "emoint",
    "emotion_stimulus",
    "ssec",
    "tec",
    "unified_emotion",
]
