"""``affectlab study check``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Option
from affectlab.cli.study._common import DatabaseOption, StudyArgument, require_study_extra

if TYPE_CHECKING:
    from affectlab.study.recruit import PlatformFilter

__all__ = ["check"]


def check(
    study: StudyArgument,
    database: DatabaseOption = None,
    ask_prolific: Annotated[
        bool,
        Option(
            "--ask-prolific",
            help="Look up the numbers of Prolific's choices; needs PROLIFIC_TOKEN.",
        ),
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check a study file and all it names, and say how much work the study is.

    Example: affectlab study check examples/study-faces.toml
    """
    require_study_extra()
    from dataclasses import asdict

    from affectlab.study import load_study, workload
    from affectlab.study.recruit import platform_filters

    out = Output("study check", as_json=as_json, quiet=quiet)
    loaded = load_study(study)
    found = workload(loaded, database)
    filters = platform_filters(loaded.design)
    if ask_prolific:
        filters = _asked(filters)
    out.show(found)
    if filters:
        _show(filters, out)
    result = found.as_dict() | {"filters": [asdict(one) for one in filters]}
    out.finish(result, found.warnings)


def _asked(filters: tuple[PlatformFilter, ...]) -> tuple[PlatformFilter, ...]:
    from affectlab.study.recruit import ProlificClient, with_choices

    with ProlificClient.from_environment() as client:
        return with_choices(filters, client.filters())


def _show(filters: tuple[PlatformFilter, ...], out: Output) -> None:
    """Say what to set on the platforms' pages."""
    from rich.text import Text

    from affectlab.core.terminal import Table

    table = Table(box=None, header_style="bold")
    for name in ("platform", "set there"):
        table.add_column(name, overflow="fold")
    for one in filters:
        table.add_row(one.platform, Text(one.terms))
    out.head("\nWho may take part")
    out.show(table)
    if any(one.platform == "mturk" for one in filters):
        out.show(
            "MTurk takes no new customers since 30 July 2026; its rows are for those who were "
            "customers before."
        )
