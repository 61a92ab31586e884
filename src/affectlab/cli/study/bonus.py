"""``affectlab study bonus``."""

from __future__ import annotations

from typing import Annotated

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Option
from affectlab.cli.study._common import DatabaseOption, StudyArgument, require_study_extra
from affectlab.cli.study._outcomes import DryRunOption, finish_outcomes

__all__ = ["bonus"]


def bonus(
    study: StudyArgument,
    dry_run: DryRunOption = False,
    session: Annotated[
        int | None,
        Option(
            help="Pay a bonus of your own to this session, in place of those that were earned.",
            show_default=False,
        ),
    ] = None,
    amount: Annotated[
        float | None,
        Option(help="With --session: how much.", show_default=False),
    ] = None,
    name: Annotated[
        str | None,
        Option(
            help="With --session: what it is for; one bonus is paid under a name.",
            show_default=False,
        ),
    ] = None,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Pay the bonuses that sessions have earned through Prolific; each is paid once.

    The token is read from the environment variable PROLIFIC_TOKEN.

    Example: affectlab study bonus my-study.toml --dry-run
    """
    require_study_extra()
    from affectlab.core.errors import InputError
    from affectlab.study import load_study, open_store
    from affectlab.study.dataset.bonus import bonuses
    from affectlab.study.recruit import ProlificClient, pay_bonuses
    from affectlab.study.recruit.payments import study_at_prolific

    given = [one is not None for one in (session, amount, name)]
    if any(given) and not all(given):
        raise InputError("--session, --amount and --name belong together; expected all or none")
    out = Output("study bonus", as_json=as_json, quiet=quiet)
    with open_store(load_study(study), database) as store:
        study_at_prolific(store)
        with ProlificClient.from_environment() as client:
            if session is not None and amount is not None and name is not None:
                own = [(session, amount, name)]
                found = pay_bonuses(store, client, own, name=f"given:{name}", dry_run=dry_run)
            else:
                found = pay_bonuses(store, client, bonuses(store), dry_run=dry_run)
        currency = store.study.design.recruitment.currency
    finish_outcomes(out, found, dry_run=dry_run, currency=currency)
