"""How often the right class is seen, and how bad mistakes are: metrics and comparisons."""

from affectlab.evaluation.classification.both_wrong import BothWrong, both_wrong
from affectlab.evaluation.classification.bounds import (
    Possibility,
    SeverityBounds,
    figures_possible,
    severity_bounds,
)
from affectlab.evaluation.classification.comparison import (
    Comparison,
    ModelComparison,
    compare_models,
    compare_predictions,
)
from affectlab.evaluation.classification.confusion import (
    Confusion,
    MultilabelConfusion,
    confusion,
    multilabel_confusion,
)
from affectlab.evaluation.classification.estimates import (
    FEWEST_MISTAKES,
    classification_metrics,
    few_mistakes,
    metrics_of_confusion,
)
from affectlab.evaluation.classification.evaluation import evaluate_classification
from affectlab.evaluation.classification.metrics import (
    CLASSIFICATION_METRICS,
    ClassificationMetric,
    acc,
    acc2,
    accuracy,
    affect_scorer,
    class_metric,
    ecc,
    emc,
    mean_emotional_distance,
    why_not,
)
from affectlab.evaluation.classification.precision_recall_f1 import (
    PrecisionRecallF1,
    precision_recall_f1,
)
from affectlab.evaluation.classification.result import ClassificationResult

__all__ = [
    "CLASSIFICATION_METRICS",
    "FEWEST_MISTAKES",
    "BothWrong",
    "ClassificationMetric",
    "ClassificationResult",
    "Comparison",
    "Confusion",
    "ModelComparison",
    "MultilabelConfusion",
    "Possibility",
    "PrecisionRecallF1",
    "SeverityBounds",
    "acc",
    "acc2",
    "accuracy",
    "affect_scorer",
    "both_wrong",
    "class_metric",
    "classification_metrics",
    "compare_models",
    "compare_predictions",
    "confusion",
    "ecc",
    "emc",
    "evaluate_classification",
    "few_mistakes",
    "figures_possible",
    "mean_emotional_distance",
    "metrics_of_confusion",
    "multilabel_confusion",
    "precision_recall_f1",
    "severity_bounds",
    "why_not",
]
