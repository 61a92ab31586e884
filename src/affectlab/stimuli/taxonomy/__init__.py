"""Building taxonomies from text, and revising them from pilots.

Texts are cut into blocks (:func:`text_blocks`), searched for emotion terms by a lexicon or a
language model (:func:`emotion_candidates`), merged and clustered (:func:`merge_terms`,
:func:`propose_labels`) into a review that a person edits (:class:`Review`) and that becomes a
taxonomy (:func:`taxonomy_of`). What raters of a pilot chose, agreed about and suggested becomes
such a review, too (:func:`revise_taxonomy`), and the next version (:func:`revised_taxonomy`).
"""

from affectlab.stimuli.taxonomy.candidates import Candidates, Finder, Found, emotion_candidates
from affectlab.stimuli.taxonomy.clusters import LabelProposals, propose_labels
from affectlab.stimuli.taxonomy.confusions import label_correlations
from affectlab.stimuli.taxonomy.lexicon import Lexicon, Mention, load_lexicon
from affectlab.stimuli.taxonomy.merge import merge_terms
from affectlab.stimuli.taxonomy.model_finder import ModelFinder
from affectlab.stimuli.taxonomy.pilot import Pilot, binary_choices, read_pilot
from affectlab.stimuli.taxonomy.policy import RevisionPolicy, load_revision_policy
from affectlab.stimuli.taxonomy.review import Review, ReviewRow, read_review
from affectlab.stimuli.taxonomy.revision import RevisionProposal, revise_taxonomy
from affectlab.stimuli.taxonomy.suggestions import read_suggestions
from affectlab.stimuli.taxonomy.texts import TextBlock, read_texts, text_blocks
from affectlab.stimuli.taxonomy.versions import (
    Assembled,
    next_version,
    revised_taxonomy,
    taxonomy_of,
)

__all__ = [
    "Assembled",
    "Candidates",
    "Finder",
    "Found",
    "LabelProposals",
    "Lexicon",
    "Mention",
    "ModelFinder",
    "Pilot",
    "Review",
    "ReviewRow",
    "RevisionPolicy",
    "RevisionProposal",
    "TextBlock",
    "binary_choices",
    "emotion_candidates",
    "label_correlations",
    "load_lexicon",
    "load_revision_policy",
    "merge_terms",
    "next_version",
    "propose_labels",
    "read_pilot",
    "read_review",
    "read_suggestions",
    "read_texts",
    "revise_taxonomy",
    "revised_taxonomy",
    "taxonomy_of",
    "text_blocks",
]
