"""Reading dumps of any known kind into staged rows, with what was wrong with them."""

from affectlab.stimuli.curation.input.columns import Columns
from affectlab.stimuli.curation.input.problems import KINDS, LEFT_OUT
from affectlab.stimuli.curation.input.sources import without_password
from affectlab.stimuli.curation.input.staging import StagedPool, stage

__all__ = [
    "KINDS",
    "LEFT_OUT",
    "Columns",
    "StagedPool",
    "stage",
    "without_password",
]
