"""Learning from few labelled and many unlabelled examples.

:func:`train_semi` trains a :class:`~affectlab.models.vision.VisionClassifier`, or a text classifier
that chooses one label, on stimuli of which few have labels. What pseudo-labels are taken from the
others is up to a :class:`Strategy`: a small object without weights, found by
:func:`load_strategy`. Needs the extra ``models``, which is imported when it is first used.
"""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily

if TYPE_CHECKING:
    from affectlab.models.semi.registry import list_strategies, load_strategy
    from affectlab.models.semi.run import SemiRun as SemiRun, train_semi
    from affectlab.models.semi.settings import SemiTraining, Switch, SwitchWhen as SwitchWhen
    from affectlab.models.semi.strategy import Problem, Step, Strategy

__all__ = [
    "Problem",
    "SemiTraining",
    "Step",
    "Strategy",
    "Switch",
    "list_strategies",
    "load_strategy",
    "train_semi",
]

if not TYPE_CHECKING:
    # Load what needs torch when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__, first="affectlab.models.devices")
