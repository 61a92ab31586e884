"""Learning from raters: who answered what, in place of one answer for all."""

from affectlab.models.crowd.classifier import CrowdClassifier as CrowdClassifier
from affectlab.models.crowd.comparison import (
    CrowdComparison as CrowdComparison,
    compare_crowd_models as compare_crowd_models,
)
from affectlab.models.crowd.network import HOWS as HOWS
