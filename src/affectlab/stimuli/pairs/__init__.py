"""Which two frames are compared: sequences, designs of pairs, and their batches."""

from affectlab.stimuli.pairs.allocation import allocate_pairs
from affectlab.stimuli.pairs.design import PairDesign, PairReport, pair_design
from affectlab.stimuli.pairs.known import KNOWN, read_known_pairs, with_known_pairs
from affectlab.stimuli.pairs.packing import pack_blocks
from affectlab.stimuli.pairs.sequences import (
    FIVE_FRAMES,
    ExpressionSequences,
    example_sequences,
    read_sequences,
)

__all__ = [
    "FIVE_FRAMES",
    "KNOWN",
    "ExpressionSequences",
    "PairDesign",
    "PairReport",
    "allocate_pairs",
    "example_sequences",
    "pack_blocks",
    "pair_design",
    "read_known_pairs",
    "read_sequences",
    "with_known_pairs",
]
