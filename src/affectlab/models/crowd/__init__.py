"""Learning from raters: who answered what, in place of one answer for all of them.

:class:`CrowdClassifier` predicts what each rater answers, as an estimator of scikit-learn;
:func:`compare_crowd_models` says whether that gains anything over majority and soft labels;
:class:`CrowdModel` is kept in a folder and rates. Needs the extra ``models``, which is imported
when it is first used.
"""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily

if TYPE_CHECKING:
    from affectlab.models.crowd.classifier import CrowdClassifier
    from affectlab.models.crowd.comparison import (
        CrowdComparison,
        HeldOut as HeldOut,
        compare_crowd_models,
    )
    from affectlab.models.crowd.model import CrowdModel

__all__ = ["CrowdClassifier", "CrowdComparison", "CrowdModel", "compare_crowd_models"]

if not TYPE_CHECKING:
    # Load what needs torch when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__, first="affectlab.models.devices")
