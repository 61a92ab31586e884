"""The comments that are left, as narrow tables on disk, and work on their parts."""

from affectlab.stimuli.curation.pool.draws import cutoffs, daft_draw, lower_median, polars_draw
from affectlab.stimuli.curation.pool.narrow import (
    base_of,
    begin_masks,
    mask_of,
    narrow_columns,
    needed,
    read_narrow,
    write_mask,
)
from affectlab.stimuli.curation.pool.parts import (
    PLACE_BITS,
    Place,
    daft_parts,
    part_name,
    read_part,
    write_part,
)
from affectlab.stimuli.curation.pool.pool import Pool, rows_within, texts_at
from affectlab.stimuli.curation.pool.state import (
    Stage,
    begin_stage,
    changed,
    read_stage,
    signature,
    write_stage,
)

__all__ = [
    "PLACE_BITS",
    "Place",
    "Pool",
    "Stage",
    "base_of",
    "begin_masks",
    "begin_stage",
    "changed",
    "cutoffs",
    "daft_draw",
    "daft_parts",
    "lower_median",
    "mask_of",
    "narrow_columns",
    "needed",
    "part_name",
    "polars_draw",
    "read_narrow",
    "read_part",
    "read_stage",
    "rows_within",
    "signature",
    "texts_at",
    "write_mask",
    "write_part",
    "write_stage",
]
