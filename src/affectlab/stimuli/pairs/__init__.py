"""Which two frames are compared: sequences, designs of pairs, and their batches."""

from affectlab.stimuli.pairs.allocation import allocate_pairs as allocate_pairs
from affectlab.stimuli.pairs.design import (
    PairDesign as PairDesign,
    PairReport as PairReport,
    pair_design as pair_design,
)
from affectlab.stimuli.pairs.known import (
    KNOWN as KNOWN,
    read_known_pairs as read_known_pairs,
    with_known_pairs as with_known_pairs,
)
from affectlab.stimuli.pairs.packing import pack_blocks as pack_blocks
from affectlab.stimuli.pairs.sequences import (
    FIVE_FRAMES as FIVE_FRAMES,
    ExpressionSequences as ExpressionSequences,
    example_sequences as example_sequences,
    read_sequences as read_sequences,
)
