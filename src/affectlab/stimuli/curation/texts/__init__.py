"""What is seen in the text of a comment: language, words, names, tokens, near-duplicates."""

from affectlab.stimuli.curation.texts.features import TextSettings, text_features
from affectlab.stimuli.curation.texts.masking import mask_texts
from affectlab.stimuli.curation.texts.minhash import near_duplicates
from affectlab.stimuli.curation.texts.names import (
    NameFinder as NameFinder,
    find_names as find_names,
)
from affectlab.stimuli.curation.texts.plugs import has_name, plug_name
from affectlab.stimuli.curation.texts.words import WordLists, in_list

__all__ = [
    "TextSettings",
    "WordLists",
    "has_name",
    "in_list",
    "mask_texts",
    "near_duplicates",
    "plug_name",
    "text_features",
]
