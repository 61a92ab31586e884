"""Whether a model's score shows that it looked: repeats, runs without the image, wrong hints."""

from affectlab.evaluation.controls.checks import (
    ControlChecks as ControlChecks,
    control_checks as control_checks,
)
