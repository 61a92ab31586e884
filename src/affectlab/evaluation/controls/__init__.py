"""Whether a model's score shows that it looked: repeats, runs without the image, wrong hints."""

from affectlab.evaluation.controls.checks import ControlChecks, control_checks

__all__ = [
    "ControlChecks",
    "control_checks",
]
