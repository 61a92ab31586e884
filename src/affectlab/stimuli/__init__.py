"""What is shown: corpora, prompts, transitions, pairs and captions.

Expression transitions become pairs to compare with :func:`pair_design`, whose table is the
``pairs.csv`` of a study of differences.
"""

from affectlab.stimuli._allocation import allocate_pairs
from affectlab.stimuli._examples import example_sequences
from affectlab.stimuli._packing import pack_blocks
from affectlab.stimuli._pair_report import PairReport
from affectlab.stimuli._pairs import PairDesign, pair_design
from affectlab.stimuli._sequences import FIVE_FRAMES, ExpressionSequences, read_sequences

__all__ = [
    "FIVE_FRAMES",
    "ExpressionSequences",
    "PairDesign",
    "PairReport",
    "allocate_pairs",
    "example_sequences",
    "pack_blocks",
    "pair_design",
    "read_sequences",
]
