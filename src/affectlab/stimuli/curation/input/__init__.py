"""Reading dumps of any known kind into staged rows, with what was wrong with them."""

from affectlab.stimuli.curation.input.columns import Columns as Columns
from affectlab.stimuli.curation.input.problems import KINDS as KINDS, LEFT_OUT as LEFT_OUT
from affectlab.stimuli.curation.input.sources import without_password as without_password
from affectlab.stimuli.curation.input.staging import StagedPool as StagedPool, stage as stage
