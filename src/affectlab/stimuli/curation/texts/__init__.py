"""What is seen in the text of a comment: language, words, names, tokens, near-duplicates."""

from affectlab.stimuli.curation.texts.features import (
    TextSettings as TextSettings,
    text_features as text_features,
)
from affectlab.stimuli.curation.texts.masking import mask_texts as mask_texts
from affectlab.stimuli.curation.texts.minhash import near_duplicates as near_duplicates
from affectlab.stimuli.curation.texts.names import (
    NameFinder as NameFinder,
    find_names as find_names,
)
from affectlab.stimuli.curation.texts.plugs import has_name as has_name, plug_name as plug_name
from affectlab.stimuli.curation.texts.words import WordLists as WordLists, in_list as in_list
