"""``affectlab study pay``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output, write_csv
from affectlab.cli.parameters import Option
from affectlab.cli.study._common import DatabaseOption, StudyArgument, require_study_extra
from affectlab.cli.study._outcomes import DryRunOption, finish_outcomes

__all__ = ["pay"]


def pay(
    study: StudyArgument,
    dry_run: DryRunOption = False,
    to: Annotated[
        Path | None,
        Option(
            "--out",
            help="Write decisions and bonuses to this CSV file instead, to pay by hand. It holds "
            "the platform's names of people.",
            show_default=False,
        ),
    ] = None,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Approve and reject at Prolific what was decided here; each goes out once.

    The token is read from the environment variable PROLIFIC_TOKEN.

    Example: affectlab study pay my-study.toml --dry-run
    """
    require_study_extra()
    from affectlab.core.words import plural
    from affectlab.study import load_study, open_store
    from affectlab.study.recruit import ProlificClient, carry_out, payments_table
    from affectlab.study.recruit.payments import study_at_prolific

    out = Output("study pay", as_json=as_json, quiet=quiet)
    with open_store(load_study(study), database) as store:
        if to is not None:
            from affectlab.study.dataset.bonus import bonuses

            table = payments_table(store, bonuses(store))
            write_csv(table, to)
            out.show(f"written: {to} ({plural(table.height, 'session')})")
            out.finish({"file": to, "sessions": table.height})
            return
        study_at_prolific(store)
        with ProlificClient.from_environment() as client:
            found = carry_out(store, client, dry_run=dry_run)
        currency = store.study.design.recruitment.currency
    finish_outcomes(out, found, dry_run=dry_run, currency=currency)
