"""``affectlab study serve``."""

from __future__ import annotations

from typing import Annotated

from affectlab.cli._options import QuietOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Option
from affectlab.cli.study._common import DatabaseOption, StudyArgument, require_study_extra

__all__ = ["serve"]

_LIMITS = "Limits"


def serve(
    study: StudyArgument,
    host: Annotated[str, Option(help="Where to listen; 0.0.0.0 for other machines.")] = "127.0.0.1",
    port: Annotated[int, Option(help="Port to listen on.", min=1, max=65535)] = 8000,
    database: DatabaseOption = None,
    workers: Annotated[int, Option(help="Processes; several need PostgreSQL.", min=1, max=64)] = 1,
    pilot: Annotated[
        bool,
        Option("--pilot", help="Those who enter take part in the pilot, kept apart."),
    ] = False,
    https: Annotated[
        bool, Option("--https", help="Visitors come over https, through your proxy.")
    ] = False,
    trust_proxy: Annotated[
        bool,
        Option("--trust-proxy", help="Read visitors' addresses from X-Forwarded-For."),
    ] = False,
    entries_per_minute: Annotated[
        int,
        Option(
            help="Sessions one address may begin a minute; 0: any.",
            min=0,
            group=_LIMITS,
        ),
    ] = 120,
    requests_per_second: Annotated[
        float,
        Option(
            help="Requests one session may make a second; 0: any.",
            min=0,
            group=_LIMITS,
        ),
    ] = 20.0,
    quiet: QuietOption = False,
) -> None:
    """Serve a study until interrupted (Ctrl-C); what is answered stays beside the study file.

    Example: affectlab study serve examples/study-faces.toml
    """
    require_study_extra()
    from affectlab.study.server import Addresses, Settings, serve

    out = Output("study serve", as_json=False, quiet=quiet)

    def ready(addresses: Addresses) -> None:
        out.show(f"participants: {addresses.participants}")
        out.show(f"dashboard:    {addresses.dashboard}")
        out.show(f"answers:      {study.with_suffix('.affectlab')}")
        if addresses.setup is not None:
            out.show("The dashboard has no account yet. Make one here (works once, for a day):")
            # A link that is broken into two lines cannot be clicked.
            out.show_line(f"  {addresses.setup}")
        out.show("Press Ctrl-C to stop; nothing is lost.")

    serve(
        study,
        host=host,
        port=port,
        database=database,
        workers=workers,
        settings=Settings(
            https=https,
            trust_proxy=trust_proxy,
            pilot=pilot,
            entries_per_minute=entries_per_minute,
            requests_per_second=requests_per_second,
        ),
        ready=None if quiet else ready,
    )
