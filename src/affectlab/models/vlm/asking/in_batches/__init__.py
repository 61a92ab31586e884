"""Asking in batches, which providers work off within a day for half the price."""

from affectlab.models.vlm.asking.in_batches.asker import (
    BatchAsker as BatchAsker,
    batches_sentence as batches_sentence,
)
