"""The comments that are left, as narrow tables on disk, and work on their parts."""

from affectlab.stimuli.curation.pool.draws import (
    cutoffs as cutoffs,
    daft_draw as daft_draw,
    lower_median as lower_median,
    polars_draw as polars_draw,
)
from affectlab.stimuli.curation.pool.narrow import (
    base_of as base_of,
    begin_masks as begin_masks,
    mask_of as mask_of,
    narrow_columns as narrow_columns,
    needed as needed,
    read_narrow as read_narrow,
    write_mask as write_mask,
)
from affectlab.stimuli.curation.pool.parts import (
    PLACE_BITS as PLACE_BITS,
    Place as Place,
    daft_parts as daft_parts,
    part_name as part_name,
    read_part as read_part,
    write_part as write_part,
)
from affectlab.stimuli.curation.pool.pool import (
    Pool as Pool,
    rows_within as rows_within,
    texts_at as texts_at,
)
from affectlab.stimuli.curation.pool.state import (
    Stage as Stage,
    begin_stage as begin_stage,
    changed as changed,
    read_stage as read_stage,
    signature as signature,
    write_stage as write_stage,
)
