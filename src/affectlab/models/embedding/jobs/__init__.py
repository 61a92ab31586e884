"""Embedding many stimuli: items, cache, decoding ahead, batches, parts and the job itself."""

from affectlab.models.embedding.jobs.job import embed

__all__ = [
    "embed",
]
