"""What is shown: corpora, prompts, transitions, pairs and captions.

Expression transitions become pairs to compare with :func:`pair_design`, whose table is the
``pairs.csv`` of a study of differences. Prompts for pictures of faces, in exact shares of labels
and people, come from :func:`face_prompts`.
"""

from affectlab.stimuli.captions import CaptionedPairs, captioned_pairs, read_captions, top_labels
from affectlab.stimuli.corpus import LabelledCorpus, labelled_corpus
from affectlab.stimuli.pairs import (
    FIVE_FRAMES,
    KNOWN,
    ExpressionSequences,
    PairDesign,
    PairReport,
    allocate_pairs,
    example_sequences,
    pack_blocks,
    pair_design,
    read_known_pairs,
    read_sequences,
    with_known_pairs,
)
from affectlab.stimuli.prompts import (
    NEUTRAL,
    CoverageMap,
    FacePrompts,
    PromptPlan,
    accepted_images,
    awaiting_review,
    coverage_map,
    face_prompts,
    fill_prompts,
    load_prompt_plan,
    neutral_prompts,
)
from affectlab.stimuli.quotas import deal, largest_remainder
from affectlab.stimuli.review import ReviewQueue, review_decisions, review_queue

__all__ = [
    "FIVE_FRAMES",
    "KNOWN",
    "NEUTRAL",
    "CaptionedPairs",
    "CoverageMap",
    "ExpressionSequences",
    "FacePrompts",
    "LabelledCorpus",
    "PairDesign",
    "PairReport",
    "PromptPlan",
    "ReviewQueue",
    "accepted_images",
    "allocate_pairs",
    "awaiting_review",
    "captioned_pairs",
    "coverage_map",
    "deal",
    "example_sequences",
    "face_prompts",
    "fill_prompts",
    "labelled_corpus",
    "largest_remainder",
    "load_prompt_plan",
    "neutral_prompts",
    "pack_blocks",
    "pair_design",
    "read_captions",
    "read_known_pairs",
    "read_sequences",
    "review_decisions",
    "review_queue",
    "top_labels",
    "with_known_pairs",
]
