"""How often the right class is seen, and how bad mistakes are: metrics and comparisons."""

from affectlab.evaluation.classification.both_wrong import (
    BothWrong as BothWrong,
    both_wrong as both_wrong,
)
from affectlab.evaluation.classification.bounds import (
    Possibility as Possibility,
    SeverityBounds as SeverityBounds,
    figures_possible as figures_possible,
    severity_bounds as severity_bounds,
)
from affectlab.evaluation.classification.comparison import (
    Comparison as Comparison,
    ModelComparison as ModelComparison,
    compare_models as compare_models,
    compare_predictions as compare_predictions,
)
from affectlab.evaluation.classification.confusion import (
    Confusion as Confusion,
    MultilabelConfusion as MultilabelConfusion,
    confusion as confusion,
    multilabel_confusion as multilabel_confusion,
)
from affectlab.evaluation.classification.estimates import (
    FEWEST_MISTAKES as FEWEST_MISTAKES,
    classification_metrics as classification_metrics,
    few_mistakes as few_mistakes,
    metrics_of_confusion as metrics_of_confusion,
)
from affectlab.evaluation.classification.evaluation import (
    evaluate_classification as evaluate_classification,
)
from affectlab.evaluation.classification.metrics import (
    CLASSIFICATION_METRICS as CLASSIFICATION_METRICS,
    ClassificationMetric as ClassificationMetric,
    acc as acc,
    acc2 as acc2,
    accuracy as accuracy,
    affect_scorer as affect_scorer,
    class_metric as class_metric,
    ecc as ecc,
    emc as emc,
    mean_emotional_distance as mean_emotional_distance,
    why_not as why_not,
)
from affectlab.evaluation.classification.precision_recall_f1 import (
    PrecisionRecallF1 as PrecisionRecallF1,
    precision_recall_f1 as precision_recall_f1,
)
from affectlab.evaluation.classification.result import ClassificationResult as ClassificationResult
