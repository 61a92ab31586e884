"""Building taxonomies from text, and revising them from pilots.

Texts are cut into blocks (:func:`text_blocks`), searched for emotion terms by a lexicon or a
language model (:func:`emotion_candidates`), merged and clustered (:func:`merge_terms`,
:func:`propose_labels`) into a review that a person edits (:func:`read_review`) and that becomes
a taxonomy (:func:`taxonomy_of`). What raters of a pilot chose, agreed about and suggested becomes
such a review, too (:func:`revise_taxonomy`), and the next version (:func:`revised_taxonomy`).
"""

from affectlab.stimuli.taxonomy.candidates import Candidates as Candidates, emotion_candidates
from affectlab.stimuli.taxonomy.clusters import LabelProposals as LabelProposals, propose_labels
from affectlab.stimuli.taxonomy.lexicon import load_lexicon
from affectlab.stimuli.taxonomy.merge import merge_terms
from affectlab.stimuli.taxonomy.model_finder import ModelFinder, find_terms as find_terms
from affectlab.stimuli.taxonomy.pilot import binary_choices
from affectlab.stimuli.taxonomy.review import (
    read_note as read_note,
    read_review,
    write_review as write_review,
)
from affectlab.stimuli.taxonomy.revision import revise_taxonomy
from affectlab.stimuli.taxonomy.suggestions import read_suggestions
from affectlab.stimuli.taxonomy.texts import TextBlock as TextBlock, read_texts, text_blocks
from affectlab.stimuli.taxonomy.versions import revised_taxonomy, taxonomy_of

__all__ = [
    "ModelFinder",
    "binary_choices",
    "emotion_candidates",
    "load_lexicon",
    "merge_terms",
    "propose_labels",
    "read_review",
    "read_suggestions",
    "read_texts",
    "revise_taxonomy",
    "revised_taxonomy",
    "taxonomy_of",
    "text_blocks",
]
