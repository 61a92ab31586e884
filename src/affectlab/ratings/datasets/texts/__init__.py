"""Published texts with emotions, one module a data set."""

from affectlab.ratings.datasets.texts.affective_text import FORMAT as _AFFECTIVE_TEXT
from affectlab.ratings.datasets.texts.affective_text import affective_text
from affectlab.ratings.datasets.texts.crowdflower import FORMAT as _CROWDFLOWER
from affectlab.ratings.datasets.texts.crowdflower import crowdflower
from affectlab.ratings.datasets.texts.dailydialog import FORMAT as _DAILYDIALOG
from affectlab.ratings.datasets.texts.dailydialog import dailydialog
from affectlab.ratings.datasets.texts.electoral_tweets import FORMAT as _ELECTORAL_TWEETS
from affectlab.ratings.datasets.texts.electoral_tweets import electoral_tweets
from affectlab.ratings.datasets.texts.emoint import FORMAT as _EMOINT
from affectlab.ratings.datasets.texts.emoint import emoint
from affectlab.ratings.datasets.texts.emotion_stimulus import FORMAT as _EMOTION_STIMULUS
from affectlab.ratings.datasets.texts.emotion_stimulus import emotion_stimulus
from affectlab.ratings.datasets.texts.ssec import FORMAT as _SSEC
from affectlab.ratings.datasets.texts.ssec import ssec
from affectlab.ratings.datasets.texts.tec import FORMAT as _TEC
from affectlab.ratings.datasets.texts.tec import tec
from affectlab.ratings.datasets.texts.unified_emotion import FORMAT as _UNIFIED_EMOTION
from affectlab.ratings.datasets.texts.unified_emotion import unified_emotion

__all__ = [
    "TEXT_FORMATS",
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

TEXT_FORMATS = (
    _AFFECTIVE_TEXT,
    _CROWDFLOWER,
    _ELECTORAL_TWEETS,
    _UNIFIED_EMOTION,
    _DAILYDIALOG,
    _EMOTION_STIMULUS,
    _EMOINT,
    _SSEC,
    _TEC,
)
"""Formats in the order in which they are tried."""
