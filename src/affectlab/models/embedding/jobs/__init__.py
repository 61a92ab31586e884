"""Embedding many stimuli: items, cache, decoding ahead, batches, parts and the job itself."""

from affectlab.models.embedding.jobs.batch_size import (
    is_out_of_memory as is_out_of_memory,
    let_go as let_go,
)
from affectlab.models.embedding.jobs.decoding import loaded as loaded, threads_of as threads_of
from affectlab.models.embedding.jobs.items import picture_hash as picture_hash
from affectlab.models.embedding.jobs.job import embed as embed
