"""``affectlab study check``."""

from __future__ import annotations

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.study._common import StudyArgument, require_study_extra

__all__ = ["check"]


def check(study: StudyArgument, as_json: JsonOption = False, quiet: QuietOption = False) -> None:
    """Check a study file and all it names, and say how much work the study is.

    Example: affectlab study check examples/study-faces.toml
    """
    require_study_extra()
    from affectlab.study import load_study, workload

    out = Output("study check", as_json=as_json, quiet=quiet)
    found = workload(load_study(study))
    out.show(found)
    out.finish(found.as_dict(), found.warnings)
