"""What is shown: corpora, prompts, transitions, pairs and captions.

Expression transitions become pairs to compare with :func:`pair_design`, whose table is the
``pairs.csv`` of a study of differences. Prompts for pictures of faces, in exact shares of labels
and people, come from :func:`face_prompts`.
"""

from affectlab.stimuli._allocation import allocate_pairs
from affectlab.stimuli._captions import CaptionedPairs, captioned_pairs, read_captions, top_labels
from affectlab.stimuli._coverage import CoverageMap, accepted_images, awaiting_review, coverage_map
from affectlab.stimuli._examples import example_sequences
from affectlab.stimuli._face_prompts import NEUTRAL, FacePrompts, face_prompts, neutral_prompts
from affectlab.stimuli._fill_prompts import fill_prompts
from affectlab.stimuli._known_pairs import KNOWN, read_known_pairs, with_known_pairs
from affectlab.stimuli._labelled import LabelledCorpus, labelled_corpus
from affectlab.stimuli._packing import pack_blocks
from affectlab.stimuli._pair_report import PairReport
from affectlab.stimuli._pairs import PairDesign, pair_design
from affectlab.stimuli._prompt_plan import PromptPlan, load_prompt_plan
from affectlab.stimuli._quotas import deal, largest_remainder
from affectlab.stimuli._review_decisions import review_decisions
from affectlab.stimuli._review_queue import ReviewQueue, review_queue
from affectlab.stimuli._sequences import FIVE_FRAMES, ExpressionSequences, read_sequences

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
