"""What is shown: corpora, prompts, transitions, pairs and captions.

Expression transitions become pairs to compare with :func:`pair_design`, whose table is the
``pairs.csv`` of a study of differences. Prompts for pictures of faces, in exact shares of labels
and people, come from :func:`face_prompts`.
"""

from affectlab.stimuli.captions import captioned_pairs, read_captions
from affectlab.stimuli.corpus import labelled_corpus
from affectlab.stimuli.pairs import (
    FIVE_FRAMES,
    ExpressionSequences,
    example_sequences,
    pair_design,
    read_known_pairs,
    read_sequences,
    with_known_pairs,
)
from affectlab.stimuli.prompts import (
    coverage_map,
    face_prompts,
    fill_prompts,
    load_prompt_plan,
    neutral_prompts,
)
from affectlab.stimuli.quotas import largest_remainder as largest_remainder
from affectlab.stimuli.review import review_decisions, review_queue

__all__ = [
    "FIVE_FRAMES",
    "ExpressionSequences",
    "captioned_pairs",
    "coverage_map",
    "example_sequences",
    "face_prompts",
    "fill_prompts",
    "labelled_corpus",
    "load_prompt_plan",
    "neutral_prompts",
    "pair_design",
    "read_captions",
    "read_known_pairs",
    "read_sequences",
    "review_decisions",
    "review_queue",
    "with_known_pairs",
]
